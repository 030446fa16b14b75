package kubeadmcontrolplane

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	k8slabels "k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/slipway-capi/slipway/contract/clustercache"
)

const (
	kubeSystem        = "kube-system"
	kubeadmConfigName = "kubeadm-config"
	componentLabel    = "component"
)

var staticPods = client.MatchingLabels{"tier": "control-plane"}

// RemoteCache narrows what is kept of a workload cluster: of Pods only the static ones of the control plane.
func RemoteCache() map[client.Object]cache.ByObject {
	return map[client.Object]cache.ByObject{
		&corev1.Pod{}: {
			Namespaces: map[string]cache.Config{kubeSystem: {LabelSelector: k8slabels.SelectorFromSet(k8slabels.Set(staticPods))}},
			Transform:  trimPod,
		},
	}
}

// observeWorkload reads Nodes and static pods from the connection's cache. Trouble there is part of the world, not an
// error: the control plane must be reported on also while its cluster cannot be reached.
func (c *Controller) observeWorkload(ctx context.Context, w *World) {
	key := client.ObjectKeyFromObject(w.Cluster)
	w.Workload.LastSuccess = c.Clusters.Health(key).LastProbeSuccess
	w.Workload.Watched, w.Workload.Grace = c.started, c.ConditionsGrace
	remote, err := c.Clusters.Client(ctx, key)
	if err != nil {
		return
	}
	w.Workload.Connected = true
	if flag := w.ControlPlane.Status.Initialization.ControlPlaneInitialized; flag == nil || !*flag {
		w.Workload.ConfigReadable = c.configReadable(ctx, key)
	}
	if err := c.watchWorkload(ctx, w); err != nil {
		w.Workload.Problem = "the Nodes of the workload cluster cannot be watched"
		return
	}
	if err := observeNodes(ctx, remote, w); err != nil {
		w.Workload.Problem = "the Nodes of the workload cluster cannot be read"
		return
	}
	if err := observePods(ctx, remote, w); err != nil {
		w.Workload.Problem = "the static pods of the workload cluster cannot be read"
	}
}

// configReadable says whether kubeadm has uploaded its configuration, which it does when the API server works.
func (c *Controller) configReadable(ctx context.Context, key client.ObjectKey) bool {
	direct, err := c.Clusters.UncachedClient(ctx, key)
	if err != nil {
		return false
	}
	config := &corev1.ConfigMap{}
	return direct.Get(ctx, client.ObjectKey{Namespace: kubeSystem, Name: kubeadmConfigName}, config) == nil
}

func observeNodes(ctx context.Context, remote client.Reader, w *World) error {
	list := &corev1.NodeList{}
	if err := remote.List(ctx, list, client.HasLabels{controlPlaneNodeLabel}); err != nil {
		return fmt.Errorf("listing Nodes: %w", err)
	}
	w.Workload.NodesKnown = true
	byName := map[string]*corev1.Node{}
	for i := range list.Items {
		byName[list.Items[i].Name] = &list.Items[i]
	}
	for _, m := range w.Machines {
		if m.nodeName() == "" {
			continue
		}
		m.Node = byName[m.nodeName()]
		delete(byName, m.nodeName())
		if m.Node == nil {
			node := &corev1.Node{}
			err := remote.Get(ctx, client.ObjectKey{Name: m.nodeName()}, node)
			if client.IgnoreNotFound(err) != nil {
				return fmt.Errorf("reading Node %s: %w", m.nodeName(), err)
			}
			if err == nil {
				m.Node = node
			}
		}
	}
	for name := range byName {
		w.Workload.ForeignNodes = append(w.Workload.ForeignNodes, name)
	}
	slices.Sort(w.Workload.ForeignNodes)
	return nil
}

func observePods(ctx context.Context, remote client.Reader, w *World) error {
	list := &corev1.PodList{}
	if err := remote.List(ctx, list, client.InNamespace(kubeSystem), staticPods); err != nil {
		return fmt.Errorf("listing static pods: %w", err)
	}
	byName := map[string]*corev1.Pod{}
	for i := range list.Items {
		byName[list.Items[i].Name] = &list.Items[i]
	}
	for _, m := range w.Machines {
		m.Pods = map[string]*corev1.Pod{}
		for _, component := range components {
			if pod := byName[component.name+"-"+m.nodeName()]; pod != nil {
				m.Pods[component.name] = pod
			}
		}
	}
	return nil
}

// watchWorkload asks for the events of control plane Nodes and static pods; asking again costs nothing.
func (c *Controller) watchWorkload(ctx context.Context, w *World) error {
	request := reconcile.Request{NamespacedName: client.ObjectKeyFromObject(w.ControlPlane)}
	wake := handler.EnqueueRequestsFromMapFunc(func(context.Context, client.Object) []reconcile.Request {
		return []reconcile.Request{request}
	})
	key := client.ObjectKeyFromObject(w.Cluster)
	for _, spec := range []clustercache.WatchSpec{
		{Name: "controlplane-nodes", Object: &corev1.Node{}, Predicates: []predicate.Predicate{controlPlaneNodes()}},
		{Name: "controlplane-pods", Object: &corev1.Pod{}, Predicates: []predicate.Predicate{podsThatMatter()}},
	} {
		spec.Watcher, spec.Handler = c.controller, wake
		if err := c.Clusters.Watch(ctx, key, spec); err != nil {
			return err
		}
	}
	return nil
}

// controlPlaneNodes passes what changes the judgement of a control plane Node. Worker Nodes and heartbeats do not.
func controlPlaneNodes() predicate.Predicate {
	isControlPlane := func(object client.Object) bool {
		_, ok := object.GetLabels()[controlPlaneNodeLabel]
		return ok
	}
	return predicate.Funcs{
		CreateFunc: func(e event.CreateEvent) bool { return isControlPlane(e.Object) },
		DeleteFunc: func(e event.DeleteEvent) bool { return isControlPlane(e.Object) },
		UpdateFunc: func(e event.UpdateEvent) bool {
			before, okBefore := e.ObjectOld.(*corev1.Node)
			after, okAfter := e.ObjectNew.(*corev1.Node)
			if !okBefore || !okAfter || (!isControlPlane(before) && !isControlPlane(after)) {
				return false
			}
			return nodeSummary(before) != nodeSummary(after)
		},
	}
}

func nodeSummary(node *corev1.Node) string {
	var parts []string
	for _, taint := range node.Spec.Taints {
		parts = append(parts, taint.ToString())
	}
	for _, c := range node.Status.Conditions {
		if c.Type == corev1.NodeReady {
			parts = append(parts, "ready="+string(c.Status))
		}
	}
	_, labelled := node.Labels[controlPlaneNodeLabel]
	return fmt.Sprint(labelled, node.Spec.ProviderID, strings.Join(parts, ","))
}

// podsThatMatter passes pods whose judgement changes.
func podsThatMatter() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		before, okBefore := e.ObjectOld.(*corev1.Pod)
		after, okAfter := e.ObjectNew.(*corev1.Pod)
		if !okBefore || !okAfter {
			return false
		}
		a, b := judgePod(before, "pod"), judgePod(after, "pod")
		return a.Status != b.Status || a.Reason != b.Reason || a.Message != b.Message
	}}
}

// trimPod keeps what judgePod reads.
func trimPod(object any) (any, error) {
	if pod, ok := object.(*corev1.Pod); ok {
		pod.ManagedFields, pod.Annotations = nil, nil
		pod.Spec = corev1.PodSpec{NodeName: pod.Spec.NodeName}
	}
	return object, nil
}
