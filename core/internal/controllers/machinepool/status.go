package machinepool

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/conditions"
	"github.com/slipway-capi/slipway/core/internal/rollup"
)

// tally counts the members by what is known of them.
type tally struct{ ready, available, upToDate int32 }

// count fills in the counters and versions: from the Machines where members have such, else from their Nodes. While the
// Nodes cannot be asked the last known numbers stay.
func (d *Decision) count(w World) {
	status := &d.Pool.Status
	var t tally
	var versions []string
	switch {
	case w.machines() && w.Members.Err == nil:
		t, versions = ofMachines(w.Members.Machines)
	case !w.machines() && w.Nodes.Connected && w.Nodes.Err == nil:
		t, versions = d.ofNodes(w)
	default:
		return
	}
	status.ReadyReplicas, status.AvailableReplicas, status.UpToDateReplicas = &t.ready, &t.available, &t.upToDate
	status.Versions = versionsOf(d.Pool, versions)
}

func ofMachines(machines []*clusterv1.Machine) (t tally, versions []string) {
	for _, m := range machines {
		for kind, n := range map[string]*int32{clusterv1.ReadyCondition: &t.ready, clusterv1.AvailableCondition: &t.available, clusterv1.MachineUpToDateCondition: &t.upToDate} {
			if conditions.IsTrue(m, kind) {
				*n++
			}
		}
		versions = append(versions, versionOf(m))
	}
	return t, versions
}

// ofNodes counts Nodes; one is available when it has been ready for minReadySeconds, and the exact time of that is known.
func (d *Decision) ofNodes(w World) (t tally, versions []string) {
	wait := time.Duration(0)
	if s := d.Pool.Spec.Template.Spec.MinReadySeconds; s != nil {
		wait = time.Duration(*s) * time.Second
	}
	for _, n := range d.memberNodes(w) {
		versions = append(versions, n.Status.NodeInfo.KubeletVersion)
		if !outdated(n.Status.NodeInfo.KubeletVersion, d.Pool.Spec.Template.Spec.Version) {
			t.upToDate++
		}
		ready := readyCondition(n)
		if ready == nil || ready.Status != corev1.ConditionTrue {
			continue
		}
		t.ready++
		if left := wait - w.Now.Sub(ready.LastTransitionTime.Time); left > 0 {
			d.look(left)
		} else {
			t.available++
		}
	}
	return t, versions
}

// memberNodes are the Nodes of members, in the order of the provider IDs.
func (d *Decision) memberNodes(w World) []*corev1.Node {
	var out []*corev1.Node
	for _, id := range d.Pool.Spec.ProviderIDList {
		if found := w.Nodes.ByProviderID[id]; len(found) == 1 {
			out = append(out, found[0])
		}
	}
	return out
}

func readyCondition(n *corev1.Node) *corev1.NodeCondition {
	for i := range n.Status.Conditions {
		if n.Status.Conditions[i].Type == corev1.NodeReady {
			return &n.Status.Conditions[i]
		}
	}
	return nil
}

// versionsOf counts versions; members without a Node count with the version that they are made for.
func versionsOf(p *clusterv1.MachinePool, known []string) []clusterv1.StatusVersion {
	var list []clusterv1.StatusVersion
	add := func(version string, n int32) {
		if version == "" {
			version = p.Spec.Template.Spec.Version
		}
		if version != "" && n > 0 {
			list = append(list, clusterv1.StatusVersion{Version: version, Replicas: n})
		}
	}
	for _, v := range known {
		add(v, 1)
	}
	if p.Status.Replicas != nil {
		add("", *p.Status.Replicas-int32(len(known)))
	}
	return rollup.Versions(list)
}

// phaseOf is a word for people; nothing decides on it.
func phaseOf(w World, p *clusterv1.MachinePool) string {
	have, want, joined := int32(0), wanted(p), int32(len(p.Status.NodeRefs))
	if p.Status.Replicas != nil {
		have = *p.Status.Replicas
	}
	switch {
	case w.deleting():
		return phaseDeleting
	case !isTrue(p.Status.Initialization.InfrastructureProvisioned) && isTrue(p.Status.Initialization.BootstrapDataSecretCreated):
		return phaseProvisioning
	case !isTrue(p.Status.Initialization.InfrastructureProvisioned):
		return phasePending
	case joined == 0 && want > 0:
		return phaseProvisioned
	case replicasManaged(p) && joined != want:
		return phaseScaling
	case have > want || joined > want:
		return phaseScalingDown
	case have < want || joined < want:
		return phaseScalingUp
	}
	return phaseRunning
}

// The phases, as status.phase has them.
const (
	phasePending      = "Pending"
	phaseProvisioning = "Provisioning"
	phaseProvisioned  = "Provisioned"
	phaseRunning      = "Running"
	phaseScalingUp    = "ScalingUp"
	phaseScalingDown  = "ScalingDown"
	phaseScaling      = "Scaling"
	phaseDeleting     = "Deleting"
)
