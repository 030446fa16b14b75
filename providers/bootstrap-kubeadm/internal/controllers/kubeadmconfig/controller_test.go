package kubeadmconfig

import (
	"context"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/certificates"
	"github.com/slipway-capi/slipway/contract/clustercache"
	"github.com/slipway-capi/slipway/contract/conditions"
	"github.com/slipway-capi/slipway/contract/external"
	"github.com/slipway-capi/slipway/contract/ownership"
	"github.com/slipway-capi/slipway/contract/testenv"
	bootstrapv1 "github.com/slipway-capi/slipway/providers/bootstrap-kubeadm/api/v1beta2"
	"github.com/slipway-capi/slipway/providers/bootstrap-kubeadm/config"
	"github.com/slipway-capi/slipway/providers/bootstrap-kubeadm/internal/initlock"
	"github.com/slipway-capi/slipway/providers/bootstrap-kubeadm/internal/token"
	"github.com/slipway-capi/slipway/providers/bootstrap-kubeadm/internal/webhooks"
)

var env *testenv.Environment

// BC-36: the manager has the rights of its role and no others, and owners are protected.
//
// Conformance: MG-33
func TestMain(m *testing.M) {
	const providers = "../../../../"
	os.Exit(testenv.Main(m, &env, testenv.Options{
		Files:       []fs.FS{config.Files, os.DirFS(providers + "../core/config/crd"), os.DirFS(providers + "controlplane-kubeadm/config/crd")},
		Restricted:  true,
		AddToScheme: []func(*runtime.Scheme) error{clusterv1.AddToScheme, bootstrapv1.AddToScheme},
		Manager: func(ctx context.Context, mgr ctrl.Manager) error {
			clusters, err := clustercache.New(mgr, clustercache.Options{})
			if err != nil {
				return err
			}
			c := &Controller{Client: mgr.GetClient(), Live: mgr.GetAPIReader(), Secrets: mgr.GetCache(), Resolver: external.NewResolver(mgr.GetClient()), ClusterCache: clusters, TokenTTL: ttl}
			if err := c.SetupWithManager(ctx, mgr, 8); err != nil {
				return err
			}
			return webhooks.Register(mgr, webhooks.Options{Ignition: true})
		},
	}))
}

// scene is one cluster in a namespace of its own. The environment's API server is its workload cluster as well.
type scene struct {
	*testing.T
	namespace string
	cluster   *clusterv1.Cluster
}

func newScene(t *testing.T) *scene {
	t.Helper()
	s := &scene{T: t, namespace: env.Namespace(t)}
	server, err := url.Parse(env.Config.Host)
	require.NoError(t, err)
	port, err := strconv.Atoi(server.Port())
	require.NoError(t, err)
	s.cluster = &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "c1"}}
	s.cluster.Spec.InfrastructureRef = clusterv1.ContractVersionedObjectReference{APIGroup: "infrastructure.cluster.x-k8s.io", Kind: "DevCluster", Name: "c1"}
	s.cluster.Spec.ControlPlaneEndpoint = clusterv1.APIEndpoint{Host: server.Hostname(), Port: int32(port)}
	require.NoError(t, env.Client.Create(t.Context(), s.cluster))
	return s
}

func (s *scene) key(name string) client.ObjectKey {
	return client.ObjectKey{Namespace: s.namespace, Name: name}
}

func (s *scene) report(text string) {
	s.Helper()
	require.NoError(s, env.Client.Status().Patch(s.Context(), s.cluster, client.RawPatch("application/merge-patch+json", []byte(`{"status":`+text+`}`))))
}

func (s *scene) provisioned() { s.report(`{"initialization":{"infrastructureProvisioned":true}}`) }

// initialized is what the core reports once an API server answers; the kubeconfig makes the connection.
func (s *scene) initialized() {
	s.Helper()
	require.NoError(s, client.IgnoreAlreadyExists(env.Client.Create(s.Context(), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "c1-kubeconfig", Labels: map[string]string{clusterv1.ClusterNameLabel: "c1"}},
		Data:       map[string][]byte{"value": env.KubeConfig},
	})))
	s.report(`{"initialization":{"infrastructureProvisioned":true,"controlPlaneInitialized":true}}`)
}

func (s *scene) withCertificates() {
	s.Helper()
	set := certificates.ForControlPlane("", nil)
	require.NoError(s, certificates.LookupOrGenerate(s.Context(), env.Client, certificates.Source{Cached: env.Client}, client.ObjectKeyFromObject(s.cluster), set,
		certificates.Generation{Algorithm: certificates.ECDSAP256, Now: time.Now(), Owner: ownership.Reference(s.cluster, clusterv1.GroupVersion.WithKind("Cluster"))}))
}

