package kubeadmcontrolplane

import (
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/conditions"
	"github.com/slipway-capi/slipway/contract/paused"
	controlplanev1 "github.com/slipway-capi/slipway/providers/controlplane-kubeadm/api/v1beta2"
)

// ownedConditions are all the conditions that this controller reports on a control plane.
var ownedConditions = []string{
	clusterv1.AvailableCondition,
	controlplanev1.KubeadmControlPlaneInitializedCondition,
	controlplanev1.KubeadmControlPlaneCertificatesAvailableCondition,
	controlplanev1.KubeadmControlPlaneEtcdClusterHealthyCondition,
	controlplanev1.KubeadmControlPlaneControlPlaneComponentsHealthyCondition,
	controlplanev1.KubeadmControlPlaneAddonsUpToDateCondition,
	clusterv1.MachinesReadyCondition, clusterv1.MachinesUpToDateCondition,
	clusterv1.RollingOutCondition, clusterv1.ScalingUpCondition, clusterv1.ScalingDownCondition,
	clusterv1.RemediatingCondition, clusterv1.DeletingCondition, clusterv1.PausedCondition,
}

// youngMachine is the age under which a machine without UpToDate condition is left out: it was not looked at yet.
const youngMachine = 10 * time.Second

// longDeletion is how long a deletion may take before it is told in the control plane's conditions.
const longDeletion = 15 * time.Minute

// statusHolder lets the functions of package conditions work on a status alone.
type statusHolder struct {
	status *controlplanev1.KubeadmControlPlaneStatus
}

func (h statusHolder) GetConditions() []metav1.Condition     { return h.status.Conditions }
func (h statusHolder) SetConditions(list []metav1.Condition) { h.status.Conditions = list }

func setCondition(status *controlplanev1.KubeadmControlPlaneStatus, now time.Time, c metav1.Condition) {
	if c.LastTransitionTime.IsZero() {
		c.LastTransitionTime = metav1.NewTime(now.Truncate(time.Second))
	}
	conditions.Set(statusHolder{status}, c)
}

func controlPlaneConditions(w World, p *plan) []metav1.Condition {
	list := []metav1.Condition{
		initializedCondition(w), certificatesCondition(w), componentsCondition(w),
		machinesReadyCondition(w), machinesUpToDateCondition(w),
		rollingOutCondition(w, p), scalingUpCondition(w, p), scalingDownCondition(w, p),
		remediatingCondition(w, p), deletingCondition(w), paused.Condition(w.Cluster, w.ControlPlane),
	}
	if p.addons != nil {
		list = append(list, addonsCondition(p.addons))
	}
	if w.managedEtcd() {
		list = append(list, etcdClusterCondition(w))
	}
	return append(list, availableCondition(w))
}

func initializedCondition(w World) metav1.Condition {
	const t = controlplanev1.KubeadmControlPlaneInitializedCondition
	if w.initialized() {
		return positive(t, controlplanev1.KubeadmControlPlaneInitializedReason, "")
	}
	return negative(t, controlplanev1.KubeadmControlPlaneNotInitializedReason, "")
}

func certificatesCondition(w World) metav1.Condition {
	const t = controlplanev1.KubeadmControlPlaneCertificatesAvailableCondition
	switch {
	case w.Certificates.Problem != "":
		return unknown(t, clusterv1.InternalErrorReason, w.Certificates.Problem)
	case len(w.Certificates.Missing) > 0 && w.initialized():
		return negative(t, clusterv1.NotAvailableReason, "certificates are missing: "+missingPurposes(w))
	case len(w.Certificates.Missing) > 0:
		return negative(t, clusterv1.NotAvailableReason, "certificates are being generated: "+missingPurposes(w))
	}
	return positive(t, clusterv1.AvailableReason, "")
}

func missingPurposes(w World) string {
	var list []string
	for _, purpose := range w.Certificates.Missing {
		list = append(list, string(purpose))
	}
	return listOf(list)
}

