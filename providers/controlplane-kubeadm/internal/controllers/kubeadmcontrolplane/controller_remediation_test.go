package kubeadmcontrolplane

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/conditions"
	controlplanev1 "github.com/slipway-capi/slipway/providers/controlplane-kubeadm/api/v1beta2"
	"github.com/slipway-capi/slipway/providers/controlplane-kubeadm/internal/remediation"
)

// mark does what a MachineHealthCheck does for a machine that failed; healthy takes nothing but the result back.
func (s *scene) mark(machine string, healthy bool) {
	s.t.Helper()
	at := time.Now().UTC().Format(time.RFC3339)
	list := fmt.Sprintf(`{"type":"HealthCheckSucceeded","status":"True","reason":"HealthCheckSucceeded","message":"","lastTransitionTime":%q}`, at)
	if !healthy {
		list = fmt.Sprintf(`{"type":"HealthCheckSucceeded","status":"False","reason":"UnhealthyNode","message":"not ready","lastTransitionTime":%q},
			{"type":"OwnerRemediated","status":"False","reason":"WaitingForRemediation","message":"waiting","lastTransitionTime":%q}`, at, at)
	}
	body := fmt.Appendf(nil, `{"apiVersion":"cluster.x-k8s.io/v1beta2","kind":"Machine","status":{"conditions":[%s]}}`, list)
	target := &clusterv1.Machine{}
	target.Namespace, target.Name = s.namespace, machine
	require.NoError(s.t, env.Client.Status().Patch(s.t.Context(), target, client.RawPatch("application/apply-patch+yaml", body),
		client.FieldOwner("health-check"), client.ForceOwnership))
}

func (s *scene) machine(name string) *clusterv1.Machine {
	s.t.Helper()
	found := &clusterv1.Machine{}
	require.NoError(s.t, env.Client.Get(s.t.Context(), s.key(name), found))
	return found
}

// Conformance: CP-09, CP-72, CP-76
func TestAnUnhealthyMachineIsReplaced(t *testing.T) {
	s := started(t, 3)
	victim := s.machines()[1].Name
	s.mark(victim, false)
	s.play("the machine is replaced", func() bool {
		list := s.machines()
		for _, machine := range list {
			if machine.Name == victim {
				return false
			}
		}
		return len(list) == 3 && s.healthy() == 3
	})
	var record remediation.Record
	for _, machine := range s.machines() {
		if text, ok := machine.Annotations[controlplanev1.RemediationForAnnotation]; ok {
			var err error
			record, err = remediation.Parse(text)
			require.NoError(t, err)
		}
	}
	assert.Equal(t, victim, record.Machine)
	assert.Equal(t, int32(0), record.RetryCount)
	assert.WithinDuration(t, time.Now(), record.Timestamp, time.Minute)
	s.eventually("the record on the control plane is gone", func() bool {
		current := s.get()
		_, going := current.Annotations[controlplanev1.RemediationInProgressAnnotation]
		return !going && current.Status.LastRemediation.Machine == victim && conditions.IsFalse(current, clusterv1.RemediatingCondition)
	})
	assert.Equal(t, []string{victim}, s.etcd.gone())
}

// Conformance: CP-70, CP-74
func TestTheOnlyMachineStaysAndRecovers(t *testing.T) {
	s := started(t, 1)
	name := s.machines()[0].Name
	s.mark(name, false)
	s.eventually("the verdict", func() bool {
		return conditions.Reason(s.machine(name), ownerRemediated) == impossible
	})
	assert.Equal(t, "it is the only control plane machine", conditions.Message(s.machine(name), ownerRemediated))
	s.eventually("the control plane says so", func() bool { return conditions.IsTrue(s.get(), clusterv1.RemediatingCondition) })
	version := s.machine(name).ResourceVersion
	s.change(func(cp *controlplanev1.KubeadmControlPlane) { cp.Annotations = map[string]string{"touch": "it"} })
	settle(s)
	assert.Equal(t, version, s.machine(name).ResourceVersion, "the same verdict is not written again")

	s.mark(name, true)
	s.eventually("the mark is gone", func() bool { return !conditions.Has(s.machine(name), ownerRemediated) })
	s.eventually("nothing is being remediated", func() bool { return conditions.IsFalse(s.get(), clusterv1.RemediatingCondition) })
}

// BC-16: the member of a join that failed is removed once no machine is joining, so that the next one can join.
//
// Conformance: CP-56
func TestBC16TheMemberOfAFailedJoinIsRemoved(t *testing.T) {
	s := started(t, 3)
	s.etcd.join("")
	s.change(func(cp *controlplanev1.KubeadmControlPlane) { *cp.Spec.Replicas = 5 })
	s.play("the unstarted member is removed and five machines are healthy", func() bool {
		return len(s.machines()) == 5 && s.healthy() == 5
	})
	assert.Equal(t, []string{""}, s.etcd.gone())
	assert.Len(t, s.etcd.state().Members, 5)
}

// Conformance: CP-73
func TestAReplacementThatFailsIsReplacedAndCounted(t *testing.T) {
	s := started(t, 3)
	known := map[string]bool{}
	for _, machine := range s.machines() {
		known[machine.Name] = true
	}
	victim := s.machines()[0]
	s.mark(victim.Name, false)
	s.eventually("it is deleted", func() bool { return !s.machine(victim.Name).DeletionTimestamp.IsZero() })
	s.finishDeletion(victim)
	var failed string
	s.eventually("its replacement", func() bool {
		for _, machine := range s.machines() {
			if !known[machine.Name] {
				failed = machine.Name
			}
		}
		return failed != ""
	})
	s.broken[failed] = true // kubeadm join never ends
	s.hold(*s.machine(failed))
	s.mark(failed, false)
	count := int32(-1)
	s.play("three healthy machines again", func() bool {
		for _, machine := range s.machines() {
			if record, err := remediation.Parse(machine.Annotations[controlplanev1.RemediationForAnnotation]); err == nil && record.Machine == failed {
				count = record.RetryCount
			}
		}
		return len(s.machines()) == 3 && s.healthy() == 3
	})
	assert.Equal(t, int32(1), count)
	s.eventually("the status tells", func() bool { return s.get().Status.LastRemediation.RetryCount == 1 })
}
