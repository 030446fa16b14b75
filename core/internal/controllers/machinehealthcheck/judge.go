package machinehealthcheck

import (
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	k8slabels "k8s.io/apimachinery/pkg/labels"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/conditions"
	"github.com/slipway-capi/slipway/contract/decision"
	"github.com/slipway-capi/slipway/contract/labels"
	"github.com/slipway-capi/slipway/contract/paused"
)

// defaultStartupSeconds counts for checks that were stored without the default of admission.
const defaultStartupSeconds = 600

// state is how a Machine is, in the eyes of one check.
type state int

const (
	// waiting: it has no Node yet, or a bad sign has not lasted long enough, or the cluster is not ready to be judged.
	waiting state = iota
	healthy
	unhealthy
	// leaving: it is being deleted.
	leaving
	// unseen: its Node cannot be asked for, because the workload cluster does not answer.
	unseen
)

// verdict is what one check says about one Machine.
type verdict struct {
	state           state
	reason, message string
	// after is when time alone makes the Machine unhealthy; zero if it does not.
	after time.Duration
}

// Selects says whether a check picks a Machine. An empty selector, which admission refuses, picks none.
func Selects(check *clusterv1.MachineHealthCheck, m *clusterv1.Machine) bool {
	selector, err := metav1.LabelSelectorAsSelector(&check.Spec.Selector)
	if err != nil || selector.Empty() || m.Namespace != check.Namespace || m.Spec.ClusterName != check.Spec.ClusterName {
		return false
	}
	_, skip := m.Annotations[clusterv1.MachineSkipRemediationAnnotation]
	return !skip && !paused.HasAnnotation(m) && selector.Matches(k8slabels.Set(m.Labels))
}

// judge says how a Machine is by the signs of one check.
func judge(w World, checks clusterv1.MachineHealthCheckChecks, t Target) verdict {
	_, asked := t.Machine.Annotations[clusterv1.RemediateMachineAnnotation]
	switch {
	case !t.Machine.DeletionTimestamp.IsZero():
		return verdict{state: leaving}
	case asked:
		return ill(clusterv1.MachineHealthCheckHasRemediateAnnotationReason, "The annotation "+clusterv1.RemediateMachineAnnotation+" asks for remediation")
	case !ready(w, t.Machine):
		return verdict{state: waiting}
	case blind(w, t):
		return verdict{state: unseen}
	case t.NodeMissing:
		return ill(clusterv1.MachineHealthCheckNodeDeletedReason, "Node "+t.Machine.Status.NodeRef.Name+" has been deleted")
	}
	found := []verdict{startup(w, checks, t), nodeConditions(w, checks, t), machineConditions(w, checks, t)}
	out := verdict{state: healthy}
	if t.Node == nil {
		out.state = waiting
	}
	for _, v := range found {
		if v.state == unhealthy {
			return v
		}
		if v.state == waiting {
			out.state, out.after = waiting, decision.Sooner(out.after, v.after)
		}
	}
	return out
}

func ill(reason, message string) verdict {
	return verdict{state: unhealthy, reason: reason, message: message}
}

// ready says whether the cluster has come far enough for a Machine to be judged. Machines of the control plane are what
// initializes it, so they are judged before.
func ready(w World, m *clusterv1.Machine) bool {
	return w.Cluster.DeletionTimestamp.IsZero() && conditions.IsTrue(w.Cluster, clusterv1.InfrastructureReadyCondition) &&
		(labels.IsControlPlane(m.Labels) || conditions.IsTrue(w.Cluster, clusterv1.ClusterControlPlaneInitializedCondition))
}

// blind says whether the Node of a Machine, which may exist, cannot be seen.
func blind(w World, t Target) bool {
	if t.Machine.Status.NodeRef.Name != "" {
		return t.Node == nil && !t.NodeMissing
	}
	return !w.Connected && conditions.IsTrue(w.Cluster, clusterv1.ClusterControlPlaneInitializedCondition)
}

// startup judges a Machine that has no Node by how long it could have had one.
func startup(w World, checks clusterv1.MachineHealthCheckChecks, t Target) verdict {
	seconds := int32(defaultStartupSeconds)
	if checks.NodeStartupTimeoutSeconds != nil {
		seconds = *checks.NodeStartupTimeoutSeconds
	}
	if t.Machine.Status.NodeRef.Name != "" || seconds == 0 {
		return verdict{state: healthy}
	}
	since := t.Machine.CreationTimestamp.Time
	for _, c := range []*metav1.Condition{
		conditions.Get(w.Cluster, clusterv1.ClusterControlPlaneInitializedCondition), conditions.Get(w.Cluster, clusterv1.InfrastructureReadyCondition),
		conditions.Get(t.Machine, clusterv1.InfrastructureReadyCondition),
	} {
		if c != nil && c.Status == metav1.ConditionTrue {
			since = later(since, c.LastTransitionTime.Time)
		}
	}
	timeout := time.Duration(seconds) * time.Second
	if left := timeout - w.Now.Sub(since); left > 0 {
		return verdict{state: waiting, after: left}
	}
	return ill(clusterv1.MachineHealthCheckNodeStartupTimeoutReason, fmt.Sprintf("No Node has appeared within %s", timeout))
}

// sign is a condition that means illness when it lasts.
type sign struct {
	kind, status string
	seconds      int32
}

// lasting sums up those signs that a list of conditions shows; since says from when on a condition has its status.
func lasting(now time.Time, what, reason string, signs []sign, since func(sign) (time.Time, bool)) verdict {
	out := verdict{state: healthy}
	var messages []string
	for _, s := range signs {
		from, shown := since(s)
		if !shown {
			continue
		}
		timeout := time.Duration(s.seconds) * time.Second
		if left := timeout - now.Sub(from); left > 0 {
			out.state, out.after = waiting, decision.Sooner(out.after, left)
			continue
		}
		messages = append(messages, fmt.Sprintf("%s condition %s has been %s for at least %s", what, s.kind, s.status, timeout))
	}
	if len(messages) > 0 {
		return ill(reason, strings.Join(messages, "; "))
	}
	return out
}

func nodeConditions(w World, checks clusterv1.MachineHealthCheckChecks, t Target) verdict {
	if t.Node == nil {
		return verdict{state: healthy}
	}
	var signs []sign
	for _, c := range checks.UnhealthyNodeConditions {
		signs = append(signs, sign{c.Type, c.Status, c.TimeoutSeconds})
	}
	return lasting(w.Now, "Node", clusterv1.MachineHealthCheckUnhealthyNodeReason, signs, func(s sign) (time.Time, bool) {
		for _, c := range t.Node.Status.Conditions {
			if string(c.Type) == s.kind && string(c.Status) == s.status {
				// Never longer than the Node exists: the clock of a node that boots may be off.
				return later(c.LastTransitionTime.Time, t.Node.CreationTimestamp.Time), true
			}
		}
		return time.Time{}, false
	})
}

func machineConditions(w World, checks clusterv1.MachineHealthCheckChecks, t Target) verdict {
	var signs []sign
	for _, c := range checks.UnhealthyMachineConditions {
		signs = append(signs, sign{c.Type, c.Status, c.TimeoutSeconds})
	}
	return lasting(w.Now, "Machine", clusterv1.MachineHealthCheckUnhealthyMachineReason, signs, func(s sign) (time.Time, bool) {
		c := conditions.Get(t.Machine, s.kind)
		if c == nil || string(c.Status) != s.status {
			return time.Time{}, false
		}
		return later(c.LastTransitionTime.Time, t.Machine.CreationTimestamp.Time), true
	})
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
