package webhooks_test

import (
	"context"
	"io/fs"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonsv1 "github.com/slipway-capi/slipway/contract/api/addons/v1beta2"
	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	ipamv1 "github.com/slipway-capi/slipway/contract/api/ipam/v1beta2"
	runtimev1 "github.com/slipway-capi/slipway/contract/api/runtime/v1beta2"
	"github.com/slipway-capi/slipway/contract/manager"
	"github.com/slipway-capi/slipway/contract/testenv"
	"github.com/slipway-capi/slipway/core/config"
	"github.com/slipway-capi/slipway/core/internal/webhooks"
)

var env *testenv.Environment

// BC-36: the manager has the rights of its role and no others, and owners are protected.
//
// Conformance: MG-33
func TestMain(m *testing.M) {
	os.Exit(testenv.Main(m, &env, testenv.Options{
		Files:       []fs.FS{config.Files, boats},
		Restricted:  true,
		AddToScheme: []func(*runtime.Scheme) error{clusterv1.AddToScheme, addonsv1.AddToScheme, ipamv1.AddToScheme, runtimev1.AddToScheme},
		Manager: func(_ context.Context, mgr ctrl.Manager) error {
			flags := manager.NewFlags()
			flags.Features[manager.FeatureClusterTopology] = true
			return webhooks.SetupWithManager(mgr, flags)
		},
	}))
}

func ref(kind, name string) clusterv1.ContractVersionedObjectReference {
	return clusterv1.ContractVersionedObjectReference{APIGroup: "infrastructure.cluster.x-k8s.io", Kind: kind, Name: name}
}

func newCluster(namespace string) *clusterv1.Cluster {
	return &clusterv1.Cluster{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "c"},
		Spec:       clusterv1.ClusterSpec{InfrastructureRef: ref("DevCluster", "c"), ControlPlaneRef: ref("DevControlPlane", "c")},
	}
}

func machineSpec(version string) clusterv1.MachineSpec {
	return clusterv1.MachineSpec{
		ClusterName: "c", Version: version, InfrastructureRef: ref("DevMachine", "m"),
		Bootstrap: clusterv1.Bootstrap{ConfigRef: ref("DevConfig", "m")},
	}
}

func newMachine(namespace, version string) *clusterv1.Machine {
	return &clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, GenerateName: "m-"}, Spec: machineSpec(version)}
}

func newDeployment(namespace string) *clusterv1.MachineDeployment {
	return &clusterv1.MachineDeployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "md"},
		Spec:       clusterv1.MachineDeploymentSpec{ClusterName: "c", Template: clusterv1.MachineTemplateSpec{Spec: machineSpec("1.37.2")}},
	}
}

// refused demands an error of reason Invalid that names the field.
func refused(t *testing.T, err error, path string) {
	t.Helper()
	require.Error(t, err)
	assert.True(t, apierrors.IsInvalid(err), "%v", err)
	assert.ErrorContains(t, err, path)
}

// Conformance: WH-02
func TestBadObjectsAreRefused(t *testing.T) {
	namespace := env.Namespace(t)
	zero := intstr.FromInt32(0)
	for _, c := range []struct {
		name string
		obj  client.Object
		path string
	}{
		{"cluster without any reference", with(newCluster(namespace), func(c *clusterv1.Cluster) {
			c.Spec = clusterv1.ClusterSpec{ClusterNetwork: clusterv1.ClusterNetwork{APIServerPort: 6443}}
		}), "set infrastructureRef, controlPlaneRef or topology"},
		{"cluster with a bad range of pods", with(newCluster(namespace), func(c *clusterv1.Cluster) {
			c.Spec.ClusterNetwork.Pods.CIDRBlocks = []string{"10.0.0.0/16", "10.0.0.0/33"}
		}), "spec.clusterNetwork.pods.cidrBlocks[1]"},
		{"cluster with a name that is no label", with(newCluster(namespace), func(c *clusterv1.Cluster) {
			c.Name = "a-name-with-more-than-sixty-three-characters-is-too-long-for-a-label"
		}), "metadata.name"},
		{"machine with a version that is none", newMachine(namespace, "latest"), "spec.version"},
		{"machine without bootstrap", with(newMachine(namespace, "v1.37.2"), func(m *clusterv1.Machine) { m.Spec.Bootstrap = clusterv1.Bootstrap{} }), "spec.bootstrap"},
		{"deployment that cannot roll", with(newDeployment(namespace), func(d *clusterv1.MachineDeployment) {
			d.Spec.Rollout.Strategy.Type = clusterv1.RollingUpdateMachineDeploymentStrategyType
			d.Spec.Rollout.Strategy.RollingUpdate.MaxSurge, d.Spec.Rollout.Strategy.RollingUpdate.MaxUnavailable = &zero, &zero
		}), "spec.rollout.strategy.rollingUpdate.maxUnavailable"},
		{"deployment with a selector for others", with(newDeployment(namespace), func(d *clusterv1.MachineDeployment) {
			d.Spec.Selector.MatchLabels = map[string]string{"a": "b"}
		}), "spec.selector"},
		{"deployment of two clusters", with(newDeployment(namespace), func(d *clusterv1.MachineDeployment) { d.Spec.Template.Spec.ClusterName = "d" }), "spec.template.spec.clusterName"},
		{"names that are all the same", with(newDeployment(namespace), func(d *clusterv1.MachineDeployment) { d.Spec.MachineNaming.Template = "x-{{ .cluster.name }}" }), "spec.machineNaming.template"},
		{"health check of everything", &clusterv1.MachineHealthCheck{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "mhc"}, Spec: clusterv1.MachineHealthCheckSpec{ClusterName: "c"},
		}, "spec.selector"},
		{"address that is none", &ipamv1.IPAddress{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "ip"}, Spec: ipamv1.IPAddressSpec{
			Address: "10.0.0.256", Prefix: 24, ClaimRef: clusterv1.MachineNodeReference{Name: "c"}, PoolRef: ref("Pool", "p"),
		}}, "spec.address"},
	} {
		t.Run(c.name, func(t *testing.T) { refused(t, env.Client.Create(context.Background(), c.obj), c.path) })
	}
}

