package kubeadmcontrolplane

import (
	"context"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/clustercache"
	"github.com/slipway-capi/slipway/contract/conditions"
	"github.com/slipway-capi/slipway/contract/external"
	"github.com/slipway-capi/slipway/contract/ownership"
	"github.com/slipway-capi/slipway/contract/testenv"
	bootstrapv1 "github.com/slipway-capi/slipway/providers/bootstrap-kubeadm/api/v1beta2"
	controlplanev1 "github.com/slipway-capi/slipway/providers/controlplane-kubeadm/api/v1beta2"
	"github.com/slipway-capi/slipway/providers/controlplane-kubeadm/config"
	"github.com/slipway-capi/slipway/providers/controlplane-kubeadm/internal/etcd"
	"github.com/slipway-capi/slipway/providers/controlplane-kubeadm/internal/machines"
	webhooks "github.com/slipway-capi/slipway/providers/controlplane-kubeadm/internal/webhooks/kubeadmcontrolplane"
)

var (
	env      *testenv.Environment
	fakeEtcd = &memoryEtcd{}
)

func TestMain(m *testing.M) {
	const providers = "../../../../"
	os.Exit(testenv.Main(m, &env, testenv.Options{
		Files: []fs.FS{
			config.Files,
			os.DirFS(providers + "../core/config/crd"),
			os.DirFS(providers + "bootstrap-kubeadm/config/crd"),
			os.DirFS(providers + "infrastructure-docker/config/crd"),
		},
		AddToScheme: []func(*runtime.Scheme) error{clusterv1.AddToScheme, bootstrapv1.AddToScheme, controlplanev1.AddToScheme},
		Manager:     setup,
	}))
}

func setup(_ context.Context, mgr ctrl.Manager) error {
	if err := webhooks.Register(mgr, webhooks.Options{}); err != nil {
		return err
	}
	clusters, err := clustercache.New(mgr, clustercache.Options{ByObject: RemoteCache()})
	if err != nil {
		return err
	}
	controller := &Controller{
		Client: mgr.GetClient(), Cached: mgr.GetCache(), Live: mgr.GetAPIReader(),
		Resolver: external.NewResolver(mgr.GetClient()), Clusters: clusters,
		Recorder: mgr.GetEventRecorder("test"), ConnectEtcd: fakeEtcd.connect,
	}
	return controller.Register(mgr, Options{Concurrency: 4})
}

// memoryEtcd plays the etcd cluster of the workload cluster: every node that joins is a member.
type memoryEtcd struct {
	mu      sync.Mutex
	members []etcd.Member
	leader  uint64
	removed []string
}

func (e *memoryEtcd) reset() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.members, e.leader, e.removed = nil, 0, nil
}

func (e *memoryEtcd) join(name string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	id := uint64(len(e.members) + 1)
	e.members = append(e.members, etcd.Member{ID: id, Name: name})
	if e.leader == 0 {
		e.leader = id
	}
}

func (e *memoryEtcd) connect(context.Context, []string, etcd.Options) (EtcdClient, *etcd.State, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e, &etcd.State{Leader: e.leader, Members: append([]etcd.Member{}, e.members...)}, nil
}

func (e *memoryEtcd) Close() {}

func (e *memoryEtcd) MoveLeader(_ context.Context, to uint64) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.leader = to
	return nil
}

func (e *memoryEtcd) RemoveMember(_ context.Context, id uint64) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	for i, member := range e.members {
		if member.ID == id {
			e.removed = append(e.removed, member.Name)
			e.members = append(e.members[:i:i], e.members[i+1:]...)
			return nil
		}
	}
	return nil
}

// scene is one cluster in a namespace of its own. The environment's API server is its workload cluster as well.
type scene struct {
	t            *testing.T
	namespace    string
	cluster      *clusterv1.Cluster
	controlPlane *controlplanev1.KubeadmControlPlane
}

