package cluster

import (
	"context"
	"reflect"
	"strings"
	"time"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/labels"
	"github.com/slipway-capi/slipway/core/internal/referred"
	"github.com/slipway-capi/slipway/core/internal/topology/classref"
)

const (
	// referenceIndex finds Clusters by their class and the provider objects that they refer to.
	referenceIndex = "spec.references"
	// coalesce is how long changes of a cluster's many members are gathered before its counters are renewed.
	coalesce = 75 * time.Millisecond
)

func byReference(o client.Object) []string {
	c := o.(*clusterv1.Cluster)
	keys := referred.Keys(c.Spec.InfrastructureRef, c.Spec.ControlPlaneRef)
	if class := classref.Key(c); class.Name != "" {
		keys = append(keys, classReference(class))
	}
	return keys
}

func classReference(class client.ObjectKey) string { return "ClusterClass/" + class.String() }

// ofReferred finds the Clusters of a provider object by their references, so that an object that comes into being after
// its Cluster wakes it although it has no owner yet.
func (c *Controller) ofReferred(ctx context.Context, o client.Object) []reconcile.Request {
	kind := o.GetObjectKind().GroupVersionKind().GroupKind()
	return c.list(ctx, client.InNamespace(o.GetNamespace()), client.MatchingFields{referenceIndex: referred.Key(kind, o.GetName())})
}

// ofCRD finds the Clusters that wait for a provider to be installed.
func (c *Controller) ofCRD(ctx context.Context, o client.Object) []reconcile.Request {
	return c.list(ctx, client.MatchingFields{referenceIndex: o.GetName()})
}

func (c *Controller) ofClass(ctx context.Context, o client.Object) []reconcile.Request {
	return c.list(ctx, client.MatchingFields{referenceIndex: classReference(client.ObjectKeyFromObject(o))})
}

// ofSecret finds the Cluster whose kubeconfig this controller makes, when its authority or the kubeconfig comes or goes.
func (c *Controller) ofSecret(ctx context.Context, o client.Object) []reconcile.Request {
	name := labels.ClusterName(o)
	if suffix, ok := strings.CutPrefix(o.GetName(), name); !ok || (suffix != "-ca" && suffix != "-kubeconfig") {
		return nil
	}
	cluster, key := &clusterv1.Cluster{}, client.ObjectKey{Namespace: o.GetNamespace(), Name: name}
	if err := c.Client.Get(ctx, key, cluster); err != nil || !makesKubeconfig(cluster) {
		return nil
	}
	return []reconcile.Request{{NamespacedName: key}}
}

func (c *Controller) list(ctx context.Context, opts ...client.ListOption) []reconcile.Request {
	list := &clusterv1.ClusterList{}
	if err := c.Client.List(ctx, list, opts...); err != nil {
		return nil
	}
	var out []reconcile.Request
	for i := range list.Items {
		out = append(out, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&list.Items[i])})
	}
	return out
}

// memberHandler wakes the Cluster of a Machine, MachineSet, MachineDeployment or MachinePool, once for many changes. A
// member that goes over to another Cluster wakes both.
func memberHandler() handler.EventHandler {
	type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]
	add := func(o client.Object, q queue) {
		if name := labels.ClusterName(o); name != "" {
			q.AddAfter(reconcile.Request{NamespacedName: client.ObjectKey{Namespace: o.GetNamespace(), Name: name}}, coalesce)
		}
	}
	return handler.Funcs{
		CreateFunc: func(_ context.Context, e event.CreateEvent, q queue) { add(e.Object, q) },
		UpdateFunc: func(_ context.Context, e event.UpdateEvent, q queue) {
			add(e.ObjectNew, q)
			if labels.ClusterName(e.ObjectOld) != labels.ClusterName(e.ObjectNew) {
				add(e.ObjectOld, q)
			}
		},
		DeleteFunc: func(_ context.Context, e event.DeleteEvent, q queue) { add(e.Object, q) },
	}
}

// tells says whether a change of a member shows in the Cluster or matters to its deletion. A Machine's addresses, its drain
// or the counters of a MachineSet that a MachineDeployment sums up do not.
func tells(e event.UpdateEvent) bool {
	return !reflect.DeepEqual(facts(e.ObjectOld), facts(e.ObjectNew))
}

// facts is all that this controller reads of a member.
func facts(o client.Object) []any {
	list := []any{o.GetLabels(), o.GetOwnerReferences(), o.GetDeletionTimestamp().IsZero()}
	switch m := o.(type) {
	case *clusterv1.Machine:
		for _, c := range m.Status.Conditions {
			if machineFacts[c.Type] {
				list = append(list, c.Type, c.Status, c.Reason, c.Message)
			}
		}
		list = append(list, m.Status.NodeRef.Name, versionOf(m))
	case *clusterv1.MachineSet:
		if m.Labels[clusterv1.MachineDeploymentNameLabel] == "" {
			list = append(list, m.Spec.Replicas, m.Status)
		}
	case *clusterv1.MachineDeployment:
		list = append(list, m.Spec.Replicas, m.Status)
	case *clusterv1.MachinePool:
		list = append(list, m.Spec.Replicas, m.Status)
	}
	return list
}

// machineFacts are the conditions of Machines that a Cluster counts or sums up.
var machineFacts = map[string]bool{
	clusterv1.ReadyCondition: true, clusterv1.AvailableCondition: true, clusterv1.MachineUpToDateCondition: true,
	clusterv1.MachineHealthCheckSucceededCondition: true, clusterv1.MachineOwnerRemediatedCondition: true,
}
