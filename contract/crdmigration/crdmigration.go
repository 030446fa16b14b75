// Package crdmigration brings what is stored up to date after an upgrade of CustomResourceDefinitions: objects that are stored in
// an old version are written again, and records of field owners about versions that are no longer served are dropped. A version
// can be taken out of a CRD only after that. It needs controller-runtime.
package crdmigration

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// ObservedGenerationAnnotation marks a CRD as migrated at the generation that is its value.
const ObservedGenerationAnnotation = "crd-migration.cluster.x-k8s.io/observed-generation"

// Phase is a part of the migration that can be skipped.
type Phase string

// The phases.
const (
	StorageVersionMigration Phase = "StorageVersionMigration"
	CleanupManagedFields    Phase = "CleanupManagedFields"
	// All stands for both.
	All Phase = "All"
)

// Phases are the names that can be skipped.
var Phases = []Phase{All, StorageVersionMigration, CleanupManagedFields}

// pageSize is how many objects are read at a time.
const pageSize = 500

// longest is how long the migration of one kind may take: that of tens of thousands of objects.
const longest = time.Hour

// Migrator migrates CRDs, one after the other.
type Migrator struct {
	// Client writes; Live reads without cache, so that no objects stay in memory.
	Client client.Client
	Live   client.Reader
	// Kinds are the resources of this manager, such as machines.cluster.x-k8s.io; other CRDs are left to their managers.
	Kinds []string
	// Skip lists phases to leave out.
	Skip []Phase
}

// SetupWithManager registers the controller.
func (m *Migrator) SetupWithManager(_ context.Context, mgr ctrl.Manager) error {
	mine := predicate.NewPredicateFuncs(func(o client.Object) bool { return slices.Contains(m.Kinds, o.GetName()) })
	err := ctrl.NewControllerManagedBy(mgr).Named("crdmigration").
		For(&apiextensionsv1.CustomResourceDefinition{}, builder.OnlyMetadata, builder.WithPredicates(mine)).
		WithOptions(controller.Options{MaxConcurrentReconciles: 1, ReconciliationTimeout: longest}).Complete(m)
	if err != nil {
		return fmt.Errorf("building the crdmigration controller: %w", err)
	}
	return nil
}

// Reconcile migrates one CRD, unless that was done since its last change.
func (m *Migrator) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := m.Live.Get(ctx, req.NamespacedName, crd); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	d := Decide(crd, m.Skip)
	if d.Done {
		return reconcile.Result{}, nil
	}
	if d.Rewrite || d.Cleanup {
		if err := m.eachObject(ctx, d, func(o *unstructured.Unstructured) error { return m.migrate(ctx, d, o) }); err != nil {
			return reconcile.Result{}, fmt.Errorf("migrating %s: %w", crd.Name, err)
		}
	}
	return reconcile.Result{}, m.mark(ctx, crd, d)
}

// Decision is what to do for a CRD.
type Decision struct {
	// Done says that nothing is to be done.
	Done bool
	// Rewrite says that objects may be stored in old versions.
	Rewrite bool
	// Cleanup says that records of field owners are to be looked through.
	Cleanup bool
	// Storage is the kind in the version that is stored now.
	Storage schema.GroupVersionKind
	// Served are group and version of all that is served.
	Served []string
}

// Decide says what to do for a CRD. It is pure.
func Decide(crd *apiextensionsv1.CustomResourceDefinition, skip []Phase) Decision {
	d := Decision{Done: !crd.DeletionTimestamp.IsZero() || crd.Annotations[ObservedGenerationAnnotation] == strconv.FormatInt(crd.Generation, 10)}
	for _, v := range crd.Spec.Versions {
		if v.Storage {
			d.Storage = schema.GroupVersionKind{Group: crd.Spec.Group, Version: v.Name, Kind: crd.Spec.Names.Kind}
		}
		if v.Served {
			d.Served = append(d.Served, crd.Spec.Group+"/"+v.Name)
		}
	}
	skipped := func(p Phase) bool { return slices.Contains(skip, p) || slices.Contains(skip, All) }
	old := slices.ContainsFunc(crd.Status.StoredVersions, func(v string) bool { return v != d.Storage.Version })
	d.Rewrite = old && !skipped(StorageVersionMigration)
	d.Cleanup = !skipped(CleanupManagedFields)
	return d
}

