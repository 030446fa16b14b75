package topology_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	hooks "github.com/slipway-capi/slipway/contract/api/runtime/hooks/v1alpha1"
	runtimev1 "github.com/slipway-capi/slipway/contract/api/runtime/v1beta2"
	"github.com/slipway-capi/slipway/contract/conditions"
	"github.com/slipway-capi/slipway/contract/extension"
	"github.com/slipway-capi/slipway/contract/extension/extensiontest"
	"github.com/slipway-capi/slipway/contract/extension/hook"
	"github.com/slipway-capi/slipway/contract/extension/templates"
)

// watcher is an extension that notes its calls, and makes the clusters wait where it is told to.
type watcher struct {
	mu    sync.Mutex
	calls []string
	waits string
}

// seen is called by each handler.
func (w *watcher) seen(name string, response hook.Response) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !slices.Contains(w.calls, name) {
		w.calls = append(w.calls, name)
	}
	if retry, ok := response.(hook.Retry); ok && w.waits == name {
		retry.SetRetryAfterSeconds(1)
		retry.SetMessage("not yet")
	}
}

func (w *watcher) wait(name string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.waits = name
}

func (w *watcher) list() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.calls)
}

func watch[Q, R any](s *extension.Server, w *watcher, h hook.Hook[Q, R]) {
	extension.Handle(s, h, strings.ToLower(h.Name), func(_ context.Context, _ *Q, response *R) error {
		w.seen(h.Name, any(response).(hook.Response))
		return nil
	})
}

// watched is an extension with a handler for each hook of the life of a cluster.
func watched(s *extension.Server) *watcher {
	w := &watcher{}
	watch(s, w, hook.BeforeClusterCreate)
	watch(s, w, hook.AfterControlPlaneInitialized)
	watch(s, w, hook.BeforeClusterUpgrade)
	watch(s, w, hook.BeforeControlPlaneUpgrade)
	watch(s, w, hook.AfterControlPlaneUpgrade)
	watch(s, w, hook.BeforeWorkersUpgrade)
	watch(s, w, hook.AfterWorkersUpgrade)
	watch(s, w, hook.AfterClusterUpgrade)
	watch(s, w, hook.BeforeClusterDelete)
	return w
}

// install registers an extension for one namespace and waits until it is discovered.
func install(t *testing.T, name, namespace string, s *extension.Server) *runtimev1.ExtensionConfig {
	t.Helper()
	e := extensiontest.Start(t, s)
	c := &runtimev1.ExtensionConfig{ObjectMeta: metav1.ObjectMeta{Name: name}}
	c.Spec.ClientConfig.URL, c.Spec.ClientConfig.CABundle = e.URL, e.CABundle
	c.Spec.NamespaceSelector.MatchLabels = map[string]string{"kubernetes.io/metadata.name": namespace}
	require.NoError(t, env.Client.Create(t.Context(), c))
	t.Cleanup(func() { _ = env.Client.Delete(context.Background(), c) })
	require.Eventually(t, func() bool {
		return env.Client.Get(t.Context(), client.ObjectKeyFromObject(c), c) == nil && conditions.IsTrue(c, runtimev1.ExtensionConfigDiscoveredCondition)
	}, time.Minute, 20*time.Millisecond, "%s", name)
	return c
}

func (s *story) pending() string { return s.cluster.Annotations[runtimev1.PendingHooksAnnotation] }

func (s *story) blockedBy(name string) {
	s.Helper()
	s.until(name+" makes it wait", func() bool {
		return s.reason() == clusterv1.ClusterTopologyReconciledHookBlockingReason && strings.Contains(s.message(), name)
	})
	assert.Contains(s, s.message(), "Hook "+name+" makes the cluster wait ("+strings.ToLower(name)+".life: not yet)")
}

