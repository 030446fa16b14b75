package etcdbackup

import (
	"context"
	"fmt"
	"io/fs"
	"net"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"filippo.io/age"
	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/clustercache"
	"github.com/slipway-capi/slipway/contract/testenv"
	bootstrapv1 "github.com/slipway-capi/slipway/providers/bootstrap-kubeadm/api/v1beta2"
	backupv1 "github.com/slipway-capi/slipway/providers/controlplane-kubeadm/api/backup/v1alpha1"
	controlplanev1 "github.com/slipway-capi/slipway/providers/controlplane-kubeadm/api/v1beta2"
	"github.com/slipway-capi/slipway/providers/controlplane-kubeadm/config"
	"github.com/slipway-capi/slipway/providers/controlplane-kubeadm/internal/controllers/etcdsnapshot"
	"github.com/slipway-capi/slipway/providers/controlplane-kubeadm/internal/etcdtest"
	backupwebhooks "github.com/slipway-capi/slipway/providers/controlplane-kubeadm/internal/webhooks/etcdbackup"
	webhooks "github.com/slipway-capi/slipway/providers/controlplane-kubeadm/internal/webhooks/kubeadmcontrolplane"
)

var (
	env *testenv.Environment
	// ahead is by how many hours the controllers' clock is.
	ahead atomic.Int64
	// members are the addresses of etcd by node.
	members sync.Map
	root    string
)

// The manager has the rights of its role and no others.
func TestMain(m *testing.M) {
	var err error
	if root, err = os.MkdirTemp("", "backups-"); err != nil {
		panic(err)
	}
	const providers = "../../../../"
	code := testenv.Main(m, &env, testenv.Options{
		Files: []fs.FS{
			config.Files, os.DirFS(providers + "../core/config/crd"), os.DirFS(providers + "bootstrap-kubeadm/config/crd"),
		},
		Restricted:  true,
		AddToScheme: []func(*runtime.Scheme) error{clusterv1.AddToScheme, bootstrapv1.AddToScheme, controlplanev1.AddToScheme, backupv1.AddToScheme},
		Manager:     setup,
	})
	_ = os.RemoveAll(root)
	os.Exit(code)
}

func setup(_ context.Context, mgr ctrl.Manager) error {
	if err := webhooks.Register(mgr, webhooks.Options{}); err != nil {
		return err
	}
	if err := backupwebhooks.Register(mgr); err != nil {
		return err
	}
	clusters, err := clustercache.New(mgr, clustercache.Options{})
	if err != nil {
		return err
	}
	now := func() time.Time { return time.Now().Add(time.Duration(ahead.Load()) * time.Hour) }
	snapshots := &etcdsnapshot.Controller{
		Client: mgr.GetClient(), Live: mgr.GetAPIReader(), Cached: mgr.GetCache(), Clusters: clusters, Recorder: mgr.GetEventRecorder("test"), Root: root,
		Now: now, PlainText: true, EtcdDialTimeout: time.Second, EtcdCallTimeout: 5 * time.Second,
		Dial: func(ctx context.Context, _ client.ObjectKey, node string) (net.Conn, error) {
			address, ok := members.Load(node)
			if !ok {
				return nil, fmt.Errorf("there is no etcd on node %s", node)
			}
			return (&net.Dialer{}).DialContext(ctx, "tcp", address.(string))
		},
	}
	if err := snapshots.Register(mgr, etcdsnapshot.Options{Concurrency: 2}); err != nil {
		return err
	}
	backups := &Controller{Client: mgr.GetClient(), Recorder: mgr.GetEventRecorder("test"), Now: now}
	return backups.Register(mgr, Options{Concurrency: 2})
}

// scene is a cluster with one control plane machine and an etcd of its own. The environment's API server is its workload cluster.
type scene struct {
	t         *testing.T
	namespace string
	node      string
	cluster   *clusterv1.Cluster
	etcd      *etcdtest.Member
}

