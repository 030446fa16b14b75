package quickstart

import (
	"context"
	"errors"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
)

// applier applies manifests as often as one likes: what others have changed in the meantime stays as it is.
type applier struct {
	client client.Client
	// overwrite takes back what others have changed.
	overwrite bool
}

// apply looks at all objects before it changes the first: manifests that do not fit what is there are refused as a whole. It
// returns the fields that stay as others have set them.
func (a applier) apply(ctx context.Context, objects []*unstructured.Unstructured) ([]Kept, error) {
	var kept []Kept
	var errs []error
	planned := make([]*unstructured.Unstructured, 0, len(objects))
	for _, o := range objects {
		o = o.DeepCopy()
		found, err := a.plan(ctx, o)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", name(o), err))
		}
		kept, planned = append(kept, found...), append(planned, o)
	}
	if len(errs) > 0 {
		return nil, fmt.Errorf("nothing was applied: %w", errors.Join(errs...))
	}
	for _, o := range planned {
		if err := a.send(ctx, o.DeepCopy()); err != nil {
			return nil, fmt.Errorf("applying %s: %w", name(o), err)
		}
	}
	return kept, nil
}

// plan asks the API server what applying an object would do, and takes those fields out of it that others have set to something
// else. An object that is not there yet has nothing to keep, and what it refers to may come with it.
func (a applier) plan(ctx context.Context, o *unstructured.Unstructured) ([]Kept, error) {
	live := &unstructured.Unstructured{}
	live.SetGroupVersionKind(o.GroupVersionKind())
	switch err := a.client.Get(ctx, client.ObjectKeyFromObject(o), live); {
	case apierrors.IsNotFound(err) || meta.IsNoMatchError(err):
		return nil, nil
	case err != nil:
		return nil, err
	}
	if err := sameSort(live, o); err != nil {
		return nil, err
	}
	err := a.send(ctx, o.DeepCopy(), client.DryRunAll)
	conflicts := conflictsOf(err)
	if len(conflicts) == 0 {
		return nil, unlessJudgedByOthers(o, err)
	}
	var kept []Kept
	for _, c := range conflicts {
		k, ok := keep(live, o, c)
		if !ok {
			return nil, fmt.Errorf("%s: %s (--overwrite takes it back)", c.Field, c.Message)
		}
		kept = append(kept, k)
	}
	return kept, unlessJudgedByOthers(o, a.send(ctx, o.DeepCopy(), client.DryRunAll))
}

func (a applier) send(ctx context.Context, o *unstructured.Unstructured, options ...client.ApplyOption) error {
	options = append(options, client.FieldOwner(fieldOwner))
	if a.overwrite {
		options = append(options, client.ForceOwnership)
	}
	return a.client.Apply(ctx, client.ApplyConfigurationFromUnstructured(o), options...)
}

// sameSort refuses to make a Cluster of a class from one without, or the other way round: the API server would refuse the
// Cluster, but the objects before it would have been applied.
func sameSort(live, wanted *unstructured.Unstructured) error {
	if !isCluster(wanted) || ofClass(live) == ofClass(wanted) {
		return nil
	}
	is, want := "without a ClusterClass", "has one"
	if ofClass(live) {
		is, want = "from a ClusterClass", "has none"
	}
	return fmt.Errorf("the Cluster that exists was made %s, and that of the manifests %s; delete it first (`make quickstart-down`, or `kubectl delete cluster %s`), "+
		"choose another name, or use manifests of the same sort (CLASS)", is, want, live.GetName())
}

func isCluster(o *unstructured.Unstructured) bool {
	return o.GetKind() == "Cluster" && o.GroupVersionKind().Group == clusterv1.GroupVersion.Group
}

func ofClass(cluster *unstructured.Unstructured) bool {
	_, found, _ := unstructured.NestedMap(cluster.Object, "spec", "topology")
	return found
}

// unlessJudgedByOthers drops an error of a dry run about classes and Clusters of a class: they are judged by what they refer to, which may
// be about to change with them.
func unlessJudgedByOthers(o *unstructured.Unstructured, err error) error {
	if o.GetKind() == "ClusterClass" || isCluster(o) && ofClass(o) {
		return nil
	}
	return err
}

// conflictsOf are the fields that an apply without force would take from others.
func conflictsOf(err error) []metav1.StatusCause {
	var status apierrors.APIStatus
	if !apierrors.IsConflict(err) || !errors.As(err, &status) || status.Status().Details == nil {
		return nil
	}
	var conflicts []metav1.StatusCause
	for _, c := range status.Status().Details.Causes {
		if c.Type == metav1.CauseTypeFieldManagerConflict {
			conflicts = append(conflicts, c)
		}
	}
	return conflicts
}

func name(o *unstructured.Unstructured) string {
	return o.GetKind() + " " + strings.TrimPrefix(client.ObjectKeyFromObject(o).String(), "/")
}