// machine makes a Machine with its KubeadmConfig.
func (s *scene) machine(name string, controlPlane bool, edits ...func(*bootstrapv1.KubeadmConfigSpec)) *clusterv1.Machine {
	s.Helper()
	m := &clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: name, Labels: map[string]string{clusterv1.ClusterNameLabel: "c1"}}}
	if controlPlane {
		m.Labels[clusterv1.MachineControlPlaneLabel] = ""
	}
	m.Spec.ClusterName, m.Spec.Version = "c1", "v1.37.2"
	m.Spec.Bootstrap.ConfigRef = clusterv1.ContractVersionedObjectReference{APIGroup: bootstrapv1.GroupVersion.Group, Kind: "KubeadmConfig", Name: name}
	m.Spec.InfrastructureRef = clusterv1.ContractVersionedObjectReference{APIGroup: "infrastructure.cluster.x-k8s.io", Kind: "DevMachine", Name: name}
	require.NoError(s, env.Client.Create(s.Context(), m))
	c := &bootstrapv1.KubeadmConfig{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: name, Labels: map[string]string{clusterv1.ClusterNameLabel: "c1"},
		OwnerReferences: []metav1.OwnerReference{ownership.Reference(m, clusterv1.GroupVersion.WithKind("Machine"))}}}
	c.Spec.ClusterConfiguration.EncryptionAlgorithm = bootstrapv1.EncryptionAlgorithmECDSAP256
	for _, e := range edits {
		e(&c.Spec)
	}
	require.NoError(s, env.Client.Create(s.Context(), c))
	return m
}

func (s *scene) config(name string) *bootstrapv1.KubeadmConfig {
	c := &bootstrapv1.KubeadmConfig{}
	require.NoError(s, env.Client.Get(s.Context(), s.key(name), c))
	return c
}

func (s *scene) data(name string) string {
	secret := &corev1.Secret{}
	if err := env.Client.Get(s.Context(), s.key(name), secret); err != nil {
		require.True(s, apierrors.IsNotFound(err), "%v", err)
		return ""
	}
	return string(secret.Data["value"])
}

func (s *scene) eventually(what string, check func() bool) {
	s.Helper()
	require.Eventually(s, check, time.Minute, 20*time.Millisecond, what)
}

func (s *scene) ready(name string) {
	s.Helper()
	s.eventually(name+" is ready", func() bool { return conditions.IsTrue(s.config(name), clusterv1.ReadyCondition) })
}

// quiet waits until nobody has written the config for a while, and returns its version.
func (s *scene) quiet(name string) string {
	s.Helper()
	version, since := s.config(name).ResourceVersion, time.Now()
	s.eventually(name+" is left alone", func() bool {
		if v := s.config(name).ResourceVersion; v != version {
			version, since = v, time.Now()
		}
		return time.Since(since) > 500*time.Millisecond
	})
	return version
}

func (s *scene) waits(name, message string) {
	s.Helper()
	s.eventually(name+" waits: "+message, func() bool {
		return strings.Contains(conditions.Message(s.config(name), bootstrapv1.KubeadmConfigDataSecretAvailableCondition), message)
	})
}

// Conformance: KB-07, KB-11, KB-31, KB-35, KB-42
func TestOneOfThreeInitializesAndTheOthersJoin(t *testing.T) {
	s := newScene(t)
	names := []string{"cp-0", "cp-1", "cp-2"}
	for _, name := range names {
		s.machine(name, true)
	}
	s.machine("worker", false)
	s.waits("worker", "infrastructureProvisioned")
	s.provisioned()
	s.waits("worker", "control plane to be initialized")
	first := ""
	s.eventually("one machine initializes", func() bool {
		for _, name := range names {
			if s.data(name) != "" {
				first = name
			}
		}
		return first != ""
	})
	s.ready(first)
	for _, purpose := range []string{"ca", "etcd", "proxy", "sa"} {
		secret := &corev1.Secret{}
		require.NoError(t, env.Client.Get(t.Context(), s.key("c1-"+purpose), secret), "KB-42: nobody else makes certificates here")
	}
	assert.Contains(t, s.data(first), "kubeadm init --config")
	assert.Equal(t, s.cluster.Spec.ControlPlaneEndpoint.Host+fmt.Sprintf(":%d", s.cluster.Spec.ControlPlaneEndpoint.Port), s.config(first).Spec.ClusterConfiguration.ControlPlaneEndpoint)
	lock := &corev1.ConfigMap{}
	require.NoError(t, env.Client.Get(t.Context(), initlock.Key(client.ObjectKeyFromObject(s.cluster)), lock), "KB-35: kept until the cluster is initialized")
	time.Sleep(300 * time.Millisecond)
	for _, name := range append(names, "worker") {
		assert.Equal(t, name == first, s.data(name) != "", "only %s has data, and %s is another", first, name)
	}

	s.initialized()
	for _, name := range append(names, "worker") {
		s.ready(name)
		if name == first {
			continue
		}
		data, c := s.data(name), s.config(name)
		assert.Contains(t, data, "kubeadm join --config")
		assert.NotContains(t, data, "kubeadm init")
		text := c.Spec.JoinConfiguration.Discovery.BootstrapToken.Token
		assert.Contains(t, data, text, "row 1: the data holds the token that was persisted")
		state, err := token.Read(t.Context(), env.Client, text)
		require.NoError(t, err)
		assert.True(t, state.Exists)
		assert.Equal(t, name != "worker", c.Spec.JoinConfiguration.ControlPlane != nil)
		assert.Equal(t, name != "worker", strings.Contains(data, "PRIVATE KEY"))
		assert.Equal(t, c.Generation, c.Status.ObservedGeneration)
	}
	s.eventually("the lock is gone", func() bool {
		return apierrors.IsNotFound(env.Client.Get(t.Context(), initlock.Key(client.ObjectKeyFromObject(s.cluster)), lock))
	})
}

