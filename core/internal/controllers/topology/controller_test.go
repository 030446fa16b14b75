package topology_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	runtimev1 "github.com/slipway-capi/slipway/contract/api/runtime/v1beta2"
	"github.com/slipway-capi/slipway/contract/conditions"
	"github.com/slipway-capi/slipway/contract/extension/hookcall"
	"github.com/slipway-capi/slipway/contract/extension/registry"
	"github.com/slipway-capi/slipway/contract/extension/wire"
	"github.com/slipway-capi/slipway/contract/external"
	"github.com/slipway-capi/slipway/contract/testenv"
	"github.com/slipway-capi/slipway/core/config"
	"github.com/slipway-capi/slipway/core/internal/controllers/clusterclass"
	"github.com/slipway-capi/slipway/core/internal/controllers/extensionconfig"
	"github.com/slipway-capi/slipway/core/internal/controllers/topology"
)

var env *testenv.Environment

const crd = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: %[2]ss.%[3]s
  labels: {cluster.x-k8s.io/v1beta2: v1}
spec:
  group: %[3]s
  names: {kind: %[1]s, listKind: %[1]sList, plural: %[2]ss, singular: %[2]s}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}
`

// BC-36: the manager has the rights of its role and no others, and owners are protected.
//
// Conformance: MG-33
func TestMain(m *testing.M) {
	files := fstest.MapFS{}
	for group, kinds := range map[string][]string{
		"infrastructure": {"FakeCluster", "FakeClusterTemplate", "FakeMachineTemplate", "FakeMachine"}, "bootstrap": {"FakeConfigTemplate", "FakeConfig"}, "controlplane": {"FakeControlPlane", "FakeControlPlaneTemplate"},
	} {
		for _, kind := range kinds {
			files[kind+".yaml"] = &fstest.MapFile{Data: fmt.Appendf(nil, crd, kind, strings.ToLower(kind), group+".cluster.x-k8s.io")}
		}
	}
	os.Exit(testenv.Main(m, &env, testenv.Options{
		Files:        []fs.FS{config.CRDs, config.Roles, files},
		Restricted:   true,
		AddToScheme:  []func(*runtime.Scheme) error{clusterv1.AddToScheme, runtimev1.AddToScheme},
		KeepFieldsOf: topology.FieldOwner,
		Manager: func(ctx context.Context, mgr ctrl.Manager) error {
			resolver := external.NewResolver(mgr.GetClient())
			known, pool := registry.New(), wire.NewPool(wire.Options{AllowLocal: true})
			hooks := hookcall.New(known, pool, hookcall.NamespaceLabels(mgr.GetClient()))
			extensions := &extensionconfig.Controller{Client: mgr.GetClient(), Live: mgr.GetAPIReader(), Registry: known, Pool: pool}
			classes := &clusterclass.Controller{Client: mgr.GetClient(), Resolver: resolver, Hooks: hooks}
			topologies := &topology.Controller{Client: mgr.GetClient(), Resolver: resolver, Recorder: mgr.GetEventRecorder("topology"), ConsentBeforeDelete: true, Hooks: hooks}
			return errors.Join(extensions.SetupWithManager(ctx, mgr, 2), classes.SetupWithManager(ctx, mgr, 2), topologies.SetupWithManager(ctx, mgr, 2))
		},
	}))
}

func template(group, kind, name string, spec map[string]any) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"template": map[string]any{"spec": spec}}}}
	o.SetGroupVersionKind(schema.GroupVersionKind{Group: group + ".cluster.x-k8s.io", Version: "v1", Kind: kind})
	o.SetName(name)
	return o
}

func reference(o *unstructured.Unstructured) clusterv1.MachineHealthCheckRemediationTemplateReference {
	return clusterv1.MachineHealthCheckRemediationTemplateReference{APIVersion: o.GetAPIVersion(), Kind: o.GetKind(), Name: o.GetName()}
}

// story is one class and one Cluster in a namespace of their own.
type story struct {
	*testing.T
	namespace string
	// version is that of the topology; empty is v1.36.0.
	version string
	class   *clusterv1.ClusterClass
	cluster *clusterv1.Cluster
}

func tell(t *testing.T, change func(*clusterv1.ClusterClass)) *story {
	t.Helper()
	s := &story{T: t, namespace: env.Namespace(t)}
	s.fill(change)
	return s
}

// fill makes the class, its templates and the Cluster.
func (s *story) fill(change func(*clusterv1.ClusterClass)) {
	t := s.T
	t.Helper()
	templates := []*unstructured.Unstructured{
		template("infrastructure", "FakeClusterTemplate", "infra", map[string]any{"subnets": []any{map[string]any{"id": "net-a"}}}),
		template("controlplane", "FakeControlPlaneTemplate", "cp", map[string]any{"size": "small"}),
		template("infrastructure", "FakeMachineTemplate", "cp-machine", map[string]any{"cpus": int64(2)}),
		template("bootstrap", "FakeConfigTemplate", "boot", map[string]any{}),
		template("infrastructure", "FakeMachineTemplate", "worker", map[string]any{"cpus": int64(4)}),
	}
	for _, o := range templates {
		o.SetNamespace(s.namespace)
		require.NoError(t, env.Client.Create(t.Context(), o))
	}
	s.class = &clusterv1.ClusterClass{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "class"}}
	spec := &s.class.Spec
	spec.Infrastructure.TemplateRef, spec.ControlPlane.TemplateRef = reference(templates[0]), reference(templates[1])
	spec.ControlPlane.MachineInfrastructure.TemplateRef = reference(templates[2])
	spec.Workers.MachineDeployments = []clusterv1.MachineDeploymentClass{{Class: "linux",
		Bootstrap: clusterv1.ControlPlaneClassMachineInfrastructure{TemplateRef: reference(templates[3])}, Infrastructure: clusterv1.ControlPlaneClassMachineInfrastructure{TemplateRef: reference(templates[4])}}}
	spec.Variables = []clusterv1.ClusterClassVariable{{Name: "cpus", Schema: clusterv1.VariableSchema{OpenAPIV3Schema: clusterv1.JSONSchemaProps{Type: "integer", Default: clusterv1.JSON{Raw: []byte("8")}}}}}
	onWorkers := clusterv1.PatchSelector{APIVersion: templates[4].GetAPIVersion(), Kind: templates[4].GetKind()}
	onWorkers.MatchResources.MachineDeploymentClass = &clusterv1.PatchSelectorMatchResourcesMachineDeploymentClass{Names: []string{"*"}}
	spec.Patches = []clusterv1.ClusterClassPatch{{Name: "cpus", Definitions: []clusterv1.PatchDefinition{{Selector: onWorkers,
		JSONPatches: []clusterv1.JSONPatch{{Op: "replace", Path: "/spec/template/spec/cpus", ValueFrom: &clusterv1.JSONPatchValueFrom{Variable: "cpus"}}}}}}}
	if change != nil {
		change(s.class)
	}
	require.NoError(t, env.Client.Create(t.Context(), s.class))
	two := int32(2)
	s.cluster = &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "c"}}
	s.cluster.Spec.Topology = clusterv1.Topology{ClassRef: clusterv1.ClusterClassRef{Name: "class"}, Version: cmp.Or(s.version, "v1.36.0")}
	s.cluster.Spec.Topology.ControlPlane.Replicas = &two
	s.cluster.Spec.Topology.Workers.MachineDeployments = []clusterv1.MachineDeploymentTopology{{Class: "linux", Name: "md", Replicas: &two}}
	require.NoError(t, env.Client.Create(t.Context(), s.cluster))
}

func (s *story) until(what string, done func() bool) {
	s.Helper()
	require.Eventually(s, func() bool {
		return env.Client.Get(s.Context(), client.ObjectKeyFromObject(s.cluster), s.cluster) == nil && done()
	}, time.Minute, 20*time.Millisecond, what)
}

func (s *story) reason() string {
	return conditions.Reason(s.cluster, clusterv1.ClusterTopologyReconciledCondition)
}

func (s *story) message() string {
	return conditions.Message(s.cluster, clusterv1.ClusterTopologyReconciledCondition)
}

// object is what the Cluster refers to.
func (s *story) object(ref clusterv1.ContractVersionedObjectReference) *unstructured.Unstructured {
	s.Helper()
	o := &unstructured.Unstructured{}
	o.SetGroupVersionKind(schema.GroupVersionKind{Group: ref.APIGroup, Version: "v1", Kind: ref.Kind})
	require.NoError(s, env.Client.Get(s.Context(), client.ObjectKey{Namespace: s.namespace, Name: ref.Name}, o))
	return o
}

func (s *story) deployments() []clusterv1.MachineDeployment {
	s.Helper()
	list := &clusterv1.MachineDeploymentList{}
	require.NoError(s, env.Client.List(s.Context(), list, client.InNamespace(s.namespace)))
	return list.Items
}

// created waits until all objects are there.
func (s *story) created() {
	s.Helper()
	s.until("all objects are there", func() bool {
		return s.cluster.Spec.InfrastructureRef.Name != "" && s.cluster.Spec.ControlPlaneRef.Name != "" && len(s.deployments()) == 1
	})
}

// controlPlaneAt plays the control plane provider.
func (s *story) controlPlaneAt(version string) {
	s.Helper()
	o := s.object(s.cluster.Spec.ControlPlaneRef)
	status := map[string]any{"versions": []any{map[string]any{"version": version, "replicas": int64(2)}}, "replicas": int64(2), "upToDateReplicas": int64(2)}
	o.Object["status"] = status
	require.NoError(s, env.Client.Status().Update(s.Context(), o))
}

// workersAt plays the MachineDeployment controller.
func (s *story) workersAt(version string) {
	s.Helper()
	md := s.deployments()[0]
	md.Status.ObservedGeneration, md.Status.Versions = md.Generation, []clusterv1.StatusVersion{{Version: version}}
	require.NoError(s, env.Client.Status().Update(s.Context(), &md))
}

func field(o *unstructured.Unstructured, path ...string) any {
	v, _, _ := unstructured.NestedFieldNoCopy(o.Object, path...)
	return v
}

func (s *story) edit(change func(*clusterv1.Topology)) {
	s.Helper()
	require.NoError(s, env.Client.Get(s.Context(), client.ObjectKeyFromObject(s.cluster), s.cluster))
	before := s.cluster.DeepCopy()
	change(&s.cluster.Spec.Topology)
	require.NoError(s, env.Client.Patch(s.Context(), s.cluster, client.MergeFrom(before)))
}

// Conformance: TP-10, TP-11
func TestOneClusterGivesAll(t *testing.T) {
	s := tell(t, nil)
	s.created()
	infra, cp := s.object(s.cluster.Spec.InfrastructureRef), s.object(s.cluster.Spec.ControlPlaneRef)
	assert.Equal(t, "v1.36.0", field(cp, "spec", "version"))
	assert.Equal(t, s.cluster.UID, infra.GetOwnerReferences()[0].UID)
	md := s.deployments()[0]
	machine := s.object(md.Spec.Template.Spec.InfrastructureRef)
	assert.EqualValues(t, 8, field(machine, "spec", "template", "spec", "cpus"), "the default of the variable")
	s.controlPlaneAt("v1.36.0")
	s.workersAt("v1.36.0")
	s.until("the topology is complete", func() bool { return s.reason() == clusterv1.ClusterTopologyReconcileSucceededReason })

	versions := func() string {
		return infra.GetResourceVersion() + cp.GetResourceVersion() + s.deployments()[0].ResourceVersion + s.cluster.ResourceVersion
	}
	infra, cp = s.object(s.cluster.Spec.InfrastructureRef), s.object(s.cluster.Spec.ControlPlaneRef)
	before := versions()
	s.edit(func(tp *clusterv1.Topology) { tp.ControlPlane.Metadata.Labels = map[string]string{"x": "y"} })
	s.until("a label reaches the control plane", func() bool { cp = s.object(s.cluster.Spec.ControlPlaneRef); return cp.GetLabels()["x"] == "y" })
	assert.NotEqual(t, before, versions())
	assert.Equal(t, md.Spec.Template.Spec.InfrastructureRef, s.deployments()[0].Spec.Template.Spec.InfrastructureRef, "workers are left alone")

	s.edit(func(tp *clusterv1.Topology) { tp.ControlPlane.Metadata.Labels = nil })
	s.until("a label that is no longer wanted goes", func() bool { _, has := s.object(s.cluster.Spec.ControlPlaneRef).GetLabels()["x"]; return !has })
}

func TestATemplateOfOtherContentIsAnother(t *testing.T) {
	s := tell(t, nil)
	s.created()
	first := s.deployments()[0].Spec.Template.Spec.InfrastructureRef
	set := func(value string) {
		s.edit(func(tp *clusterv1.Topology) {
			tp.Variables = []clusterv1.ClusterVariable{{Name: "cpus", Value: clusterv1.JSON{Raw: []byte(value)}}}
		})
	}
	set("16")
	s.until("the MachineDeployment refers to another template", func() bool { return s.deployments()[0].Spec.Template.Spec.InfrastructureRef != first })
	second := s.deployments()[0].Spec.Template.Spec.InfrastructureRef
	assert.EqualValues(t, 16, field(s.object(second), "spec", "template", "spec", "cpus"))
	s.until("the template that nothing refers to goes", func() bool {
		o := &unstructured.Unstructured{}
		o.SetGroupVersionKind(schema.GroupVersionKind{Group: first.APIGroup, Version: "v1", Kind: first.Kind})
		return client.IgnoreNotFound(env.Client.Get(t.Context(), client.ObjectKey{Namespace: s.namespace, Name: first.Name}, o)) == nil && o.GetName() == ""
	})
}

// Conformance: TP-04, TP-10
func TestBC07NobodyIsFought(t *testing.T) {
	s := tell(t, nil)
	s.created()
	infra := s.object(s.cluster.Spec.InfrastructureRef)
	require.NoError(t, unstructured.SetNestedSlice(infra.Object, []any{map[string]any{"id": "net-a", "zone": "z1"}}, "spec", "subnets"))
	require.NoError(t, env.Client.Update(t.Context(), infra))
	version := infra.GetResourceVersion()
	// Something else wakes the controller; when that is done, it has looked at the infrastructure, too.
	s.edit(func(tp *clusterv1.Topology) { tp.ControlPlane.Metadata.Labels = map[string]string{"after": "all"} })
	s.until("the later change is carried out", func() bool { return s.object(s.cluster.Spec.ControlPlaneRef).GetLabels()["after"] == "all" })
	infra = s.object(s.cluster.Spec.InfrastructureRef)
	assert.Equal(t, version, infra.GetResourceVersion(), "no write")
	assert.Equal(t, []any{map[string]any{"id": "net-a", "zone": "z1"}}, field(infra, "spec", "subnets"))
}

// Conformance: TP-07
func TestBC09ABrokenPatchIsToldTheSameWayEachTime(t *testing.T) {
	s := tell(t, func(c *clusterv1.ClusterClass) {
		c.Spec.Patches[0].Definitions[0].JSONPatches[0] = clusterv1.JSONPatch{Op: "remove", Path: "/spec/template/spec/nothing"}
	})
	s.until("the failure is told", func() bool { return s.reason() == clusterv1.ClusterTopologyReconciledFailedReason })
	assert.Contains(t, s.message(), "patch cpus: MachineDeploymentInfrastructure FakeMachineTemplate")
	assert.Contains(t, s.message(), "(remove /spec/template/spec/nothing)")
	version := s.cluster.ResourceVersion
	assert.Never(t, func() bool {
		return env.Client.Get(t.Context(), client.ObjectKeyFromObject(s.cluster), s.cluster) == nil && s.cluster.ResourceVersion != version
	}, 1500*time.Millisecond, 50*time.Millisecond, "no attempt writes anything")
}

// Conformance: TP-12, TP-13, TP-17
func TestWorkersFollowTheControlPlane(t *testing.T) {
	s := tell(t, nil)
	s.created()
	s.controlPlaneAt("v1.36.0")
	s.workersAt("v1.36.0")
	s.until("the topology is complete", func() bool { return s.reason() == clusterv1.ClusterTopologyReconcileSucceededReason })
	s.edit(func(tp *clusterv1.Topology) { tp.Version = "v1.37.2" })
	s.until("the control plane is told first", func() bool { return field(s.object(s.cluster.Spec.ControlPlaneRef), "spec", "version") == "v1.37.2" })
	s.until("workers wait", func() bool {
		return s.reason() == clusterv1.ClusterTopologyReconciledMachineDeploymentsUpgradePendingReason
	})
	assert.Equal(t, "MachineDeployments md are to be upgraded to v1.37.2", s.message())
	assert.Equal(t, "v1.36.0", s.deployments()[0].Spec.Template.Spec.Version)
	s.controlPlaneAt("v1.37.2")
	s.until("workers follow", func() bool { return s.deployments()[0].Spec.Template.Spec.Version == "v1.37.2" })
}

func TestWhatIsMissingIsNamed(t *testing.T) {
	s := tell(t, nil)
	other := s.cluster.DeepCopy()
	other.ObjectMeta = metav1.ObjectMeta{Namespace: s.namespace, Name: "other"}
	other.Spec = clusterv1.ClusterSpec{Topology: clusterv1.Topology{ClassRef: clusterv1.ClusterClassRef{Name: "nowhere"}, Version: "v1.36.0"}}
	require.NoError(t, env.Client.Create(t.Context(), other))
	s.cluster = other
	s.until("the missing class is named", func() bool { return s.message() == "ClusterClass nowhere does not exist" })
	assert.Equal(t, clusterv1.ClusterTopologyReconciledClusterClassNotReconciledReason, s.reason())
}

func TestAGroupThatIsTakenOutGoes(t *testing.T) {
	s := tell(t, nil)
	s.created()
	s.edit(func(tp *clusterv1.Topology) { tp.Workers.MachineDeployments = nil })
	s.until("the MachineDeployment goes", func() bool { return len(s.deployments()) == 0 })
}