// Conformance: WH-04, WH-05, WH-20, WH-30, WH-31, WH-32
func TestDefaultsAreStored(t *testing.T) {
	ctx, namespace := context.Background(), env.Namespace(t)
	m := newMachine(namespace, "1.37.2")
	require.NoError(t, env.Client.Create(ctx, m))
	assert.Equal(t, "v1.37.2", m.Spec.Version)
	assert.Equal(t, "c", m.Labels[clusterv1.ClusterNameLabel])
	assert.EqualValues(t, 10, *m.Spec.Deletion.NodeDeletionTimeoutSeconds)

	d := newDeployment(namespace)
	require.NoError(t, env.Client.Create(ctx, d))
	assert.EqualValues(t, 1, *d.Spec.Replicas)
	assert.Equal(t, "v1.37.2", d.Spec.Template.Spec.Version)
	assert.Equal(t, map[string]string{clusterv1.MachineDeploymentNameLabel: "md", clusterv1.ClusterNameLabel: "c"}, d.Spec.Selector.MatchLabels)
	assert.Equal(t, d.Spec.Selector.MatchLabels, d.Spec.Template.Metadata.Labels)
	assert.Equal(t, clusterv1.RollingUpdateMachineDeploymentStrategyType, d.Spec.Rollout.Strategy.Type)

	three := int32(3)
	d.Spec.Replicas = &three
	require.NoError(t, env.Client.Update(ctx, d))
	require.NoError(t, env.Client.Patch(ctx, d, client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"replicas":null}}`))))
	assert.EqualValues(t, 3, *d.Spec.Replicas, "a number that is left out stays")
}

// Conformance: WH-05, WH-11
func TestWhatMayNotChange(t *testing.T) {
	ctx, namespace := context.Background(), env.Namespace(t)
	c := newCluster(namespace)
	require.NoError(t, env.Client.Create(ctx, c))
	changed := c.DeepCopy()
	changed.Spec.InfrastructureRef = clusterv1.ContractVersionedObjectReference{}
	refused(t, env.Client.Update(ctx, changed), "spec.infrastructureRef")

	m := newMachine(namespace, "v1.37.2")
	require.NoError(t, env.Client.Create(ctx, m))
	m.Spec.ClusterName = "d"
	refused(t, env.Client.Update(ctx, m), "spec.clusterName")
}

// Conformance: WH-03
func TestDeletionIsNeverInTheWay(t *testing.T) {
	ctx, namespace := context.Background(), env.Namespace(t)
	c := newCluster(namespace)
	c.Finalizers = []string{clusterv1.ClusterFinalizer}
	require.NoError(t, env.Client.Create(ctx, c))
	require.NoError(t, env.Client.Delete(ctx, c))
	require.NoError(t, env.Client.Get(ctx, client.ObjectKeyFromObject(c), c))
	c.Finalizers, c.Spec.InfrastructureRef = nil, clusterv1.ContractVersionedObjectReference{}
	require.NoError(t, env.Client.Update(ctx, c))
	assert.True(t, apierrors.IsNotFound(env.Client.Get(ctx, client.ObjectKeyFromObject(c), c)))
}

func with[T any](obj T, change func(T)) T {
	change(obj)
	return obj
}

// Conformance: HC-32
func TestMachineHealthChecksDoNotWatchThemselves(t *testing.T) {
	check := &clusterv1.MachineHealthCheck{ObjectMeta: metav1.ObjectMeta{Namespace: env.Namespace(t), Name: "mhc"}}
	check.Spec.ClusterName = "c"
	check.Spec.Selector = metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}}
	for _, kind := range []string{"Ready", "Available", "HealthCheckSucceeded", "OwnerRemediated", "ExternallyRemediated"} {
		check.Spec.Checks.UnhealthyMachineConditions = []clusterv1.UnhealthyMachineCondition{{Type: kind, Status: "False", TimeoutSeconds: 60}}
		err := env.Client.Create(context.Background(), check.DeepCopy())
		require.True(t, apierrors.IsInvalid(err), kind)
		assert.ErrorContains(t, err, "spec.checks.unhealthyMachineConditions[0].type")
	}
	check.Spec.Checks.UnhealthyMachineConditions[0].Type = "NodeReady"
	require.NoError(t, env.Client.Create(context.Background(), check))
	assert.EqualValues(t, 600, *check.Spec.Checks.NodeStartupTimeoutSeconds)
}
