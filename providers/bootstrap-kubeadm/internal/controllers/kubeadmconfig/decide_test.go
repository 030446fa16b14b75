package kubeadmconfig

import (
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/certificates"
	"github.com/slipway-capi/slipway/contract/conditions"
	bootstrapv1 "github.com/slipway-capi/slipway/providers/bootstrap-kubeadm/api/v1beta2"
	"github.com/slipway-capi/slipway/providers/bootstrap-kubeadm/internal/token"
)

const (
	ttl      = 15 * time.Minute
	newToken = "newnew.0123456789abcdef"
	oldToken = "oldold.0123456789abcdef"
)

var (
	now       = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	yes, no   = true, false
	authority = func() certificates.KeyPair {
		pair, err := certificates.NewCA(certificates.ECDSAP256, 0, now)
		if err != nil {
			panic(err)
		}
		return pair
	}()
)

type edit func(*World)

// world is a worker of an initialized cluster with a control plane object, connected, that has nothing yet.
func world(edits ...edit) World {
	w := World{
		Now: now, TokenTTL: ttl, NewToken: newToken,
		Config:  &bootstrapv1.KubeadmConfig{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "m", UID: "config", Generation: 3}},
		Machine: &clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "m", UID: "machine"}},
		Cluster: &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "c"}},
		Remote:  RemoteView{Connected: true},
	}
	w.Machine.Spec.Version = "v1.37.2"
	w.Cluster.Spec.ControlPlaneRef.Name = "cp"
	w.Cluster.Spec.ControlPlaneEndpoint = clusterv1.APIEndpoint{Host: "10.0.0.9", Port: 6443}
	w.Cluster.Status.Initialization.InfrastructureProvisioned = &yes
	w.Cluster.Status.Initialization.ControlPlaneInitialized = &yes
	for _, e := range edits {
		e(&w)
	}
	if w.Certificates.Set == nil {
		w.Certificates.Set = certificateSet(w)
		for i := range w.Certificates.Set {
			w.Certificates.Set[i].Pair = &certificates.KeyPair{Cert: authority.Cert, Key: authority.Key}
		}
	}
	return w
}

func notInitialized(w *World)   { w.Cluster.Status.Initialization.ControlPlaneInitialized = nil }
func noInfrastructure(w *World) { w.Cluster.Status.Initialization.InfrastructureProvisioned = &no }
func controlPlaneMachine(w *World) {
	w.Machine.Labels = map[string]string{clusterv1.MachineControlPlaneLabel: ""}
}
func standAlone(w *World) { w.Cluster.Spec.ControlPlaneRef.Name = "" }
func pool(w *World) {
	p := &clusterv1.MachinePool{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "p"}}
	p.Spec.Template.Spec.Version = w.Machine.Spec.Version
	w.Pool, w.Machine = p, nil
}
func joinedPool(w *World)   { pool(w); w.Pool.Status.NodeRefs = []corev1.ObjectReference{{Name: "n"}} }
func disconnected(w *World) { w.Remote = RemoteView{} }
func node(w *World)         { w.Machine.Status.NodeRef.Name = "n" }
func specToken(w *World)    { w.Config.Spec.JoinConfiguration.Discovery.BootstrapToken.Token = oldToken }
func created(w *World) {
	specToken(w)
	w.Config.Status.Initialization.DataSecretCreated, w.Config.Status.DataSecretName = &yes, "m"
	w.Secret = dataSecret(true)
}
func left(d time.Duration) edit {
	return func(w *World) { w.Remote.Token = token.State{Exists: true, Expires: now.Add(d)} }
}
func missing(purposes ...certificates.Purpose) edit {
	return func(w *World) {
		w.Certificates.Missing, w.Certificates.Set = purposes, certificateSet(*w)
		for i, e := range w.Certificates.Set {
			if !slices.Contains(purposes, e.Purpose) {
				w.Certificates.Set[i].Pair = &certificates.KeyPair{Cert: authority.Cert, Key: authority.Key}
			}
		}
	}
}
func spec(f func(*bootstrapv1.KubeadmConfigSpec)) edit { return func(w *World) { f(&w.Config.Spec) } }

func dataSecret(owned bool) *corev1.Secret {
	s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "m"}}
	if owned {
		s.OwnerReferences = []metav1.OwnerReference{{APIVersion: bootstrapv1.GroupVersion.String(), Kind: "KubeadmConfig", Name: "m", UID: "config", Controller: &yes}}
	}
	return s
}

