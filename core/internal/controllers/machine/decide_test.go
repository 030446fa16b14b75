package machine

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/conditions"
)

var errRead = errors.New("connection refused")

func TestARunningMachineNeedsNothing(t *testing.T) {
	first := Decide(world())
	w := world()
	w.Machine, w.Node.Node = first.Machine, first.Actions[0].(SyncNode).After
	second := Decide(w)
	require.NoError(t, second.Err)
	assert.Empty(t, second.Actions)
	assert.Empty(t, second.Events)
	third := Decide(w)
	assert.Equal(t, second, third, "the same world gives the same decision")
	assert.Equal(t, first.Machine.Spec, second.Machine.Spec)
}

// Conformance: MA-01, SH-01
func TestTheFinalizerComesAlone(t *testing.T) {
	for name, change := range map[string]change{
		"a new machine":    young,
		"a paused machine": annotated(clusterv1.PausedAnnotation),
	} {
		t.Run(name, func(t *testing.T) {
			d := Decide(world(change, machineWith(func(m *clusterv1.Machine) { m.Finalizers = nil })))
			assert.Equal(t, []string{clusterv1.MachineFinalizer}, d.Machine.Finalizers)
			assert.Empty(t, d.Actions)
		})
	}
	d := Decide(world(deletingFor(0), machineWith(func(m *clusterv1.Machine) { m.Finalizers = []string{"other"} })))
	assert.NotContains(t, d.Machine.Finalizers, clusterv1.MachineFinalizer, "never added in deletion")
}

// Conformance: MA-01, SH-03
func TestPause(t *testing.T) {
	for _, c := range []struct {
		name    string
		change  change
		message string
	}{
		{"by annotation", annotated(clusterv1.PausedAnnotation), "annotation"},
		{"by cluster", func(w *World) { w.Cluster.Spec.Paused = &yes }, "Cluster spec.paused"},
		{"in deletion", func(w *World) { deletingFor(time.Hour)(w); w.Cluster.Spec.Paused = &yes }, "Cluster spec.paused"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := world(c.change)
			d := Decide(w)
			assert.Empty(t, d.Actions)
			assert.Equal(t, w.Machine.Spec, d.Machine.Spec)
			assert.Contains(t, conditions.Message(d.Machine, clusterv1.PausedCondition), c.message)
			assert.Len(t, d.Machine.Status.Conditions, 1, "nothing else is written")
		})
	}
}

// Conformance: MA-10, MA-11, MA-12, MA-51
func TestBootstrapAndInfrastructureAreTakenOver(t *testing.T) {
	created := map[string]any{"initialization": map[string]any{"dataSecretCreated": true}, "dataSecretName": "data"}
	provisioned := map[string]any{"initialization": map[string]any{"provisioned": true}}
	identified := map[string]any{"providerID": providerIDOfM}
	for _, c := range []struct {
		name    string
		changes []change
		phase   string
		err     string
	}{
		{name: "nothing is ready", phase: clusterv1.MachinePhasePending},
		{name: "data is there", changes: []change{bootstrapIs(found("FakeBootstrap", nil, created))}, phase: clusterv1.MachinePhaseProvisioning},
		{name: "the flag without a name", changes: []change{bootstrapIs(found("FakeBootstrap", nil, map[string]any{"initialization": map[string]any{"dataSecretCreated": true}}))}, phase: clusterv1.MachinePhasePending, err: "dataSecretName"},
		{name: "the flag with an empty name", changes: []change{bootstrapIs(found("FakeBootstrap", nil, map[string]any{"initialization": map[string]any{"dataSecretCreated": true}, "dataSecretName": ""}))}, phase: clusterv1.MachinePhasePending, err: "names none"},
		{name: "the flag of a wrong type", changes: []change{bootstrapIs(found("FakeBootstrap", nil, map[string]any{"initialization": map[string]any{"dataSecretCreated": "yes"}}))}, phase: clusterv1.MachinePhasePending, err: "dataSecretCreated"},
		{name: "provisioned", changes: []change{infrastructureIs(found("FakeMachine", identified, provisioned))}, phase: clusterv1.MachinePhaseProvisioned},
		{name: "provisioned without identity waits", changes: []change{infrastructureIs(found("FakeMachine", nil, provisioned))}, phase: clusterv1.MachinePhasePending},
		{name: "identity before provisioned waits", changes: []change{infrastructureIs(found("FakeMachine", identified, nil))}, phase: clusterv1.MachinePhasePending},
		{name: "missing objects wait", changes: []change{infrastructureIs(none), bootstrapIs(none)}, phase: clusterv1.MachinePhasePending},
		{name: "unreadable objects are tried again", changes: []change{infrastructureIs(Referred{Err: errRead})}, phase: clusterv1.MachinePhasePending, err: "refused"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := Decide(world(append([]change{young}, c.changes...)...))
			assert.Equal(t, c.phase, d.Machine.Status.Phase)
			if c.err != "" {
				assert.ErrorContains(t, d.Err, c.err)
				assert.Zero(t, d.Machine.Status.ObservedGeneration)
				return
			}
			require.NoError(t, d.Err)
			assert.Zero(t, d.After, "a watch will tell")
			assert.EqualValues(t, 3, d.Machine.Status.ObservedGeneration)
		})
	}
}

