package kubeadmcontrolplane

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	hooks "github.com/slipway-capi/slipway/contract/api/runtime/hooks/v1alpha1"
	runtimev1 "github.com/slipway-capi/slipway/contract/api/runtime/v1beta2"
	"github.com/slipway-capi/slipway/contract/conditions"
	"github.com/slipway-capi/slipway/contract/extension"
	"github.com/slipway-capi/slipway/contract/extension/extensiontest"
	"github.com/slipway-capi/slipway/contract/extension/hook"
	"github.com/slipway-capi/slipway/contract/external"
	"github.com/slipway-capi/slipway/contract/inplace"
	bootstrapv1 "github.com/slipway-capi/slipway/providers/bootstrap-kubeadm/api/v1beta2"
	controlplanev1 "github.com/slipway-capi/slipway/providers/controlplane-kubeadm/api/v1beta2"
	"github.com/slipway-capi/slipway/providers/controlplane-kubeadm/internal/machines"
)

const token = "abcdef.0123456789abcdef"

// updater is an extension for the namespace of a scene.
type updater struct {
	mu sync.Mutex
	// covered are the parts of the spec of a KubeadmConfig that it changes; it changes versions and infrastructure always.
	covered []string
	asked   []string
}

func (u *updater) cover(fields ...string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.covered = fields
}

func (u *updater) requests() []string {
	u.mu.Lock()
	defer u.mu.Unlock()
	return slices.Clone(u.asked)
}

// extend starts an extension and says in the name of the core what it serves.
func (s *scene) extend(fields ...string) *updater {
	s.t.Helper()
	u := &updater{covered: fields}
	server := extension.NewServer(extension.Options{})
	extension.Handle(server, hook.CanUpdateMachine, "can", u.answer)
	endpoint := extensiontest.Start(s.t, server)
	config := &runtimev1.ExtensionConfig{}
	config.Name = "updater-" + s.namespace
	config.Spec.ClientConfig.URL, config.Spec.ClientConfig.CABundle = endpoint.URL, endpoint.CABundle
	config.Spec.NamespaceSelector.MatchLabels = map[string]string{"kubernetes.io/metadata.name": s.namespace}
	require.NoError(s.t, env.Client.Create(s.t.Context(), config))
	s.t.Cleanup(func() { _ = env.Client.Delete(context.Background(), config) })
	id := hook.CanUpdateMachine.ID()
	config.Status.Handlers = []runtimev1.ExtensionConfigHandlerStatus{{Name: "can." + config.Name, TimeoutSeconds: 10, FailurePolicy: runtimev1.FailurePolicyFail,
		RequestHook: runtimev1.ExtensionConfigHandlerRequestHookStatus{APIVersion: id.APIVersion, Hook: id.Hook}}}
	require.NoError(s.t, env.Client.Status().Update(s.t.Context(), config))
	return u
}

func (u *updater) answer(_ context.Context, request *hooks.CanUpdateMachineRequest, response *hooks.CanUpdateMachineResponse) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	whole, err := json.Marshal(request)
	if err != nil {
		return err
	}
	u.asked = append(u.asked, string(whole))
	patch := func(raw []byte, keep func(key string) bool) (hooks.Patch, error) {
		object := &unstructured.Unstructured{}
		if err := json.Unmarshal(raw, object); err != nil {
			return hooks.Patch{}, err
		}
		spec, _, err := unstructured.NestedMap(object.Object, "spec")
		if err != nil {
			return hooks.Patch{}, err
		}
		maps.DeleteFunc(spec, func(key string, _ any) bool { return !keep(key) })
		content, err := json.Marshal(map[string]any{"spec": spec})
		return hooks.Patch{PatchType: hooks.JSONMergePatchType, Patch: content}, err
	}
	response.MachinePatch = hooks.Patch{PatchType: hooks.JSONMergePatchType, Patch: fmt.Appendf(nil, `{"spec":{"version":%q}}`, request.Desired.Machine.Spec.Version)}
	if response.InfrastructureMachinePatch, err = patch(request.Desired.InfrastructureMachine.Raw, func(string) bool { return true }); err != nil {
		return err
	}
	response.BootstrapConfigPatch, err = patch(request.Desired.BootstrapConfig.Raw, func(key string) bool { return slices.Contains(u.covered, key) })
	return err
}

func (s *scene) config(name string) *bootstrapv1.KubeadmConfig {
	s.t.Helper()
	config := &bootstrapv1.KubeadmConfig{}
	require.NoError(s.t, env.Client.Get(s.t.Context(), s.key(name), config))
	return config
}

// finishUpdate plays the core: it calls the extension, and takes the marks away when that is done. It returns the machine that is
// being updated, if any.
func (s *scene) finishUpdate() string {
	s.t.Helper()
	var names []string
	for _, machine := range s.machines() {
		if !inplace.Updating(&machine) {
			continue
		}
		names = append(names, machine.Name)
		infra, config := s.infra(machine.Name), s.config(machine.Name)
		if !inplace.Pending(&machine) || !inplace.Marked(infra) || !inplace.Marked(config) {
			continue
		}
		for _, object := range []client.Object{&machine, infra, config} {
			s.rewrite(object, func(o client.Object) { inplace.Unmark(o) })
		}
		s.rewrite(&machine, func(o client.Object) { inplace.End(o) })
	}
	require.LessOrEqual(s.t, len(names), 1, "one machine at a time")
	if len(names) == 0 {
		return ""
	}
	return names[0]
}