// names lists actions as one word each, with the token where there is one.
func names(actions []Action) string {
	var out []string
	for _, a := range actions {
		name := strings.TrimPrefix(fmt.Sprintf("%T", a), "kubeadmconfig.")
		if t, ok := a.(EnsureToken); ok {
			name += ":" + t.Token[:3]
		}
		out = append(out, name)
	}
	return strings.Join(out, " ")
}

// Conformance: KB-01, KB-04, KB-05, KB-07, KB-34, KB-42, KB-44, KB-46, KB-47, KB-50, KB-52, KB-57, KB-58, KB-59, KB-60, KB-70, KB-90, KB-91
func TestDecide(t *testing.T) {
	broken := errors.New("broken")
	for _, row := range []struct {
		name  string
		world World
		want  string
		// data is the reason or message of DataSecretAvailable, "" if it is True, "-" if it is absent.
		data  string
		after time.Duration
		err   string
	}{
		{"no owner", world(func(w *World) { w.Machine = nil }), "", "-", 0, ""},
		{"no Cluster", world(func(w *World) { w.Cluster = nil }), "", "-", 0, ""},
		{"being deleted", world(func(w *World) { w.Config.DeletionTimestamp = &metav1.Time{Time: now} }), "", "-", 0, ""},
		{"paused", world(func(w *World) { w.Cluster.Spec.Paused = &yes }), "", "-", 0, ""},
		{"paused by annotation", world(func(w *World) { w.Config.Annotations = map[string]string{clusterv1.PausedAnnotation: "false"} }), "", "-", 0, ""},
		{"no infrastructure", world(noInfrastructure), "", "infrastructureProvisioned", 0, ""},
		{"row 9: a worker waits for the control plane by a watch", world(notInitialized), "", "control plane to be initialized", 0, ""},
		{"a pool waits likewise", world(notInitialized, pool), "", "control plane to be initialized", 0, ""},
		{"init", world(notInitialized, controlPlaneMachine), "AcquireLock PersistSpec StoreData", "", 0, ""},
		{"init needs no connection", world(notInitialized, controlPlaneMachine, disconnected), "AcquireLock PersistSpec StoreData", "", 0, ""},
		{"init of a machine that goes", world(notInitialized, controlPlaneMachine, func(w *World) { w.Machine.DeletionTimestamp = &metav1.Time{Time: now} }), "", "being deleted", 0, ""},
		{"row 4: init fails closed without certificates", world(notInitialized, controlPlaneMachine, missing("etcd", "ca")), "", "Waiting for the certificates ca, etcd", certificateRetry, ""},
		{"KB-42: nobody else makes them", world(notInitialized, controlPlaneMachine, standAlone, missing("ca")), "GenerateCertificates", "certificates ca", certificateRetry, ""},
		{"a join makes none: they would not be the cluster's", world(controlPlaneMachine, standAlone, missing("ca")), "ReleaseLock", "certificates ca", certificateRetry, ""},
		{"unreadable certificates", world(func(w *World) { w.Certificates.Err = broken }), "ReleaseLock", "-", 0, "broken"},
		{"worker joins", world(), "ReleaseLock PersistSpec EnsureToken:new StoreData", "", ttl / 3, ""},
		{"control plane joins", world(controlPlaneMachine), "ReleaseLock PersistSpec EnsureToken:new StoreData", "", ttl / 3, ""},
		{"pool joins", world(pool), "ReleaseLock PersistSpec EnsureToken:new StoreData", "", ttl / 3, ""},
		{"row 1: a token that was persisted and never stored is used", world(specToken), "ReleaseLock PersistSpec EnsureToken:old StoreData", "", ttl / 3, ""},
		{"a token that exists is used", world(specToken, left(ttl)), "ReleaseLock PersistSpec StoreData", "", ttl / 3, ""},
		{"no connection, no token", world(disconnected), "ReleaseLock", "connection", 0, ""},
		{"no endpoint", world(func(w *World) { w.Cluster.Spec.ControlPlaneEndpoint = clusterv1.APIEndpoint{} }), "ReleaseLock", "controlPlaneEndpoint", 0, ""},
		{"a worker with controlPlane", world(spec(func(s *bootstrapv1.KubeadmConfigSpec) {
			s.JoinConfiguration.ControlPlane = &bootstrapv1.JoinControlPlane{}
		})), "ReleaseLock", "must not be set", 0, "must not be set"},
		{"KB-50: discovery by file", world(disconnected, spec(func(s *bootstrapv1.KubeadmConfigSpec) { s.JoinConfiguration.Discovery.File.KubeConfigPath = "/k" })), "ReleaseLock PersistSpec StoreData", "", ttl / 3, ""},
		{"row 12: no version", world(func(w *World) { w.Machine.Spec.Version = "" }), "ReleaseLock", "spec.version", 0, "spec.version"},
		{"an old version", world(func(w *World) { w.Machine.Spec.Version = "v1.21.0" }), "ReleaseLock", "the oldest is", 0, "the oldest is"},
		{"unreadable file", world(func(w *World) { w.Sources.FileErr = broken }), "ReleaseLock", "broken", 0, "broken"},
		{"KB-70: unreadable password, without detail", world(func(w *World) { w.Sources.UserErr = broken }), "ReleaseLock", "A password of users", 0, "broken"},
		{"what Ignition cannot do", world(spec(func(s *bootstrapv1.KubeadmConfigSpec) {
			s.Format, s.Mounts = bootstrapv1.Ignition, [][]string{{"x"}}
		})), "ReleaseLock", "mount x: needs", 0, "mount x"},
		{"status was lost", world(func(w *World) { name := "own"; w.Machine.Spec.Bootstrap.DataSecretName = &name }), "", "", 0, ""},
		{"data exists, token is fresh", world(created, left(ttl)), "", "", ttl / 3, ""},
		{"data exists, token is to be extended", world(created, left(ttl/2)), "EnsureToken:old", "", ttl / 3, ""},
		{"infrastructure that is ready does not end the care", world(created, left(ttl/2), func(w *World) { w.Machine.Status.Initialization.InfrastructureProvisioned = &yes }), "EnsureToken:old", "", ttl / 3, ""},
		{"data exists, the token never ends", world(created, func(w *World) { w.Remote.Token = token.State{Exists: true} }), "EnsureToken:old", "", ttl / 3, ""},
		{"row 2: a vanished token comes back as it was", world(created), "EnsureToken:old", "", ttl / 3, ""},
		{"token is unreadable", world(created, func(w *World) { w.Remote.Err = broken }), "", "", 0, "broken"},
		{"KB-58: the machine has joined", world(created, node, left(time.Minute)), "", "", 0, ""},
		{"data exists, no connection", world(created, disconnected), "", "", 0, ""},
		{"pool before its nodes: extend", world(created, pool, left(ttl/2)), "EnsureToken:old", "", ttl / 3, ""},
		{"a pool wants one node where it does not say", world(created, joinedPool, left(ttl/3)), "PersistSpec EnsureToken:new StoreData", "", ttl / 3, ""},
		{"a pool with some of its nodes", world(created, joinedPool, left(ttl/3), func(w *World) { two := int32(2); w.Pool.Spec.Replicas = &two }), "EnsureToken:old", "", ttl / 3, ""},
		{"KB-91: the Secret of a Machine does not come back", world(created, left(ttl), func(w *World) { w.Secret = nil }), "", "", ttl / 3, ""},
		{"KB-91: nor does that of a pool before its token ends", world(created, pool, left(ttl), func(w *World) { w.Secret = nil }), "", "", ttl / 3, ""},
		{"pool with its nodes, enough left", world(created, joinedPool, left(ttl*3/4)), "", "", ttl / 3, ""},
		{"KB-59: pool with its nodes, little left", world(created, joinedPool, left(ttl*4/10)), "PersistSpec EnsureToken:new StoreData", "", ttl / 3, ""},
		{"KB-60, BC-14: pool's token is gone", world(created, pool), "PersistSpec EnsureToken:new StoreData", "", ttl / 3, ""},
		{"data Secret without owner", world(created, left(ttl), func(w *World) { w.Secret = dataSecret(false) }), "OwnData", "", ttl / 3, ""},
		{"a certificate without owner, and no control plane object", world(created, node, controlPlaneMachine, standAlone, certificateSecret(clusterv1.ClusterSecretType)), "OwnCertificate", "", 0, ""},
		{"a certificate of a user", world(created, node, controlPlaneMachine, standAlone, certificateSecret(corev1.SecretTypeTLS)), "", "", 0, ""},
		{"a certificate with its owner", world(created, node, controlPlaneMachine, standAlone, certificateSecret(clusterv1.ClusterSecretType, metav1.OwnerReference{Name: "x"})), "", "", 0, ""},
		{"a certificate that the control plane object cares for", world(created, node, controlPlaneMachine, certificateSecret(clusterv1.ClusterSecretType)), "", "", 0, ""},
		{"a worker cares for none", world(created, node, standAlone, certificateSecret(clusterv1.ClusterSecretType)), "", "", 0, ""},
		{"data Secret before the infrastructure", world(noInfrastructure, func(w *World) { w.Secret = dataSecret(false) }), "OwnData", "infrastructureProvisioned", 0, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			before := row.world.Config.DeepCopy()
			d := Decide(row.world)
			assert.Equal(t, row.want, names(d.Actions))
			assert.Equal(t, row.after, d.After)
			c := conditions.Get(d.Config, bootstrapv1.KubeadmConfigDataSecretAvailableCondition)
			switch {
			case row.data == "-":
				assert.Nil(t, c)
			case row.data == "":
				require.NotNil(t, c)
				assert.Equal(t, metav1.ConditionTrue, c.Status, c.Message)
			default:
				require.NotNil(t, c)
				assert.Equal(t, metav1.ConditionFalse, c.Status)
				assert.Contains(t, c.Message, row.data)
			}
			if row.err == "" {
				require.NoError(t, d.Err)
			} else {
				require.ErrorContains(t, d.Err, row.err)
				assert.Zero(t, d.Config.Status.ObservedGeneration, "KB-07")
			}
			assert.Equal(t, before, row.world.Config, "the world is left as it is")
		})
	}
}