// Conformance: MA-10, MA-11, MA-13
func TestWhatIsProvisionedStaysProvisioned(t *testing.T) {
	d := Decide(world(infrastructureIs(found("FakeMachine", map[string]any{"providerID": providerIDOfM}, nil)), bootstrapIs(found("FakeBootstrap", nil, nil))))
	assert.True(t, isTrue(d.Machine.Status.Initialization.InfrastructureProvisioned))
	assert.Equal(t, "data", *d.Machine.Spec.Bootstrap.DataSecretName)
	d = Decide(world(infrastructureIs(none)))
	assert.ErrorContains(t, d.Err, "deleted after it had been provisioned")
	d = Decide(world(bootstrapIs(found("FakeBootstrap", nil, map[string]any{"initialization": map[string]any{"dataSecretCreated": true}, "dataSecretName": "other"}))))
	assert.Equal(t, "data", *d.Machine.Spec.Bootstrap.DataSecretName, "never overwritten")
}

// Conformance: MA-03
func TestAdoption(t *testing.T) {
	foreign := found("FakeMachine", nil, nil)
	foreign.Object.SetOwnerReferences(nil)
	d := Decide(world(infrastructureIs(foreign)))
	require.NotEmpty(t, d.Actions)
	assert.Equal(t, Adopt{Object: foreign.Object}, d.Actions[0])
	for _, a := range Decide(world(infrastructureIs(foreign), deletingFor(time.Second))).Actions {
		_, adopts := a.(Adopt)
		assert.False(t, adopts, "nothing is adopted in deletion")
	}
}

// Conformance: MA-02
func TestOwnerOfAStandaloneMachine(t *testing.T) {
	assert.Len(t, Decide(world()).Machine.OwnerReferences, 1)
	for _, label := range []string{clusterv1.MachineSetNameLabel, clusterv1.MachinePoolNameLabel, clusterv1.MachineControlPlaneLabel} {
		d := Decide(world(machineWith(func(m *clusterv1.Machine) { m.Labels[label] = "" })))
		assert.Empty(t, d.Machine.OwnerReferences, label)
	}
}

// Conformance: MA-20, MA-21, MA-22
func TestNodeIsFoundOnce(t *testing.T) {
	for _, c := range []struct {
		name    string
		changes []change
		err     string
		nodeRef string
		event   string
	}{
		{name: "found", changes: []change{machineWith(func(m *clusterv1.Machine) { m.Status.NodeRef.Name = "" })}, nodeRef: "n", event: "SuccessfulSetNodeRef"},
		{name: "already known", nodeRef: "n"},
		{name: "two Nodes with one identity", changes: []change{func(w *World) { w.Node.Duplicates = []string{"a", "b"} }}, nodeRef: "n", err: "nodes a, b have the same provider ID"},
		{name: "gone while running", changes: []change{nodeIs(NodeView{Connected: true})}, nodeRef: "n", err: "was deleted"},
		{name: "not there yet", changes: []change{nodeIs(NodeView{Connected: true}), machineWith(func(m *clusterv1.Machine) { m.Status.NodeRef.Name = "" })}},
		{name: "no connection", changes: []change{nodeIs(NodeView{})}, nodeRef: "n"},
		{name: "unreadable", changes: []change{nodeIs(NodeView{Connected: true, Err: errRead})}, nodeRef: "n", err: "refused"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := Decide(world(c.changes...))
			assert.Equal(t, c.nodeRef, d.Machine.Status.NodeRef.Name)
			if c.err == "" {
				require.NoError(t, d.Err)
			} else {
				require.ErrorContains(t, d.Err, c.err)
			}
			if c.event != "" {
				require.Len(t, d.Events, 1)
				assert.Equal(t, c.event, d.Events[0].Reason)
			}
		})
	}
}

// Conformance: MA-23
func TestCertificatesExpiry(t *testing.T) {
	controlPlane := machineWith(func(m *clusterv1.Machine) { m.Labels[clusterv1.MachineControlPlaneLabel] = "" })
	expiry := func(text string) change {
		return machineWith(func(m *clusterv1.Machine) {
			m.Annotations = map[string]string{clusterv1.MachineCertificatesExpiryDateAnnotation: text}
		})
	}
	d := Decide(world(controlPlane, expiry("2031-01-01T00:00:00Z")))
	assert.Equal(t, 2031, d.Machine.Status.CertificatesExpiryDate.Year())
	assert.ErrorContains(t, Decide(world(controlPlane, expiry("soon"))).Err, "RFC 3339")
	assert.NoError(t, Decide(world(expiry("soon"))).Err, "workers have no such certificates")
	d = Decide(world(controlPlane, func(w *World) {
		w.Bootstrap.Object.SetAnnotations(map[string]string{clusterv1.MachineCertificatesExpiryDateAnnotation: "2032-01-01T00:00:00Z"})
	}))
	assert.Equal(t, 2032, d.Machine.Status.CertificatesExpiryDate.Year())
	d = Decide(world(controlPlane, machineWith(func(m *clusterv1.Machine) { m.Status.CertificatesExpiryDate = metav1.NewTime(now) })))
	assert.True(t, d.Machine.Status.CertificatesExpiryDate.IsZero(), "gone with the annotation")
}

