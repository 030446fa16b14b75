package machinehealthcheck

import (
	"fmt"
	"math"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/conditions"
)

var ownConditions = []string{clusterv1.MachineHealthCheckRemediationAllowedCondition, clusterv1.PausedCondition}

// census counts the targets by what is known of them. Machines that start or leave are neither healthy nor unhealthy.
type census struct{ total, healthy, unhealthy, starting, leaving int }

// count counts. A Machine that leaves, or cannot be seen, because it is ill is one of the ill: otherwise every remediation
// would make room for the next, however many Machines fail.
func count(targets []Target, verdicts []verdict) census {
	n := census{total: len(targets)}
	for i, v := range verdicts {
		m := targets[i].Machine
		wasIll := conditions.IsFalse(m, clusterv1.MachineHealthCheckSucceededCondition)
		switch {
		case v.state == healthy || (v.state == unseen && conditions.IsTrue(m, clusterv1.MachineHealthCheckSucceededCondition)):
			n.healthy++
		case v.state == unhealthy || (wasIll && (v.state == leaving || v.state == unseen)):
			n.unhealthy++
		case v.state == leaving:
			n.leaving++
		default:
			n.starting++
		}
	}
	return n
}

// limit says whether remediation is allowed, how many more may fall ill until it is not, and what the rule is.
type limit struct {
	met     bool
	allowed int
	rule    string
}

func limitOf(trigger clusterv1.MachineHealthCheckRemediationTriggerIf, n census) limit {
	low, high := 0, n.total
	rule := ""
	switch {
	case trigger.UnhealthyInRange != "":
		rule = "unhealthyInRange " + trigger.UnhealthyInRange
		if _, err := fmt.Sscanf(trigger.UnhealthyInRange, "[%d-%d]", &low, &high); err != nil {
			low, high = math.MaxInt, -1
		}
	case trigger.UnhealthyLessThanOrEqualTo != nil:
		rule = "unhealthyLessThanOrEqualTo " + trigger.UnhealthyLessThanOrEqualTo.String()
		var err error
		if high, err = intstr.GetScaledValueFromIntOrPercent(trigger.UnhealthyLessThanOrEqualTo, n.total, false); err != nil {
			high = -1
		}
	}
	l := limit{met: low <= n.unhealthy && n.unhealthy <= high, rule: rule}
	if l.met {
		l.allowed = high - n.unhealthy
	}
	return l
}

// describe derives the status from what has been found.
func (d *Decision) describe(w World, n census, l limit) {
	s := &d.Check.Status
	s.Targets = nil
	for _, t := range w.Targets {
		s.Targets = append(s.Targets, t.Machine.Name)
	}
	slices.Sort(s.Targets)
	s.ExpectedMachines, s.CurrentHealthy, s.RemediationsAllowed = number(n.total), number(n.healthy), number(l.allowed)
	c := metav1.Condition{Type: clusterv1.MachineHealthCheckRemediationAllowedCondition, Status: metav1.ConditionTrue, Reason: clusterv1.MachineHealthCheckRemediationAllowedReason}
	if !l.met {
		c.Status, c.Reason, c.Message = metav1.ConditionFalse, clusterv1.MachineHealthCheckTooManyUnhealthyReason, restricted(n, l)
	}
	if before := conditions.Get(d.Check, c.Type); !l.met && n.unhealthy > 0 && (before == nil || !conditions.Same(*before, c)) {
		d.Events = append(d.Events, Event{"RemediationRestricted", c.Message})
	}
	conditions.Set(d.Check, c)
}

func restricted(n census, l limit) string {
	message := fmt.Sprintf("%d of %d Machines are unhealthy; spec.remediation.triggerIf allows remediation only with %s", n.unhealthy, n.total, l.rule)
	var besides []string
	if n.starting > 0 {
		besides = append(besides, fmt.Sprintf("%d not judged yet", n.starting))
	}
	if n.leaving > 0 {
		besides = append(besides, fmt.Sprintf("%d in deletion", n.leaving))
	}
	if len(besides) > 0 {
		message += " (besides " + strings.Join(besides, ", ") + ")"
	}
	return message
}

func number(n int) *int32 {
	out := int32(min(n, math.MaxInt32))
	return &out
}