// certificateSecret lets the authority of the cluster be found in such a Secret.
func certificateSecret(kind corev1.SecretType, owners ...metav1.OwnerReference) edit {
	return func(w *World) {
		w.Certificates.Set = certificateSet(*w)
		w.Certificates.Set[0].Secret = &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "c-ca", OwnerReferences: owners}, Type: kind}
	}
}

func stored(t *testing.T, d Decision) string {
	t.Helper()
	for _, a := range d.Actions {
		if s, ok := a.(StoreData); ok {
			return string(s.Content)
		}
	}
	t.Fatal("no data was stored")
	return ""
}

// kubeadmDocument is the last file that kubeadm reads.
func kubeadmDocument(t *testing.T, d Decision) map[string]any {
	t.Helper()
	var doc struct {
		Files []struct{ Path, Content string } `json:"write_files"`
	}
	require.NoError(t, yaml.Unmarshal([]byte(stored(t, d)), &doc))
	var out map[string]any
	for _, f := range doc.Files {
		if strings.HasPrefix(f.Path, "/run/kubeadm/") {
			parts := strings.Split(f.Content, "---\n")
			require.NoError(t, yaml.Unmarshal([]byte(parts[len(parts)-1]), &out))
		}
	}
	return out
}

// Conformance: KB-11, KB-21, KB-53
func TestWhatIsFilledInIsPersistedFirst(t *testing.T) {
	d := Decide(world(controlPlaneMachine))
	persisted := d.Actions[1].(PersistSpec).Spec.JoinConfiguration
	assert.NotNil(t, persisted.ControlPlane, "KB-21")
	b := persisted.Discovery.BootstrapToken
	assert.Equal(t, []any{newToken, "10.0.0.9:6443", 1, (*bool)(nil)}, []any{b.Token, b.APIServerEndpoint, len(b.CACertHashes), b.UnsafeSkipCAVerification})
	assert.Regexp(t, "^sha256:[0-9a-f]{64}$", b.CACertHashes[0])
	assert.Contains(t, stored(t, d), newToken, "the data is made from what was persisted")
	assert.Contains(t, stored(t, d), "/etc/kubernetes/pki/sa.key")

	d = Decide(world(notInitialized, controlPlaneMachine))
	assert.Equal(t, "10.0.0.9:6443", d.Actions[1].(PersistSpec).Spec.ClusterConfiguration.ControlPlaneEndpoint, "KB-11")
}

