package cloud

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	corev1apply "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/certificates"
	"github.com/slipway-capi/slipway/contract/kubeconfig"
)

const version = "v1.37.2"

// running is a cluster with one control plane machine and the file that kubectl wants.
type running struct {
	cluster *Cluster
	cas     Authorities
	config  *rest.Config
	client  *kubernetes.Clientset
	file    string
}

func start(t *testing.T, algorithm certificates.Algorithm) running {
	t.Helper()
	now := time.Now()
	var r running
	for _, into := range []*certificates.KeyPair{&r.cas.Cluster, &r.cas.Etcd} {
		ca, err := certificates.NewCA(algorithm, time.Hour, now)
		require.NoError(t, err)
		*into = ca
	}
	all, name := New("127.0.0.1"), types.NamespacedName{Namespace: "ns", Name: "c"}
	port, err := all.Ensure(name, "uid", 0)
	require.NoError(t, err)
	t.Cleanup(func() { all.Delete(name) })
	r.cluster = all.Get(name)
	r.machine(t, "cp-0")
	content, err := kubeconfig.Generate("c", clusterv1.APIEndpoint{Host: "127.0.0.1", Port: port}, r.cas.Cluster, algorithm, now)
	require.NoError(t, err)
	r.file = filepath.Join(t.TempDir(), "kubeconfig")
	require.NoError(t, os.WriteFile(r.file, content, 0o600))
	r.config, err = clientcmd.RESTConfigFromKubeConfig(content)
	require.NoError(t, err)
	r.client, err = kubernetes.NewForConfig(r.config)
	require.NoError(t, err)
	return r
}

func (r running) machine(t *testing.T, name string) {
	t.Helper()
	require.NoError(t, r.cluster.EnsureNode(Node{Name: name, ProviderID: "in-memory://" + name, Version: version, ControlPlane: true}))
	require.NoError(t, r.cluster.EnsureEtcd(name, version, r.cas))
	require.NoError(t, r.cluster.EnsureComponents(name, version))
	require.NoError(t, r.cluster.EnsureAPIServer(name, version, r.cas))
}

func TestOnlyCertificatesOfTheClusterAreLetIn(t *testing.T) {
	r := start(t, certificates.ECDSAP256)
	_, err := r.client.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	stranger := rest.AnonymousClientConfig(r.config)
	client, err := kubernetes.NewForConfig(stranger)
	require.NoError(t, err)
	_, err = client.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
	require.True(t, apierrors.IsUnauthorized(err), "%v", err)
	other, err := certificates.NewCA(certificates.ECDSAP256, time.Hour, time.Now())
	require.NoError(t, err)
	key, err := certificates.NewKey(certificates.ECDSAP256)
	require.NoError(t, err)
	pair, err := other.Sign(certificates.Request{CommonName: "me", Usages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}, Validity: time.Hour}, key, time.Now())
	require.NoError(t, err)
	stranger.CertData, stranger.KeyData = pair.Cert, pair.Key
	client, err = kubernetes.NewForConfig(stranger)
	require.NoError(t, err)
	_, err = client.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
	require.Error(t, err, "signed by somebody else")
}

func TestClientset(t *testing.T) {
	ctx := t.Context()
	r := start(t, certificates.RSA2048)
	pods := r.client.CoreV1().Pods("kube-system")
	info, err := r.client.Discovery().ServerVersion()
	require.NoError(t, err)
	assert.Equal(t, version, info.GitVersion)

	list, err := pods.List(ctx, metav1.ListOptions{LabelSelector: "component=etcd", FieldSelector: "spec.nodeName=cp-0,status.phase=Running"})
	require.NoError(t, err)
	require.Len(t, list.Items, 1)
	node, err := r.client.CoreV1().Nodes().Patch(ctx, "cp-0", types.StrategicMergePatchType, []byte(`{"metadata":{"labels":{"a":"b"}},"status":{"phase":"Terminated"}}`), metav1.PatchOptions{})
	require.NoError(t, err)
	assert.Equal(t, "b", node.Labels["a"])
	assert.Empty(t, node.Status.Phase, "the status has an endpoint of its own")
	stale := node.DeepCopy()
	node.Spec.Unschedulable = true
	_, err = r.client.CoreV1().Nodes().Update(ctx, node, metav1.UpdateOptions{})
	require.NoError(t, err)
	_, err = r.client.CoreV1().Nodes().Update(ctx, stale, metav1.UpdateOptions{})
	require.True(t, apierrors.IsConflict(err))

	apply := corev1apply.ConfigMap("cm", "default").WithData(map[string]string{"k": "v"})
	_, err = r.client.CoreV1().ConfigMaps("default").Apply(ctx, apply, metav1.ApplyOptions{FieldManager: "me", DryRun: []string{metav1.DryRunAll}})
	require.NoError(t, err)
	_, err = r.client.CoreV1().ConfigMaps("default").Get(ctx, "cm", metav1.GetOptions{})
	require.True(t, apierrors.IsNotFound(err), "a dry run stores nothing")
	_, err = r.client.CoreV1().ConfigMaps("default").Apply(ctx, apply, metav1.ApplyOptions{FieldManager: "me"})
	require.NoError(t, err)
	cm, err := r.client.CoreV1().ConfigMaps("default").Patch(ctx, "cm", types.JSONPatchType, []byte(`[{"op":"add","path":"/data/x","value":"y"}]`), metav1.PatchOptions{})
	require.NoError(t, err)
	assert.Equal(t, map[string]string{"k": "v", "x": "y"}, cm.Data)
}

