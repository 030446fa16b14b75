package cluster

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/certificates"
	"github.com/slipway-capi/slipway/contract/conditions"
	"github.com/slipway-capi/slipway/contract/kubeconfig"
	"github.com/slipway-capi/slipway/core/internal/referred"
)

// Conformance: CL-53
func TestARunningClusterNeedsNothing(t *testing.T) {
	first := Decide(world())
	require.NoError(t, first.Err)
	assert.Empty(t, first.Actions)
	assert.Empty(t, first.Events)
	w := world()
	w.Cluster = first.Cluster
	assert.Equal(t, first, Decide(w), "deciding again changes nothing")
}

// Conformance: CL-01, SH-01
func TestTheFinalizerComesAlone(t *testing.T) {
	bare := clusterWith(func(c *clusterv1.Cluster) { c.Finalizers = nil })
	for name, change := range map[string]change{"new": fresh, "paused": clusterWith(func(c *clusterv1.Cluster) { c.Spec.Paused = &yes })} {
		d := Decide(world(change, bare))
		assert.Equal(t, []string{clusterv1.ClusterFinalizer}, d.Cluster.Finalizers, name)
		assert.Empty(t, d.Actions, name)
	}
	assert.Empty(t, Decide(world(bare, deleting)).Cluster.Finalizers)
}

// Conformance: SH-03
func TestPause(t *testing.T) {
	both := clusterWith(func(c *clusterv1.Cluster) {
		c.Spec.Paused, c.Annotations = &yes, map[string]string{clusterv1.PausedAnnotation: "false"}
	})
	d := Decide(world(deleting, both))
	assert.Empty(t, d.Actions, "deletion stands still too")
	message := conditions.Message(d.Cluster, clusterv1.PausedCondition)
	assert.Contains(t, message, "spec.paused")
	assert.Contains(t, message, "annotation")
	assert.Len(t, d.Cluster.Status.Conditions, 1)
}

// Conformance: CL-09, CL-11, CL-14
func TestWhatTheInfrastructureReports(t *testing.T) {
	provisioned := map[string]any{"initialization": map[string]any{"provisioned": true}}
	withDomains := func(domains any) map[string]any {
		return map[string]any{"initialization": map[string]any{"provisioned": true}, "failureDomains": domains}
	}
	address := map[string]any{"controlPlaneEndpoint": endpoint("10.0.0.9", 6443)}
	for _, c := range []struct {
		name    string
		object  referred.Object
		up      bool
		host    string
		domains []string
		err     string
	}{
		{name: "nothing", object: found("FakeCluster", nil, nil)},
		{name: "provisioned with endpoint", object: found("FakeCluster", address, provisioned), up: true, host: "10.0.0.9"},
		{name: "provisioned without endpoint", object: found("FakeCluster", nil, provisioned), up: true},
		{name: "half an endpoint", object: found("FakeCluster", map[string]any{"controlPlaneEndpoint": map[string]any{"host": "10.0.0.9"}}, provisioned), up: true},
		{name: "endpoint before provisioned", object: found("FakeCluster", address, nil)},
		{name: "failure domains, sorted", object: found("FakeCluster", nil, withDomains([]any{map[string]any{"name": "b"}, map[string]any{"name": "a"}})), up: true, domains: []string{"a", "b"}},
		{name: "the older contract", object: older(found("FakeCluster", address, map[string]any{"ready": true, "failureDomains": map[string]any{"b": map[string]any{}, "a": map[string]any{"controlPlane": true}}})), up: true, host: "10.0.0.9", domains: []string{"a", "b"}},
		{name: "the flag of the wrong contract", object: older(found("FakeCluster", nil, provisioned))},
		{name: "a flag of the wrong type", object: found("FakeCluster", nil, map[string]any{"initialization": map[string]any{"provisioned": "yes"}}), err: "provisioned"},
		{name: "an endpoint of the wrong type", object: found("FakeCluster", map[string]any{"controlPlaneEndpoint": "10.0.0.9"}, provisioned), up: true, err: "controlPlaneEndpoint"},
		{name: "domains of the wrong type", object: found("FakeCluster", nil, withDomains("a,b")), up: true, err: "failureDomains"},
		{name: "missing", object: none},
		{name: "unreadable", object: referred.Object{Err: errRead}, err: "refused"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := Decide(world(fresh, infrastructureIs(c.object)))
			assert.Equal(t, c.up, isTrue(d.Cluster.Status.Initialization.InfrastructureProvisioned))
			assert.Equal(t, c.host, d.Cluster.Spec.ControlPlaneEndpoint.Host)
			var names []string
			for _, fd := range d.Cluster.Status.FailureDomains {
				names = append(names, fd.Name)
				assert.NotNil(t, fd.ControlPlane)
			}
			assert.Equal(t, c.domains, names)
			if c.err != "" {
				assert.ErrorContains(t, d.Err, c.err)
			} else {
				assert.NoError(t, d.Err)
			}
		})
	}
}

