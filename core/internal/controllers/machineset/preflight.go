package machineset

import (
	"fmt"
	"slices"
	"sort"

	"github.com/blang/semver/v4"

	"github.com/slipway-capi/slipway/contract/accessors"
	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
)

// oldestKubelet is how many minors a kubelet may be behind the control plane.
const oldestKubelet = 3

// preflight lists what speaks against creating Machines now. Without a control plane that has a version nothing does.
func preflight(w World) ([]string, error) {
	if w.ControlPlane == nil {
		return nil, nil
	}
	contract := accessors.ControlPlane(w.ControlPlane.Contract)
	wanted, err := contract.Version().GetOr(w.ControlPlane.Unstructured, "")
	if err != nil || wanted == "" {
		return nil, err
	}
	cp, err := semver.ParseTolerant(wanted)
	if err != nil {
		return nil, fmt.Errorf("%s: spec.version: %w", accessors.Describe(w.ControlPlane.Unstructured), err)
	}
	inUse, err := contract.Versions(w.ControlPlane.Unstructured)
	if err != nil {
		return nil, err
	}
	var out []string
	on := func(check string) bool {
		return !slices.Contains(w.Skip, check) && !slices.Contains(w.Skip, clusterv1.MachineSetPreflightCheckAll)
	}
	if on(clusterv1.MachineSetPreflightCheckControlPlaneIsStable) {
		out = append(out, unstable(w, wanted, inUse)...)
	}
	if w.Set.Spec.Template.Spec.Version != "" {
		own, err := semver.ParseTolerant(w.Set.Spec.Template.Spec.Version)
		if err != nil {
			return nil, fmt.Errorf("spec.template.spec.version: %w", err)
		}
		out = append(out, skew(w, own, cp, on)...)
	}
	sort.Strings(out)
	return out, nil
}

func unstable(w World, wanted string, inUse []clusterv1.StatusVersion) []string {
	name := accessors.Describe(w.ControlPlane.Unstructured)
	switch {
	case len(inUse) == 0:
		return []string{fmt.Sprintf("%s is provisioning (%q preflight check failed)", name, clusterv1.MachineSetPreflightCheckControlPlaneIsStable)}
	case inUse[0].Version != wanted:
		return []string{fmt.Sprintf("%s is upgrading to %s (%q preflight check failed)", name, wanted, clusterv1.MachineSetPreflightCheckControlPlaneIsStable)}
	}
	if w.Cluster != nil && w.Cluster.Spec.Topology.Version != "" && w.Cluster.Spec.Topology.Version != wanted &&
		w.Cluster.Annotations[clusterv1.ClusterTopologyUpgradeStepAnnotation] != wanted {
		return []string{fmt.Sprintf("%s has a pending version upgrade to %s (%q preflight check failed)", name, w.Cluster.Spec.Topology.Version, clusterv1.MachineSetPreflightCheckControlPlaneIsStable)}
	}
	return nil
}

func skew(w World, own, cp semver.Version, on func(string) bool) []string {
	var out []string
	say := func(check, format string, args ...any) {
		if on(check) {
			out = append(out, fmt.Sprintf(format, args...)+fmt.Sprintf(" (%q preflight check failed)", check))
		}
	}
	if own.Major == cp.Major && (own.Minor > cp.Minor || own.Minor+oldestKubelet < cp.Minor) {
		say(clusterv1.MachineSetPreflightCheckKubernetesVersionSkew, "version %s does not go with control plane version %s: it may be up to %d minors older, never newer", own, cp, oldestKubelet)
	}
	if w.Set.Spec.Template.Spec.Bootstrap.ConfigRef.Kind == "KubeadmConfigTemplate" && own.Minor != cp.Minor {
		say(clusterv1.MachineSetPreflightCheckKubeadmVersionSkew, "version %s and control plane version %s differ in the minor version, which kubeadm refuses", own, cp)
	}
	if w.Cluster != nil && w.Cluster.Spec.Topology.ClassRef.Name != "" && !own.EQ(cp) {
		say(clusterv1.MachineSetPreflightCheckControlPlaneVersionSkew, "version %s differs from control plane version %s", own, cp)
	}
	return out
}