func (s *scene) rewrite(object client.Object, change func(client.Object)) {
	s.t.Helper()
	before := object.DeepCopyObject().(client.Object)
	change(object)
	require.NoError(s.t, env.Client.Patch(s.t.Context(), object, client.MergeFrom(before)))
}

func (s *scene) secondTemplate() {
	template := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "infrastructure.cluster.x-k8s.io/v1beta2", "kind": "DevMachineTemplate",
		"metadata": map[string]any{"namespace": s.namespace, "name": "c1-cp-2"},
		"spec": map[string]any{"template": map[string]any{"spec": map[string]any{
			"backend": map[string]any{"inMemory": map[string]any{"etcd": map[string]any{"provisioning": map[string]any{"startupDuration": "1s"}}}},
		}}},
	}}
	require.NoError(s.t, env.Client.Create(s.t.Context(), template))
}

func (s *scene) uids() map[types.UID]bool {
	found := map[types.UID]bool{}
	for _, machine := range s.machines() {
		found[machine.UID] = true
	}
	return found
}

// Conformance: CP-98, CP-99, CP-100, CP-101
func TestMachinesAreUpdatedInPlace(t *testing.T) {
	s := started(t, 3, func(cp *controlplanev1.KubeadmControlPlane) { surgeOf(0)(&World{ControlPlane: cp}) })
	extension := s.extend("postKubeadmCommands")
	s.secondTemplate()
	before, infra := s.uids(), map[string]types.UID{}
	var last string
	for _, machine := range s.machines() {
		infra[machine.Name] = s.infra(machine.Name).GetUID()
		if config := s.config(machine.Name); config.Spec.JoinConfiguration.ControlPlane != nil {
			last = machine.Name
			s.rewrite(config, func(client.Object) { config.Spec.JoinConfiguration.Discovery.BootstrapToken.Token = token })
		}
	}
	// One update was begun before the manager was stopped.
	s.change(func(cp *controlplanev1.KubeadmControlPlane) {
		cp.Annotations = map[string]string{clusterv1.PausedAnnotation: ""}
	})
	s.eventually("the pause is known", func() bool { return conditions.IsTrue(s.get(), clusterv1.PausedCondition) })
	s.rewrite(s.machine(last), func(o client.Object) { inplace.Mark(o) })
	s.change(func(cp *controlplanev1.KubeadmControlPlane) {
		cp.Annotations, cp.Spec.Version = nil, "v1.37.3"
		cp.Spec.KubeadmConfigSpec.PostKubeadmCommands = []string{"true"}
		cp.Spec.MachineTemplate.Spec.InfrastructureRef.Name = "c1-cp-2"
	})

	var order []string
	s.play("all machines are updated", func() bool {
		if name := s.finishUpdate(); name != "" && !slices.Contains(order, name) {
			order = append(order, name)
		}
		require.Equal(t, before, s.uids(), "no machine comes or goes")
		return len(order) == 3 && s.healthy() == 3 && !slices.ContainsFunc(s.machines(), func(m clusterv1.Machine) bool { return m.Spec.Version != "v1.37.3" || inplace.Updating(&m) })
	})
	assert.Equal(t, last, order[0], "what was begun is finished first")
	for _, machine := range s.machines() {
		object, config := s.infra(machine.Name), s.config(machine.Name)
		assert.Equal(t, infra[machine.Name], object.GetUID())
		assert.Equal(t, "c1-cp-2", object.GetAnnotations()[clusterv1.TemplateClonedFromNameAnnotation])
		duration, _, err := unstructured.NestedString(object.Object, "spec", "backend", "inMemory", "etcd", "provisioning", "startupDuration")
		require.NoError(t, err)
		assert.Equal(t, "1s", duration)
		assert.Equal(t, []string{"true"}, config.Spec.PostKubeadmCommands)
		assert.NotNil(t, config.Spec.JoinConfiguration.ControlPlane)
		assert.False(t, inplace.Marked(object) || inplace.Marked(config) || inplace.Updating(&machine))
	}
	assert.Equal(t, token, s.config(last).Spec.JoinConfiguration.Discovery.BootstrapToken.Token, "what was filled in stays")
	require.NotEmpty(t, extension.requests())
	for _, request := range extension.requests() {
		assert.NotContains(t, request, "discovery", "it holds a token")
		assert.NotContains(t, request, "initConfiguration")
	}
	s.rewrite(s.machine(last), func(o client.Object) { inplace.Mark(o) })
	s.eventually("a mark without reason is taken away", func() bool { return !inplace.Marked(s.machine(last)) })
}