// Conformance: KB-53, KB-54
func TestDiscoveryOfUsersIsRespected(t *testing.T) {
	own := bootstrapv1.BootstrapTokenDiscovery{Token: oldToken, APIServerEndpoint: "mine:1", CACertHashes: []string{"sha256:x"}}
	d := Decide(world(disconnected, spec(func(s *bootstrapv1.KubeadmConfigSpec) { s.JoinConfiguration.Discovery.BootstrapToken = own })))
	assert.Equal(t, own, d.Actions[1].(PersistSpec).Spec.JoinConfiguration.Discovery.BootstrapToken)
	d = Decide(world(spec(func(s *bootstrapv1.KubeadmConfigSpec) {
		s.JoinConfiguration.Discovery.BootstrapToken.UnsafeSkipCAVerification = &yes
	})))
	got := d.Actions[1].(PersistSpec).Spec.JoinConfiguration.Discovery.BootstrapToken
	assert.True(t, *got.UnsafeSkipCAVerification, "KB-54: a user's true is kept")
	assert.Empty(t, got.CACertHashes)
}

// Conformance: KB-20
func TestTaintOfWorkers(t *testing.T) {
	taints := func(d Decision) any { return kubeadmDocument(t, d)["nodeRegistration"].(map[string]any)["taints"] }
	marker := map[string]any{"key": "node.cluster.x-k8s.io/uninitialized", "effect": "NoSchedule"}
	assert.Equal(t, []any{marker}, taints(Decide(world())), "KB-20")
	assert.Nil(t, taints(Decide(world(controlPlaneMachine))), "it would replace kubeadm's own taint")
	d := Decide(world(spec(func(s *bootstrapv1.KubeadmConfigSpec) {
		s.JoinConfiguration.NodeRegistration.Taints = &[]corev1.Taint{{Key: uninitialized.Key, Effect: uninitialized.Effect}}
	})))
	assert.Equal(t, []any{marker}, taints(d), "not twice")
	assert.Nil(t, Decide(world()).Actions[1].(PersistSpec).Spec.JoinConfiguration.NodeRegistration.Taints, "not stored")
}