// Conformance: RT-30, RT-31, RT-33, RT-35
func TestTheLifeOfAClusterWithExtensions(t *testing.T) {
	server := extension.NewServer(extension.Options{})
	w := watched(server)
	w.wait("BeforeClusterCreate")
	s := &story{T: t, namespace: env.Namespace(t)}
	install(t, "life", s.namespace, server)
	s.fill(nil)
	s.blockedBy("BeforeClusterCreate")
	assert.Empty(t, s.cluster.Spec.InfrastructureRef.Name)
	w.wait("")
	s.created()
	assert.Equal(t, "AfterControlPlaneInitialized", s.pending())
	yes := true
	before := s.cluster.DeepCopy()
	s.cluster.Status.Initialization.ControlPlaneInitialized = &yes
	require.NoError(t, env.Client.Status().Patch(t.Context(), s.cluster, client.MergeFrom(before)))
	s.controlPlaneAt("v1.36.0")
	s.workersAt("v1.36.0")
	s.until("the news is told", func() bool {
		return s.pending() == "" && s.reason() == clusterv1.ClusterTopologyReconcileSucceededReason
	})

	w.wait("BeforeClusterUpgrade")
	s.edit(func(tp *clusterv1.Topology) { tp.Version = "v1.37.2" })
	s.blockedBy("BeforeClusterUpgrade")
	version := func() any { return field(s.object(s.cluster.Spec.ControlPlaneRef), "spec", "version") }
	assert.Equal(t, "v1.36.0", version())
	w.wait("AfterControlPlaneUpgrade")
	s.until("the control plane is told", func() bool { return version() == "v1.37.2" })
	assert.Equal(t, "AfterClusterUpgrade,AfterControlPlaneUpgrade", s.pending())
	assert.Equal(t, "v1.37.2", s.cluster.Annotations[clusterv1.ClusterTopologyUpgradeStepAnnotation])
	s.controlPlaneAt("v1.37.2")
	s.blockedBy("AfterControlPlaneUpgrade")
	assert.Equal(t, "v1.36.0", s.deployments()[0].Spec.Template.Spec.Version)
	w.wait("")
	s.until("the workers are told", func() bool { return s.deployments()[0].Spec.Template.Spec.Version == "v1.37.2" })
	s.until("and noted", func() bool { return s.pending() == "AfterClusterUpgrade,AfterWorkersUpgrade" })
	s.workersAt("v1.37.2")
	s.until("all is told", func() bool {
		return s.pending() == "" && s.reason() == clusterv1.ClusterTopologyReconcileSucceededReason
	})
	assert.Empty(t, s.cluster.Annotations[clusterv1.ClusterTopologyUpgradeStepAnnotation])

	before = s.cluster.DeepCopy()
	s.cluster.Finalizers = append(s.cluster.Finalizers, "test.example.org/held")
	require.NoError(t, env.Client.Patch(t.Context(), s.cluster, client.MergeFrom(before)))
	w.wait("BeforeClusterDelete")
	require.NoError(t, env.Client.Delete(t.Context(), s.cluster))
	s.blockedBy("BeforeClusterDelete")
	assert.NotContains(t, s.cluster.Annotations, runtimev1.OkToDeleteAnnotation)
	w.wait("")
	s.until("it may go", func() bool { _, ok := s.cluster.Annotations[runtimev1.OkToDeleteAnnotation]; return ok })
	assert.Equal(t, []string{
		"BeforeClusterCreate", "AfterControlPlaneInitialized", "BeforeClusterUpgrade", "BeforeControlPlaneUpgrade", "AfterControlPlaneUpgrade",
		"BeforeWorkersUpgrade", "AfterWorkersUpgrade", "AfterClusterUpgrade", "BeforeClusterDelete",
	}, w.list())
}