// Conformance: CL-06, CL-09, CL-10, CL-11, CL-13
func TestWhatIsUpStaysUp(t *testing.T) {
	d := Decide(world(infrastructureIs(found("FakeCluster", map[string]any{"controlPlaneEndpoint": endpoint("other", 1)}, nil)), controlPlaneIs(found("FakeControlPlane", nil, nil)),
		clusterWith(func(c *clusterv1.Cluster) { c.Status.FailureDomains = []clusterv1.FailureDomain{{Name: "gone"}} })))
	require.NoError(t, d.Err)
	assert.True(t, isTrue(d.Cluster.Status.Initialization.InfrastructureProvisioned))
	assert.True(t, isTrue(d.Cluster.Status.Initialization.ControlPlaneInitialized))
	assert.Equal(t, "10.0.0.1", d.Cluster.Spec.ControlPlaneEndpoint.Host, "the endpoint is never overwritten")
	assert.Empty(t, d.Cluster.Status.FailureDomains, "failure domains follow")
	assert.ErrorContains(t, Decide(world(infrastructureIs(none))).Err, "deleted after it had been provisioned")
	assert.ErrorContains(t, Decide(world(controlPlaneIs(none))).Err, "deleted after it had been initialized")
}

// Conformance: CL-13, CL-14
func TestWhatTheControlPlaneReports(t *testing.T) {
	initialized := map[string]any{"initialization": map[string]any{"controlPlaneInitialized": true}}
	address := map[string]any{"controlPlaneEndpoint": endpoint("10.0.0.7", 6443)}
	for _, c := range []struct {
		name   string
		object referred.Object
		up     bool
		host   string
		err    string
	}{
		{name: "nothing", object: found("FakeControlPlane", address, nil)},
		{name: "initialized", object: found("FakeControlPlane", nil, initialized), up: true},
		{name: "its own endpoint", object: found("FakeControlPlane", address, initialized), up: true, host: "10.0.0.7"},
		{name: "the older contract", object: older(found("FakeControlPlane", address, map[string]any{"initialized": true})), up: true, host: "10.0.0.7"},
		{name: "a flag of the wrong type", object: found("FakeControlPlane", nil, map[string]any{"initialization": map[string]any{"controlPlaneInitialized": int64(1)}}), err: "controlPlaneInitialized"},
		{name: "missing", object: none},
		{name: "unreadable", object: referred.Object{Err: errRead}, err: "refused"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := Decide(world(fresh, controlPlaneIs(c.object)))
			assert.Equal(t, c.up, isTrue(d.Cluster.Status.Initialization.ControlPlaneInitialized))
			assert.Equal(t, c.host, d.Cluster.Spec.ControlPlaneEndpoint.Host)
			if c.err != "" {
				assert.ErrorContains(t, d.Err, c.err)
			} else {
				assert.NoError(t, d.Err)
			}
		})
	}
}

