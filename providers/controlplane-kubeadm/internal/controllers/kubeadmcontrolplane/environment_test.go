package kubeadmcontrolplane

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	runtimev1 "github.com/slipway-capi/slipway/contract/api/runtime/v1beta2"
	"github.com/slipway-capi/slipway/contract/clustercache"
	"github.com/slipway-capi/slipway/contract/conditions"
	"github.com/slipway-capi/slipway/contract/extension/registration"
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
	env   *testenv.Environment
	etcds = &registry{}
	// certificatesEnd is what every API server tells.
	certificatesEnd = time.Date(2099, 1, 2, 3, 4, 5, 0, time.UTC)
)

// BC-36: the manager has the rights of its role and no others, and owners are protected.
//
// Conformance: MG-33
func TestMain(m *testing.M) {
	const providers = "../../../../"
	os.Exit(testenv.Main(m, &env, testenv.Options{
		Files: []fs.FS{
			config.Files,
			os.DirFS(providers + "../core/config/crd"),
			os.DirFS(providers + "bootstrap-kubeadm/config/crd"),
			os.DirFS(providers + "infrastructure-docker/config/crd"),
		},
		Restricted:  true,
		AddToScheme: []func(*runtime.Scheme) error{clusterv1.AddToScheme, bootstrapv1.AddToScheme, controlplanev1.AddToScheme, runtimev1.AddToScheme},
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
	hooks, err := (&registration.Options{AllowLocal: true}).Client(mgr, "test")
	if err != nil {
		return err
	}
	controller := &Controller{
		Hooks:  hooks,
		Client: mgr.GetClient(), Cached: mgr.GetCache(), Live: mgr.GetAPIReader(),
		Resolver: external.NewResolver(mgr.GetClient()), Clusters: clusters,
		Recorder: mgr.GetEventRecorder("test"), ConnectEtcd: etcds.connect,
		AskExpiry: func(context.Context, *clusterv1.Cluster, *Machine, []byte) (time.Time, error) {
			return certificatesEnd, nil
		},
	}
	return controller.Register(mgr, Options{Concurrency: 4})
}

// registry finds the etcd cluster that a node belongs to: control planes of earlier tests go on asking for theirs.
type registry struct {
	mu   sync.Mutex
	list []*memoryEtcd
}

func (r *registry) add() *memoryEtcd {
	r.mu.Lock()
	defer r.mu.Unlock()
	e := &memoryEtcd{}
	r.list = append(r.list, e)
	return e
}

func (r *registry) connect(_ context.Context, nodes []string, _ etcd.Options) (EtcdClient, *etcd.State, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range r.list {
		if state := e.state(); slices.ContainsFunc(nodes, func(node string) bool { return state.Member(node) != nil }) {
			return e, state, nil
		}
	}
	return nil, nil, errors.New("no member answers")
}

// memoryEtcd plays the etcd cluster of a workload cluster: every node that joins is a member.
type memoryEtcd struct {
	mu      sync.Mutex
	members []etcd.Member
	leader  uint64
	removed []string
	joined  uint64
}

func (e *memoryEtcd) state() *etcd.State {
	e.mu.Lock()
	defer e.mu.Unlock()
	return &etcd.State{Leader: e.leader, Members: slices.Clone(e.members)}
}

// gone are the names of the members that were removed.
func (e *memoryEtcd) gone() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.removed)
}

func (e *memoryEtcd) join(name string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.joined++
	id := e.joined
	e.members = append(e.members, etcd.Member{ID: id, Name: name})
	if e.leader == 0 {
		e.leader = id
	}
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
	// broken names machines that never become nodes.
	broken map[string]bool
	etcd   *memoryEtcd
}

func newScene(t *testing.T, replicas int32, changes ...func(*controlplanev1.KubeadmControlPlane)) *scene {
	t.Helper()
	ctx := t.Context()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "kcp-"}}
	require.NoError(t, env.Client.Create(ctx, namespace))
	s := &scene{t: t, namespace: namespace.Name, broken: map[string]bool{}, etcd: etcds.add()}
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
	for _, change := range changes {
		change(s.controlPlane)
	}
	require.NoError(t, env.Client.Create(ctx, s.controlPlane))
	t.Cleanup(s.rest)
	return s
}

