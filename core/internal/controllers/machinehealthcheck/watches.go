package machinehealthcheck

import (
	"context"
	"fmt"
	"reflect"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/clustercache"
	"github.com/slipway-capi/slipway/contract/conditions"
	"github.com/slipway-capi/slipway/core/internal/coalesce"
)

const (
	// clusterIndex finds MachineHealthChecks by their cluster.
	clusterIndex = "spec.clusterName"
	// nodeIndex finds Machines by the name of their Node.
	nodeIndex = "status.nodeRef.name"
)

func (c *Controller) index(ctx context.Context, indexer client.FieldIndexer) error {
	err := indexer.IndexField(ctx, &clusterv1.MachineHealthCheck{}, clusterIndex, func(o client.Object) []string {
		return []string{o.(*clusterv1.MachineHealthCheck).Spec.ClusterName}
	})
	if err != nil {
		return fmt.Errorf("indexing MachineHealthChecks by %s: %w", clusterIndex, err)
	}
	err = indexer.IndexField(ctx, &clusterv1.Machine{}, nodeIndex, func(o client.Object) []string {
		if name := o.(*clusterv1.Machine).Status.NodeRef.Name; name != "" {
			return []string{name}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("indexing Machines by %s: %w", nodeIndex, err)
	}
	return nil
}

// differs passes updates in which the part of an object that matters differs.
func differs(view func(client.Object) any) predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		return !reflect.DeepEqual(view(e.ObjectOld), view(e.ObjectNew))
	}}
}

func healthMatters() predicate.Predicate {
	return differs(func(o client.Object) any {
		m := o.(*clusterv1.Machine)
		return []any{m.Labels, m.Annotations, m.DeletionTimestamp, m.Status.NodeRef, m.Status.Conditions}
	})
}

func clusterMatters() predicate.Predicate {
	return differs(func(o client.Object) any {
		cluster := o.(*clusterv1.Cluster)
		return []any{cluster.Spec.Paused, cluster.DeletionTimestamp, conditions.Get(cluster, clusterv1.InfrastructureReadyCondition),
			conditions.Get(cluster, clusterv1.ClusterControlPlaneInitializedCondition)}
	})
}

func specMatters() predicate.Predicate {
	return differs(func(o client.Object) any {
		return []any{o.GetGeneration(), o.GetAnnotations(), o.GetDeletionTimestamp()}
	})
}

// nodeMatters lets heartbeats pass by: they change nothing but a time.
func nodeMatters() predicate.Predicate {
	return differs(func(o client.Object) any {
		var view []corev1.NodeCondition
		for _, c := range o.(*corev1.Node).Status.Conditions {
			view = append(view, corev1.NodeCondition{Type: c.Type, Status: c.Status, LastTransitionTime: c.LastTransitionTime})
		}
		return view
	})
}

func (c *Controller) ofCluster(ctx context.Context, o client.Object) []reconcile.Request {
	return c.pick(ctx, o.GetNamespace(), o.GetName(), func(*clusterv1.MachineHealthCheck) bool { return true })
}

// ofOther wakes the checks that share Machines with one that has changed.
func (c *Controller) ofOther(ctx context.Context, o client.Object) []reconcile.Request {
	return c.pick(ctx, o.GetNamespace(), o.(*clusterv1.MachineHealthCheck).Spec.ClusterName, func(check *clusterv1.MachineHealthCheck) bool {
		return check.Name != o.GetName()
	})
}

// ofMachine wakes the checks that pick a Machine, and those that counted it until now.
func (c *Controller) ofMachine(ctx context.Context, o client.Object) []reconcile.Request {
	m := o.(*clusterv1.Machine)
	return c.pick(ctx, m.Namespace, m.Spec.ClusterName, func(check *clusterv1.MachineHealthCheck) bool {
		return Selects(check, m) || slices.Contains(check.Status.Targets, m.Name)
	})
}

// ofRemediation wakes the checks of the Machine that a remediation object is for; both have one name.
func (c *Controller) ofRemediation(ctx context.Context, o client.Object) []reconcile.Request {
	m := &clusterv1.Machine{}
	if err := c.Client.Get(ctx, client.ObjectKeyFromObject(o), m); err != nil {
		return nil
	}
	return c.ofMachine(ctx, m)
}

func (c *Controller) usersOfTemplate(ctx context.Context, o client.Object) []reconcile.Request {
	list := &clusterv1.MachineHealthCheckList{}
	if err := c.Client.List(ctx, list, client.InNamespace(o.GetNamespace())); err != nil {
		return nil
	}
	return requests(list, func(check *clusterv1.MachineHealthCheck) bool {
		ref := check.Spec.Remediation.TemplateRef
		return ref.Name == o.GetName() && ref.Kind == o.GetObjectKind().GroupVersionKind().Kind
	})
}

func (c *Controller) pick(ctx context.Context, namespace, cluster string, match func(*clusterv1.MachineHealthCheck) bool) []reconcile.Request {
	list := &clusterv1.MachineHealthCheckList{}
	if err := c.Client.List(ctx, list, client.InNamespace(namespace), client.MatchingFields{clusterIndex: cluster}); err != nil {
		return nil
	}
	return requests(list, match)
}

func requests(list *clusterv1.MachineHealthCheckList, match func(*clusterv1.MachineHealthCheck) bool) []reconcile.Request {
	var out []reconcile.Request
	for i := range list.Items {
		if match(&list.Items[i]) {
			out = append(out, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&list.Items[i])})
		}
	}
	return out
}

// watchNodes makes Nodes of a workload cluster wake the checks of their Machines.
func (c *Controller) watchNodes(ctx context.Context, cluster client.ObjectKey) error {
	return c.ClusterCache.Watch(ctx, cluster, clustercache.WatchSpec{
		Name: "machinehealthcheck-nodes", Object: &corev1.Node{}, Watcher: c.self, Predicates: []predicate.Predicate{nodeMatters()},
		Handler: coalesce.Handler(func(ctx context.Context, node client.Object) []reconcile.Request { return c.ofNode(ctx, cluster, node) }),
	})
}

func (c *Controller) ofNode(ctx context.Context, cluster client.ObjectKey, node client.Object) []reconcile.Request {
	list := &clusterv1.MachineList{}
	err := c.Client.List(ctx, list, client.InNamespace(cluster.Namespace), client.MatchingFields{nodeIndex: node.GetName()},
		client.MatchingLabels{clusterv1.ClusterNameLabel: cluster.Name})
	if err != nil {
		return nil
	}
	var out []reconcile.Request
	for i := range list.Items {
		out = append(out, c.ofMachine(ctx, &list.Items[i])...)
	}
	return out
}

// external reads a remediation object or template; nil means that it does not exist. The watch tells when it does.
func (c *Controller) external(ctx context.Context, kind schema.GroupVersionKind, namespace, name string, h handler.EventHandler) (*unstructured.Unstructured, error) {
	if err := c.watcher.Watch(kind, h); err != nil {
		return nil, err
	}
	o := &unstructured.Unstructured{}
	o.SetGroupVersionKind(kind)
	err := c.Client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, o)
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("reading %s %s: %w", kind.Kind, name, err)
	}
	return o, nil
}