func newScene(t *testing.T) *scene {
	t.Helper()
	s := &scene{t: t, namespace: env.Namespace(t)}
	s.node = "node-" + s.namespace
	s.etcd = etcdtest.Start(t, s.node, "")
	s.etcd.Fill(t, "/registry/", 300)
	members.Store(s.node, s.etcd.Address)
	s.cluster = &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "c1"}}
	s.cluster.Spec.ControlPlaneRef = clusterv1.ContractVersionedObjectReference{APIGroup: controlplanev1.GroupVersion.Group, Kind: "KubeadmControlPlane", Name: "c1-cp"}
	s.cluster.Spec.InfrastructureRef = clusterv1.ContractVersionedObjectReference{APIGroup: "infrastructure.cluster.x-k8s.io", Kind: "DevCluster", Name: "c1"}
	s.cluster.Spec.ControlPlaneEndpoint = endpoint(t)
	s.create(s.cluster)
	yes := true
	s.cluster.Status.Initialization.InfrastructureProvisioned = &yes
	require.NoError(t, env.Client.Status().Update(t.Context(), s.cluster))
	one := int32(1)
	controlPlane := &controlplanev1.KubeadmControlPlane{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "c1-cp"}}
	controlPlane.Spec.Replicas, controlPlane.Spec.Version = &one, "v1.37.2"
	controlPlane.Spec.MachineTemplate.Spec.InfrastructureRef = clusterv1.ContractVersionedObjectReference{
		APIGroup: "infrastructure.cluster.x-k8s.io", Kind: "DevMachineTemplate", Name: "c1-cp"}
	s.create(controlPlane)
	machine := &clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "m1",
		Labels: map[string]string{clusterv1.ClusterNameLabel: "c1", clusterv1.MachineControlPlaneLabel: ""}}}
	machine.Spec.ClusterName = "c1"
	machine.Spec.InfrastructureRef = clusterv1.ContractVersionedObjectReference{APIGroup: "infrastructure.cluster.x-k8s.io", Kind: "DevMachine", Name: "m1"}
	machine.Spec.Bootstrap.ConfigRef = clusterv1.ContractVersionedObjectReference{APIGroup: "bootstrap.cluster.x-k8s.io", Kind: "KubeadmConfig", Name: "m1"}
	s.create(machine)
	machine.Status.NodeRef.Name = s.node
	require.NoError(t, env.Client.Status().Update(t.Context(), machine))
	s.create(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "c1-kubeconfig", Labels: map[string]string{clusterv1.ClusterNameLabel: "c1"}},
		Data: map[string][]byte{"value": env.KubeConfig}})
	return s
}

func endpoint(t *testing.T) clusterv1.APIEndpoint {
	t.Helper()
	server, err := url.Parse(env.Config.Host)
	require.NoError(t, err)
	port, err := strconv.Atoi(server.Port())
	require.NoError(t, err)
	return clusterv1.APIEndpoint{Host: server.Hostname(), Port: int32(port)}
}

func (s *scene) create(object client.Object) {
	s.t.Helper()
	require.NoError(s.t, env.Client.Create(s.t.Context(), object))
}

// keys makes the Secret to encrypt with and returns what opens it.
func (s *scene) keys() *age.X25519Identity {
	s.t.Helper()
	identity, err := age.GenerateX25519Identity()
	require.NoError(s.t, err)
	s.create(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "keys"}, Data: map[string][]byte{"identity": []byte(identity.String())}})
	return identity
}

// bucket starts a server and returns the bucket's contents and how to get there.
func (s *scene) bucket() (*s3mem.Backend, backupv1.Destination) {
	s.t.Helper()
	backend := s3mem.New()
	require.NoError(s.t, backend.CreateBucket("backups"))
	server := httptest.NewServer(gofakes3.New(backend).Server())
	s.t.Cleanup(server.Close)
	s.create(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "bucket"},
		Data: map[string][]byte{"accessKeyID": []byte("id"), "secretAccessKey": []byte("very-secret-key")}})
	yes := true
	return backend, backupv1.Destination{S3: &backupv1.S3Destination{Endpoint: server.URL, Bucket: "backups", Prefix: "fleet",
		CredentialsSecretRef: backupv1.SecretReference{Name: "bucket"}, ForcePathStyle: &yes}}
}

func (s *scene) backup(destination backupv1.Destination) *backupv1.EtcdBackup {
	s.t.Helper()
	one := int32(1)
	b := &backupv1.EtcdBackup{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "nightly"}, Spec: backupv1.EtcdBackupSpec{
		ClusterName: "c1", Schedule: "30 2 * * *", Destination: destination, Retention: backupv1.EtcdBackupRetention{Count: &one},
		Encryption: backupv1.Encryption{SecretRef: backupv1.SecretReference{Name: "keys"}},
	}}
	s.create(b)
	return b
}

func inDirectory() backupv1.Destination {
	return backupv1.Destination{Directory: &backupv1.DirectoryDestination{Path: "fleet"}}
}

func (s *scene) eventually(what string, check func() bool) {
	s.t.Helper()
	ok := assert.Eventually(s.t, check, time.Minute, 20*time.Millisecond, what)
	if !ok {
		for _, snapshot := range s.snapshots() {
			s.t.Logf("%s, deleted %v: %v", snapshot.Name, snapshot.DeletionTimestamp, snapshot.Status.Conditions)
		}
		s.t.FailNow()
	}
}

func (s *scene) snapshots() []backupv1.EtcdSnapshot {
	s.t.Helper()
	list := &backupv1.EtcdSnapshotList{}
	require.NoError(s.t, env.Client.List(s.t.Context(), list, client.InNamespace(s.namespace)))
	return list.Items
}

func (s *scene) get(object client.Object) {
	s.t.Helper()
	require.NoError(s.t, env.Client.Get(s.t.Context(), client.ObjectKeyFromObject(object), object))
}

func file(snapshot *backupv1.EtcdSnapshot) string {
	return filepath.Join(root, snapshot.Spec.Destination.Directory.Path, snapshot.Status.Location)
}