// Conformance: KB-44
func TestKeysOfCertificates(t *testing.T) {
	withoutKeys := func(edits ...edit) World {
		w := world(edits...)
		for i := range w.Certificates.Set {
			w.Certificates.Set[i].Pair = &certificates.KeyPair{Cert: authority.Cert}
		}
		return w
	}
	assert.Contains(t, names(Decide(withoutKeys()).Actions), "StoreData", "row 3: a worker needs no key")
	d := Decide(withoutKeys(controlPlaneMachine))
	assert.Equal(t, "ReleaseLock", names(d.Actions))
	assert.Equal(t, "Waiting for the certificates ca (private key), etcd (private key), proxy (private key), sa (private key)", conditions.Message(d.Config, bootstrapv1.KubeadmConfigCertificatesAvailableCondition))
	assert.NotContains(t, stored(t, Decide(world())), "PRIVATE KEY", "a worker's data holds none")
}

// Conformance: KB-50, KB-51
func TestDiscoveryKubeconfig(t *testing.T) {
	d := Decide(world(spec(func(s *bootstrapv1.KubeadmConfigSpec) {
		f := &s.JoinConfiguration.Discovery.File
		f.KubeConfigPath, f.KubeConfig.User.Exec.Command = "/etc/discovery.conf", "login"
	})))
	var doc struct {
		Files []struct{ Path, Content, Permissions string } `json:"write_files"`
	}
	require.NoError(t, yaml.Unmarshal([]byte(stored(t, d)), &doc))
	assert.Equal(t, "/etc/discovery.conf", doc.Files[0].Path)
	var config map[string]any
	require.NoError(t, yaml.Unmarshal([]byte(doc.Files[0].Content), &config))
	cluster := config["clusters"].([]any)[0].(map[string]any)
	assert.Equal(t, "default", cluster["name"])
	assert.Equal(t, "https://10.0.0.9:6443", cluster["cluster"].(map[string]any)["server"])
	exec := config["users"].([]any)[0].(map[string]any)["user"].(map[string]any)["exec"].(map[string]any)
	assert.Equal(t, []any{"login", "client.authentication.k8s.io/v1", "Never"}, []any{exec["command"], exec["apiVersion"], exec["interactiveMode"]})
	assert.Equal(t, string(authority.Cert), authorityOf(t, cluster), "the cluster's own authority")
	assert.NotContains(t, stored(t, d), "kubeConfig:\n", "KB-50: our own field does not reach kubeadm")
	assert.Equal(t, "0640", doc.Files[0].Permissions)

	d = Decide(world(spec(func(s *bootstrapv1.KubeadmConfigSpec) {
		f := &s.JoinConfiguration.Discovery.File
		f.KubeConfigPath, f.KubeConfig.User.AuthProvider.Name = "/etc/discovery.conf", "oidc"
		f.KubeConfig.Cluster.Server, f.KubeConfig.Cluster.CertificateAuthorityData = "https://mine:1", []byte("own")
	})))
	require.NoError(t, yaml.Unmarshal([]byte(stored(t, d)), &doc))
	require.NoError(t, yaml.Unmarshal([]byte(doc.Files[0].Content), &config))
	cluster = config["clusters"].([]any)[0].(map[string]any)
	assert.Equal(t, []any{"https://mine:1", "own"}, []any{cluster["cluster"].(map[string]any)["server"], authorityOf(t, cluster)}, "what the user gave stays")
	provider := config["users"].([]any)[0].(map[string]any)["user"].(map[string]any)["auth-provider"].(map[string]any)
	assert.Equal(t, "oidc", provider["name"])
	assert.NotContains(t, names(d.Actions), "EnsureToken", "no token is made")
}