// Conformance: CL-12, CL-30
func TestEventsAreToldOnce(t *testing.T) {
	w := world(clusterWith(func(c *clusterv1.Cluster) {
		c.Status.Initialization, c.Status.Phase = clusterv1.ClusterInitializationStatus{}, clusterv1.ClusterPhaseProvisioning
	}))
	d := Decide(w)
	var reasons []string
	for _, e := range d.Events {
		reasons = append(reasons, e.Reason)
	}
	assert.Equal(t, []string{"InfrastructureReady", "ControlPlaneInitialized", clusterv1.ClusterPhaseProvisioned}, reasons)
	w.Cluster = d.Cluster
	assert.Empty(t, Decide(w).Events)
}

// Conformance: CL-05
func TestAdoption(t *testing.T) {
	stray := found("FakeCluster", nil, nil)
	stray.Object.SetOwnerReferences(nil)
	d := Decide(world(infrastructureIs(stray)))
	assert.Equal(t, []Action{Adopt{Object: stray.Object}}, d.Actions)
	assert.Nil(t, ownerReference(runningCluster()).Controller)
	topology := runningCluster()
	topology.Spec.Topology.ClassRef.Name = "class"
	assert.True(t, *ownerReference(topology).Controller, "what a topology makes is controlled by the Cluster")
}

// Conformance: CL-15, CL-16
func TestKubeconfigWithoutControlPlaneObject(t *testing.T) {
	ca := &certificates.KeyPair{Key: []byte("key")}
	missing := func(w *World) { w.Kubeconfig.Secret = nil }
	authority := func(w *World) { w.Kubeconfig = KubeconfigView{CA: ca} }
	d := Decide(world(standalone, missing, authority))
	assert.Equal(t, []Action{StoreKubeconfig{Endpoint: clusterv1.APIEndpoint{Host: "10.0.0.1", Port: 6443}, CA: *ca}}, d.Actions)
	assert.Empty(t, Decide(world(standalone)).Actions, "it exists")
	assert.Empty(t, Decide(world(authority)).Actions, "the control plane object makes it")
	assert.Empty(t, Decide(world(standalone, authority, fresh, standalone, authority)).Actions, "no endpoint yet")
	d = Decide(world(standalone, missing))
	require.NoError(t, d.Err)
	assert.Equal(t, authorityPoll, d.After, "the authority's Secret may have no label that a watch sees")
	assert.ErrorContains(t, Decide(world(standalone, func(w *World) { w.Kubeconfig = KubeconfigView{Err: errRead} })).Err, "refused")
	d = Decide(world(standalone, func(w *World) { w.Kubeconfig = KubeconfigView{CA: &certificates.KeyPair{}} }))
	assert.ErrorContains(t, d.Err, "no private key", "an authority that cannot sign")
	assert.Empty(t, d.Actions)
	assert.Empty(t, Decide(world(standalone, deleting, empty, infrastructureIs(none), authority)).Actions, "not for a cluster that goes")
	assert.Empty(t, Decide(world(topology, authority)).Actions, "a topology will have a control plane object")
}

func TestAKubeconfigIsRenewedWithHalfOfItsLifeLeft(t *testing.T) {
	ca, err := certificates.NewCA("", 0, now)
	require.NoError(t, err)
	stored := func(age time.Duration, owners ...metav1.OwnerReference) change {
		content, err := kubeconfig.Generate("c", clusterv1.APIEndpoint{Host: "10.0.0.1", Port: 6443}, ca, "", now.Add(-age))
		require.NoError(t, err)
		return func(w *World) {
			w.Kubeconfig = KubeconfigView{CA: &ca, Secret: &corev1.Secret{ObjectMeta: metav1.ObjectMeta{OwnerReferences: owners}, Data: map[string][]byte{"value": content}}}
		}
	}
	half := kubeconfig.Validity / 2
	assert.Empty(t, Decide(world(standalone, stored(half-time.Hour, owner()))).Actions, "more than half left")
	old := world(standalone, stored(half+time.Hour, owner()))
	assert.Equal(t, []Action{StoreKubeconfig{Endpoint: clusterv1.APIEndpoint{Host: "10.0.0.1", Port: 6443}, CA: ca, Old: old.Kubeconfig.Secret}}, Decide(old).Actions)
	assert.Empty(t, Decide(world(standalone, stored(2*half))).Actions, "a kubeconfig that a user stored is the user's")
}

