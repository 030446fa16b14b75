package machinepool

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/conditions"
	"github.com/slipway-capi/slipway/contract/contractversion"
	"github.com/slipway-capi/slipway/core/internal/referred"
)

var errRead = errors.New("connection refused")

// Conformance: MP-01, SH-01
func TestTheFinalizerComesFirstAndAlone(t *testing.T) {
	bare := poolWith(func(p *clusterv1.MachinePool) { p.Finalizers = nil })
	d := Decide(world(bare, annotated(clusterv1.PausedAnnotation, "")))
	assert.Equal(t, []string{clusterv1.MachinePoolFinalizer}, d.Pool.Finalizers)
	assert.Empty(t, d.Actions)
	assert.Empty(t, d.Pool.Status.Conditions, "not even the pause is told in the same write")

	d = Decide(world(bare, deletingFor(0)))
	assert.Empty(t, d.Pool.Finalizers, "never added while deleting")
}

// Conformance: MP-02, IP9, SH-03
func TestPaused(t *testing.T) {
	byCluster := func(w *World) { w.Cluster.Spec.Paused = &yes }
	for _, tt := range []struct {
		name    string
		changes []change
		message string
	}{
		{"by the cluster", []change{byCluster}, "Cluster spec.paused is set to true"},
		{"by the annotation, whatever its value", []change{annotated(clusterv1.PausedAnnotation, "false")}, "the object has the annotation cluster.x-k8s.io/paused"},
		{"by both", []change{byCluster, annotated(clusterv1.PausedAnnotation, "")}, "Cluster spec.paused is set to true, the object has the annotation cluster.x-k8s.io/paused"},
		{"deletion stands still too", []change{byCluster, deletingFor(time.Hour)}, "Cluster spec.paused is set to true"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := world(append([]change{shown, infrastructureIs(infrastructure(5, "id://x"))}, tt.changes...)...)
			d := Decide(w)
			assert.Equal(t, tt.message, conditions.Message(d.Pool, clusterv1.PausedCondition))
			assert.Empty(t, d.Actions)
			assert.Equal(t, w.Pool.Spec, d.Pool.Spec)
			assert.Len(t, d.Pool.Status.Conditions, 1, "nothing else is told")
		})
	}
	assert.True(t, conditions.IsFalse(Decide(world()).Pool, clusterv1.PausedCondition))
}

// Conformance: MP-03
func TestThePoolBelongsToItsCluster(t *testing.T) {
	bare := poolWith(func(p *clusterv1.MachinePool) { p.OwnerReferences, p.Labels = nil, nil })
	d := Decide(world(bare))
	require.Len(t, d.Pool.OwnerReferences, 1)
	assert.Nil(t, d.Pool.OwnerReferences[0].Controller, "a plain owner")
	assert.Equal(t, "c", d.Pool.Labels[clusterv1.ClusterNameLabel])

	d = Decide(world(bare, func(w *World) { w.Cluster = nil }))
	assert.Empty(t, d.Pool.OwnerReferences)
	assert.NoError(t, d.Err, "a cluster that does not exist yet is waited for")
}

func TestProviderObjectsAreAdoptedOnce(t *testing.T) {
	orphan := func(o referred.Object) referred.Object {
		o.Object.SetOwnerReferences(nil)
		return o
	}
	other := func(o referred.Object) referred.Object {
		o.Object.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: clusterv1.GroupVersion.String(), Kind: poolKind, Name: "other", UID: "o", Controller: &yes}})
		return o
	}
	leaving := func(o referred.Object) referred.Object {
		at := metav1.NewTime(now)
		o.Object.SetDeletionTimestamp(&at)
		return orphan(o)
	}
	for _, tt := range []struct {
		name    string
		changes []change
		want    []string
		err     string
	}{
		{name: "both are owned"},
		{name: "orphans", changes: []change{infrastructureIs(orphan(infrastructure(2, "id://a", "id://b"))), bootstrapIs(orphan(world().Bootstrap))}, want: []string{"adopt FakeBootstrap", "adopt FakePool"}},
		{name: "one that leaves is not taken", changes: []change{infrastructureIs(leaving(infrastructure(2, "id://a", "id://b")))}},
		{name: "one that serves another pool is not taken from it", changes: []change{bootstrapIs(other(world().Bootstrap))}, err: "FakeBootstrap p belongs to MachinePool other already"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := Decide(world(tt.changes...))
			assert.Equal(t, tt.want, told(d))
			if tt.err != "" {
				assert.ErrorContains(t, d.Err, tt.err)
			} else {
				assert.NoError(t, d.Err)
			}
		})
	}
}

