package kubeadmconfig

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	bootstrapv1 "github.com/slipway-capi/slipway/providers/bootstrap-kubeadm/api/v1beta2"
)

// fakeClient holds objects in memory.
func fakeClient(t *testing.T, objects ...client.Object) client.WithWatch {
	t.Helper()
	scheme := runtime.NewScheme()
	require.NoError(t, corev1.AddToScheme(scheme))
	require.NoError(t, clusterv1.AddToScheme(scheme))
	require.NoError(t, bootstrapv1.AddToScheme(scheme))
	return fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).WithStatusSubresource(&bootstrapv1.KubeadmConfig{}).Build()
}

func configOf(owners ...metav1.OwnerReference) *bootstrapv1.KubeadmConfig {
	return &bootstrapv1.KubeadmConfig{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "m", OwnerReferences: owners, Labels: map[string]string{clusterv1.ClusterNameLabel: "c"}}}
}

func owner(apiVersion, kind, name string) metav1.OwnerReference {
	return metav1.OwnerReference{APIVersion: apiVersion, Kind: kind, Name: name, UID: types.UID(name)}
}

// Conformance: KB-01, KB-02
func TestOwner(t *testing.T) {
	const group = "cluster.x-k8s.io/"
	meta := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: "ns", Name: name} }
	machine, lost, fleet := &clusterv1.Machine{ObjectMeta: meta("m")}, &clusterv1.Machine{ObjectMeta: meta("lost")}, &clusterv1.MachinePool{ObjectMeta: meta("p")}
	machine.Spec.ClusterName, machine.Spec.Version = "c", "v1.37.1"
	lost.Spec.ClusterName = "absent"
	fleet.Spec.ClusterName, fleet.Spec.Template.Spec.Version = "c", "v1.37.2"
	c := fakeClient(t, machine, lost, fleet, &clusterv1.Cluster{ObjectMeta: meta("c")})
	for _, row := range []struct {
		name   string
		owners []metav1.OwnerReference
		// version is that of the owner; "" if the config stays idle.
		version string
	}{
		{"none", nil, ""},
		{"another kind", []metav1.OwnerReference{owner(group+"v1beta2", "MachineSet", "m")}, ""},
		{"another group", []metav1.OwnerReference{owner("example.org/v1", "Machine", "m")}, ""},
		{"an owner that is not there", []metav1.OwnerReference{owner(group+"v1beta2", "Machine", "absent")}, ""},
		{"a pool that is not there", []metav1.OwnerReference{owner(group+"v1beta2", "MachinePool", "absent")}, ""},
		{"a Cluster that is not there", []metav1.OwnerReference{owner(group+"v1beta2", "Machine", "lost")}, ""},
		{"a Machine", []metav1.OwnerReference{owner("example.org/v1", "Machine", "x"), owner(group+"v1beta2", "Machine", "m")}, "v1.37.1"},
		{"a Machine as an older version names it", []metav1.OwnerReference{owner(group+"v1alpha3", "Machine", "m")}, "v1.37.1"},
		{"a pool", []metav1.OwnerReference{owner(group+"v1beta1", "MachinePool", "p")}, "v1.37.2"},
	} {
		t.Run(row.name, func(t *testing.T) {
			w := World{Config: configOf(row.owners...)}
			require.NoError(t, (&Controller{Client: c}).owner(t.Context(), &w), "waiting for an owner is no error")
			assert.Equal(t, row.version == "", StageOf(w) == Idle)
			if row.version != "" {
				assert.Equal(t, row.version, version(w))
				assert.Equal(t, "c", w.Cluster.Name, "the Cluster is the one that the owner names")
			}
		})
	}
}

// Conformance: KB-06
func TestWhatWakesAConfig(t *testing.T) {
	ctx := t.Context()
	ref := clusterv1.ContractVersionedObjectReference{APIGroup: bootstrapv1.GroupVersion.Group, Kind: "KubeadmConfig", Name: "m"}
	machine, fleet := &clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{Namespace: "ns"}}, &clusterv1.MachinePool{ObjectMeta: metav1.ObjectMeta{Namespace: "ns"}}
	machine.Spec.Bootstrap.ConfigRef, fleet.Spec.Template.Spec.Bootstrap.ConfigRef = ref, ref
	request := []reconcile.Request{{NamespacedName: client.ObjectKey{Namespace: "ns", Name: "m"}}}
	assert.Equal(t, request, ofMachine(ctx, machine))
	assert.Equal(t, request, ofPool(ctx, fleet))
	machine.Spec.Bootstrap.ConfigRef.Kind = "OtherConfig"
	assert.Empty(t, ofMachine(ctx, machine), "the configs of other providers are not ours")

	other := configOf()
	other.Name, other.Labels = "other", map[string]string{clusterv1.ClusterNameLabel: "c2"}
	c := &Controller{Client: fakeClient(t, configOf(), other)}
	assert.Equal(t, request, c.ofCluster(ctx, &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "c"}}))
	assert.Empty(t, c.ofCluster(ctx, &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: "elsewhere", Name: "c"}}))
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "c-etcd", Labels: map[string]string{clusterv1.ClusterNameLabel: "c"}}}
	assert.Equal(t, request, c.ofSecret(ctx, secret))
	secret.Name = "c-other"
	assert.Empty(t, c.ofSecret(ctx, secret), "only certificates are waited for")
	secret.Name, secret.Type = "m", clusterv1.ClusterSecretType
	assert.Equal(t, request, c.ofSecret(ctx, secret), "a data Secret without owner")
	secret.Type = corev1.SecretTypeOpaque
	assert.Empty(t, c.ofSecret(ctx, secret), "a Secret of a user")
	secret.Type, secret.OwnerReferences = clusterv1.ClusterSecretType, []metav1.OwnerReference{{Controller: &yes}}
	assert.Empty(t, c.ofSecret(ctx, secret), "a data Secret that we have just written")
}

