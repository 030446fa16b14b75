package machinedeployment

import (
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
)

var epoch = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

type worldOption func(*World)

// rollout is a deployment "md" of cluster "c" with template "b", surge 1 and unavailable 0.
func rollout(opts ...worldOption) World {
	md := &clusterv1.MachineDeployment{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "md", UID: "md-uid", Generation: 7, Finalizers: []string{clusterv1.MachineDeploymentFinalizer}}}
	md.Spec.ClusterName = "c"
	md.Spec.Replicas = ptr(int32(3))
	md.Spec.Selector.MatchLabels = map[string]string{clusterv1.MachineDeploymentNameLabel: "md"}
	md.Spec.Template.Spec = template("b")
	md.Spec.Rollout.Strategy.Type = clusterv1.RollingUpdateMachineDeploymentStrategyType
	w := World{Now: epoch, Deployment: md, Cluster: &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "c", UID: "c-uid"}}, Suffix: "abcde"}
	for _, o := range opts {
		o(&w)
	}
	return w
}

func template(name string) clusterv1.MachineSpec {
	return clusterv1.MachineSpec{ClusterName: "c", Version: "v1.37.2",
		InfrastructureRef: clusterv1.ContractVersionedObjectReference{APIGroup: "infrastructure.cluster.x-k8s.io", Kind: "FakeMachineTemplate", Name: name}}
}

func desired(n int32) worldOption { return func(w *World) { w.Deployment.Spec.Replicas = &n } }

func fencesOf(surge, unavailable string) worldOption {
	return func(w *World) {
		s, u := intstr.Parse(surge), intstr.Parse(unavailable)
		w.Deployment.Spec.Rollout.Strategy.RollingUpdate = clusterv1.MachineDeploymentRollingUpdate{MaxSurge: &s, MaxUnavailable: &u}
	}
}

func onDeleteStrategy(w *World) {
	w.Deployment.Spec.Rollout.Strategy.Type = clusterv1.OnDeleteMachineDeploymentStrategyType
}

func ofTopology(w *World) {
	w.Deployment.Labels = map[string]string{clusterv1.ClusterTopologyOwnedLabel: ""}
}

// remembers is the deployment's own revision.
func remembers(revision string) worldOption {
	return func(w *World) {
		w.Deployment.Annotations = map[string]string{}
		if revision != "" {
			w.Deployment.Annotations[clusterv1.RevisionAnnotation] = revision
		}
	}
}

func pausedRollout(w *World) { w.Deployment.Spec.Paused = ptr(true) }

func rolloutAfter(t time.Time) worldOption {
	return func(w *World) { w.Deployment.Spec.Rollout.After = metav1.NewTime(t) }
}

// set adds a MachineSet with the given template; the later it is added, the younger it is.
func set(name, infra string, spec, have, available int32) worldOption {
	return func(w *World) {
		s := newSet(*w, target{replicas: spec, revision: len(w.Sets) + 1, current: infra == "b"})
		s.Name, s.UID = name, types.UID(name+"-uid")
		s.Labels[clusterv1.MachineDeploymentUniqueLabel] = name
		s.Spec.Selector.MatchLabels[clusterv1.MachineDeploymentUniqueLabel] = name
		s.Spec.Template.Metadata.Labels[clusterv1.MachineDeploymentUniqueLabel] = name
		s.Spec.Template.Spec = template(infra)
		s.Annotations[clusterv1.RevisionAnnotation] = strconv.Itoa(len(w.Sets) + 1)
		s.CreationTimestamp = metav1.NewTime(epoch.Add(time.Duration(len(w.Sets)-100) * time.Minute))
		s.Status = clusterv1.MachineSetStatus{Replicas: &have, ReadyReplicas: &available, AvailableReplicas: &available, UpToDateReplicas: ptr(int32(0))}
		w.Sets = append(w.Sets, s)
	}
}

func oldSet(spec, have, available int32) worldOption { return set("old", "a", spec, have, available) }

func newestSet(spec, have, available int32) worldOption {
	return set("new", "b", spec, have, available)
}

func unacknowledged(w *World) {
	for _, s := range w.Sets {
		s.Generation = s.Status.ObservedGeneration + 1
	}
}

func ptr[T any](v T) *T { return &v }

// scaled lists what a decision changes about replicas: a number for each set that changes, "+" for the created one.
func scaledTo(w World, d Decision) map[string]int32 {
	out := map[string]int32{}
	for _, a := range d.Actions {
		switch a := a.(type) {
		case Create:
			out["+"] = *a.Set.Spec.Replicas
		case Update:
			if want(a.Set) != want(a.Wanted) {
				out[a.Set.Name] = want(a.Wanted)
			}
		case Delete:
			out["-"+a.Set.Name] = 0
		}
	}
	return out
}