// Conformance: KB-90
func TestSecretAndQuiet(t *testing.T) {
	s := newScene(t)
	s.provisioned()
	s.machine("cp", true)
	s.ready("cp")
	c, secret := s.config("cp"), &corev1.Secret{}
	require.NoError(t, env.Client.Get(t.Context(), s.key("cp"), secret))
	assert.Equal(t, "cp", c.Status.DataSecretName)
	assert.Equal(t, corev1.SecretType(clusterv1.ClusterSecretType), secret.Type)
	assert.Equal(t, "cloud-config", string(secret.Data["format"]))
	assert.Equal(t, "c1", secret.Labels[clusterv1.ClusterNameLabel])
	assert.True(t, metav1.IsControlledBy(secret, c))
	version := s.quiet("cp")
	s.report(`{"phase":"Provisioned"}`)
	time.Sleep(500 * time.Millisecond)
	assert.Equal(t, version, s.config("cp").ResourceVersion, "nothing changed, so nothing is written")

	// Whatever takes its owner away, the Secret of data and those of certificates do not stay behind.
	for _, name := range []string{"cp", "c1-ca", "c1-sa"} {
		require.NoError(t, env.Client.Get(t.Context(), s.key(name), secret))
		require.NoError(t, env.Client.Patch(t.Context(), secret, client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"ownerReferences":null}}`))))
		s.eventually(name+" has an owner again", func() bool {
			require.NoError(t, env.Client.Get(t.Context(), s.key(name), secret))
			return len(secret.OwnerReferences) == 1
		})
		assert.Equal(t, name == "cp", metav1.IsControlledBy(secret, c), "certificates belong to the Cluster then")
	}
	require.NoError(t, env.Client.Get(t.Context(), s.key("cp"), secret))

	// A restore brings back the spec without the status, and the Secret without its owner.
	require.NoError(t, env.Client.Status().Patch(t.Context(), c, client.RawPatch("application/merge-patch+json", []byte(`{"status":null}`))))
	secret.OwnerReferences = nil
	require.NoError(t, env.Client.Update(t.Context(), secret))
	m := &clusterv1.Machine{}
	require.NoError(t, env.Client.Get(t.Context(), s.key("cp"), m))
	name := "cp"
	m.Spec.Bootstrap.DataSecretName = &name
	require.NoError(t, env.Client.Update(t.Context(), m))
	s.ready("cp")
	s.eventually("the Secret is adopted", func() bool {
		require.NoError(t, env.Client.Get(t.Context(), s.key("cp"), secret))
		return metav1.IsControlledBy(secret, c)
	})
}

// Conformance: KB-42, KB-46
func TestCertificatesOfTheControlPlaneAreAwaited(t *testing.T) {
	s := newScene(t)
	s.cluster.Spec.ControlPlaneRef = clusterv1.ContractVersionedObjectReference{APIGroup: "controlplane.cluster.x-k8s.io", Kind: "KubeadmControlPlane", Name: "cp"}
	require.NoError(t, env.Client.Update(t.Context(), s.cluster))
	s.provisioned()
	s.machine("cp", true)
	s.waits("cp", "Waiting for the certificates ca, etcd, proxy, sa")
	assert.Empty(t, s.data("cp"), "row 4")
	s.withCertificates()
	s.ready("cp")
}

// Conformance: KB-60
func TestAVanishedTokenComesBack(t *testing.T) {
	s := newScene(t)
	s.withCertificates()
	s.initialized()
	m := s.machine("worker", false)
	s.ready("worker")
	text := s.config("worker").Spec.JoinConfiguration.Discovery.BootstrapToken.Token
	id, _, err := token.Split(text)
	require.NoError(t, err)
	gone := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "bootstrap-token-" + id}}
	require.NoError(t, env.Client.Delete(t.Context(), gone))
	// The next look comes with the timer; here a change of the Machine brings it sooner.
	m.Labels["x"] = "y"
	require.NoError(t, env.Client.Update(t.Context(), m))
	s.eventually("row 2: the same token is back", func() bool {
		state, err := token.Read(t.Context(), env.Client, text)
		return err == nil && state.Exists
	})
	assert.Contains(t, s.data("worker"), text)
}

// Conformance: KB-70, KB-71
func TestFilesFromSecretsAndTemplates(t *testing.T) {
	s := newScene(t)
	s.withCertificates()
	s.initialized()
	s.machine("worker", false, func(spec *bootstrapv1.KubeadmConfigSpec) {
		spec.Files = []bootstrapv1.File{
			{Path: "/a", ContentFrom: bootstrapv1.FileSource{Secret: bootstrapv1.SecretKeySource{Name: "mine", Key: "k"}}},
			{Path: "/b", Content: "{{ if .controlPlane }}{{ .controlPlane.version }}{{ else }}none{{ end }}", ContentFormat: bootstrapv1.FileContentFormatTemplate},
		}
		spec.Users = []bootstrapv1.User{{Name: "u", PasswdFrom: bootstrapv1.FileSource{Secret: bootstrapv1.SecretKeySource{Name: "mine", Key: "p"}}}}
	})
	s.waits("worker", `file /a: reading Secret mine`)
	require.NoError(t, env.Client.Create(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "mine"}, StringData: map[string]string{"k": "from a secret", "p": "$6$hash"}}))
	s.ready("worker")
	for _, text := range []string{"from a secret", `content: "none"`, "$6$hash"} {
		assert.Contains(t, s.data("worker"), text)
	}
	assert.Empty(t, s.config("worker").Spec.Files[0].Content, "KB-70: never stored in the spec")
}

// Conformance: KB-04
func TestPausedConfigsAreLeftAlone(t *testing.T) {
	s := newScene(t)
	s.cluster.Spec.Paused = &yes
	require.NoError(t, env.Client.Update(t.Context(), s.cluster))
	s.provisioned()
	s.machine("cp", true)
	s.eventually("the condition", func() bool { return conditions.IsTrue(s.config("cp"), clusterv1.PausedCondition) })
	time.Sleep(200 * time.Millisecond)
	assert.Empty(t, s.data("cp"))
	s.cluster.Spec.Paused = nil
	require.NoError(t, env.Client.Update(t.Context(), s.cluster))
	s.ready("cp")
}

// Conformance: KB-91
func TestTheDataOfAMachineIsMadeOnce(t *testing.T) {
	s := newScene(t)
	s.withCertificates()
	s.initialized()
	m := s.machine("worker", false)
	s.ready("worker")
	wake := func(value string) {
		m.Labels["x"] = value
		require.NoError(t, env.Client.Update(t.Context(), m))
		s.quiet("worker")
	}
	secret := &corev1.Secret{}
	require.NoError(t, env.Client.Get(t.Context(), s.key("worker"), secret))
	secret.Data["value"] = []byte("edited")
	require.NoError(t, env.Client.Update(t.Context(), secret))
	wake("1")
	assert.Equal(t, "edited", s.data("worker"))
	require.NoError(t, env.Client.Delete(t.Context(), secret))
	wake("2")
	assert.Empty(t, s.data("worker"))
	assert.True(t, conditions.IsTrue(s.config("worker"), clusterv1.ReadyCondition))
}

// Conformance: KB-90
func TestTheDataSecretOfAnother(t *testing.T) {
	for name, labels := range map[string]map[string]string{"that the cache holds": {clusterv1.ClusterNameLabel: "c1"}, "without label": nil} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			s.provisioned()
			require.NoError(t, env.Client.Create(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "cp", Labels: labels,
				OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: "x", UID: "x", Controller: &yes}}}, Data: map[string][]byte{"value": []byte("theirs")}}))
			s.machine("cp", true)
			s.waits("cp", seeLogs)
			assert.Equal(t, "theirs", s.data("cp"), "what belongs to another kind is never overwritten")
		})
	}
}

func TestBadInputIsExplained(t *testing.T) {
	s := newScene(t)
	s.withCertificates()
	s.initialized()
	s.machine("worker", false, func(spec *bootstrapv1.KubeadmConfigSpec) {
		spec.JoinConfiguration.ControlPlane = &bootstrapv1.JoinControlPlane{}
	})
	s.waits("worker", "joinConfiguration.controlPlane must not be set")
	time.Sleep(300 * time.Millisecond)
	first := conditions.Get(s.config("worker"), bootstrapv1.KubeadmConfigDataSecretAvailableCondition)
	time.Sleep(time.Second)
	assert.Equal(t, first, conditions.Get(s.config("worker"), bootstrapv1.KubeadmConfigDataSecretAvailableCondition), "attempts do not flicker")
}