func newScene(t *testing.T, replicas int32) *scene {
	t.Helper()
	fakeEtcd.reset()
	ctx := t.Context()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "kcp-"}}
	require.NoError(t, env.Client.Create(ctx, namespace))
	s := &scene{t: t, namespace: namespace.Name}
	s.cluster = &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "c1"}}
	s.cluster.Spec.ControlPlaneRef = clusterv1.ContractVersionedObjectReference{
		APIGroup: controlplanev1.GroupVersion.Group, Kind: "KubeadmControlPlane", Name: "c1-cp",
	}
	s.cluster.Spec.InfrastructureRef = clusterv1.ContractVersionedObjectReference{
		APIGroup: "infrastructure.cluster.x-k8s.io", Kind: "DevCluster", Name: "c1",
	}
	require.NoError(t, env.Client.Create(ctx, s.cluster))
	s.createTemplate()
	s.controlPlane = &controlplanev1.KubeadmControlPlane{ObjectMeta: metav1.ObjectMeta{
		Namespace: s.namespace, Name: "c1-cp", Labels: map[string]string{clusterv1.ClusterNameLabel: "c1"},
		OwnerReferences: []metav1.OwnerReference{ownership.Reference(s.cluster, clusterv1.GroupVersion.WithKind("Cluster"))},
	}}
	s.controlPlane.Spec.Replicas = &replicas
	s.controlPlane.Spec.Version = "v1.37.2"
	s.controlPlane.Spec.KubeadmConfigSpec.ClusterConfiguration.EncryptionAlgorithm = "ECDSA-P256"
	s.controlPlane.Spec.MachineTemplate.Spec.InfrastructureRef = clusterv1.ContractVersionedObjectReference{
		APIGroup: "infrastructure.cluster.x-k8s.io", Kind: "DevMachineTemplate", Name: "c1-cp",
	}
	require.NoError(t, env.Client.Create(ctx, s.controlPlane))
	return s
}

func (s *scene) createTemplate() {
	template := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "infrastructure.cluster.x-k8s.io/v1beta2", "kind": "DevMachineTemplate",
		"metadata": map[string]any{"namespace": s.namespace, "name": "c1-cp"},
		"spec": map[string]any{"template": map[string]any{"spec": map[string]any{
			"backend": map[string]any{"inMemory": map[string]any{}},
		}}},
	}}
	require.NoError(s.t, env.Client.Create(s.t.Context(), template))
}

func (s *scene) key(name string) client.ObjectKey {
	return client.ObjectKey{Namespace: s.namespace, Name: name}
}

// provisionInfrastructure does what the core does when the infrastructure is there.
func (s *scene) provisionInfrastructure() {
	s.t.Helper()
	server, err := url.Parse(env.Config.Host)
	require.NoError(s.t, err)
	host, port := server.Hostname(), 443
	if server.Port() != "" {
		port, err = strconv.Atoi(server.Port())
		require.NoError(s.t, err)
	}
	s.cluster.Spec.ControlPlaneEndpoint = clusterv1.APIEndpoint{Host: host, Port: int32(port)}
	require.NoError(s.t, env.Client.Update(s.t.Context(), s.cluster))
	yes := true
	s.cluster.Status.Initialization.InfrastructureProvisioned = &yes
	for name := range domains {
		s.cluster.Status.FailureDomains = append(s.cluster.Status.FailureDomains, clusterv1.FailureDomain{Name: domains[name], ControlPlane: &yes})
	}
	require.NoError(s.t, env.Client.Status().Update(s.t.Context(), s.cluster))
}

var domains = []string{"fd-a", "fd-b", "fd-c"}

// bringKubeconfig stores a kubeconfig of the environment as a user would.
func (s *scene) bringKubeconfig() {
	s.t.Helper()
	require.NoError(s.t, env.Client.Create(s.t.Context(), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "c1-kubeconfig", Labels: map[string]string{clusterv1.ClusterNameLabel: "c1"}},
		Data:       map[string][]byte{"value": env.KubeConfig},
	}))
}

func (s *scene) machines() []clusterv1.Machine {
	list := &clusterv1.MachineList{}
	require.NoError(s.t, env.Client.List(s.t.Context(), list, client.InNamespace(s.namespace)))
	return list.Items
}

func (s *scene) get() *controlplanev1.KubeadmControlPlane {
	found := &controlplanev1.KubeadmControlPlane{}
	require.NoError(s.t, env.Client.Get(s.t.Context(), s.key("c1-cp"), found))
	return found
}

