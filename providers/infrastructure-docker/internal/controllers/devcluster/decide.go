package devcluster

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/conditions"
	"github.com/slipway-capi/slipway/contract/paused"
	infrav1 "github.com/slipway-capi/slipway/providers/infrastructure-docker/api/v1beta2"
	"github.com/slipway-capi/slipway/providers/infrastructure-docker/internal/inmemory/faults"
)

var ownConditions = []string{clusterv1.ReadyCondition, clusterv1.PausedCondition, infrav1.DevClusterDockerLoadBalancerAvailableCondition}

// Decide says what to do about a DevCluster, given all that is known about it. It is pure: same world, same decision.
func Decide(w World) Decision {
	d := Decision{DevCluster: w.DevCluster.DeepCopy()}
	c := d.DevCluster
	if w.Cluster == nil && !w.deleting() {
		return d
	}
	pause := paused.Condition(w.Cluster, c)
	conditions.Set(c, pause)
	if pause.Status == metav1.ConditionTrue {
		return d
	}
	if w.deleting() {
		d.delete(w)
		return d
	}
	if !slices.Contains(c.Finalizers, infrav1.ClusterFinalizer) {
		// The finalizer is stored before anything is made outside; the write wakes us again.
		c.Finalizers = append(c.Finalizers, infrav1.ClusterFinalizer)
		return d
	}
	d.provide(w)
	return d
}

func (d *Decision) provide(w World) {
	c, yes := d.DevCluster, true
	available := metav1.Condition{Type: infrav1.DevClusterDockerLoadBalancerAvailableCondition, Status: metav1.ConditionTrue, Reason: clusterv1.AvailableReason}
	switch {
	case w.BackendErr != nil:
		d.Err = w.BackendErr
		available.Status, available.Reason, available.Message = metav1.ConditionFalse, clusterv1.NotAvailableReason, w.BackendErr.Error()
	case w.Endpoint.Port == 0:
		d.Actions = append(d.Actions, Provide{})
		available.Status, available.Reason, available.Message = metav1.ConditionFalse, clusterv1.NotAvailableReason, "The endpoint is being provided"
	default:
		if c.Spec.ControlPlaneEndpoint.Host == "" || !w.docker() {
			c.Spec.ControlPlaneEndpoint = w.Endpoint
		}
		c.Status.Initialization.Provisioned = &yes
		d.faults(w)
		if w.docker() && !w.Balanced {
			d.Actions = append(d.Actions, Balance{})
		}
	}
	if w.docker() {
		conditions.Set(c, available)
		c.Status.FailureDomains = nil
		if c.Spec.Backend.Docker != nil {
			c.Status.FailureDomains = slices.Clone(c.Spec.Backend.Docker.FailureDomains)
		}
	}
	ready := available
	ready.Type, ready.Reason = clusterv1.ReadyCondition, clusterv1.ReadyReason
	if ready.Status != metav1.ConditionTrue {
		ready.Reason = clusterv1.NotReadyReason
	}
	conditions.Set(c, ready)
}

// faults follows the plan in the annotation. One that cannot be read, which admission refuses, changes nothing.
func (d *Decision) faults(w World) {
	plan, err := faults.Parse(d.DevCluster.Annotations[infrav1.FaultsAnnotation])
	if err == nil && !w.docker() && !plan.Equal(w.Faults) {
		d.Actions = append(d.Actions, Break{Plan: plan})
	}
}

func (d *Decision) delete(w World) {
	c := d.DevCluster
	switch {
	case !slices.Contains(c.Finalizers, infrav1.ClusterFinalizer):
	case w.BackendErr != nil:
		d.Err = w.BackendErr
	case w.Gone:
		c.Finalizers = slices.DeleteFunc(c.Finalizers, func(f string) bool { return f == infrav1.ClusterFinalizer })
	default:
		d.Actions = append(d.Actions, Remove{})
		c.Finalizers = slices.DeleteFunc(c.Finalizers, func(f string) bool { return f == infrav1.ClusterFinalizer })
		if w.docker() {
			conditions.Set(c, metav1.Condition{Type: infrav1.DevClusterDockerLoadBalancerAvailableCondition, Status: metav1.ConditionFalse, Reason: clusterv1.DeletingReason})
		}
	}
}
