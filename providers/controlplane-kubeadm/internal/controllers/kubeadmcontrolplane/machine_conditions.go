package kubeadmcontrolplane

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/conditions"
	controlplanev1 "github.com/slipway-capi/slipway/providers/controlplane-kubeadm/api/v1beta2"
)

// component is one static pod of a control plane machine.
type component struct {
	// name is the prefix of the pod's name and the value of its label "component".
	name      string
	condition string
	etcd      bool
}

var components = []component{
	{apiServer, controlplanev1.KubeadmControlPlaneMachineAPIServerPodHealthyCondition, false},
	{"kube-controller-manager", controlplanev1.KubeadmControlPlaneMachineControllerManagerPodHealthyCondition, false},
	{"kube-scheduler", controlplanev1.KubeadmControlPlaneMachineSchedulerPodHealthyCondition, false},
	{"etcd", controlplanev1.KubeadmControlPlaneMachineEtcdPodHealthyCondition, true},
}

const (
	labelsAndTaints       = controlplanev1.KubeadmControlPlaneMachineNodeKubeadmLabelsAndTaintsSetCondition
	apiServer             = "kube-apiserver"
	defaultBindPort       = 6443
	controlPlaneNodeLabel = "node-role.kubernetes.io/control-plane"
)

// podConditions are the conditions of a machine's static pods.
func podConditions(managedEtcd bool) []string {
	var list []string
	for _, c := range components {
		if !c.etcd || managedEtcd {
			list = append(list, c.condition)
		}
	}
	return list
}

// componentConditions are the conditions that tell the health of a machine's control plane components.
func componentConditions(managedEtcd bool) []string {
	list := podConditions(managedEtcd)
	if managedEtcd {
		list = append(list, etcdMemberHealthy)
	}
	return list
}

func machineConditionTypes(managedEtcd bool) []string {
	return append([]string{labelsAndTaints, clusterv1.MachineUpToDateCondition}, componentConditions(managedEtcd)...)
}

// assessMachines gives every machine of the world the conditions that this controller owns. The machines are copied:
// everything that is decided later sees the new conditions.
func assessMachines(w *World) {
	list := make([]*Machine, len(w.Machines))
	for i, m := range w.Machines {
		copied := *m
		copied.Machine = m.DeepCopy()
		copied.causes, copied.judged = outdated(*w, m), true
		list[i] = &copied
	}
	w.Machines = list
	for _, m := range w.Machines {
		for _, c := range machineConditions(*w, m) {
			if c.LastTransitionTime.IsZero() {
				c.LastTransitionTime = metav1.NewTime(w.Now.Truncate(time.Second))
			}
			conditions.Set(m, c)
		}
	}
}

func machineConditions(w World, m *Machine) []metav1.Condition {
	list := []metav1.Condition{upToDateCondition(w, m)}
	if !w.Workload.Connected && !m.deleting() && w.initialized() {
		return append(list, disconnected(w, m)...)
	}
	list = append(list, labelsCondition(w, m))
	for _, c := range components {
		if !c.etcd || w.managedEtcd() {
			list = append(list, podCondition(w, m, c))
		}
	}
	if w.managedEtcd() {
		list = append(list, memberCondition(w, m))
	}
	return list
}

// disconnected keeps what is there for a while, then admits that nothing is known.
func disconnected(w World, m *Machine) []metav1.Condition {
	var list []metav1.Condition
	for _, conditionType := range append([]string{labelsAndTaints}, componentConditions(w.managedEtcd())...) {
		if w.graceLeft() <= 0 || !conditions.Has(m, conditionType) {
			list = append(list, unknown(conditionType, clusterv1.ConnectionDownReason, "there is no connection to the workload cluster"))
		}
	}
	return list
}

func unknown(conditionType, reason, message string) metav1.Condition {
	return metav1.Condition{Type: conditionType, Status: metav1.ConditionUnknown, Reason: reason, Message: message}
}