// Conformance: MP-04, MP-05, MP-07
func TestBootstrap(t *testing.T) {
	config := func(status map[string]any) change {
		return bootstrapIs(provider("bootstrap.cluster.x-k8s.io", "FakeBootstrap", nil, status))
	}
	created := map[string]any{"dataSecretCreated": true}
	byHand := poolWith(func(p *clusterv1.MachinePool) {
		name := "mine"
		p.Spec.Template.Spec.Bootstrap = clusterv1.Bootstrap{DataSecretName: &name}
	})
	for _, tt := range []struct {
		name    string
		changes []change
		secret  string
		created bool
		err     string
	}{
		{name: "not yet", changes: []change{young}},
		{name: "no config yet", changes: []change{young, bootstrapIs(missing)}},
		{name: "created", changes: []change{young, config(map[string]any{"initialization": created, "dataSecretName": "data"})}, secret: "data", created: true},
		{name: "the older contract", changes: []change{young, config(map[string]any{"ready": true, "dataSecretName": "data"}), func(w *World) { w.Bootstrap.Object.Contract = "v1beta1" }}, secret: "data", created: true},
		{name: "created without a name is a mistake of the provider", changes: []change{young, config(map[string]any{"initialization": created})}, err: "status.dataSecretName: field not found"},
		{name: "created with an empty name too", changes: []change{young, config(map[string]any{"initialization": created, "dataSecretName": ""})}, err: "says that its data Secret exists but names none"},
		{name: "a flag of the wrong type", changes: []change{young, config(map[string]any{"initialization": map[string]any{"dataSecretCreated": "true"}})}, err: "field has the wrong type"},
		{name: "a Secret of the user", changes: []change{young, byHand, bootstrapIs(referred.Object{})}, secret: "mine", created: true},
		{name: "another config brings other data", changes: []change{config(map[string]any{"initialization": created, "dataSecretName": "data-2"})}, secret: "data-2", created: true},
		{name: "until it has some, the former data stays", changes: []change{config(nil)}, secret: "data", created: true},
		{name: "a config that is gone takes nothing away", changes: []change{bootstrapIs(missing)}, secret: "data", created: true},
		{name: "unreadable", changes: []change{bootstrapIs(referred.Object{Err: errRead})}, secret: "data", created: true, err: "refused"},
		{name: "kind not installed: a watch tells, no retry", changes: []change{bootstrapIs(referred.Object{Err: fmt.Errorf("x: %w", contractversion.ErrNoCRD)})}, secret: "data", created: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := Decide(world(tt.changes...))
			secret := ""
			if s := d.Pool.Spec.Template.Spec.Bootstrap.DataSecretName; s != nil {
				secret = *s
			}
			assert.Equal(t, tt.secret, secret)
			assert.Equal(t, tt.created, isTrue(d.Pool.Status.Initialization.BootstrapDataSecretCreated))
			if tt.err != "" {
				assert.ErrorContains(t, d.Err, tt.err)
				assert.Zero(t, d.Pool.Status.ObservedGeneration)
			} else {
				assert.NoError(t, d.Err)
				assert.EqualValues(t, 3, d.Pool.Status.ObservedGeneration)
			}
		})
	}
}