// combine makes one condition of the health of all machines: any False wins over Unknown over True.
func combine(w World, t string, types []string, extra []string) metav1.Condition {
	const (
		healthy, notHealthy = controlplanev1.KubeadmControlPlaneEtcdClusterHealthyReason, controlplanev1.KubeadmControlPlaneEtcdClusterNotHealthyReason
		healthUnknown       = controlplanev1.KubeadmControlPlaneEtcdClusterHealthUnknownReason
	)
	switch {
	case !w.initialized():
		return unknown(t, clusterv1.InspectionFailedReason, "waiting for the control plane to be initialized")
	case !w.Workload.Connected && w.graceLeft() <= 0:
		return unknown(t, clusterv1.ConnectionDownReason, "there is no connection to the workload cluster")
	case w.Workload.Problem != "":
		return unknown(t, clusterv1.InspectionFailedReason, w.Workload.Problem)
	case len(w.Machines) == 0:
		return unknown(t, healthUnknown, "there are no machines")
	}
	bad, unsure := troubles(w, types)
	bad = append(bad, extra...)
	switch {
	case len(bad) > 0:
		return negative(t, notHealthy, strings.Join(bad, "\n"))
	case len(unsure) > 0:
		return unknown(t, healthUnknown, strings.Join(unsure, "\n"))
	}
	return positive(t, healthy, "")
}

// troubles groups machines by what is wrong with them, the most frequent trouble first.
func troubles(w World, types []string) (bad, unsure []string) {
	badBy, unsureBy := map[string][]string{}, map[string][]string{}
	for _, m := range w.Machines {
		if m.deleting() {
			continue
		}
		for _, t := range types {
			c := conditions.Get(m, t)
			switch {
			case c == nil, c.Status == metav1.ConditionUnknown && m.Spec.ProviderID == "":
			case c.Status == metav1.ConditionFalse:
				badBy[t+": "+c.Message] = append(badBy[t+": "+c.Message], m.Name)
			case c.Status == metav1.ConditionUnknown:
				unsureBy[t+": "+c.Message] = append(unsureBy[t+": "+c.Message], m.Name)
			}
		}
	}
	return grouped(badBy), grouped(unsureBy)
}