// Conformance: TP-24, RT-36
func TestAnExtensionPatchesAndJudgesTemplates(t *testing.T) {
	server := extension.NewServer(extension.Options{})
	extension.Handle(server, hook.GeneratePatches, "patch", func(_ context.Context, request *hooks.GeneratePatchesRequest, response *hooks.GeneratePatchesResponse) error {
		return templates.Change(request, response, func(tpl *templates.Template) error {
			if tpl.Object.GetKind() != "FakeMachineTemplate" || tpl.Holder.Kind != "MachineDeployment" {
				return nil
			}
			tpl.Object.Object["spec"].(map[string]any)["template"].(map[string]any)["spec"].(map[string]any)["image"] = request.Settings["image"]
			return nil
		})
	})
	var judgement error
	var mu sync.Mutex
	extension.Handle(server, hook.ValidateTopology, "judge", func(context.Context, *hooks.ValidateTopologyRequest, *hooks.ValidateTopologyResponse) error {
		mu.Lock()
		defer mu.Unlock()
		return judgement
	})
	judgement = errors.New("the moon\nis full")
	s := &story{T: t, namespace: env.Namespace(t)}
	install(t, "patcher", s.namespace, server)
	s.fill(func(c *clusterv1.ClusterClass) {
		c.Spec.Patches = append(c.Spec.Patches, clusterv1.ClusterClassPatch{Name: "image", External: &clusterv1.ClusterClassPatchExternal{
			GeneratePatchesExtension: "patch.patcher", ValidateTopologyExtension: "judge.patcher", Settings: map[string]string{"image": "fresh"}}})
	})
	s.until("the judgement is told", func() bool { return s.reason() == clusterv1.ClusterTopologyReconciledFailedReason })
	assert.Equal(t, "patch image: hook ValidateTopology, handler judge.patcher: it reports a failure: the moon is full", s.message())
	mu.Lock()
	judgement = nil
	mu.Unlock()
	s.created()
	machine := s.object(s.deployments()[0].Spec.Template.Spec.InfrastructureRef)
	assert.Equal(t, "fresh", field(machine, "spec", "template", "spec", "image"))
	assert.EqualValues(t, 8, field(machine, "spec", "template", "spec", "cpus"), "patches of the class come first")
}

// Conformance: RT-37
func TestAnExtensionPlansUpgrades(t *testing.T) {
	server := extension.NewServer(extension.Options{})
	extension.Handle(server, hook.GenerateUpgradePlan, "plan", func(_ context.Context, request *hooks.GenerateUpgradePlanRequest, response *hooks.GenerateUpgradePlanResponse) error {
		if request.FromControlPlaneKubernetesVersion == "v1.35.0" {
			response.ControlPlaneUpgrades = []hooks.UpgradeStep{{Version: "v1.36.0"}}
		}
		response.ControlPlaneUpgrades = append(response.ControlPlaneUpgrades, hooks.UpgradeStep{Version: request.ToKubernetesVersion})
		return nil
	})
	s := &story{T: t, namespace: env.Namespace(t), version: "v1.35.0"}
	install(t, "planner", s.namespace, server)
	s.fill(func(c *clusterv1.ClusterClass) {
		c.Spec.Upgrade.External.GenerateUpgradePlanExtension = "plan.planner"
	})
	s.created()
	s.controlPlaneAt("v1.35.0")
	s.workersAt("v1.35.0")
	version := func() any { return field(s.object(s.cluster.Spec.ControlPlaneRef), "spec", "version") }
	s.edit(func(tp *clusterv1.Topology) { tp.Version = "v1.37.2" })
	s.until("the first step", func() bool { return version() == "v1.36.0" })
	s.controlPlaneAt("v1.36.0")
	s.until("the second step", func() bool { return version() == "v1.37.2" })
	assert.Equal(t, "v1.35.0", s.deployments()[0].Spec.Template.Spec.Version, "workers skip the first")
}

