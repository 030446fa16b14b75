// Package cloning makes objects from provider templates. It is pure: the caller creates what it returns.
package cloning

import (
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/labels"
)

const suffix = "Template"

// Request says what to make from a template.
type Request struct {
	// Template is the object to copy from; its kind ends in Template.
	Template *unstructured.Unstructured
	// Name and ClusterName are those of the new object, which goes to the template's namespace.
	Name, ClusterName string
	// Owner becomes the only owner reference, if there is one.
	Owner *metav1.OwnerReference
	// Labels and Annotations are added to those of the template; they win.
	Labels, Annotations map[string]string
}

// FromTemplate returns the object, complete, so that no second write has to follow.
func FromTemplate(r Request) (*unstructured.Unstructured, error) {
	kind := r.Template.GetKind()
	if !strings.HasSuffix(kind, suffix) || kind == suffix {
		return nil, fmt.Errorf("kind %q of %s cannot be cloned: it does not end in %s", kind, r.Template.GetName(), suffix)
	}
	spec, found, err := unstructured.NestedMap(r.Template.Object, "spec", "template", "spec")
	if err != nil {
		return nil, fmt.Errorf("%s %s: spec.template.spec is no object", kind, r.Template.GetName())
	}
	if !found {
		spec = map[string]any{}
	}
	templateLabels, _, err := unstructured.NestedStringMap(r.Template.Object, "spec", "template", "metadata", "labels")
	if err != nil {
		return nil, fmt.Errorf("%s %s: spec.template.metadata.labels is no map of strings", kind, r.Template.GetName())
	}
	templateAnnotations, _, err := unstructured.NestedStringMap(r.Template.Object, "spec", "template", "metadata", "annotations")
	if err != nil {
		return nil, fmt.Errorf("%s %s: spec.template.metadata.annotations is no map of strings", kind, r.Template.GetName())
	}
	out := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
	out.SetAPIVersion(r.Template.GetAPIVersion())
	out.SetKind(strings.TrimSuffix(kind, suffix))
	out.SetNamespace(r.Template.GetNamespace())
	out.SetName(r.Name)
	out.SetLabels(labels.Merge(templateLabels, r.Labels, labels.OfCluster(r.ClusterName)))
	out.SetAnnotations(labels.Merge(templateAnnotations, r.Annotations, map[string]string{
		clusterv1.TemplateClonedFromNameAnnotation:      r.Template.GetName(),
		clusterv1.TemplateClonedFromGroupKindAnnotation: r.Template.GroupVersionKind().GroupKind().String(),
	}))
	if r.Owner != nil {
		out.SetOwnerReferences([]metav1.OwnerReference{*r.Owner})
	}
	return out, nil
}

// Origin is the template that an object was made from, by its annotations; its name is empty if they do not tell.
func Origin(object metav1.Object) clusterv1.ContractVersionedObjectReference {
	annotations := object.GetAnnotations()
	kind, group, _ := strings.Cut(annotations[clusterv1.TemplateClonedFromGroupKindAnnotation], ".")
	return clusterv1.ContractVersionedObjectReference{APIGroup: group, Kind: kind, Name: annotations[clusterv1.TemplateClonedFromNameAnnotation]}
}
