package kubeadmcontrolplane

import (
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/conditions"
)

// startGrace is how long after initialization unread etcd members count as not yet there instead of unknown.
const startGrace = 2 * time.Minute

// availableCondition: the API can be used if at least one machine has everything healthy and etcd has a majority.
func availableCondition(w World) metav1.Condition {
	const t = clusterv1.AvailableCondition
	var issues, unsure []string
	if w.deleting() {
		issues = append(issues, "the control plane is being deleted")
	}
	if !w.initialized() {
		issues = append(issues, "the control plane is not initialized yet")
		return negative(t, clusterv1.NotAvailableReason, bullets(issues))
	}
	switch {
	case w.Certificates.Problem != "":
		unsure = append(unsure, w.Certificates.Problem)
	case len(w.Certificates.Missing) > 0:
		issues = append(issues, "certificates are missing: "+missingPurposes(w))
	}
	bad, open := componentsAvailability(w)
	issues, unsure = append(issues, bad...), append(unsure, open...)
	if w.managedEtcd() {
		bad, open = etcdAvailability(w)
		issues, unsure = append(issues, bad...), append(unsure, open...)
	}
	switch {
	case len(issues) > 0:
		return negative(t, clusterv1.NotAvailableReason, bullets(append(issues, unsure...)))
	case len(unsure) > 0:
		return unknown(t, clusterv1.InspectionFailedReason, bullets(unsure))
	}
	return positive(t, clusterv1.AvailableReason, "")
}

func bullets(lines []string) string {
	return "* " + strings.Join(lines, "\n* ")
}

func componentsAvailability(w World) (issues, unsure []string) {
	open := false
	for _, m := range w.Machines {
		worst := metav1.ConditionTrue
		for _, conditionType := range componentConditions(w.managedEtcd()) {
			switch c := conditions.Get(m, conditionType); {
			case c == nil || c.Status == metav1.ConditionUnknown:
				if worst == metav1.ConditionTrue {
					worst = metav1.ConditionUnknown
				}
			case c.Status == metav1.ConditionFalse:
				worst = metav1.ConditionFalse
			}
		}
		if worst == metav1.ConditionTrue {
			return nil, nil
		}
		open = open || (worst == metav1.ConditionUnknown && m.Spec.ProviderID != "")
	}
	const text = "no machine has all control plane components healthy"
	if open && !w.justInitialized() {
		return nil, []string{text}
	}
	return []string{text}, nil
}

func (w World) justInitialized() bool {
	since := w.initializedSince()
	return since.IsZero() || w.Now.Sub(since) < startGrace
}

// etcdAvailability counts healthy voting members. Nameless members do not vote yet; a member without a machine belongs
// to the one machine that is joining, if exactly one is, else it counts as lost.
func etcdAvailability(w World) (issues, unsure []string) {
	if w.Etcd.State == nil {
		text := "the etcd members cannot be read"
		if w.justInitialized() {
			return []string{text}, nil
		}
		return nil, []string{text}
	}
	voting, healthy := 0, 0
	for _, member := range w.Etcd.State.Members {
		if member.Learner || member.Name == "" {
			continue
		}
		voting++
		m := w.machineOnNode(member.Name)
		switch {
		case m == nil && w.provisioning() == 1:
			healthy++
		case m == nil:
		case conditions.IsTrue(m, etcdMemberHealthy) || (m.deleting() && memberRuns(w, m, member)):
			healthy++
		}
	}
	if need := voting/2 + 1; healthy < need {
		return []string{fmt.Sprintf("%d of %d etcd members are healthy, at least %d are needed", healthy, voting, need)}, nil
	}
	return nil, nil
}
