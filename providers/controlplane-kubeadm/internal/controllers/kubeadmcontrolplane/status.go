package kubeadmcontrolplane

import (
	"slices"
	"strings"
	"time"

	"github.com/blang/semver/v4"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/conditions"
	"github.com/slipway-capi/slipway/contract/decision"
	"github.com/slipway-capi/slipway/contract/labels"
	controlplanev1 "github.com/slipway-capi/slipway/providers/controlplane-kubeadm/api/v1beta2"
)

// conclude turns the plan into a decision with the status that goes with it.
func conclude(w World, p *plan) Decision {
	d := Decision{Actions: p.actions, Problem: p.problem, Requeue: p.requeue, ask: p.ask, MachineConditions: map[string][]metav1.Condition{}}
	owned := machineConditionTypes(w.managedEtcd())
	for _, m := range w.Machines {
		for _, t := range owned {
			if c := conditions.Get(m, t); c != nil {
				d.MachineConditions[m.Name] = append(d.MachineConditions[m.Name], *c)
			}
		}
		// A verdict of this controller must be sent along for as long as it holds, or it would be taken back.
		if c := conditions.Get(m, ownerRemediated); c != nil && isVerdict(*c) {
			d.MachineConditions[m.Name] = append(d.MachineConditions[m.Name], *c)
		}
	}
	status := w.ControlPlane.Status.DeepCopy()
	count(w, status)
	for _, c := range controlPlaneConditions(w, p) {
		c.ObservedGeneration = w.ControlPlane.Generation
		setCondition(status, w.Now, c)
	}
	if !w.managedEtcd() {
		conditions.Delete(statusHolder{status}, controlplanev1.KubeadmControlPlaneEtcdClusterHealthyCondition)
	}
	if w.initialized() {
		status.Initialization = initializedFlag()
	}
	if p.problem == "" {
		status.ObservedGeneration = w.ControlPlane.Generation
	}
	status.LastRemediation = lastRemediation(w, p)
	d.Status = *status
	d.Requeue = decision.Sooner(d.Requeue, nextLook(w))
	return d
}

// isVerdict tells this controller's word on a machine that failed a health check from the mark of the health check.
func isVerdict(c metav1.Condition) bool {
	return c.Reason != clusterv1.MachineOwnerRemediatedWaitingForRemediationReason
}

// nextLook is when something changes that no event reports: etcd, and kubeadm's progress before the first Node.
func nextLook(w World) time.Duration {
	if w.deleting() {
		return 0
	}
	if w.initialized() && !w.Workload.Connected && w.graceLeft() > 0 {
		return w.graceLeft()
	}
	if w.Workload.Connected && !w.initialized() {
		return decision.Sooner(configPoll, w.Etcd.NextLook)
	}
	return w.Etcd.NextLook
}

func count(w World, status *controlplanev1.KubeadmControlPlaneStatus) {
	number := func(conditionType string) *int32 {
		n := int32(0)
		for _, m := range w.Machines {
			if conditionType == "" || conditions.IsTrue(m, conditionType) {
				n++
			}
		}
		return &n
	}
	status.Replicas = number("")
	status.ReadyReplicas = number(clusterv1.ReadyCondition)
	status.AvailableReplicas = number(clusterv1.AvailableCondition)
	status.UpToDateReplicas = number(clusterv1.MachineUpToDateCondition)
	status.Selector = selector(w.Cluster.Name)
	status.Versions = versions(w)
	status.Version = ""
	if len(status.Versions) > 0 {
		status.Version = status.Versions[0].Version
	}
}

func selector(clusterName string) string {
	return clusterv1.ClusterNameLabel + "=" + labels.Value(clusterName) + "," + clusterv1.MachineControlPlaneLabel
}

// versions counts the machines per Kubernetes version, the oldest version first.
func versions(w World) []clusterv1.StatusVersion {
	counts := map[string]int32{}
	for _, m := range w.Machines {
		version := m.Status.NodeInfo.KubeletVersion
		if version == "" {
			version = m.Spec.Version
		}
		if _, err := semver.ParseTolerant(version); err == nil {
			counts[version]++
		}
	}
	var list []clusterv1.StatusVersion
	for version, n := range counts {
		list = append(list, clusterv1.StatusVersion{Version: version, Replicas: n})
	}
	slices.SortFunc(list, func(a, b clusterv1.StatusVersion) int {
		left, _ := semver.ParseTolerant(a.Version)
		right, _ := semver.ParseTolerant(b.Version)
		if order := left.Compare(right); order != 0 {
			return order
		}
		return strings.Compare(a.Version, b.Version)
	})
	return list
}

func initializedFlag() controlplanev1.KubeadmControlPlaneInitializationStatus {
	yes := true
	return controlplanev1.KubeadmControlPlaneInitializationStatus{ControlPlaneInitialized: &yes}
}