func (m *Migrator) eachObject(ctx context.Context, d Decision, do func(*unstructured.Unstructured) error) error {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(d.Storage.GroupVersion().WithKind(d.Storage.Kind + "List"))
	for {
		if err := m.Live.List(ctx, list, client.Limit(pageSize), client.Continue(list.GetContinue())); err != nil {
			return fmt.Errorf("listing objects: %w", err)
		}
		for i := range list.Items {
			if err := do(&list.Items[i]); err != nil {
				return fmt.Errorf("%s/%s: %w", list.Items[i].GetNamespace(), list.Items[i].GetName(), err)
			}
		}
		if list.GetContinue() == "" {
			return nil
		}
	}
}

// migrate writes one object. Whoever wrote it meanwhile has stored it in the present version, too.
func (m *Migrator) migrate(ctx context.Context, d Decision, o *unstructured.Unstructured) error {
	patch, needed, err := change(d, o)
	if err != nil || !needed {
		return err
	}
	err = m.Client.Patch(ctx, o, client.RawPatch(types.MergePatchType, patch))
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) && len(stale(d, o)) == 0 {
		return nil
	}
	return err
}

// change is the patch of one object: of nothing, which lets the API server encode it anew, or of the records of field owners.
func change(d Decision, o *unstructured.Unstructured) (patch []byte, needed bool, err error) {
	metadata := map[string]any{"resourceVersion": o.GetResourceVersion()}
	gone := stale(d, o)
	if len(gone) > 0 {
		var left []any
		fields, _, _ := unstructured.NestedSlice(o.Object, "metadata", "managedFields")
		for i, entry := range fields {
			if !slices.Contains(gone, i) {
				left = append(left, entry)
			}
		}
		if len(left) == 0 {
			left = []any{map[string]any{}} // an empty list would change nothing; one empty entry means none
		}
		metadata["managedFields"] = left
	}
	patch, err = json.Marshal(map[string]any{"metadata": metadata})
	return patch, d.Rewrite || len(gone) > 0, err
}

// stale are the indexes of records about versions that are not served.
func stale(d Decision, o *unstructured.Unstructured) (indexes []int) {
	if !d.Cleanup {
		return nil
	}
	for i, entry := range o.GetManagedFields() {
		if strings.HasPrefix(entry.APIVersion, d.Storage.Group+"/") && !slices.Contains(d.Served, entry.APIVersion) {
			indexes = append(indexes, i)
		}
	}
	return indexes
}

// mark notes what was reached, so that the next start finds nothing to do.
func (m *Migrator) mark(ctx context.Context, crd *apiextensionsv1.CustomResourceDefinition, d Decision) error {
	if d.Rewrite {
		before := crd.DeepCopy()
		crd.Status.StoredVersions = []string{d.Storage.Version}
		if err := m.Client.Status().Patch(ctx, crd, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})); err != nil {
			return fmt.Errorf("noting the stored version of %s: %w", crd.Name, err)
		}
	}
	o := &metav1.PartialObjectMetadata{}
	o.SetGroupVersionKind(apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition"))
	o.Name = crd.Name
	patch := fmt.Appendf(nil, `{"metadata":{"resourceVersion":%q,"annotations":{%q:%q}}}`, crd.ResourceVersion, ObservedGenerationAnnotation, strconv.FormatInt(crd.Generation, 10))
	if err := m.Client.Patch(ctx, o, client.RawPatch(types.MergePatchType, patch)); err != nil {
		return fmt.Errorf("marking %s as migrated: %w", crd.Name, err)
	}
	return nil
}