// Without an owner it would outlive the Cluster, and the next one of that name would find it.
func TestAKubeconfigThatLostItsOwnerIsTakenBack(t *testing.T) {
	stored := func(kind corev1.SecretType, owners ...metav1.OwnerReference) change {
		return func(w *World) {
			w.Kubeconfig.Secret = &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "c-kubeconfig", OwnerReferences: owners}, Type: kind}
		}
	}
	lost := world(standalone, stored(clusterv1.ClusterSecretType))
	assert.Equal(t, []Action{OwnKubeconfig{Secret: lost.Kubeconfig.Secret}}, Decide(lost).Actions)
	assert.Empty(t, Decide(world(standalone, stored(clusterv1.ClusterSecretType, owner()))).Actions, "it has its owner")
	assert.Empty(t, Decide(world(standalone, stored(corev1.SecretTypeOpaque))).Actions, "it is a user's")
	assert.Empty(t, Decide(world(stored(clusterv1.ClusterSecretType))).Actions, "the control plane object cares for it")
}

// Conformance: CL-03, CL-52
func TestAMissingClassIsAnErrorButKeepsNoCluster(t *testing.T) {
	missing := func(w *World) { w.Class.Err = errors.New("ClusterClass ns/class does not exist") }
	assert.ErrorContains(t, Decide(world(missing)).Err, "ns/class does not exist")
	assert.Zero(t, Decide(world(missing)).Cluster.Status.ObservedGeneration)
	assert.EqualValues(t, 2, Decide(world()).Cluster.Status.ObservedGeneration)
	d := Decide(world(missing, deleting, empty, infrastructureIs(none), controlPlaneIs(none)))
	require.NoError(t, d.Err)
	assert.Empty(t, d.Cluster.Finalizers)
}

// Conformance: SH-40
func TestOldFailuresAreShownOnly(t *testing.T) {
	failed := older(found("FakeCluster", nil, map[string]any{"ready": true, "failureReason": "Broken", "failureMessage": "no quota"}))
	d := Decide(world(infrastructureIs(failed)))
	require.NoError(t, d.Err)
	assert.Equal(t, &clusterv1.MachineDeprecatedV1Beta1Status{FailureReason: "Broken", FailureMessage: "no quota"}, d.Cluster.Status.Deprecated.V1Beta1)
	assert.Equal(t, clusterv1.ClusterPhaseProvisioned, d.Cluster.Status.Phase)
	w := world()
	w.Cluster = d.Cluster
	assert.Nil(t, Decide(w).Cluster.Status.Deprecated.V1Beta1, "and go with their cause")
}

func TestTheCacheIsNotTrustedBeforeTheControlPlaneGoes(t *testing.T) {
	for name, c := range map[string]struct {
		changes []change
		want    bool
	}{
		"running":                      {[]change{empty}, false},
		"workers are left":             {[]change{deleting}, false},
		"the control plane goes next":  {[]change{deleting, empty}, true},
		"the control plane is going":   {[]change{deleting, empty, infrastructureIs(none), going}, false},
		"the infrastructure goes next": {[]change{deleting, empty, controlPlaneIs(none)}, true},
		"nothing is left":              {[]change{deleting, empty, controlPlaneIs(none), infrastructureIs(none)}, false},
		"descendants cannot be read":   {[]change{deleting, func(w *World) { w.Descendants = Descendants{Err: errRead} }}, false},
	} {
		assert.Equal(t, c.want, world(c.changes...).aboutToPassWorkers(), name)
	}
}

func going(w *World) { at := metav1.NewTime(now); w.ControlPlane.Object.SetDeletionTimestamp(&at) }