// Conformance: MP-06, MP-07, MP-08, MP-09, MP-11, IP1, IP2, IP3, IP4, IP5
func TestInfrastructure(t *testing.T) {
	bare := func(spec, status map[string]any) change {
		return infrastructureIs(provider(infraGroup, "FakePool", spec, status))
	}
	ids := map[string]any{"providerIDList": []any{"id://a"}, "providerID": "pool-id"}
	provisioned := func(rest map[string]any) map[string]any {
		rest["initialization"] = map[string]any{"provisioned": true}
		return rest
	}
	older := func(w *World) { w.Infrastructure.Object.Contract = "v1beta1" }
	two := []string{"id://a", "id://b"}
	for _, tt := range []struct {
		name        string
		changes     []change
		provisioned bool
		ids         []string
		replicas    int32 // -1 is unset
		err         string
	}{
		{name: "not yet", changes: []change{young}, replicas: -1},
		{name: "members before the flag do not count", changes: []change{young, bare(ids, map[string]any{"replicas": int64(1)})}, replicas: -1},
		{name: "the flag", changes: []change{young, bare(ids, provisioned(map[string]any{"replicas": int64(1)}))}, provisioned: true, ids: []string{"id://a"}, replicas: 1},
		{name: "the old flag", changes: []change{young, bare(ids, map[string]any{"ready": true, "replicas": int64(1)})}, provisioned: true, ids: []string{"id://a"}, replicas: 1},
		{name: "the old flag under the old contract", changes: []change{young, bare(ids, map[string]any{"ready": true, "replicas": int64(1)}), older}, provisioned: true, ids: []string{"id://a"}, replicas: 1},
		{name: "the new flag under the old contract", changes: []change{young, bare(ids, provisioned(map[string]any{"replicas": int64(1)})), older}, provisioned: true, ids: []string{"id://a"}, replicas: 1},
		{name: "both say no", changes: []change{young, bare(ids, map[string]any{"ready": false, "initialization": map[string]any{}})}, replicas: -1},
		{name: "the flag sticks when it is taken back", changes: []change{status(false, "initialization", "provisioned")}, provisioned: true, ids: two, replicas: 2},
		{name: "a flag of the wrong type", changes: []change{young, bare(ids, map[string]any{"ready": "yes"})}, replicas: -1, err: "status.ready: field has the wrong type"},
		{name: "members come", changes: []change{infrastructureIs(infrastructure(3, "id://a", "id://b", "id://c"))}, provisioned: true, ids: []string{"id://a", "id://b", "id://c"}, replicas: 3},
		{name: "members go", changes: []change{infrastructureIs(infrastructure(1, "id://b"))}, provisioned: true, ids: []string{"id://b"}, replicas: 1},
		{name: "another order is no change", changes: []change{infrastructureIs(infrastructure(2, "id://b", "id://a"))}, provisioned: true, ids: two, replicas: 2},
		{name: "an empty list of a pool that has members is not yet filled", changes: []change{infrastructureIs(infrastructure(2))}, provisioned: true, ids: two, replicas: 2},
		{name: "an empty list of an empty pool", changes: []change{infrastructureIs(infrastructure(0))}, provisioned: true, replicas: 0},
		{name: "a number that is not told stays as it was", changes: []change{bare(map[string]any{"providerIDList": []any{"id://a"}}, provisioned(map[string]any{}))}, provisioned: true, ids: []string{"id://a"}, replicas: 2},
		{name: "a number that was never told stays unset", changes: []change{young, bare(ids, provisioned(map[string]any{}))}, provisioned: true, ids: []string{"id://a"}, replicas: -1},
		{name: "a list of the wrong type changes nothing", changes: []change{bare(map[string]any{"providerIDList": "id://a"}, provisioned(map[string]any{"replicas": int64(2)}))},
			provisioned: true, ids: two, replicas: 2, err: "spec.providerIDList: field has the wrong type"},
		{name: "a number of the wrong type changes nothing", changes: []change{status("two", "replicas")}, provisioned: true, ids: two, replicas: 2, err: "status.replicas: field has the wrong type"},
		{name: "gone after it was provisioned is an error, not a new beginning", changes: []change{infrastructureIs(missing)}, provisioned: true, ids: two, replicas: 2, err: "FakePool p was deleted after it had been provisioned"},
		{name: "missing before is waited for", changes: []change{young, infrastructureIs(missing)}, replicas: -1},
		{name: "unreadable", changes: []change{infrastructureIs(referred.Object{Err: errRead})}, provisioned: true, ids: two, replicas: 2, err: "refused"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := Decide(world(tt.changes...))
			p := d.Pool
			assert.Equal(t, tt.provisioned, isTrue(p.Status.Initialization.InfrastructureProvisioned))
			assert.ElementsMatch(t, tt.ids, p.Spec.ProviderIDList)
			if tt.replicas < 0 {
				assert.Nil(t, p.Status.Replicas)
			} else if assert.NotNil(t, p.Status.Replicas) {
				assert.Equal(t, tt.replicas, *p.Status.Replicas)
			}
			if tt.err != "" {
				assert.ErrorContains(t, d.Err, tt.err)
			} else {
				assert.NoError(t, d.Err)
			}
		})
	}
}

