package devmachinepool

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/conditions"
	infrav1 "github.com/slipway-capi/slipway/providers/infrastructure-docker/api/v1beta2"
	"github.com/slipway-capi/slipway/providers/infrastructure-docker/internal/docker"
)

var ownConditions = []string{clusterv1.ReadyCondition, clusterv1.PausedCondition, infrav1.ReplicasReadyCondition}

// describe reports the members.
func (d *Decision) describe(w World) {
	p, yes := d.Pool, true
	p.Spec.ProviderID = "docker:////" + docker.ContainerName(w.Cluster.Name, p.Name)
	if w.inMemory() {
		p.Spec.ProviderID = "in-memory://" + p.Name
	}
	want := w.wanted()
	reason, message := waits(w)
	d.report(w, want, reason, message)
	if len(p.Spec.ProviderIDList) == want && reason == "" && !w.Unseen {
		p.Status.Ready = &yes // for good: a pool that grows later is there all the same
	}
	p.Status.ObservedGeneration = &p.Generation
}

// report tells which members there are. A reason, if given, says why there are not as many as wanted.
func (d *Decision) report(w World, want int, reason, message string) {
	p, replicas, ready := d.Pool, int32(len(w.Members)), 0
	p.Status.InfrastructureMachineKind = "DevMachine"
	p.Status.Replicas = &replicas
	p.Status.Instances, p.Spec.ProviderIDList = nil, nil
	for _, m := range w.Members {
		if conditions.IsTrue(m.Dev, clusterv1.ReadyCondition) && !m.leaving() {
			ready++
		}
		p.Status.Instances = append(p.Status.Instances, instance(w, m))
		if m.Dev.Spec.ProviderID != "" {
			p.Spec.ProviderIDList = append(p.Spec.ProviderIDList, m.Dev.Spec.ProviderID)
		}
	}
	slices.Sort(p.Spec.ProviderIDList)
	c := metav1.Condition{Type: infrav1.ReplicasReadyCondition, Status: metav1.ConditionTrue, Reason: clusterv1.ReadyReason}
	switch {
	case reason != "":
		c.Status, c.Reason, c.Message = metav1.ConditionFalse, reason, message
	case ready < want || len(w.Members) != want:
		c.Status, c.Reason, c.Message = metav1.ConditionFalse, clusterv1.NotReadyReason, fmt.Sprintf("%d machines wanted, %d exist, %d are ready", want, len(w.Members), ready)
	}
	conditions.Set(p, c)
	conditions.Set(p, conditions.Summary(p, clusterv1.ReadyCondition, conditions.SummaryOptions{For: []string{infrav1.ReplicasReadyCondition}}))
}

func instance(w World, m Member) infrav1.DevMachinePoolInstanceStatus {
	ready := conditions.IsTrue(m.Dev, clusterv1.ReadyCondition)
	out := infrav1.DevMachinePoolInstanceStatus{
		InstanceName: m.Dev.Name, ProviderID: m.Dev.Spec.ProviderID, Addresses: m.Dev.Status.Addresses, Ready: &ready,
		Version: m.Dev.Annotations[infrav1.DevMachineVersionAnnotation],
	}
	if !w.inMemory() && w.Cluster != nil {
		out.InstanceName = docker.ContainerName(w.Cluster.Name, m.Dev.Name)
	}
	return out
}