// boot does what kubeadm and the core do for a machine: Node, static pods, etcd member, node reference.
func (s *scene) boot(machine *clusterv1.Machine) {
	s.t.Helper()
	ctx := s.t.Context()
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: machine.Name, Labels: map[string]string{controlPlaneNodeLabel: ""}}}
	node.Spec.Taints = []corev1.Taint{{Key: controlPlaneNodeLabel, Effect: corev1.TaintEffectNoSchedule}}
	require.NoError(s.t, env.Client.Create(ctx, node))
	s.t.Cleanup(func() { _ = env.Client.Delete(context.Background(), node) })
	fakeEtcd.join(machine.Name)
	for _, c := range components {
		pod := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: kubeSystem, Name: c.name + "-" + machine.Name,
				Labels: map[string]string{"tier": "control-plane", "component": c.name}},
			Spec: corev1.PodSpec{NodeName: machine.Name, Containers: []corev1.Container{{Name: c.name, Image: "x"}}},
		}
		require.NoError(s.t, env.Client.Create(ctx, pod))
		s.t.Cleanup(func() { _ = env.Client.Delete(context.Background(), pod, client.GracePeriodSeconds(0)) })
		pod.Status.Phase = corev1.PodRunning
		pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
		require.NoError(s.t, env.Client.Status().Update(ctx, pod))
	}
	require.NoError(s.t, env.Client.Status().Patch(ctx, machine,
		client.RawPatch("application/merge-patch+json", fmt.Appendf(nil, `{"status":{"nodeRef":{"name":%q}}}`, machine.Name))))
}

func (s *scene) uploadKubeadmConfig() {
	s.t.Helper()
	config := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: kubeSystem, Name: kubeadmConfigName}}
	err := env.Client.Create(s.t.Context(), config)
	require.True(s.t, err == nil || apierrors.IsAlreadyExists(err), "%v", err)
	s.t.Cleanup(func() { _ = env.Client.Delete(context.Background(), config) })
}

func (s *scene) eventually(within time.Duration, what string, check func() bool) {
	s.t.Helper()
	require.Eventually(s.t, check, within, 10*time.Millisecond, what)
}

func TestCertificatesComeBeforeTheInfrastructure(t *testing.T) {
	s := newScene(t, 1)
	s.eventually(5*time.Second, "four certificate Secrets", func() bool {
		for _, purpose := range []string{"ca", "etcd", "proxy", "sa"} {
			if env.Client.Get(t.Context(), s.key("c1-"+purpose), &corev1.Secret{}) != nil {
				return false
			}
		}
		return true
	})
	assert.Empty(t, s.machines(), "no machine without infrastructure")
	s.eventually(2*time.Second, "the finalizer", func() bool { return hasFinalizer(s.get()) })
}

func TestFirstMachineAndKubeconfig(t *testing.T) {
	s := newScene(t, 1)
	s.provisionInfrastructure()
	s.eventually(3*time.Second, "the first machine", func() bool { return len(s.machines()) == 1 })
	machine := s.machines()[0]
	assert.True(t, strings.HasPrefix(machine.Name, "c1-cp-"))
	assert.Equal(t, "fd-a", machine.Spec.FailureDomain)
	assert.Contains(t, machine.Annotations, machines.CleanupHook)
	assert.Equal(t, "c1-cp", machine.Labels[clusterv1.MachineControlPlaneNameLabel])
	assert.True(t, metav1.IsControlledBy(&machine, s.get()))

	config := &bootstrapv1.KubeadmConfig{}
	require.NoError(t, env.Client.Get(t.Context(), s.key(machine.Name), config))
	assert.Nil(t, config.Spec.JoinConfiguration.ControlPlane, "the first machine starts the cluster")
	assert.Nil(t, metav1.GetControllerOf(config))
	infra := &unstructured.Unstructured{}
	infra.SetAPIVersion("infrastructure.cluster.x-k8s.io/v1beta2")
	infra.SetKind("DevMachine")
	require.NoError(t, env.Client.Get(t.Context(), s.key(machine.Name), infra))
	assert.Equal(t, "c1-cp", infra.GetAnnotations()[clusterv1.TemplateClonedFromNameAnnotation])

	secret := &corev1.Secret{}
	s.eventually(2*time.Second, "the kubeconfig", func() bool { return env.Client.Get(t.Context(), s.key("c1-kubeconfig"), secret) == nil })
	assert.Equal(t, corev1.SecretType(clusterv1.ClusterSecretType), secret.Type)

	s.eventually(5*time.Second, "conditions", func() bool {
		return conditions.IsFalse(s.get(), clusterv1.AvailableCondition) && *s.get().Status.Replicas == 1
	})
	// Nothing changes any more: nothing is written.
	version := settle(s)
	time.Sleep(1500 * time.Millisecond)
	assert.Equal(t, version, s.get().ResourceVersion, "a quiet control plane is not written to")
}