func TestExtensionsThatAreMissingAreNamed(t *testing.T) {
	s := tell(t, func(c *clusterv1.ClusterClass) {
		c.Spec.Patches = []clusterv1.ClusterClassPatch{{Name: "image", External: &clusterv1.ClusterClassPatchExternal{GeneratePatchesExtension: "patch.nobody"}}}
	})
	s.until("the missing extension is told", func() bool { return s.reason() == clusterv1.ClusterTopologyReconciledFailedReason })
	assert.Equal(t, "patch image: hook GeneratePatches, handler patch.nobody: no ExtensionConfig that was discovered has a handler of this name", s.message())
	server := extension.NewServer(extension.Options{})
	extension.Handle(server, hook.GeneratePatches, "patch", func(context.Context, *hooks.GeneratePatchesRequest, *hooks.GeneratePatchesResponse) error { return nil })
	install(t, "nobody", s.namespace, server)
	s.created()
}

// Conformance: RT-38
func TestAnExtensionDefinesVariables(t *testing.T) {
	server := extension.NewServer(extension.Options{})
	extension.Handle(server, hook.DiscoverVariables, "define", func(_ context.Context, _ *hooks.DiscoverVariablesRequest, response *hooks.DiscoverVariablesResponse) error {
		response.Variables = []clusterv1.ClusterClassVariable{{Name: "disk", Schema: clusterv1.VariableSchema{OpenAPIV3Schema: clusterv1.JSONSchemaProps{Type: "integer", Default: clusterv1.JSON{Raw: []byte("20")}}}}}
		return nil
	})
	extension.Handle(server, hook.GeneratePatches, "patch", func(_ context.Context, request *hooks.GeneratePatchesRequest, response *hooks.GeneratePatchesResponse) error {
		return templates.Change(request, response, func(tpl *templates.Template) error {
			var disk int64
			if found, err := tpl.Variable("disk", &disk); err != nil || !found || tpl.Object.GetKind() != "FakeMachineTemplate" {
				return err
			}
			tpl.Object.Object["spec"].(map[string]any)["template"].(map[string]any)["spec"].(map[string]any)["disk"] = disk
			return nil
		})
	})
	s := tell(t, func(c *clusterv1.ClusterClass) {
		c.Spec.Patches = append(c.Spec.Patches, clusterv1.ClusterClassPatch{Name: "disk", External: &clusterv1.ClusterClassPatchExternal{
			DiscoverVariablesExtension: "define.definer", GeneratePatchesExtension: "patch.definer"}})
	})
	s.until("the missing extension is told", func() bool {
		return env.Client.Get(t.Context(), client.ObjectKeyFromObject(s.class), s.class) == nil &&
			conditions.Reason(s.class, clusterv1.ClusterClassVariablesReadyCondition) == clusterv1.ClusterClassVariablesReadyVariableDiscoveryFailedReason
	})
	assert.Contains(t, conditions.Message(s.class, clusterv1.ClusterClassVariablesReadyCondition), "variables of patch disk: hook DiscoverVariables, handler define.definer: no ExtensionConfig")
	s.until("the topology waits for the class", func() bool { return s.reason() == clusterv1.ClusterTopologyReconciledClusterClassNotReconciledReason })
	install(t, "definer", s.namespace, server)
	s.created()
	require.NoError(t, env.Client.Get(t.Context(), client.ObjectKeyFromObject(s.class), s.class))
	require.Len(t, s.class.Status.Variables, 2)
	assert.Equal(t, "disk", s.class.Status.Variables[1].Definitions[0].From, "named after the patch")
	disk := func() any {
		return field(s.object(s.deployments()[0].Spec.Template.Spec.InfrastructureRef), "spec", "template", "spec", "disk")
	}
	assert.EqualValues(t, 20, disk(), "the default")
	s.edit(func(tp *clusterv1.Topology) {
		tp.Variables = []clusterv1.ClusterVariable{{Name: "disk", Value: clusterv1.JSON{Raw: []byte("40")}}}
	})
	s.until("the value of the cluster", func() bool { return disk() == int64(40) })
}