// Conformance: KB-06
func TestWhichChangesWake(t *testing.T) {
	for _, row := range []struct {
		name string
		edit func(*clusterv1.Cluster)
		want bool
	}{
		{"paused", func(c *clusterv1.Cluster) { c.Spec.Paused, c.Generation = &yes, 2 }, true},
		{"infrastructure is there", func(c *clusterv1.Cluster) { c.Status.Initialization.InfrastructureProvisioned = &yes }, true},
		{"control plane is there", func(c *clusterv1.Cluster) { c.Status.Initialization.ControlPlaneInitialized = &yes }, true},
		{"a report", func(c *clusterv1.Cluster) { c.Status.Phase = "Provisioned" }, false},
	} {
		before, after := &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Generation: 1}}, &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Generation: 1}}
		row.edit(after)
		assert.Equal(t, row.want, clusterMatters(before, after), row.name)
	}
	for _, row := range []struct {
		name string
		edit func(*clusterv1.Machine)
		want bool
	}{
		{"node", func(m *clusterv1.Machine) { m.Status.NodeRef.Name = "n" }, true},
		{"label", func(m *clusterv1.Machine) { m.Labels = map[string]string{clusterv1.MachineControlPlaneLabel: ""} }, true},
		{"spec", func(m *clusterv1.Machine) { m.Generation = 2 }, true},
		{"deletion", func(m *clusterv1.Machine) { m.DeletionTimestamp = &metav1.Time{Time: now} }, true},
		{"a report", func(m *clusterv1.Machine) { m.Status.Phase = "Running" }, false},
	} {
		before, after := &clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{Generation: 1}}, &clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{Generation: 1}}
		row.edit(after)
		assert.Equal(t, row.want, machineMatters(before, after), row.name)
	}
}

// Conformance: KB-06
func TestWatchFilter(t *testing.T) {
	config := configOf(owner("cluster.x-k8s.io/v1beta2", "Machine", "m"))
	machine := &clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "m"}}
	machine.Spec.ClusterName = "c"
	request := ctrl.Request{NamespacedName: client.ObjectKeyFromObject(config)}
	for label, handled := range map[string]bool{"": false, "theirs": false, "mine": true} {
		config.Labels[clusterv1.WatchLabel] = label
		c := fakeClient(t, config.DeepCopy(), machine, &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "c"}})
		_, err := (&Controller{Client: c, Live: c, Secrets: c, TokenTTL: ttl, WatchFilter: "mine"}).Reconcile(t.Context(), request)
		require.NoError(t, err)
		got := &bootstrapv1.KubeadmConfig{}
		require.NoError(t, c.Get(t.Context(), request.NamespacedName, got))
		assert.Equal(t, handled, len(got.Status.Conditions) > 0, "label %q", label)
	}
}

// Conformance: KB-03
func TestStages(t *testing.T) {
	label := func(value string) edit {
		return func(w *World) {
			w.Machine.Labels = map[string]string{clusterv1.MachineControlPlaneLabel: value}
		}
	}
	labelledPool := func(w *World) {
		pool(w)
		w.Pool.Labels = map[string]string{clusterv1.MachineControlPlaneLabel: ""}
	}
	for _, row := range []struct {
		name  string
		world World
		want  Stage
	}{
		{"worker", world(), JoinWorker},
		{"control plane machine", world(label("")), JoinControlPlane},
		{"the label's value does not count", world(label("false")), JoinControlPlane},
		{"a pool is never of a control plane", world(labelledPool), JoinWorker},
		{"nor does it initialize one", world(labelledPool, notInitialized), WaitControlPlane},
		{"the first control plane machine", world(label("x"), notInitialized), InitControlPlane},
		{"the infrastructure comes first", world(label(""), notInitialized, noInfrastructure), WaitInfrastructure},
		{"what exists is not made again", world(label(""), created), Done},
		{"status without the name", world(created, func(w *World) { w.Config.Status.DataSecretName = "" }), JoinWorker},
	} {
		assert.Equal(t, row.want, StageOf(row.world), row.name)
	}
}