func TestBudgetsHoldEvictions(t *testing.T) {
	ctx := t.Context()
	r := start(t, certificates.ECDSAP256)
	pods := r.client.CoreV1().Pods("default")
	_, err := pods.Create(ctx, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p", Labels: map[string]string{"app": "a"}}}, metav1.CreateOptions{})
	require.NoError(t, err)
	budget := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Name: "b"}, Spec: policyv1.PodDisruptionBudgetSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "a"}}}}
	_, err = r.client.PolicyV1().PodDisruptionBudgets("default").Create(ctx, budget, metav1.CreateOptions{})
	require.NoError(t, err)
	eviction := &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: "p", Namespace: "default"}}
	require.True(t, apierrors.IsTooManyRequests(pods.EvictV1(ctx, eviction)))
	require.NoError(t, r.client.PolicyV1().PodDisruptionBudgets("default").Delete(ctx, "b", metav1.DeleteOptions{}))
	require.NoError(t, pods.EvictV1(ctx, eviction))
	_, err = pods.Get(ctx, "p", metav1.GetOptions{})
	require.True(t, apierrors.IsNotFound(err))
}

func TestInformersAndWatches(t *testing.T) {
	ctx := t.Context()
	r := start(t, certificates.ECDSAP256)
	factory := informers.NewSharedInformerFactory(r.client, 0)
	lister := factory.Core().V1().Nodes()
	lister.Informer()
	factory.Start(ctx.Done())
	require.True(t, cache.WaitForCacheSync(ctx.Done(), lister.Informer().HasSynced))
	require.NoError(t, r.cluster.EnsureNode(Node{Name: "w-0", Version: version}))
	require.Eventually(t, func() bool { _, err := lister.Lister().Get("w-0"); return err == nil }, time.Minute, 5*time.Millisecond)

	list, err := r.client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	require.NoError(t, err)
	r.cluster.DeleteNode("w-0")
	events, err := r.client.CoreV1().Nodes().Watch(ctx, metav1.ListOptions{ResourceVersion: list.ResourceVersion, FieldSelector: "metadata.name=w-0"})
	require.NoError(t, err)
	defer events.Stop()
	assert.Equal(t, watch.Deleted, (<-events.ResultChan()).Type, "what happened before the watch began is not lost")
	_, err = r.client.CoreV1().Nodes().Watch(ctx, metav1.ListOptions{ResourceVersion: "7"})
	require.True(t, apierrors.IsResourceExpired(err) || apierrors.IsGone(err), "%v", err)
}

