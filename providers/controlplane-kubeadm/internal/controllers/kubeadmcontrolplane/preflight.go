package kubeadmcontrolplane

import (
	"fmt"
	"strings"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/conditions"
)

// preflight lists what forbids changing the number of machines now; victim is the machine to be removed, if any. A
// change is made only from a control plane that is healthy as a whole, so at most one thing is broken at a time.
func preflight(w World, victim *Machine, up bool) []string {
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
	return blocked
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
	var wrong []string
	for _, conditionType := range componentConditions(w.managedEtcd()) {
		if !conditions.IsTrue(m, conditionType) {
			wrong = append(wrong, conditionType)
		}
	}
	if len(wrong) == 0 {
		return ""
	}
	return "machine " + m.Name + ": " + strings.Join(wrong, ", ") + " not true"
}