// Conformance: CP-99, CP-102
func TestWhatNobodyCoversIsReplacedUnlessThatIsForbidden(t *testing.T) {
	s := started(t, 1, func(cp *controlplanev1.KubeadmControlPlane) {
		cp.Annotations = map[string]string{clusterv1.InPlaceUpdatesAnnotation: clusterv1.InPlaceUpdatesRequire}
	})
	extension := s.extend()
	before := s.uids()
	s.change(func(cp *controlplanev1.KubeadmControlPlane) {
		cp.Spec.KubeadmConfigSpec.PostKubeadmCommands = []string{"true"}
	})
	s.eventually("the field is named", func() bool {
		message := conditions.Message(s.get(), clusterv1.RollingOutCondition)
		return strings.Contains(message, "no extension changes these fields in place: KubeadmConfig spec.postKubeadmCommands")
	})
	assert.Equal(t, before, s.uids())
	require.NotEmpty(t, extension.requests())

	extension.cover("postKubeadmCommands", "preKubeadmCommands")
	s.change(func(cp *controlplanev1.KubeadmControlPlane) {
		cp.Spec.KubeadmConfigSpec.PreKubeadmCommands = []string{"true"}
	})
	s.play("the only machine is updated", func() bool {
		s.finishUpdate()
		name := s.machines()[0].Name
		return s.healthy() == 1 && len(s.config(name).Spec.PreKubeadmCommands) == 1 && !inplace.Updating(s.machine(name))
	})
	assert.Equal(t, before, s.uids())

	extension.cover()
	s.change(func(cp *controlplanev1.KubeadmControlPlane) {
		cp.Annotations = nil
		cp.Spec.KubeadmConfigSpec.PostKubeadmCommands = []string{"false"}
	})
	s.play("the machine is replaced", func() bool {
		list := s.machines()
		return len(list) == 1 && !before[list[0].UID] && s.healthy() == 1
	})
}

// stoppedClient writes once; then the manager is stopped.
type stoppedClient struct {
	client.Client
	wrote bool
}

var errStopped = errors.New("stopped")

func (c *stoppedClient) Patch(ctx context.Context, object client.Object, patch client.Patch, options ...client.PatchOption) error {
	if c.wrote {
		return errStopped
	}
	c.wrote = true
	return c.Client.Patch(ctx, object, patch, options...)
}

// TestTheStartOfAnUpdateIsRestartable: the manager is stopped after each write. What tells that an update was begun comes first,
// what tells the core that all is ready comes last.
//
// Conformance: CP-100
func TestTheStartOfAnUpdateIsRestartable(t *testing.T) {
	s := started(t, 1)
	s.secondTemplate()
	s.change(func(cp *controlplanev1.KubeadmControlPlane) {
		cp.Annotations = map[string]string{clusterv1.PausedAnnotation: ""}
	})
	s.eventually("the pause is known", func() bool { return conditions.IsTrue(s.get(), clusterv1.PausedCondition) })
	w := World{ControlPlane: s.get(), Cluster: s.cluster}
	w.ControlPlane.Spec.Version = "v1.37.3"
	w.ControlPlane.Spec.KubeadmConfigSpec.PostKubeadmCommands = []string{"true"}
	w.ControlPlane.Spec.MachineTemplate.Spec.InfrastructureRef.Name = "c1-cp-2"
	look := sight{reader: env.Client, resolver: external.NewResolver(env.Client)}
	name := s.machines()[0].Name
	for i, want := range [][]bool{{true, false, false, false}, {true, true, false, false}, {true, true, true, false}, {true, true, true, true}} {
		m := &Machine{Machine: s.machine(name)}
		require.NoError(t, look.observePartsOf(t.Context(), m))
		infra, err := look.infraChange(t.Context(), w, m)
		require.NoError(t, err)
		r := &run{Controller: &Controller{Client: &stoppedClient{Client: env.Client}, memory: newMemory()}, world: &w}
		err = r.startUpdate(t.Context(), StartUpdate{Machine: m, Infra: infra, Config: machines.UpdatedConfig(m.Config.Spec, w.ControlPlane)})
		if i < 3 {
			require.ErrorIs(t, err, errStopped)
		} else {
			require.NoError(t, err)
		}
		machine := s.machine(name)
		assert.Equal(t, want, []bool{inplace.Marked(machine), inplace.Marked(s.infra(name)), inplace.Marked(s.config(name)), inplace.Pending(machine)})
		assert.Equal(t, want[3], machine.Spec.Version == "v1.37.3")
	}
	assert.Empty(t, s.config(name).Spec.InitConfiguration)

	stale := &Machine{Machine: s.machine(name), Config: s.config(name)}
	stale.ResourceVersion = "1"
	r := &run{Controller: &Controller{Client: env.Client, memory: newMemory()}, world: &w}
	require.True(t, apierrors.IsConflict(r.cancelUpdate(t.Context(), CancelUpdate{Machine: stale})), "somebody else has changed it meanwhile")
	assert.True(t, inplace.Marked(s.machine(name)))
}