func TestEtcd(t *testing.T) {
	r := start(t, certificates.ECDSAP256)
	r.machine(t, "cp-1")
	key, err := certificates.NewKey(certificates.ECDSAP256)
	require.NoError(t, err)
	pair, err := r.cas.Etcd.Sign(certificates.Request{CommonName: "me", Usages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}, Validity: time.Hour}, key, time.Now())
	require.NoError(t, err)
	certificate, err := tls.X509KeyPair(pair.Cert, pair.Key)
	require.NoError(t, err)
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(r.cas.Etcd.Cert)
	dial := func(node string, config *tls.Config) *grpc.ClientConn {
		conn, err := grpc.NewClient("passthrough:///etcd-"+node, grpc.WithTransportCredentials(credentials.NewTLS(config)),
			grpc.WithContextDialer(func(context.Context, string) (net.Conn, error) { return r.cluster.forward("", "etcd-"+node, 2379) }))
		require.NoError(t, err)
		t.Cleanup(func() { _ = conn.Close() })
		return conn
	}
	config := &tls.Config{RootCAs: roots, Certificates: []tls.Certificate{certificate}, ServerName: "localhost", MinVersion: tls.VersionTLS12}
	first, second := dial("cp-0", config), dial("cp-1", config)
	members, err := pb.NewClusterClient(first).MemberList(t.Context(), &pb.MemberListRequest{})
	require.NoError(t, err)
	require.Len(t, members.Members, 2)
	status := func(conn *grpc.ClientConn) *pb.StatusResponse {
		s, err := pb.NewMaintenanceClient(conn).Status(t.Context(), &pb.StatusRequest{})
		require.NoError(t, err)
		return s
	}
	assert.Equal(t, members.Members[0].ID, status(second).Leader)
	_, err = pb.NewMaintenanceClient(second).MoveLeader(t.Context(), &pb.MoveLeaderRequest{TargetID: members.Members[1].ID})
	require.Error(t, err, "only the leader hands over")
	_, err = pb.NewMaintenanceClient(first).MoveLeader(t.Context(), &pb.MoveLeaderRequest{TargetID: members.Members[1].ID})
	require.NoError(t, err)
	assert.Equal(t, members.Members[1].ID, status(first).Leader)
	_, err = pb.NewClusterClient(first).MemberRemove(t.Context(), &pb.MemberRemoveRequest{ID: members.Members[1].ID})
	require.NoError(t, err)
	assert.Equal(t, members.Members[0].ID, status(first).Leader, "the remaining member leads")
	anonymous := &tls.Config{RootCAs: roots, ServerName: "localhost", MinVersion: tls.VersionTLS12}
	_, err = pb.NewClusterClient(dial("cp-0", anonymous)).MemberList(t.Context(), &pb.MemberListRequest{})
	require.Error(t, err, "no certificate, no answer")
}

func TestSilentWithoutAPIServers(t *testing.T) {
	r := start(t, certificates.ECDSAP256)
	_, err := r.client.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	r.cluster.DeleteControlPlane("cp-0")
	_, err = r.client.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
	require.Error(t, err, "an open connection ends, too")
}

// kubectl runs the real program, where it has been built.
func (r running) kubectl(t *testing.T, stdin string, args ...string) string {
	t.Helper()
	dir, err := os.UserCacheDir()
	require.NoError(t, err)
	if d := os.Getenv("SLIPWAY_CACHE"); d != "" {
		dir = d
	} else {
		dir = filepath.Join(dir, "slipway")
	}
	cmd := exec.CommandContext(t.Context(), filepath.Join(dir, "kubernetes", version, "kubectl"), append([]string{"--kubeconfig", r.file, "--cache-dir", t.TempDir()}, args...)...)
	cmd.Stdin = strings.NewReader(stdin)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "kubectl %s: %s", strings.Join(args, " "), out)
	return string(out)
}

func TestKubectl(t *testing.T) {
	r := start(t, certificates.ECDSAP256)
	require.NoError(t, r.cluster.EnsureNode(Node{Name: "w-0", Version: version}))
	assert.Regexp(t, `(?m)^NAME +STATUS +ROLES +AGE +VERSION\ncp-0 +Ready +control-plane +\d+s +v1\.37\.2 *\nw-0 +Ready +<none> +\d+s +v1\.37\.2 *$`, r.kubectl(t, "", "get", "nodes"))
	assert.Regexp(t, `(?m)^kube-system +kube-apiserver-cp-0 +1/1 +Running +0 +\d+s +<none> +cp-0$`, r.kubectl(t, "", "get", "pods", "-A", "-o", "wide"))
	assert.Contains(t, r.kubectl(t, "", "get", "deployments,daemonsets", "-A"), "deployment.apps/coredns")
	assert.Contains(t, r.kubectl(t, "", "get", "events"), "No resources found")
	pod := "apiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: default}\nspec: {nodeName: w-0, containers: [{name: c, image: i}]}\n"
	assert.Contains(t, r.kubectl(t, pod, "apply", "-f", "-"), "created")
	assert.Contains(t, r.kubectl(t, pod, "apply", "-f", "-"), "unchanged")
	assert.Contains(t, r.kubectl(t, pod, "apply", "--server-side", "-f", "-"), "serverside-applied")
	assert.Contains(t, r.kubectl(t, "", "wait", "--for=condition=Ready", "node", "--all", "--timeout=10s"), "condition met")
	assert.Contains(t, r.kubectl(t, "", "drain", "w-0", "--force", "--timeout=20s"), "drained")
	assert.Contains(t, r.kubectl(t, "", "delete", "node", "w-0", "--timeout=10s"), "deleted")
}