func authorityOf(t *testing.T, cluster map[string]any) string {
	t.Helper()
	text, _ := cluster["cluster"].(map[string]any)["certificate-authority-data"].(string)
	out, err := base64.StdEncoding.DecodeString(text)
	require.NoError(t, err)
	return string(out)
}

// Conformance: KB-53
func TestOneHashForEachCertificateOfTheBundle(t *testing.T) {
	other, err := certificates.NewCA(certificates.ECDSAP256, 0, now)
	require.NoError(t, err)
	hashes := func(bundle string) []string {
		w := world()
		w.Certificates.Set[0].Pair = &certificates.KeyPair{Cert: []byte(bundle)}
		return Decide(w).Actions[1].(PersistSpec).Spec.JoinConfiguration.Discovery.BootstrapToken.CACertHashes
	}
	first, second := hashes(string(authority.Cert)), hashes(string(other.Cert))
	assert.Equal(t, append(slices.Clone(first), second...), hashes(string(authority.Cert)+string(other.Cert)))
	certificate, err := authority.Certificate()
	require.NoError(t, err)
	sum := sha256.Sum256(certificate.RawSubjectPublicKeyInfo)
	assert.Equal(t, []string{fmt.Sprintf("sha256:%x", sum)}, first)
}

// Conformance: KB-53, KB-54
func TestAnUnreadableAuthorityIsNotTrusted(t *testing.T) {
	w := world()
	w.Certificates.Set[0].Pair = &certificates.KeyPair{Cert: []byte("not PEM")}
	d := Decide(w)
	require.ErrorContains(t, d.Err, "authority cannot be read")
	assert.Equal(t, "ReleaseLock", names(d.Actions))
	assert.Nil(t, d.Config.Spec.JoinConfiguration.Discovery.BootstrapToken.UnsafeSkipCAVerification)
}

func TestAQuietConfigStaysAsItIs(t *testing.T) {
	w := world(created, left(ttl))
	first := Decide(w)
	w.Config = first.Config
	again := Decide(w)
	assert.Empty(t, again.Actions)
	assert.Equal(t, first.Config.Status, again.Config.Status)
	assert.Equal(t, int64(3), again.Config.Status.ObservedGeneration)
	assert.True(t, conditions.IsTrue(again.Config, clusterv1.ReadyCondition))
}

// Conformance: KB-34, KB-47
func TestInterrupted(t *testing.T) {
	w := world(notInitialized, controlPlaneMachine)
	d := interrupted(w, Decide(w), AcquireLock{}, errNotHolder)
	require.NoError(t, d.Err, "KB-34: another holder is no error")
	assert.Equal(t, 30*time.Second, d.After)
	assert.Nil(t, d.Config.Status.Initialization.DataSecretCreated)

	d = interrupted(w, Decide(w), StoreData{}, errors.New("refused"))
	require.ErrorContains(t, d.Err, "refused")
	assert.Empty(t, d.Config.Status.DataSecretName)
	assert.True(t, conditions.IsFalse(d.Config, bootstrapv1.KubeadmConfigDataSecretAvailableCondition))

	d = interrupted(w, Decide(w), GenerateCertificates{}, errors.New("refused"))
	assert.True(t, conditions.IsUnknown(d.Config, bootstrapv1.KubeadmConfigCertificatesAvailableCondition), "KB-47")
}