// Conformance: MP-10, IP8
func TestReplicasManagedByAnAutoscaler(t *testing.T) {
	grown := infrastructureIs(infrastructure(3, "id://a", "id://b", "id://c"))
	for _, tt := range []struct {
		name    string
		changes []change
		want    int32
		phase   string
	}{
		{"not without the annotation", nil, 2, "ScalingDown"},
		{"any value", []change{annotated(clusterv1.ReplicasManagedByAnnotation, "cluster-autoscaler")}, 3, "Scaling"},
		{"an empty value too", []change{annotated(clusterv1.ReplicasManagedByAnnotation, "")}, 3, "Scaling"},
		{"but not false", []change{annotated(clusterv1.ReplicasManagedByAnnotation, "false")}, 2, "ScalingDown"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := Decide(world(append([]change{grown}, tt.changes...)...))
			assert.Equal(t, tt.want, *d.Pool.Spec.Replicas)
			assert.Equal(t, tt.phase, d.Pool.Status.Phase)
		})
	}
	silent := provider(infraGroup, "FakePool", map[string]any{"providerIDList": []any{"id://a", "id://b"}}, map[string]any{"ready": true})
	d := Decide(world(annotated(clusterv1.ReplicasManagedByAnnotation, "x"), infrastructureIs(silent)))
	assert.EqualValues(t, 2, *d.Pool.Spec.Replicas, "a number that is not told changes nothing")
}

// Conformance: MP-13, SH-40
func TestOldFailuresAreShownAndNotActedOn(t *testing.T) {
	for _, tt := range []struct{ name, reason, message string }{
		{"both", "Quota", "no quota"}, {"a reason without message", "Quota", ""}, {"a message without reason", "", "no quota"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var changes []change
			if tt.reason != "" {
				changes = append(changes, status(tt.reason, "failureReason"))
			}
			if tt.message != "" {
				changes = append(changes, status(tt.message, "failureMessage"))
			}
			d := Decide(world(changes...))
			require.NotNil(t, d.Pool.Status.Deprecated.V1Beta1)
			assert.Equal(t, tt.reason, d.Pool.Status.Deprecated.V1Beta1.FailureReason)
			assert.Equal(t, tt.message, d.Pool.Status.Deprecated.V1Beta1.FailureMessage)
			assert.Equal(t, phaseRunning, d.Pool.Status.Phase)
			again := Decide(world(func(w *World) { w.Pool = d.Pool }))
			assert.Nil(t, again.Pool.Status.Deprecated.V1Beta1, "gone when the provider does not tell it any more")
		})
	}
	assert.NotPanics(t, func() {
		Decide(world(status(map[string]any{"x": "y"}, "failureReason"), status(int64(5), "failureMessage")))
	})
}