// rest pauses the control plane: nobody looks at it any more.
func (s *scene) rest() {
	target := &controlplanev1.KubeadmControlPlane{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "c1-cp"}}
	body := fmt.Appendf(nil, `{"metadata":{"annotations":{%q:""}}}`, clusterv1.PausedAnnotation)
	_ = env.Client.Patch(context.Background(), target, client.RawPatch("application/merge-patch+json", body))
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
	s.etcd.join(machine.Name)
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
	config := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: kubeSystem, Name: kubeadmConfigName}, Data: kubeadmConfig("v1.37.2").Data}
	err := env.Client.Create(s.t.Context(), config)
	require.True(s.t, err == nil || apierrors.IsAlreadyExists(err), "%v", err)
	s.t.Cleanup(func() { _ = env.Client.Delete(context.Background(), config) })
}

func (s *scene) eventually(what string, check func() bool) {
	s.t.Helper()
	require.Eventually(s.t, check, time.Minute, 10*time.Millisecond, what)
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
	s.drain(machine)
	s.eventually("the hook is taken off", func() bool {
		current := &clusterv1.Machine{}
		require.NoError(s.t, env.Client.Get(s.t.Context(), client.ObjectKeyFromObject(&machine), current))
		_, hooked := current.Annotations[machines.CleanupHook]
		return !hooked
	})
	s.dropFinalizer(machine)
}

// drain says in the core's name that nothing but the hook holds the machine.
func (s *scene) drain(machine clusterv1.Machine) {
	s.t.Helper()
	if conditions.Reason(&machine, clusterv1.DeletingCondition) == drained {
		return
	}
	body := fmt.Appendf(nil, `{"apiVersion":"cluster.x-k8s.io/v1beta2","kind":"Machine","status":{"conditions":[{"type":"Deleting","status":"True","reason":%q,"message":"","lastTransitionTime":%q}]}}`,
		drained, time.Now().UTC().Format(time.RFC3339))
	err := env.Client.Status().Patch(s.t.Context(), machine.DeepCopy(), client.RawPatch("application/apply-patch+yaml", body), client.FieldOwner("core"))
	require.NoError(s.t, client.IgnoreNotFound(err))
}

func (s *scene) dropFinalizer(machine clusterv1.Machine) {
	s.t.Helper()
	require.NoError(s.t, env.Client.Patch(s.t.Context(), &machine, client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"finalizers":null}}`))))
}

// started is a scene with a control plane of so many healthy machines.
func started(t *testing.T, replicas int32, changes ...func(*controlplanev1.KubeadmControlPlane)) *scene {
	t.Helper()
	s := newScene(t, replicas, changes...)
	s.bringKubeconfig()
	s.provisionInfrastructure()
	s.eventually("the first machine", func() bool { return len(s.machines()) == 1 })
	s.uploadKubeadmConfig()
	s.play("all machines are healthy", func() bool {
		return len(s.machines()) == int(replicas) && s.healthy() == int(replicas)
	})
	return s
}

func (s *scene) healthy() int {
	count := 0
	for _, machine := range s.machines() {
		if machine.DeletionTimestamp.IsZero() && conditions.IsTrue(&machine, etcdMemberHealthy) && conditions.IsTrue(&machine, clusterv1.MachineUpToDateCondition) {
			count++
		}
	}
	return count
}

// play does what the core, the infrastructure and kubeadm do, again and again, until something is reached.
func (s *scene) play(what string, reached func() bool) {
	s.t.Helper()
	for start := time.Now(); !reached(); {
		require.Less(s.t, time.Since(start), 2*time.Minute, "%s: %v", what, s.get().Status.Conditions)
		for _, machine := range s.machines() {
			_, hooked := machine.Annotations[machines.CleanupHook]
			switch {
			case !machine.DeletionTimestamp.IsZero() && !hooked:
				s.dropFinalizer(machine)
			case !machine.DeletionTimestamp.IsZero():
				s.drain(machine)
			case machine.Status.NodeRef.Name == "" && !s.broken[machine.Name]:
				s.hold(machine)
				s.boot(&machine)
			}
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// hold adds the finalizer of the core.
func (s *scene) hold(machine clusterv1.Machine) {
	s.t.Helper()
	require.NoError(s.t, env.Client.Patch(s.t.Context(), &machine,
		client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"finalizers":["machine.cluster.x-k8s.io"]}}`))))
}
