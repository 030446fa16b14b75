package machinehealthcheck_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/conditions"
)

const (
	checked   = clusterv1.MachineHealthCheckSucceededCondition
	byOwner   = clusterv1.MachineOwnerRemediatedCondition
	byOthers  = clusterv1.MachineExternallyRemediatedCondition
	allowance = clusterv1.MachineHealthCheckRemediationAllowedCondition
	isWaiting = "WaitingForRemediation"
	isWell    = "HealthCheckSucceeded"
)

// Conformance: HC-33, HC-35
func TestFromWellToIllAndBack(t *testing.T) {
	s := newStory(t, nil)
	s.initialize()
	m, node := s.machine("m")
	s.says(m, checked, isWell)
	s.until("the check counts it", s.check, func() bool {
		return s.check.Status.CurrentHealthy != nil && *s.check.Status.CurrentHealthy == 1 && s.check.Status.ObservedGeneration == s.check.Generation
	})
	assert.Equal(t, []string{"m"}, s.check.Status.Targets)
	require.Len(t, s.check.OwnerReferences, 1)

	before := s.quiet()
	s.status(node, func() { node.Status.Conditions[0].LastHeartbeatTime = metav1.NewTime(time.Now().Add(time.Minute)) })
	assert.Equal(t, before, s.quiet(), "a heartbeat is no news")

	s.node(node, corev1.ConditionFalse)
	s.says(m, byOwner, isWaiting)
	assert.Equal(t, "UnhealthyNode", conditions.Reason(m, checked))
	assert.NotZero(t, conditions.Get(m, byOwner).LastTransitionTime)
	s.until("the event", s.check, func() bool { return s.events("MachineMarkedUnhealthy") == 1 })
	s.quiet()

	s.node(node, corev1.ConditionTrue)
	s.says(m, checked, isWell)
	assert.False(t, conditions.Has(m, byOwner), "nobody had taken the request up")
	s.quiet()
	assert.Equal(t, 1, s.events("MachineMarkedUnhealthy"))

	require.NoError(t, env.Client.Delete(ctx, node))
	s.says(m, checked, "NodeDeleted")
}

// Conformance: HC-36
func TestAClusterThatIsNotReadyHasNobodyMarked(t *testing.T) {
	s := newStory(t, nil)
	m, node := s.machine("m")
	s.node(node, corev1.ConditionFalse)
	s.until("the Machine is counted", s.check, func() bool { return len(s.check.Status.Targets) == 1 })
	s.quiet()
	require.True(t, s.load(m))
	assert.False(t, conditions.Has(m, checked))
	s.initialize()
	s.says(m, byOwner, isWaiting)
}

func TestATimeoutIsActedOnWhenItIsDue(t *testing.T) {
	s := newStory(t, func(spec *clusterv1.MachineHealthCheckSpec) {
		spec.Checks.UnhealthyMachineConditions = []clusterv1.UnhealthyMachineCondition{{Type: "DiskFull", Status: "True", TimeoutSeconds: 3}}
	})
	s.initialize()
	m, _ := s.machine("m")
	s.says(m, checked, isWell)
	s.status(m, func() { setCondition(m, "DiskFull", metav1.ConditionTrue) })
	due := conditions.Get(m, "DiskFull").LastTransitionTime.Add(3 * time.Second)
	s.says(m, checked, "UnhealthyMachine")
	assert.WithinDuration(t, due, time.Now(), 900*time.Millisecond)
}

// Conformance: HC-34
func TestAMachineThatCannotBeWrittenKeepsNobodyWaiting(t *testing.T) {
	s := newStory(t, nil)
	s.initialize()
	for _, name := range []string{"a", "cursed", "z"} {
		m, _ := s.machine(name)
		s.annotate(m, clusterv1.RemediateMachineAnnotation, "")
	}
	for _, name := range []string{"a", "z"} {
		s.says(&clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: name}}, byOwner, isWaiting)
	}
	s.until("the check counts all of them", s.check, func() bool { return len(s.check.Status.Targets) == 3 })
	// The end of the retries: the Machine is no target any more.
	s.annotate(&clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "cursed"}}, clusterv1.MachineSkipRemediationAnnotation, "")
	s.until("the skipped Machine leaves", s.check, func() bool { return len(s.check.Status.Targets) == 2 })
}

