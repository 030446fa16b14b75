package cluster

import (
	"cmp"

	"github.com/slipway-capi/slipway/contract/accessors"
	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/conditions"
	"github.com/slipway-capi/slipway/contract/labels"
	"github.com/slipway-capi/slipway/core/internal/rollup"
)

// tally adds numbers up that may be unknown; it is unknown while none was known.
type tally struct {
	desired, replicas, ready, available, upToDate *int32

	versions []clusterv1.StatusVersion
}

func (t *tally) known() bool {
	return t.desired != nil || t.replicas != nil || t.ready != nil || t.available != nil || t.upToDate != nil || len(t.versions) > 0
}

// versionOf is what a Machine runs, or is to run while it has no Node.
func versionOf(m *clusterv1.Machine) []clusterv1.StatusVersion {
	v := cmp.Or(m.Status.NodeInfo.KubeletVersion, m.Spec.Version)
	if v == "" {
		return nil
	}
	return []clusterv1.StatusVersion{{Version: v, Replicas: 1}}
}

func plus(sum **int32, n *int32) {
	if n == nil {
		return
	}
	total := *n
	if *sum != nil {
		total += **sum
	}
	*sum = &total
}

func (t *tally) add(desired, replicas, ready, available, upToDate *int32) {
	plus(&t.desired, desired)
	plus(&t.replicas, replicas)
	plus(&t.ready, ready)
	plus(&t.available, available)
	plus(&t.upToDate, upToDate)
}

func (t *tally) machine(m *clusterv1.Machine) {
	count := func(conditionType string) *int32 {
		n := int32(0)
		if conditions.IsTrue(m, conditionType) {
			n = 1
		}
		return &n
	}
	one := int32(1)
	t.versions = append(t.versions, versionOf(m)...)
	t.add(&one, &one, count(clusterv1.ReadyCondition), count(clusterv1.AvailableCondition), count(clusterv1.MachineUpToDateCondition))
}

// counters fills status.controlPlane and status.workers.
func (d *Decision) counters(w World) {
	if w.Descendants.Err != nil {
		return // keep the last known numbers
	}
	d.controlPlaneCounters(w)
	var t tally
	for _, md := range w.Descendants.MachineDeployments {
		t.add(md.Spec.Replicas, md.Status.Replicas, md.Status.ReadyReplicas, md.Status.AvailableReplicas, md.Status.UpToDateReplicas)
		t.versions = append(t.versions, md.Status.Versions...)
	}
	for _, p := range w.Descendants.MachinePools {
		t.add(p.Spec.Replicas, p.Status.Replicas, p.Status.ReadyReplicas, p.Status.AvailableReplicas, p.Status.UpToDateReplicas)
		t.versions = append(t.versions, p.Status.Versions...)
	}
	for _, ms := range w.Descendants.MachineSets {
		if ms.Labels[clusterv1.MachineDeploymentNameLabel] == "" {
			t.add(ms.Spec.Replicas, ms.Status.Replicas, ms.Status.ReadyReplicas, ms.Status.AvailableReplicas, ms.Status.UpToDateReplicas)
			t.versions = append(t.versions, ms.Status.Versions...)
		}
	}
	for _, m := range w.Descendants.Machines {
		if !labels.IsControlPlane(m.Labels) && m.Labels[clusterv1.MachineSetNameLabel] == "" && m.Labels[clusterv1.MachinePoolNameLabel] == "" {
			t.machine(m)
		}
	}
	d.Cluster.Status.Workers = nil
	if t.known() {
		d.Cluster.Status.Workers = &clusterv1.WorkersStatus{DesiredReplicas: t.desired, Replicas: t.replicas, ReadyReplicas: t.ready,
			AvailableReplicas: t.available, UpToDateReplicas: t.upToDate, Versions: rollup.Versions(t.versions)}
	}
}

func (d *Decision) controlPlaneCounters(w World) {
	var t tally
	switch cp := w.ControlPlane.Object; {
	case cp != nil:
		contract := accessors.ControlPlane(cp.Contract)
		n, err := contract.Counters(cp.Unstructured)
		d.fail(err)
		t.add(n.Desired, n.Replicas, n.Ready, n.Available, n.UpToDate)
		t.versions, err = contract.Versions(cp.Unstructured)
		d.fail(err)
	case w.ControlPlane.Err != nil:
		return
	case d.Cluster.Spec.ControlPlaneRef.Name == "":
		for _, m := range w.Descendants.Machines {
			if labels.IsControlPlane(m.Labels) {
				t.machine(m)
			}
		}
		t.versions = rollup.Versions(t.versions)
	}
	d.Cluster.Status.ControlPlane = nil
	if t.known() {
		d.Cluster.Status.ControlPlane = &clusterv1.ClusterControlPlaneStatus{DesiredReplicas: t.desired, Replicas: t.replicas, ReadyReplicas: t.ready,
			AvailableReplicas: t.available, UpToDateReplicas: t.upToDate, Versions: t.versions}
	}
}