// Conformance: CL-17
func TestStandaloneControlPlaneInitializesWithItsFirstNode(t *testing.T) {
	uninitialized := clusterWith(func(c *clusterv1.Cluster) { c.Status.Initialization.ControlPlaneInitialized = nil })
	assert.False(t, isTrue(Decide(world(standalone, uninitialized)).Cluster.Status.Initialization.ControlPlaneInitialized))
	d := Decide(world(standalone, uninitialized, func(w *World) { w.Descendants.Machines[0].Status.NodeRef.Name = "n" }))
	assert.True(t, isTrue(d.Cluster.Status.Initialization.ControlPlaneInitialized))
}

// Conformance: CL-07
func TestAClusterWithoutReferences(t *testing.T) {
	d := Decide(world(fresh, standalone, infrastructureIs(referred.Object{}), clusterWith(func(c *clusterv1.Cluster) { c.Spec.InfrastructureRef = clusterv1.ContractVersionedObjectReference{} })))
	require.NoError(t, d.Err)
	assert.True(t, conditions.IsTrue(d.Cluster, clusterv1.InfrastructureReadyCondition), "someone else provides it")
	assert.Equal(t, clusterv1.ClusterPhasePending, d.Cluster.Status.Phase)
	assert.True(t, isTrue(d.Cluster.Status.Initialization.InfrastructureProvisioned))
	d = Decide(world(fresh, standalone, deleting, infrastructureIs(referred.Object{}), clusterWith(func(c *clusterv1.Cluster) { c.Spec.InfrastructureRef = clusterv1.ContractVersionedObjectReference{} })))
	assert.False(t, isTrue(d.Cluster.Status.Initialization.InfrastructureProvisioned), "not while deleting")
}

// Conformance: CL-08
func TestNothingIsTakenFromWhatIsBeingDeleted(t *testing.T) {
	at := metav1.NewTime(now)
	infrastructure := found("FakeCluster", map[string]any{"controlPlaneEndpoint": endpoint("10.0.0.9", 6443)}, map[string]any{"initialization": map[string]any{"provisioned": true}})
	plane := found("FakeControlPlane", map[string]any{"controlPlaneEndpoint": endpoint("10.0.0.8", 6443)}, map[string]any{"initialization": map[string]any{"controlPlaneInitialized": true}})
	infrastructure.Object.SetDeletionTimestamp(&at)
	plane.Object.SetDeletionTimestamp(&at)
	infrastructure.Object.SetOwnerReferences(nil)
	d := Decide(world(fresh, infrastructureIs(infrastructure), controlPlaneIs(plane)))
	require.NoError(t, d.Err)
	assert.Empty(t, d.Cluster.Status.Initialization)
	assert.Empty(t, d.Cluster.Spec.ControlPlaneEndpoint)
	assert.Empty(t, d.Actions, "nor is it adopted")
}

// Conformance: CL-10
func TestHalfAnEndpointIsCompleted(t *testing.T) {
	for _, half := range []clusterv1.APIEndpoint{{Host: "old"}, {Port: 1}} {
		d := Decide(world(clusterWith(func(c *clusterv1.Cluster) { c.Spec.ControlPlaneEndpoint = half })))
		require.NoError(t, d.Err)
		assert.Equal(t, clusterv1.APIEndpoint{Host: "10.0.0.1", Port: 6443}, d.Cluster.Spec.ControlPlaneEndpoint)
	}
}

// Conformance: SH-41
func TestAllErrorsAreTold(t *testing.T) {
	broken := found("FakeControlPlane", nil, map[string]any{"initialization": map[string]any{"controlPlaneInitialized": "yes"}})
	d := Decide(world(fresh, infrastructureIs(referred.Object{Err: errRead}), controlPlaneIs(broken)))
	require.ErrorIs(t, d.Err, errRead)
	assert.ErrorContains(t, d.Err, "controlPlaneInitialized")
	assert.True(t, conditions.Has(d.Cluster, clusterv1.AvailableCondition), "what comes after an error is done all the same")
}