// Conformance: MA-05
func TestAMachineWithoutClusterSaysSo(t *testing.T) {
	d := Decide(world(young, func(w *World) { w.Cluster = nil }))
	require.NoError(t, d.Err)
	assert.Equal(t, "c", d.Machine.Labels[clusterv1.ClusterNameLabel], "so that the Cluster wakes it when it appears")
	assert.Equal(t, "Waiting for Cluster c to exist", conditions.Message(d.Machine, clusterv1.MachineNodeReadyCondition))
}

// Conformance: MA-21
func TestTheNodeInfoFollows(t *testing.T) {
	d := Decide(world(func(w *World) { w.Node.Node.Status.NodeInfo = corev1.NodeSystemInfo{KubeletVersion: "v1.37.2"} }))
	assert.Equal(t, "v1.37.2", d.Machine.Status.NodeInfo.KubeletVersion)
}

// Conformance: MA-10
func TestAnEmptyNameOfTheDataSecretIsNone(t *testing.T) {
	empty := machineWith(func(m *clusterv1.Machine) { none := ""; m.Spec.Bootstrap.DataSecretName = &none })
	d := Decide(world(young, empty, bootstrapIs(found("FakeBootstrap", nil, map[string]any{"initialization": map[string]any{"dataSecretCreated": true}, "dataSecretName": "data"}))))
	require.NoError(t, d.Err)
	assert.Equal(t, "data", *d.Machine.Spec.Bootstrap.DataSecretName)
}

// Conformance: MA-04
func TestObjectsOfOtherMachinesAreNotTaken(t *testing.T) {
	foreign := found("FakeMachine", nil, nil)
	foreign.Object.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: clusterv1.GroupVersion.String(), Kind: "Machine", Name: "other", UID: "other", Controller: &yes}})
	d := Decide(world(infrastructureIs(foreign)))
	assert.ErrorContains(t, d.Err, "belongs to Machine other")
	for _, a := range d.Actions {
		assert.NotEqual(t, Adopt{Object: foreign.Object}, a)
	}
	moved := found("FakeMachine", map[string]any{"providerID": providerIDOfM}, nil)
	moved.Object.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: clusterv1.GroupVersion.String(), Kind: "Machine", Name: "m", UID: "before the move", Controller: &yes}})
	d = Decide(world(infrastructureIs(moved)))
	require.NoError(t, d.Err)
	assert.Contains(t, d.Actions, Adopt{Object: moved.Object}, "the same Machine with another UID, after a move")
}

// Conformance: MA-14
func TestFailureDomains(t *testing.T) {
	provisioned := map[string]any{"initialization": map[string]any{"provisioned": true}, "failureDomain": "b"}
	d := Decide(world(infrastructureIs(found("FakeMachine", map[string]any{"providerID": providerIDOfM, "failureDomain": "a"}, provisioned))))
	assert.Equal(t, "a", d.Machine.Spec.FailureDomain)
	assert.Equal(t, "b", d.Machine.Status.FailureDomain)
	d = Decide(world(infrastructureIs(found("FakeMachine", map[string]any{"providerID": providerIDOfM}, provisioned)), machineWith(func(m *clusterv1.Machine) { m.Spec.FailureDomain = "mine" })))
	assert.Equal(t, "mine", d.Machine.Spec.FailureDomain)
}

// Conformance: MA-15, SH-40
func TestOldFailuresAreShownOnly(t *testing.T) {
	failed := func(reason, message string) map[string]any {
		return map[string]any{"initialization": map[string]any{"provisioned": true}, "failureReason": reason, "failureMessage": message}
	}
	identity := map[string]any{"providerID": providerIDOfM}
	d := Decide(world(infrastructureIs(found("FakeMachine", identity, failed("Gone", "the cloud took it"))), bootstrapIs(found("FakeBootstrap", nil, failed("Later", "")))))
	require.NoError(t, d.Err)
	assert.Equal(t, &clusterv1.MachineDeprecatedV1Beta1Status{FailureReason: "Gone", FailureMessage: "the cloud took it"}, d.Machine.Status.Deprecated.V1Beta1)
	assert.Equal(t, clusterv1.MachinePhaseRunning, d.Machine.Status.Phase)
	d = Decide(world(bootstrapIs(found("FakeBootstrap", nil, failed("", "half of it")))))
	assert.Equal(t, "half of it", d.Machine.Status.Deprecated.V1Beta1.FailureMessage)
	d = Decide(world(machineWith(func(m *clusterv1.Machine) {
		m.Status.Deprecated.V1Beta1 = &clusterv1.MachineDeprecatedV1Beta1Status{FailureReason: "Past"}
	})))
	assert.Nil(t, d.Machine.Status.Deprecated.V1Beta1, "it goes with its cause")
}
