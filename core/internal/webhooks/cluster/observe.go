package cluster

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/slipway-capi/slipway/contract/accessors"
	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	runtimev1 "github.com/slipway-capi/slipway/contract/api/runtime/v1beta2"
	"github.com/slipway-capi/slipway/contract/contractversion"
	"github.com/slipway-capi/slipway/contract/extension/hook"
	"github.com/slipway-capi/slipway/contract/extension/pending"
	"github.com/slipway-capi/slipway/contract/external"
	"github.com/slipway-capi/slipway/contract/labels"
	"github.com/slipway-capi/slipway/core/internal/topology/classref"
	"github.com/slipway-capi/slipway/core/internal/topology/variables"
)

// Among is what a Cluster with a topology is judged among.
type Among struct {
	// Class is nil if it does not exist, ClassBefore if it does not or is the same.
	Class, ClassBefore *clusterv1.ClusterClass
	// Variables are those of the class; nil if they cannot be read, which VariablesProblem says.
	Variables        *variables.Catalog
	VariablesProblem string
	// Unfinished says what of the upgrade before is still under way. It is read only for a change of the version.
	Unfinished string
}

// reader reads what a Cluster is judged among. It writes nothing.
type reader struct {
	// cached may lag behind; live asks the API server.
	cached, live client.Reader
	resolver     *contractversion.Resolver
	catalogs     *variables.Catalogs
}

func newReader(mgr ctrl.Manager) reader {
	return reader{cached: mgr.GetClient(), live: mgr.GetAPIReader(), resolver: external.NewResolver(mgr.GetClient()), catalogs: &variables.Catalogs{}}
}

func (r reader) look(ctx context.Context, cluster, before *clusterv1.Cluster) (Among, error) {
	var a Among
	if !hasTopology(cluster) {
		return a, nil
	}
	var err error
	if a.Class, err = r.class(ctx, cluster); err != nil || a.Class == nil {
		return a, err
	}
	if a.Variables, err = r.catalogs.Of(a.Class); err != nil {
		a.VariablesProblem = err.Error()
	}
	if before == nil {
		return a, nil
	}
	if classref.Key(before) != classref.Key(cluster) && hasTopology(before) {
		if a.ClassBefore, err = r.class(ctx, before); err != nil {
			return a, err
		}
	}
	if _, _, changed := versionChange(cluster, before); changed {
		a.Unfinished, err = r.unfinished(ctx, before)
	}
	return a, err
}

// class reads the class of a Cluster; nil if there is none. One that was made a moment ago may be missing in the cache.
func (r reader) class(ctx context.Context, cluster *clusterv1.Cluster) (*clusterv1.ClusterClass, error) {
	class := &clusterv1.ClusterClass{}
	err := r.cached.Get(ctx, classref.Key(cluster), class)
	if apierrors.IsNotFound(err) {
		err = r.live.Get(ctx, classref.Key(cluster), class)
	}
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading ClusterClass %s: %w", classref.Text(cluster), err)
	}
	return class, nil
}

// unfinished says what is still on its way to the version that a Cluster has.
func (r reader) unfinished(ctx context.Context, cluster *clusterv1.Cluster) (string, error) {
	wanted := cluster.Spec.Topology.Version
	if end := hook.AfterClusterUpgrade.Name; slices.Contains(pending.List(cluster.Annotations[runtimev1.PendingHooksAnnotation]), end) {
		return "the hook " + end + " of the upgrade to " + wanted + " is still to be called", nil
	}
	if said, err := r.controlPlane(ctx, cluster); err != nil || said != "" {
		return said, err
	}
	selected := []client.ListOption{client.InNamespace(cluster.Namespace), client.MatchingLabels(labels.OfCluster(cluster.Name)), client.HasLabels{clusterv1.ClusterTopologyOwnedLabel}}
	deployments, pools := &clusterv1.MachineDeploymentList{}, &clusterv1.MachinePoolList{}
	for _, list := range []client.ObjectList{deployments, pools} {
		if err := r.live.List(ctx, list, selected...); err != nil {
			return "", fmt.Errorf("listing the workers of the topology: %w", err)
		}
	}
	for _, md := range deployments.Items {
		if md.Spec.Template.Spec.Version != wanted || others(md.Status.Versions, wanted) {
			return fmt.Sprintf("MachineDeployment %s is still to be upgraded to %s", md.Name, wanted), nil
		}
	}
	for _, mp := range pools.Items {
		if mp.Spec.Template.Spec.Version != wanted || others(mp.Status.Versions, wanted) {
			return fmt.Sprintf("MachinePool %s is still to be upgraded to %s", mp.Name, wanted), nil
		}
	}
	return "", nil
}

func (r reader) controlPlane(ctx context.Context, cluster *clusterv1.Cluster) (string, error) {
	ref := cluster.Spec.ControlPlaneRef
	if ref.Name == "" {
		return "", nil // not made yet
	}
	obj, err := external.Get(ctx, r.live, r.resolver, ref, cluster.Namespace)
	if external.IsNotFound(err) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("reading %s %s: %w", ref.Kind, ref.Name, err)
	}
	contract := accessors.ControlPlane(obj.Contract)
	version, err := contract.Version().GetOr(obj.Unstructured, "")
	if err != nil {
		return "", err
	}
	versions, err := contract.Versions(obj.Unstructured)
	if err != nil {
		return "", err
	}
	if wanted := cluster.Spec.Topology.Version; version != wanted || others(versions, wanted) {
		return fmt.Sprintf("%s %s is still to be upgraded to %s", ref.Kind, ref.Name, wanted), nil
	}
	return "", nil
}

func others(have []clusterv1.StatusVersion, wanted string) bool {
	return slices.ContainsFunc(have, func(v clusterv1.StatusVersion) bool { return v.Version != wanted })
}
