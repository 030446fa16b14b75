package render

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/core/internal/topology/classref"
)

// input is a request that has been read.
type input struct {
	cluster   *clusterv1.Cluster
	class     *clusterv1.ClusterClass
	templates []*unstructured.Unstructured
	// used are those of the templates to which the class refers.
	used []*unstructured.Unstructured
}

// read finds the class of the Cluster and its templates.
func (r *Renderer) read(ctx context.Context, request Request) (*input, error) {
	in := &input{cluster: &clusterv1.Cluster{}}
	if request.Cluster == nil {
		return nil, errors.New("there is no Cluster to render")
	}
	namespace := cmp.Or(request.Cluster.GetNamespace(), "default")
	if err := r.typed(ctx, within(namespace, request.Cluster), in.cluster); err != nil {
		return nil, err
	}
	in.cluster.ObjectMeta = fresh(in.cluster.ObjectMeta)
	key := classref.Key(in.cluster)
	if key.Name == "" {
		return nil, invalid(clusterv1.ClusterKind, in.cluster.Name, field.ErrorList{
			field.Required(field.NewPath("spec", "topology", "classRef"), "only Clusters of a class are rendered")})
	}
	var classes []string
	for _, o := range request.Objects {
		o = within(namespace, o)
		if o.GroupVersionKind().GroupKind() != clusterv1.GroupVersion.WithKind(clusterv1.ClusterClassKind).GroupKind() {
			in.templates = append(in.templates, r.kinds.Default(o))
			continue
		}
		classes = append(classes, o.GetNamespace()+"/"+o.GetName())
		if o.GetName() != key.Name || o.GetNamespace() != key.Namespace {
			continue
		}
		if in.class != nil {
			return nil, fmt.Errorf("there are two ClusterClasses %s", key.Name)
		}
		in.class = &clusterv1.ClusterClass{}
		if err := r.typed(ctx, o, in.class); err != nil {
			return nil, err
		}
	}
	if in.class == nil {
		return nil, fmt.Errorf("there is no ClusterClass %s, to which Cluster %s refers; there is %s", key, in.cluster.Name, cmp.Or(strings.Join(classes, ", "), "none"))
	}
	return in, nil
}

// within is an object with a namespace, and with whole numbers as an API server has them: YAML is often read into floats.
func within(namespace string, o *unstructured.Unstructured) *unstructured.Unstructured {
	out := &unstructured.Unstructured{}
	raw, err := o.MarshalJSON()
	if err != nil || out.UnmarshalJSON(raw) != nil {
		out = o.DeepCopy() // what is wrong with it shows when it is compared with its definition
	}
	if out.GetNamespace() == "" {
		out.SetNamespace(namespace)
	}
	return out
}

// fresh is the metadata of a new object, also of one that was taken from a management cluster.
func fresh(m metav1.ObjectMeta) metav1.ObjectMeta {
	out := metav1.ObjectMeta{Name: m.Name, Namespace: m.Namespace, Labels: m.Labels, Annotations: maps.Clone(m.Annotations), UID: UID}
	delete(out.Annotations, "kubectl.kubernetes.io/last-applied-configuration")
	return out
}

// typed reads an object with the defaults of its definition. Fields that do not exist are an error.
func (r *Renderer) typed(ctx context.Context, o *unstructured.Unstructured, into any) error {
	if o.GetAPIVersion() != clusterv1.GroupVersion.String() {
		return fmt.Errorf("%s %s: apiVersion must be %s, not %s", o.GetKind(), o.GetName(), clusterv1.GroupVersion, o.GetAPIVersion())
	}
	complete := r.kinds.Default(o)
	if problems := r.kinds.Validate(ctx, complete); len(problems) > 0 {
		return invalid(o.GetKind(), o.GetName(), problems)
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(complete.Object, into, true); err != nil {
		return fmt.Errorf("%s %s: %w", o.GetKind(), o.GetName(), err)
	}
	return nil
}

// template finds a template in the namespace of the class.
func (in *input) template(apiVersion, kind, name string) *unstructured.Unstructured {
	i := slices.IndexFunc(in.templates, func(o *unstructured.Unstructured) bool {
		return o.GetAPIVersion() == apiVersion && o.GetKind() == kind && o.GetName() == name && o.GetNamespace() == in.class.Namespace
	})
	if i < 0 {
		return nil
	}
	if found := in.templates[i]; !slices.Contains(in.used, found) {
		in.used = append(in.used, found)
	}
	return in.templates[i]
}