func TestDeletionNeedsNoCluster(t *testing.T) {
	s := newScene(t, 1)
	s.provisionInfrastructure()
	s.eventually(5*time.Second, "the first machine", func() bool { return len(s.machines()) == 1 })
	require.NoError(t, env.Client.Delete(t.Context(), s.cluster))
	require.NoError(t, env.Client.Delete(t.Context(), s.controlPlane))
	s.eventually(5*time.Second, "everything is gone", func() bool {
		return apierrors.IsNotFound(env.Client.Get(t.Context(), s.key("c1-cp"), &controlplanev1.KubeadmControlPlane{})) && len(s.machines()) == 0
	})
}

func TestBadInputIsRefusedAtAdmission(t *testing.T) {
	s := newScene(t, 1)
	even := int32(2)
	before := s.get()
	controlPlane := before.DeepCopy()
	controlPlane.Spec.Replicas = &even
	// A patch, since the controller writes at the same time and an update would be refused for that.
	require.ErrorContains(t, env.Client.Patch(t.Context(), controlPlane, client.MergeFrom(before)), "spec.replicas")
	scale := &autoscalingv1.Scale{Spec: autoscalingv1.ScaleSpec{Replicas: 4}}
	require.ErrorContains(t, env.Client.SubResource("scale").Update(t.Context(), s.get(), client.WithSubResourceBody(scale)), "odd")
}

func TestPausedControlPlanesAreLeftAlone(t *testing.T) {
	s := newScene(t, 1)
	s.eventually(5*time.Second, "certificates", func() bool {
		return conditions.IsTrue(s.get(), controlplanev1.KubeadmControlPlaneCertificatesAvailableCondition)
	})
	yes := true
	s.cluster.Spec.Paused = &yes
	require.NoError(t, env.Client.Update(t.Context(), s.cluster))
	s.eventually(5*time.Second, "the condition", func() bool { return conditions.IsTrue(s.get(), clusterv1.PausedCondition) })
	s.provisionInfrastructure()
	time.Sleep(300 * time.Millisecond)
	assert.Empty(t, s.machines())
	no := false
	s.cluster.Spec.Paused = &no
	require.NoError(t, env.Client.Update(t.Context(), s.cluster))
	s.eventually(5*time.Second, "the first machine", func() bool { return len(s.machines()) == 1 })
}

func settle(s *scene) string {
	version := s.get().ResourceVersion
	for range 20 {
		time.Sleep(100 * time.Millisecond)
		if next := s.get().ResourceVersion; next == version {
			return version
		} else {
			version = next
		}
	}
	return version
}