func negative(conditionType, reason, message string) metav1.Condition {
	return metav1.Condition{Type: conditionType, Status: metav1.ConditionFalse, Reason: reason, Message: message}
}

func positive(conditionType, reason, message string) metav1.Condition {
	return metav1.Condition{Type: conditionType, Status: metav1.ConditionTrue, Reason: reason, Message: message}
}

// uninspectable says why nothing can be known of what runs on a machine, or "".
func uninspectable(w World, m *Machine) string {
	switch {
	case !w.initialized() || !w.Workload.Connected:
		return "waiting for the control plane to be initialized"
	case w.Workload.Problem != "":
		return w.Workload.Problem
	case m.nodeName() == "" && m.Spec.ProviderID != "":
		return "waiting for a Node with provider ID " + m.Spec.ProviderID
	case m.nodeName() == "":
		return "waiting for " + m.Spec.InfrastructureRef.Kind + " to report a provider ID"
	case m.Node == nil:
		return "Node " + m.nodeName() + " does not exist"
	}
	return ""
}

// nodeLost says why the static pods on a node cannot be judged from what the API server stores, or "".
func nodeLost(node *corev1.Node) string {
	for _, taint := range node.Spec.Taints {
		if taint.Key == corev1.TaintNodeUnreachable && taint.Effect == corev1.TaintEffectNoExecute {
			return "Node " + node.Name + " is unreachable"
		}
	}
	for _, c := range node.Status.Conditions {
		if c.Type == corev1.NodeReady && c.Status == corev1.ConditionUnknown {
			return "the Ready condition of Node " + node.Name + " is unknown"
		}
	}
	return ""
}

func labelsCondition(w World, m *Machine) metav1.Condition {
	if m.deleting() {
		return negative(labelsAndTaints, controlplanev1.KubeadmControlPlaneMachineNodeKubeadmLabelsAndTaintsDeletingReason, "the machine is being deleted")
	}
	if trouble := uninspectable(w, m); trouble != "" {
		return unknown(labelsAndTaints, clusterv1.InspectionFailedReason, trouble)
	}
	var missing []string
	if _, ok := m.Node.Labels[controlPlaneNodeLabel]; !ok {
		missing = append(missing, "label "+controlPlaneNodeLabel)
	}
	if taintExpected(w, m) && !slices.ContainsFunc(m.Node.Spec.Taints, isControlPlaneTaint) {
		missing = append(missing, "taint "+controlPlaneNodeLabel+":NoSchedule")
	}
	if len(missing) > 0 {
		return negative(labelsAndTaints, controlplanev1.KubeadmControlPlaneMachineNodeKubeadmLabelsAndTaintsNotSetReason,
			"Node "+m.nodeName()+" lacks "+strings.Join(missing, " and "))
	}
	return positive(labelsAndTaints, controlplanev1.KubeadmControlPlaneMachineNodeKubeadmLabelsAndTaintsSetReason, "")
}

func isControlPlaneTaint(taint corev1.Taint) bool {
	return taint.Key == controlPlaneNodeLabel && taint.Effect == corev1.TaintEffectNoSchedule
}

// taintExpected: kubeadm sets the taint unless the configuration lists other ones.
func taintExpected(w World, m *Machine) bool {
	for _, taint := range m.Spec.Taints {
		if taint.Key == controlPlaneNodeLabel && taint.Effect == string(corev1.TaintEffectNoSchedule) {
			return true
		}
	}
	spec := w.ControlPlane.Spec.KubeadmConfigSpec
	if m.Config != nil {
		spec = m.Config.Spec
	}
	taints := spec.InitConfiguration.NodeRegistration.Taints
	if spec.JoinConfiguration.ControlPlane != nil {
		taints = spec.JoinConfiguration.NodeRegistration.Taints
	}
	return taints == nil || slices.ContainsFunc(*taints, isControlPlaneTaint)
}