func grouped(by map[string][]string) []string {
	keys := make([]string, 0, len(by))
	for key := range by {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b string) int {
		if d := len(by[b]) - len(by[a]); d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	lines := make([]string, 0, len(keys))
	for _, key := range keys {
		lines = append(lines, fmt.Sprintf("* Machine %s: %s", strings.Join(limit(by[key], 3), ", "), key))
	}
	return lines
}

func componentsCondition(w World) metav1.Condition {
	var extra []string
	if w.provisioning() == 0 && len(w.Orphans) == 0 {
		for _, node := range w.Workload.ForeignNodes {
			extra = append(extra, "* Control plane Node "+node+" has no Machine")
		}
	}
	var types []string
	for _, c := range components {
		if !c.etcd || w.managedEtcd() {
			types = append(types, c.condition)
		}
	}
	return combine(w, controlplanev1.KubeadmControlPlaneControlPlaneComponentsHealthyCondition, types, extra)
}

func etcdClusterCondition(w World) metav1.Condition {
	var extra []string
	if w.Etcd.State != nil && w.provisioning() == 0 {
		for _, member := range w.Etcd.State.Members {
			if w.machineOnNode(member.Name) == nil {
				extra = append(extra, fmt.Sprintf("* Etcd member %q has no Machine", member.Name))
			}
		}
	}
	return combine(w, controlplanev1.KubeadmControlPlaneEtcdClusterHealthyCondition, []string{etcdMemberHealthy}, extra)
}

func sources(w World, keep func(*Machine) bool) []conditions.Source {
	var list []conditions.Source
	for _, m := range w.Machines {
		if keep == nil || keep(m) {
			list = append(list, conditions.Of("Machine", m.Machine))
		}
	}
	return list
}

func machinesReadyCondition(w World) metav1.Condition {
	return conditions.Aggregate(sources(w, nil), clusterv1.ReadyCondition, clusterv1.MachinesReadyCondition, conditions.AggregateOptions{
		Reasons: conditions.Reasons{True: clusterv1.ReadyReason, False: clusterv1.NotReadyReason, Unknown: clusterv1.ReadyUnknownReason},
		None:    &conditions.Fallback{Status: metav1.ConditionTrue, Reason: clusterv1.NoReplicasReason},
	})
}

func machinesUpToDateCondition(w World) metav1.Condition {
	known := func(m *Machine) bool {
		return conditions.Has(m, clusterv1.MachineUpToDateCondition) || w.Now.Sub(m.CreationTimestamp.Time) >= youngMachine
	}
	return conditions.Aggregate(sources(w, known), clusterv1.MachineUpToDateCondition, clusterv1.MachinesUpToDateCondition, conditions.AggregateOptions{
		Reasons: conditions.Reasons{True: clusterv1.UpToDateReason, False: clusterv1.NotUpToDateReason, Unknown: clusterv1.UpToDateUnknownReason},
		None:    &conditions.Fallback{Status: metav1.ConditionTrue, Reason: clusterv1.NoReplicasReason},
	})
}

func rollingOutCondition(w World, p *plan) metav1.Condition {
	count, causes := 0, []string{}
	for _, m := range w.Machines {
		list := outdated(w, m)
		if m.deleting() || len(list) == 0 {
			continue
		}
		count++
		for _, c := range list {
			if line := "* " + c.short; !slices.Contains(causes, line) {
				causes = append(causes, line)
			}
		}
	}
	if count == 0 {
		return negative(clusterv1.RollingOutCondition, clusterv1.NotRollingOutReason, "")
	}
	slices.SortStableFunc(causes, func(a, b string) int { return rank(!isVersion(a)) - rank(!isVersion(b)) })
	message := fmt.Sprintf("%d not up-to-date of %d machines\n%s", count, len(w.Machines), strings.Join(causes, "\n"))
	if len(p.blocked) > 0 {
		message += "\nwaiting for:\n" + bullets(limit(p.blocked, 5))
	}
	return positive(clusterv1.RollingOutCondition, clusterv1.RollingOutReason, message)
}

// addonsCondition says whether kube-proxy and CoreDNS run from the wanted images. It stays as it was while they are not
// looked at.
func addonsCondition(report *addonReport) metav1.Condition {
	const t = controlplanev1.KubeadmControlPlaneAddonsUpToDateCondition
	switch {
	case len(report.troubles) > 0:
		return negative(t, clusterv1.NotUpToDateReason, bullets(report.troubles))
	case len(report.pending) > 0:
		return negative(t, clusterv1.NotUpToDateReason, "updating "+strings.Join(report.pending, ", "))
	}
	return positive(t, clusterv1.UpToDateReason, "")
}

func isVersion(line string) bool { return strings.HasPrefix(line, "* Version ") }

func scalingUpCondition(w World, p *plan) metav1.Condition {
	const t = clusterv1.ScalingUpCondition
	have, want := len(w.Machines), w.replicas()
	if w.ControlPlane.Spec.Replicas == nil {
		return unknown(t, clusterv1.WaitingForReplicasSetReason, "spec.replicas is not set")
	}
	if have >= want || w.deleting() {
		message := ""
		if w.Template.Missing {
			message = "Scaling up would be blocked: " + templateTrouble(w)
		}
		return negative(t, clusterv1.NotScalingUpReason, message)
	}
	message := fmt.Sprintf("Scaling up from %d to %d replicas", have, want)
	if waits := waitingFor(w, p); len(waits) > 0 {
		message += " is waiting for:\n* " + strings.Join(waits, "\n* ")
	}
	return positive(t, clusterv1.ScalingUpReason, message)
}

func waitingFor(w World, p *plan) []string {
	switch {
	case !w.infrastructureReady():
		return []string{"the cluster infrastructure to be provisioned"}
	case !w.endpointSet():
		return []string{"the control plane endpoint to be set"}
	case w.Template.Missing:
		return []string{templateTrouble(w)}
	}
	return limit(p.blocked, 5)
}

func scalingDownCondition(w World, p *plan) metav1.Condition {
	const t = clusterv1.ScalingDownCondition
	have, want := len(w.Machines), w.replicas()
	switch {
	case w.ControlPlane.Spec.Replicas == nil:
		return unknown(t, clusterv1.WaitingForReplicasSetReason, "spec.replicas is not set")
	case w.deleting():
		want = 0
	}
	if have <= want {
		return negative(t, clusterv1.NotScalingDownReason, "")
	}
	message := fmt.Sprintf("Scaling down from %d to %d replicas", have, want)
	waits := append(limit(p.blocked, 5), hangingDeletions(w)...)
	if len(waits) > 0 {
		message += " is waiting for:\n" + bullets(waits)
	}
	return positive(t, clusterv1.ScalingDownReason, message)
}

// hangingDeletions tells of machines whose deletion takes suspiciously long what the core says about it.
func hangingDeletions(w World) []string {
	var lines []string
	for _, m := range w.deletingMachines() {
		if w.Now.Sub(m.DeletionTimestamp.Time) < longDeletion {
			continue
		}
		line := "machine " + m.Name + ", which has been deleted for more than 15 minutes"
		if message := conditions.Message(m, clusterv1.DeletingCondition); message != "" {
			line += ": " + message
		}
		lines = append(lines, line)
	}
	return lines
}

func remediatingCondition(w World, p *plan) metav1.Condition {
	const t = clusterv1.RemediatingCondition
	var waiting, untouched []string
	for _, m := range w.Machines {
		switch {
		case marked(m):
			waiting = append(waiting, m.Name)
		case conditions.IsFalse(m, clusterv1.MachineHealthCheckSucceededCondition):
			untouched = append(untouched, m.Name)
		}
	}
	switch {
	case p.unreadable != "":
		return unknown(t, clusterv1.InternalErrorReason, p.unreadable)
	case len(waiting) > 0:
		return positive(t, clusterv1.RemediatingReason, bullets(remediationLines(w)))
	case p.remediating != nil:
		return positive(t, clusterv1.RemediatingReason, "Machine "+p.remediating.Machine+" is being replaced")
	case len(untouched) > 0:
		return negative(t, clusterv1.NotRemediatingReason, "Machine "+listOf(untouched)+" failed a health check, but is not to be replaced by the control plane")
	}
	return negative(t, clusterv1.NotRemediatingReason, "")
}

// remediationLines say of each marked machine what is being done about it.
func remediationLines(w World) []string {
	var lines []string
	for _, m := range w.Machines {
		if marked(m) {
			line := "Machine " + m.Name
			if message := conditions.Message(m, ownerRemediated); message != "" {
				line += ": " + message
			}
			lines = append(lines, line)
		}
	}
	return limit(lines, 5)
}

func deletingCondition(w World) metav1.Condition {
	const t = clusterv1.DeletingCondition
	switch {
	case !w.deleting():
		return negative(t, clusterv1.NotDeletingReason, "")
	case len(w.Machines) == 0:
		return positive(t, clusterv1.DeletionCompletedReason, "")
	case len(w.Others) > 0:
		return positive(t, controlplanev1.KubeadmControlPlaneDeletingWaitingForWorkersDeletionReason,
			"waiting for "+listOf(w.Others)+" to be deleted")
	}
	return positive(t, controlplanev1.KubeadmControlPlaneDeletingWaitingForMachineDeletionReason,
		"waiting for machine "+names(w.Machines)+" to be deleted")
}