func TestThreeMachinesComeOneAtATimeAndGo(t *testing.T) {
	s := newScene(t, 3)
	s.bringKubeconfig()
	s.provisionInfrastructure()
	s.eventually(5*time.Second, "the first machine", func() bool { return len(s.machines()) == 1 })
	s.uploadKubeadmConfig()
	first := s.machines()[0]
	s.boot(&first)
	s.eventually(5*time.Second, "initialized", func() bool {
		flag := s.get().Status.Initialization.ControlPlaneInitialized
		return flag != nil && *flag
	})
	seen := map[string]bool{}
	for count := 2; count <= 3; count++ {
		s.eventually(5*time.Second, fmt.Sprintf("machine %d", count), func() bool { return len(s.machines()) == count })
		time.Sleep(300 * time.Millisecond)
		require.Len(t, s.machines(), count, "the next one waits until this one is healthy")
		for _, machine := range s.machines() {
			seen[machine.Spec.FailureDomain] = true
			if machine.Status.NodeRef.Name == "" {
				config := &bootstrapv1.KubeadmConfig{}
				require.NoError(t, env.Client.Get(t.Context(), s.key(machine.Name), config))
				assert.NotNil(t, config.Spec.JoinConfiguration.ControlPlane, "later machines join")
				s.boot(&machine)
			}
		}
	}
	assert.Len(t, seen, 3, "spread over failure domains")
	s.eventually(5*time.Second, "available", func() bool { return conditions.IsTrue(s.get(), clusterv1.AvailableCondition) })
	for _, machine := range s.machines() {
		s.eventually(5*time.Second, "member of "+machine.Name, func() bool {
			current := &clusterv1.Machine{}
			return env.Client.Get(t.Context(), client.ObjectKeyFromObject(&machine), current) == nil && conditions.IsTrue(current, etcdMemberHealthy)
		})
		assert.True(t, conditions.IsTrue(&machine, clusterv1.MachineUpToDateCondition), conditions.Message(&machine, clusterv1.MachineUpToDateCondition))
	}
	s.scaleDownAndDelete()
}

func (s *scene) scaleDownAndDelete() {
	t, ctx := s.t, s.t.Context()
	hold := s.machines()
	for i := range hold { // what the core's finalizer does
		require.NoError(t, env.Client.Patch(ctx, &hold[i], client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"finalizers":["machine.cluster.x-k8s.io"]}}`))))
	}
	controlPlane := s.get()
	one := int32(1)
	controlPlane.Spec.Replicas = &one
	require.NoError(t, env.Client.Update(ctx, controlPlane))
	for left := 2; left >= 1; left-- {
		s.eventually(5*time.Second, "a machine is deleted", func() bool { return s.deleting() == 1 })
		for _, machine := range s.machines() {
			if !machine.DeletionTimestamp.IsZero() {
				s.finishDeletion(machine)
			}
		}
		s.eventually(5*time.Second, "the machine is gone", func() bool { return len(s.machines()) == left })
	}
	assert.Len(t, fakeEtcd.removed, 2)
	assert.Len(t, fakeEtcd.members, 1)

	require.NoError(t, env.Client.Delete(ctx, s.get()))
	s.eventually(5*time.Second, "the last machine is released", func() bool {
		list := s.machines()
		_, hooked := list[0].Annotations[machines.CleanupHook]
		return !list[0].DeletionTimestamp.IsZero() && !hooked
	})
	last := s.machines()[0]
	s.dropFinalizer(last)
	s.eventually(5*time.Second, "the control plane is gone", func() bool {
		return apierrors.IsNotFound(env.Client.Get(ctx, s.key("c1-cp"), &controlplanev1.KubeadmControlPlane{}))
	})
}

func (s *scene) deleting() int {
	count := 0
	for _, machine := range s.machines() {
		if !machine.DeletionTimestamp.IsZero() {
			count++
		}
	}
	return count
}

// finishDeletion plays the core: drain is over, wait for the hook, then let the machine go.
func (s *scene) finishDeletion(machine clusterv1.Machine) {
	s.t.Helper()
	ctx := s.t.Context()
	body := fmt.Appendf(nil, `{"apiVersion":"cluster.x-k8s.io/v1beta2","kind":"Machine","status":{"conditions":[{"type":"Deleting","status":"True","reason":%q,"message":"","lastTransitionTime":%q}]}}`,
		clusterv1.MachineDeletingWaitingForPreTerminateHookReason, time.Now().UTC().Format(time.RFC3339))
	require.NoError(s.t, env.Client.Status().Patch(ctx, machine.DeepCopy(), client.RawPatch("application/apply-patch+yaml", body), client.FieldOwner("core")))
	s.eventually(5*time.Second, "the hook is taken off", func() bool {
		current := &clusterv1.Machine{}
		require.NoError(s.t, env.Client.Get(ctx, client.ObjectKeyFromObject(&machine), current))
		_, hooked := current.Annotations[machines.CleanupHook]
		return !hooked
	})
	s.dropFinalizer(machine)
}

func (s *scene) dropFinalizer(machine clusterv1.Machine) {
	s.t.Helper()
	require.NoError(s.t, env.Client.Patch(s.t.Context(), &machine, client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"finalizers":null}}`))))
}
