package clusterclass

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/contractversion"
	"github.com/slipway-capi/slipway/core/internal/topology/patches/paths"
)

// Templates is what is known about the templates of a class.
type Templates struct {
	// Schemas are those of the kinds that patches change.
	Schemas paths.Schemas
	// Unknown says of each kind without schema why it has none.
	Unknown []string
	// Missing names templates that do not exist.
	Missing []string
}

// templates reads the schemas of the kinds that the patches of a class change, and whether its templates exist. It asks the API
// server: a cache of whole definitions would hold megabytes, and classes seldom change.
func (r reader) templates(ctx context.Context, class *clusterv1.ClusterClass) (Templates, error) {
	out := Templates{Schemas: paths.Schemas{}}
	for _, gvk := range paths.Kinds(class.Spec.Patches) {
		crd := &apiextensionsv1.CustomResourceDefinition{}
		name := contractversion.CRDName(gvk.GroupKind())
		if err := r.live.Get(ctx, client.ObjectKey{Name: name}, crd); err != nil {
			if !apierrors.IsNotFound(err) {
				return out, fmt.Errorf("reading CustomResourceDefinition %s: %w", name, err)
			}
			out.Unknown = append(out.Unknown, fmt.Sprintf("CustomResourceDefinition %s does not exist", name))
			continue
		}
		found, err := paths.Of(crd, gvk.Version)
		if err != nil {
			out.Unknown = append(out.Unknown, err.Error())
			continue
		}
		out.Schemas[gvk] = found
	}
	var err error
	out.Missing, err = r.missing(ctx, class)
	return out, err
}

// missing names the templates of a class that do not exist. Those that this manager may not read pass as existing.
func (r reader) missing(ctx context.Context, class *clusterv1.ClusterClass) ([]string, error) {
	var out []string
	for _, ref := range templateRefs(class.Spec) {
		o := &metav1.PartialObjectMetadata{}
		o.SetGroupVersionKind(schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind))
		err := r.live.Get(ctx, client.ObjectKey{Namespace: class.Namespace, Name: ref.Name}, o)
		switch {
		case err == nil, apierrors.IsForbidden(err):
		case apierrors.IsNotFound(err), meta.IsNoMatchError(err):
			out = append(out, ref.Kind+" "+ref.Name)
		default:
			return nil, fmt.Errorf("reading %s %s: %w", ref.Kind, ref.Name, err)
		}
	}
	return out, nil
}

// templateRefs are the templates that a class refers to, each once.
func templateRefs(spec clusterv1.ClusterClassSpec) []templateRef {
	refs := []templateRef{spec.Infrastructure.TemplateRef, spec.ControlPlane.TemplateRef, spec.ControlPlane.MachineInfrastructure.TemplateRef}
	for _, c := range spec.Workers.MachineDeployments {
		refs = append(refs, c.Bootstrap.TemplateRef, c.Infrastructure.TemplateRef)
	}
	for _, c := range spec.Workers.MachinePools {
		refs = append(refs, c.Bootstrap.TemplateRef, c.Infrastructure.TemplateRef)
	}
	var out []templateRef
	for _, ref := range refs {
		if ref.Name != "" && !slices.Contains(out, ref) {
			out = append(out, ref)
		}
	}
	return out
}

var index = regexp.MustCompile(`\[\d+\]`)

// place tells problems apart, but not by positions: patches may move.
func place(p *field.Error) string { return index.ReplaceAllString(p.Field, "[]") + p.ErrorBody() }

// ValidateTemplates judges the patches of a class by the schemas of its templates. What was wrong before a change may stay, since a
// class must not become unchangeable when a provider drops a field; it is only warned about, as is what cannot be judged.
func ValidateTemplates(class, before *clusterv1.ClusterClass, t Templates) (warnings []string, problems field.ErrorList) {
	path := field.NewPath("spec", "patches")
	old := map[string]bool{}
	if before != nil {
		for _, p := range paths.Check(before.Spec.Patches, t.Schemas, path) {
			old[place(p)] = true
		}
	}
	for _, p := range paths.Check(class.Spec.Patches, t.Schemas, path) {
		if old[place(p)] {
			warnings = append(warnings, p.Error())
			continue
		}
		problems = append(problems, p)
	}
	for _, reason := range t.Unknown {
		warnings = append(warnings, "patches are not compared with their templates: "+reason)
	}
	if len(t.Missing) > 0 {
		warnings = append(warnings, "clusters wait for templates that do not exist yet: "+strings.Join(t.Missing, ", "))
	}
	return warnings, problems
}
