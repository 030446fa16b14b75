// Package render makes, without any management cluster, the objects that the topology controller would make for a new Cluster of a
// ClusterClass: the class and the Cluster go through admission, the variables get their defaults, the patches are carried out, and
// the objects are compared with their definitions, all by the code that the manager runs.
package render

import (
	"context"
	"errors"
	"fmt"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/core/internal/controllers/topology"
	"github.com/slipway-capi/slipway/core/internal/definitions"
)

// Suffix ends the names of objects, where a management cluster has characters that depend on the Cluster.
const Suffix = "xxxxx"

// UID is that of the Cluster, to which all objects refer.
const UID = "00000000-0000-0000-0000-000000000000"

// Renderer renders Clusters. It is safe for concurrent use.
type Renderer struct{ kinds definitions.Set }

// New makes a Renderer that knows the CustomResourceDefinitions among objects; of two of one kind the later one counts. Templates and objects of kinds that are not defined are not judged.
func New(known ...*unstructured.Unstructured) (*Renderer, error) {
	var crds []*apiextensionsv1.CustomResourceDefinition
	for _, o := range known {
		if o.GetKind() != "CustomResourceDefinition" {
			continue
		}
		crd := &apiextensionsv1.CustomResourceDefinition{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, crd); err != nil {
			return nil, fmt.Errorf("CustomResourceDefinition %s: %w", o.GetName(), err)
		}
		crds = append(crds, crd)
	}
	kinds, err := definitions.New(crds)
	return &Renderer{kinds: kinds}, err
}

// Request asks for the objects of a Cluster.
type Request struct {
	// Cluster has a topology.
	Cluster *unstructured.Unstructured
	// Objects hold the class of the Cluster and its templates; others are ignored.
	Objects []*unstructured.Unstructured
	// SkipExternal leaves external patches out, which without it are an error: their extensions are not asked.
	SkipExternal bool
}

// Result is what comes of a Cluster.
type Result struct {
	// Objects are the Cluster as it would be stored, and then those that the controller makes, in its order.
	Objects []*unstructured.Unstructured
	// Warnings are those that a user would see, and what could not be judged.
	Warnings []string
}

// Render makes the objects of a Cluster.
func (r *Renderer) Render(ctx context.Context, request Request) (*Result, error) {
	in, err := r.read(ctx, request)
	if err != nil {
		return nil, err
	}
	out := &Result{}
	if err := r.admitClass(in, out); err != nil {
		return nil, err
	}
	if err := r.admitCluster(ctx, in, out); err != nil {
		return nil, err
	}
	cluster, objects, err := r.objects(ctx, in, request.SkipExternal, out)
	if wrong := r.judge(ctx, in.used, ", a template of the class"); wrong != nil {
		return nil, wrong
	}
	if err != nil {
		return nil, fmt.Errorf("ClusterClass %s: %w", in.class.Name, err)
	}
	first, err := toUnstructured(cluster)
	if err != nil {
		return nil, err
	}
	out.Objects = append([]*unstructured.Unstructured{first}, objects...)
	if err := r.judge(ctx, objects, ", which the class makes"); err != nil {
		return nil, err
	}
	return out, nil
}

// objects are made with one suffix for all names; where two names would then be the same, each gets its own.
func (r *Renderer) objects(ctx context.Context, in *input, skipExternal bool, out *Result) (*clusterv1.Cluster, []*unstructured.Unstructured, error) {
	offline := &offline{skip: skipExternal}
	preview := topology.Preview{Cluster: in.cluster, Class: in.class, Template: in.template, Extensions: offline, Suffix: func(string) string { return Suffix }}
	cluster, objects, err := preview.Objects(ctx)
	if err == nil && twice(objects) {
		preview.Suffix = distinct
		cluster, objects, err = preview.Objects(ctx)
	}
	out.Warnings = append(out.Warnings, offline.warnings()...)
	return cluster, objects, err
}

func twice(objects []*unstructured.Unstructured) bool {
	seen := map[string]bool{}
	for _, o := range objects {
		key := o.GroupVersionKind().GroupKind().String() + "/" + o.GetName()
		if seen[key] {
			return true
		}
		seen[key] = true
	}
	return false
}

// judge compares objects with their definitions, as the API server would when they are applied.
func (r *Renderer) judge(ctx context.Context, objects []*unstructured.Unstructured, what string) error {
	var errs []error
	for _, o := range objects {
		if problems := r.kinds.Validate(ctx, r.kinds.Default(o)); len(problems) > 0 {
			errs = append(errs, invalid(o.GetKind(), o.GetName()+what, problems))
		}
	}
	return errors.Join(errs...)
}

// invalid lists the problems of an object.
func invalid(kind, name string, problems field.ErrorList) error {
	var lines []string
	for _, p := range problems {
		lines = append(lines, p.Error())
	}
	if len(lines) == 1 {
		return fmt.Errorf("%s %s: %s", kind, name, lines[0])
	}
	return fmt.Errorf("%s %s:\n  %s", kind, name, strings.Join(lines, "\n  "))
}

func toUnstructured(o any) (*unstructured.Unstructured, error) {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
	if err != nil {
		return nil, fmt.Errorf("converting: %w", err)
	}
	delete(content, "status")
	unstructured.RemoveNestedField(content, "metadata", "creationTimestamp")
	return &unstructured.Unstructured{Object: content}, nil
}
