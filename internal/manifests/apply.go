package manifests

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Applier applies objects.
type Applier struct {
	Client client.Client
	// Owner is the field owner.
	Owner string
	// Parallel is how many requests may run at the same time; zero means one, in the order of the objects.
	Parallel int
	// Applied is called after each object, from one goroutine at a time only if Parallel is at most 1. It may be nil.
	Applied func(*unstructured.Unstructured)
}

// Apply sends every object by server-side apply. The fields of the owner become those of the objects, other fields stay.
func (a Applier) Apply(ctx context.Context, objects []*unstructured.Unstructured) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(max(1, a.Parallel))
	for _, object := range objects {
		group.Go(func() error {
			// The server's answer replaces the object; what was loaded must stay as it is.
			sent := client.ApplyConfigurationFromUnstructured(object.DeepCopy())
			if err := a.Client.Apply(ctx, sent, client.FieldOwner(a.Owner), client.ForceOwnership); err != nil {
				return fmt.Errorf("applying %s %s: %w", object.GetKind(), client.ObjectKeyFromObject(object), err)
			}
			if a.Applied != nil {
				a.Applied(object)
			}
			return nil
		})
	}
	return group.Wait()
}

var definitions = schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"}

// WaitEstablished returns when the API server serves every CRD among the objects and says so in its discovery, or with the
// reason why it does not. Discovery comes a moment after the condition Established: a client that does not wait for it is
// told "no matches for kind".
func WaitEstablished(ctx context.Context, c client.Client, objects []*unstructured.Unstructured) error {
	waiting := map[string]string{}
	for _, o := range objects {
		if o.GroupVersionKind() == definitions {
			waiting[o.GetName()] = "not seen yet"
		}
	}
	err := wait.PollUntilContextCancel(ctx, 50*time.Millisecond, true, func(ctx context.Context) (bool, error) {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(definitions.GroupVersion().WithKind(definitions.Kind + "List"))
		if err := c.List(ctx, list); err != nil {
			return false, client.IgnoreNotFound(err)
		}
		for i := range list.Items {
			if _, ours := waiting[list.Items[i].GetName()]; !ours {
				continue
			}
			if reason := notServed(&list.Items[i]); reason != "" {
				waiting[list.Items[i].GetName()] = reason
			} else {
				delete(waiting, list.Items[i].GetName())
			}
		}
		return len(waiting) == 0, nil
	})
	if err != nil {
		return fmt.Errorf("waiting for CRDs %v: %w", waiting, err)
	}
	return waitDiscovered(ctx, c.RESTMapper(), objects)
}

// waitDiscovered returns when the mapper finds the kinds of all CRDs among the objects.
func waitDiscovered(ctx context.Context, mapper meta.RESTMapper, objects []*unstructured.Unstructured) error {
	waiting := servedKinds(objects)
	var last error
	err := wait.PollUntilContextCancel(ctx, 50*time.Millisecond, true, func(context.Context) (bool, error) {
		for len(waiting) > 0 {
			if _, last = mapper.RESTMapping(waiting[0].GroupKind(), waiting[0].Version); last != nil {
				return false, nil
			}
			waiting = waiting[1:]
		}
		return true, nil
	})
	if err != nil {
		return fmt.Errorf("waiting until %v is discovered (%w): %w", waiting[0], last, err)
	}
	return nil
}

// servedKinds are the kinds that the CRDs among the objects serve, in each version.
func servedKinds(objects []*unstructured.Unstructured) []schema.GroupVersionKind {
	var kinds []schema.GroupVersionKind
	for _, o := range objects {
		if o.GroupVersionKind() != definitions {
			continue
		}
		group, _, _ := unstructured.NestedString(o.Object, "spec", "group")
		kind, _, _ := unstructured.NestedString(o.Object, "spec", "names", "kind")
		versions, _, _ := unstructured.NestedSlice(o.Object, "spec", "versions")
		for _, entry := range versions {
			if version, _ := entry.(map[string]any); version["served"] == true {
				kinds = append(kinds, schema.GroupVersionKind{Group: group, Version: fmt.Sprint(version["name"]), Kind: kind})
			}
		}
	}
	return kinds
}

// notServed is the reason why a CRD is not served, or empty.
func notServed(crd *unstructured.Unstructured) string {
	conditions, _, _ := unstructured.NestedSlice(crd.Object, "status", "conditions")
	reason := "not established yet"
	for _, entry := range conditions {
		condition, _ := entry.(map[string]any)
		switch {
		case condition["type"] == "Established" && condition["status"] == "True":
			reason = ""
		case condition["type"] == "NamesAccepted" && condition["status"] == "False":
			return fmt.Sprint(condition["message"])
		}
	}
	return reason
}

// Prune deletes the objects of a kind that carry a label and are not to be kept.
func Prune(ctx context.Context, c client.Client, kind schema.GroupVersionKind, label string, keep func(*unstructured.Unstructured) bool) error {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
	if err := c.List(ctx, list, client.HasLabels{label}); err != nil {
		if meta.IsNoMatchError(err) {
			return nil
		}
		return fmt.Errorf("listing %s: %w", kind.Kind, err)
	}
	for i := range list.Items {
		if keep(&list.Items[i]) {
			continue
		}
		if err := c.Delete(ctx, &list.Items[i]); err != nil && !apierrors.IsNotFound(err) {
			return fmt.Errorf("deleting %s %s: %w", kind.Kind, list.Items[i].GetName(), err)
		}
	}
	return nil
}