func podCondition(w World, m *Machine, c component) metav1.Condition {
	if m.deleting() {
		return negative(c.condition, controlplanev1.KubeadmControlPlaneMachinePodDeletingReason, "the machine is being deleted")
	}
	trouble := uninspectable(w, m)
	if trouble == "" {
		trouble = nodeLost(m.Node)
	}
	if trouble != "" {
		return unknown(c.condition, clusterv1.InspectionFailedReason, trouble)
	}
	pod := m.Pods[c.name]
	if pod == nil {
		return negative(c.condition, controlplanev1.KubeadmControlPlaneMachinePodDoesNotExistReason,
			fmt.Sprintf("Pod %s-%s does not exist", c.name, m.nodeName()))
	}
	return judgePod(pod, c.condition)
}

func judgePod(pod *corev1.Pod, conditionType string) metav1.Condition {
	const (
		provisioning = controlplanev1.KubeadmControlPlaneMachinePodProvisioningReason
		failed       = controlplanev1.KubeadmControlPlaneMachinePodFailedReason
	)
	switch pod.Status.Phase {
	case corev1.PodPending:
		return negative(conditionType, provisioning, pendingBecause(pod))
	case corev1.PodRunning:
		if podReady(pod) {
			return positive(conditionType, controlplanev1.KubeadmControlPlaneMachinePodRunningReason, "")
		}
		for _, status := range pod.Status.ContainerStatuses {
			switch {
			case status.State.Terminated != nil:
				return negative(conditionType, failed, "a container has terminated")
			case status.State.Waiting != nil && status.LastTerminationState.Terminated != nil && status.LastTerminationState.Terminated.ExitCode != 0:
				return negative(conditionType, failed, "a container waits after a failure: "+status.State.Waiting.Reason)
			case status.State.Waiting != nil:
				return negative(conditionType, provisioning, "a container waits: "+status.State.Waiting.Reason)
			}
		}
		return negative(conditionType, provisioning, "waiting for the startup or readiness probes")
	case corev1.PodSucceeded, corev1.PodFailed:
		return negative(conditionType, failed, "all containers have terminated")
	}
	return unknown(conditionType, clusterv1.InspectionFailedReason, "the pod reports no known phase")
}

func pendingBecause(pod *corev1.Pod) string {
	for _, c := range pod.Status.Conditions {
		switch {
		case c.Type == corev1.PodScheduled && c.Status != corev1.ConditionTrue:
			return "waiting to be scheduled"
		case c.Type == corev1.PodInitialized && c.Status != corev1.ConditionTrue:
			return "waiting for the init containers"
		}
	}
	return "waiting for the containers to start"
}

func podReady(pod *corev1.Pod) bool {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

func memberCondition(w World, m *Machine) metav1.Condition {
	bad := func(message string) metav1.Condition {
		return negative(etcdMemberHealthy, controlplanev1.KubeadmControlPlaneMachineEtcdMemberNotHealthyReason, message)
	}
	if m.deleting() {
		return negative(etcdMemberHealthy, controlplanev1.KubeadmControlPlaneMachineEtcdMemberDeletingReason, "the machine is being deleted")
	}
	if trouble := uninspectable(w, m); trouble != "" {
		return unknown(etcdMemberHealthy, clusterv1.InspectionFailedReason, trouble)
	}
	if w.Etcd.State == nil {
		trouble := w.Etcd.Problem
		if trouble == "" {
			trouble = "the etcd members have not been read yet"
		}
		return unknown(etcdMemberHealthy, clusterv1.InspectionFailedReason, trouble)
	}
	member := w.Etcd.State.Member(m.nodeName())
	switch {
	case member == nil:
		return bad("etcd has no member " + m.nodeName())
	case member.Learner:
		return bad("the etcd member is still a learner")
	case len(member.Alarms) > 0:
		return bad("the etcd member raises the alarm " + strings.Join(member.Alarms, ", "))
	}
	return positive(etcdMemberHealthy, controlplanev1.KubeadmControlPlaneMachineEtcdMemberHealthyReason, "")
}