func TestRestrictedThenAllowed(t *testing.T) {
	one := intstr.FromInt32(1)
	s := newStory(t, func(spec *clusterv1.MachineHealthCheckSpec) {
		spec.Remediation.TriggerIf.UnhealthyLessThanOrEqualTo = &one
	})
	s.initialize()
	a, nodeA := s.machine("a")
	b, nodeB := s.machine("b")
	s.says(a, checked, isWell)
	s.says(b, checked, isWell)
	// Both fall ill while nobody looks, so that there is no moment with one of them.
	s.annotate(s.check, clusterv1.PausedAnnotation, "")
	s.until("paused", s.check, func() bool { return conditions.IsTrue(s.check, clusterv1.PausedCondition) })
	s.node(nodeA, corev1.ConditionFalse)
	s.node(nodeB, corev1.ConditionFalse)
	s.quiet()
	require.True(t, s.load(a))
	assert.Equal(t, isWell, conditions.Reason(a, checked), "paused")
	s.annotate(s.check, clusterv1.PausedAnnotation, nil)
	s.until("too many", s.check, func() bool { return conditions.Reason(s.check, allowance) == "TooManyUnhealthy" })
	s.says(a, checked, "UnhealthyNode")
	s.says(b, checked, "UnhealthyNode")
	s.quiet()
	assert.False(t, conditions.Has(a, byOwner))
	assert.Equal(t, 1, s.events("RemediationRestricted"))

	s.node(nodeA, corev1.ConditionTrue)
	s.says(b, byOwner, isWaiting)
	s.until("one may be", s.check, func() bool { return conditions.IsTrue(s.check, allowance) })
}

// Conformance: SH-04
func TestUnpausingTheClusterWakes(t *testing.T) {
	s := newStory(t, nil)
	s.initialize()
	yes := true
	pause := func(value *bool) {
		before := s.cluster.DeepCopy()
		s.cluster.Spec.Paused = value
		require.NoError(t, env.Client.Patch(ctx, s.cluster, client.MergeFrom(before)))
	}
	pause(&yes)
	s.until("paused", s.check, func() bool { return conditions.IsTrue(s.check, clusterv1.PausedCondition) })
	m, _ := s.machine("m")
	s.quiet()
	require.True(t, s.load(m))
	assert.Empty(t, m.Status.Conditions)
	pause(nil)
	s.says(m, checked, isWell)
}

func TestExternalRemediation(t *testing.T) {
	s := newStory(t, func(spec *clusterv1.MachineHealthCheckSpec) {
		spec.Remediation.TemplateRef = clusterv1.MachineHealthCheckRemediationTemplateReference{APIVersion: templateKind.GroupVersion().String(), Kind: templateKind.Kind, Name: "reboot"}
	})
	s.initialize()
	m, node := s.machine("m")
	s.says(m, checked, isWell)
	s.node(node, corev1.ConditionFalse)
	s.says(m, byOthers, "RemediationTemplateNotFound")
	require.NoError(t, env.Client.Create(ctx, newTemplate(s)))
	s.says(m, byOthers, isWaiting)
	request := &unstructured.Unstructured{}
	request.SetGroupVersionKind(requestKind)
	request.SetNamespace(s.namespace)
	request.SetName("m")
	s.until("the request", request, func() bool { return len(request.GetOwnerReferences()) == 1 })
	assert.Equal(t, m.UID, request.GetOwnerReferences()[0].UID)
	assert.False(t, conditions.Has(m, byOwner))

	first := request.GetUID()
	require.NoError(t, env.Client.Delete(ctx, request))
	s.until("a request that was lost is made again", request, func() bool { return request.GetUID() != first })

	s.node(node, corev1.ConditionTrue)
	s.says(m, checked, isWell)
	require.Eventually(t, func() bool {
		return apierrors.IsNotFound(env.Client.Get(ctx, client.ObjectKeyFromObject(request), request))
	}, time.Minute, 10*time.Millisecond, "the request goes")
	assert.False(t, conditions.Has(m, byOthers))
}

// The owner of a Machine writes the same condition as the check, each under a name of its own.
func TestTheOwnerHasTheLastWord(t *testing.T) {
	s := newStory(t, nil)
	s.initialize()
	m, node := s.machine("m")
	s.node(node, corev1.ConditionFalse)
	s.says(m, byOwner, isWaiting)
	s.status(m, func() {
		conditions.Set(m, metav1.Condition{Type: byOwner, Status: metav1.ConditionFalse, Reason: "RemediationDeferred", Message: "later"})
	})
	require.NoError(t, env.Client.Delete(ctx, node))
	s.says(m, checked, "NodeDeleted")
	assert.Equal(t, "RemediationDeferred", conditions.Reason(m, byOwner))
}
