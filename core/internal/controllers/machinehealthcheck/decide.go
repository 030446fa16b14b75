package machinehealthcheck

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/cloning"
	"github.com/slipway-capi/slipway/contract/conditions"
	"github.com/slipway-capi/slipway/contract/decision"
	"github.com/slipway-capi/slipway/contract/labels"
	"github.com/slipway-capi/slipway/contract/ownership"
	"github.com/slipway-capi/slipway/contract/paused"
)

// Decide says what to do about a MachineHealthCheck, given all that is known about it. It is pure: same world, same decision.
func Decide(w World) Decision {
	d := Decision{Check: w.Check.DeepCopy(), Err: w.Err}
	if !w.Check.DeletionTimestamp.IsZero() {
		return d // nothing of a check outlives it but what it has said about Machines
	}
	pause := paused.Condition(w.Cluster, w.Check)
	conditions.Set(d.Check, pause)
	if pause.Status == metav1.ConditionTrue || w.Cluster == nil {
		return d
	}
	labels.SetClusterName(d.Check, w.Check.Spec.ClusterName)
	ownership.Ensure(d.Check, ownership.Reference(w.Cluster, clusterv1.GroupVersion.WithKind(clusterv1.ClusterKind)))
	verdicts := make([]verdict, len(w.Targets))
	for i, t := range w.Targets {
		verdicts[i] = judge(w, w.Check.Spec.Checks, t)
		d.After = decision.Sooner(d.After, verdicts[i].after)
	}
	n := count(w.Targets, verdicts)
	limit := limitOf(w.Check.Spec.Remediation.TriggerIf, n)
	for i, t := range w.Targets {
		d.mark(w, t, verdicts[i], limit.met)
	}
	d.describe(w, n, limit)
	if d.Err == nil {
		d.Check.Status.ObservedGeneration = d.Check.Generation
	}
	return d
}

// mark brings the conditions of one Machine in line with the verdict.
func (d *Decision) mark(w World, t Target, v verdict, allowed bool) {
	mark := Mark{Before: t.Machine, After: t.Machine.DeepCopy()}
	switch v.state {
	case healthy:
		d.absolve(w, t, &mark)
	case unhealthy:
		accuse(w, t, v, &mark)
		switch {
		case !allowed:
		case w.Check.Spec.Remediation.TemplateRef.Name == "":
			askOwner(v, &mark)
		default:
			d.askExternal(w, t, v, &mark)
		}
	case waiting, leaving, unseen:
		return // what was said before stands until more is known
	}
	if mark.Request != nil || !same(mark.Before, mark.After) {
		d.Actions = append(d.Actions, mark)
	}
}

// same compares by what a reader cares about; times follow from it.
func same(a, b *clusterv1.Machine) bool {
	for _, c := range a.Status.Conditions {
		if other := conditions.Get(b, c.Type); other == nil || !conditions.Same(c, *other) {
			return false
		}
	}
	return len(a.Status.Conditions) == len(b.Status.Conditions)
}

// absolve calls a Machine well, unless another check finds it ill, and takes back requests that nobody has taken up.
func (d *Decision) absolve(w World, t Target, mark *Mark) {
	if accuser(w, t) != "" {
		return
	}
	set(mark.After, clusterv1.MachineHealthCheckSucceededCondition, metav1.ConditionTrue, clusterv1.MachineHealthCheckSucceededReason, "")
	if conditions.Reason(t.Machine, clusterv1.MachineOwnerRemediatedCondition) == clusterv1.MachineOwnerRemediatedWaitingForRemediationReason {
		conditions.Delete(mark.After, clusterv1.MachineOwnerRemediatedCondition)
	}
	conditions.Delete(mark.After, clusterv1.MachineExternallyRemediatedCondition)
	if t.Request != nil && t.Request.GetDeletionTimestamp().IsZero() {
		d.Actions = append(d.Actions, Withdraw{Request: t.Request})
	}
}

// accuse calls a Machine ill. Where several checks do, the first by name has the word, lest they take turns for ever.
func accuse(w World, t Target, v verdict, mark *Mark) {
	first := accuser(w, t)
	if first != "" && first < w.Check.Name && conditions.IsFalse(t.Machine, clusterv1.MachineHealthCheckSucceededCondition) {
		return
	}
	set(mark.After, clusterv1.MachineHealthCheckSucceededCondition, metav1.ConditionFalse, v.reason, v.message)
}

// accuser is the first, by name, of the other checks that find a Machine ill.
func accuser(w World, t Target) string {
	first := ""
	for _, other := range w.Others {
		if (first == "" || other.Name < first) && other.DeletionTimestamp.IsZero() && !paused.HasAnnotation(other) &&
			Selects(other, t.Machine) && judge(w, other.Spec.Checks, t).state == unhealthy {
			first = other.Name
		}
	}
	return first
}

// askOwner starts the condition on which the Machine's owner acts; its further course is the owner's.
func askOwner(v verdict, mark *Mark) {
	if conditions.IsFalse(mark.Before, clusterv1.MachineOwnerRemediatedCondition) {
		return
	}
	set(mark.After, clusterv1.MachineOwnerRemediatedCondition, metav1.ConditionFalse, clusterv1.MachineOwnerRemediatedWaitingForRemediationReason, "Waiting for the owner to remediate the Machine")
	mark.Event = marked(mark.Before, v)
}

// askExternal has a remediation object made for the Machine, unless there is one.
func (d *Decision) askExternal(w World, t Target, v verdict, mark *Mark) {
	ref := w.Check.Spec.Remediation.TemplateRef
	switch {
	case t.Request != nil:
	case w.Template.Missing:
		report(mark.After, clusterv1.MachineExternallyRemediatedRemediationTemplateNotFoundReason, fmt.Sprintf("%s %s does not exist", ref.Kind, ref.Name))
		return
	case w.Template.Object == nil:
		return // unreadable, which is an error already
	default:
		request, err := cloning.FromTemplate(cloning.Request{
			Template: w.Template.Object, Name: t.Machine.Name, ClusterName: w.Check.Spec.ClusterName, Owner: ownerReference(t.Machine),
		})
		if err != nil {
			report(mark.After, clusterv1.MachineExternallyRemediatedRemediationRequestCreationFailedReason, err.Error())
			return
		}
		mark.Request, mark.Event = request, marked(t.Machine, v)
	}
	// A result that the external controller has reported stays.
	switch conditions.Reason(t.Machine, clusterv1.MachineExternallyRemediatedCondition) {
	case "", clusterv1.MachineExternallyRemediatedRemediationTemplateNotFoundReason, clusterv1.MachineExternallyRemediatedRemediationRequestCreationFailedReason:
		report(mark.After, clusterv1.MachineExternallyRemediatedWaitingForRemediationReason, "Waiting for the external controller to remediate the Machine")
	}
}

func report(m *clusterv1.Machine, reason, message string) {
	set(m, clusterv1.MachineExternallyRemediatedCondition, metav1.ConditionFalse, reason, message)
}

func marked(m *clusterv1.Machine, v verdict) *Event {
	return &Event{"MachineMarkedUnhealthy", "Machine " + m.Name + " is to be remediated: " + v.message}
}

func ownerReference(m *clusterv1.Machine) *metav1.OwnerReference {
	ref := ownership.Reference(m, clusterv1.GroupVersion.WithKind("Machine"))
	return &ref
}

func set(m *clusterv1.Machine, kind string, status metav1.ConditionStatus, reason, message string) {
	conditions.Set(m, metav1.Condition{Type: kind, Status: status, Reason: reason, Message: message})
}
