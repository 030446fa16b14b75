package kubeadmcontrolplane

import (
	"fmt"
	"strings"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/conditions"
	"github.com/slipway-capi/slipway/providers/controlplane-kubeadm/internal/quorum"
)

// preflight lists what forbids changing the number of machines now; victim is the machine to be removed, if any. A
// change is made only from a control plane that is healthy as a whole, so at most one thing is broken at a time.
func preflight(w World, p *plan, victim *Machine, up bool) []string {
	if len(w.Machines) == 0 {
		return nil
	}
	if topology := topologyUpgrade(w); topology != "" {
		return []string{topology}
	}
	if up && len(w.Certificates.Missing) > 0 {
		return []string{"certificates are missing"}
	}
	if up {
		if skew := versionSkew(w); skew != "" {
			return []string{skew}
		}
	}
	if deleting := w.deletingMachines(); len(deleting) > 0 {
		return []string{"waiting for machine " + names(deleting) + " to be deleted"}
	}
	var blocked []string
	for _, m := range w.Machines {
		if m == victim {
			continue
		}
		if trouble := unhealthy(w, m); trouble != "" {
			blocked = append(blocked, trouble)
		}
	}
	if len(blocked) > 0 && up && p.remediating != nil {
		return oneMore(w)
	}
	return blocked
}

// oneMore says why a machine that replaces an unhealthy one cannot be added. The others need not be healthy all: more
// of them may have failed, and the replacement is what helps.
func oneMore(w World) []string {
	if trouble := componentsWithout(w, nil); trouble != "" {
		return []string{trouble}
	}
	if !w.managedEtcd() {
		return nil
	}
	if w.Etcd.State == nil {
		return []string{"the etcd members cannot be read"}
	}
	if verdict := quorum.Add(quorumMembers(w)); !verdict.Allowed {
		return []string{verdict.Because}
	}
	return nil
}

// componentsWithout says why no working control plane would be left without a machine, or "".
func componentsWithout(w World, without *Machine) string {
	var troubles []string
	for _, m := range w.Machines {
		if m == without || m.deleting() {
			continue
		}
		trouble := notTrue(m, podConditions(w.managedEtcd()))
		if trouble == "" {
			return ""
		}
		troubles = append(troubles, trouble)
	}
	text := "no other machine has all control plane components healthy"
	if len(troubles) > 0 {
		text += ": " + strings.Join(limit(troubles, 3), "; ")
	}
	return text
}

func topologyUpgrade(w World) string {
	version := w.Cluster.Spec.Topology.Version
	if version == "" || version == w.ControlPlane.Spec.Version {
		return ""
	}
	if w.Cluster.Annotations[clusterv1.ClusterTopologyUpgradeStepAnnotation] == w.ControlPlane.Spec.Version {
		return ""
	}
	return "waiting for version " + version + " of the topology"
}

// versionSkew: API servers of one cluster may be one minor version apart, no more.
func versionSkew(w World) string {
	for _, m := range w.Machines {
		if !nearVersion(m.Spec.Version, w.ControlPlane.Spec.Version) {
			return fmt.Sprintf("machine %s has version %s, from where %s cannot be reached in one step",
				m.Name, m.Spec.Version, w.ControlPlane.Spec.Version)
		}
	}
	return ""
}

// unhealthy says what is wrong with a machine, or "" if nothing is. What is not known counts as wrong.
func unhealthy(w World, m *Machine) string {
	if m.nodeName() == "" {
		return "machine " + m.Name + " has no node yet"
	}
	return notTrue(m, componentConditions(w.managedEtcd()))
}

func notTrue(m *Machine, types []string) string {
	var wrong []string
	for _, conditionType := range types {
		if !conditions.IsTrue(m, conditionType) {
			wrong = append(wrong, conditionType)
		}
	}
	if len(wrong) == 0 {
		return ""
	}
	return "machine " + m.Name + ": " + strings.Join(wrong, ", ") + " not true"
}
