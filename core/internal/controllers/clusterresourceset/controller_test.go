package clusterresourceset

import (
	"context"
	"io/fs"
	"os"
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

	addonsv1 "github.com/slipway-capi/slipway/contract/api/addons/v1beta2"
	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/clustercache"
	"github.com/slipway-capi/slipway/contract/conditions"
	"github.com/slipway-capi/slipway/contract/testenv"
	"github.com/slipway-capi/slipway/core/config"
)

var env *testenv.Environment

// BC-36: the manager has the rights of its role and no others, and owners are protected.
//
// Conformance: MG-33
func TestMain(m *testing.M) {
	os.Exit(testenv.Main(m, &env, testenv.Options{
		Files:       []fs.FS{config.CRDs, config.Roles},
		Restricted:  true,
		AddToScheme: []func(*runtime.Scheme) error{clusterv1.AddToScheme, addonsv1.AddToScheme},
		Manager: func(ctx context.Context, mgr ctrl.Manager) error {
			clusters, err := clustercache.New(mgr, clustercache.Options{})
			if err != nil {
				return err
			}
			return (&Controller{Client: mgr.GetClient(), Live: mgr.GetAPIReader(), ClusterCache: hanging{clusters}}).SetupWithManager(ctx, mgr, 2)
		},
	}))
}

// story is one namespace. The API server of the test is also the workload cluster of each Cluster.
type story struct {
	*testing.T
	namespace string
}

func (s *story) create(objects ...client.Object) {
	s.Helper()
	for _, o := range objects {
		o.SetNamespace(s.namespace)
		require.NoError(s, env.Client.Create(s.Context(), o))
	}
}

// cluster makes a Cluster; one that is connected has a kubeconfig that works.
func (s *story) cluster(name string, connected bool) *clusterv1.Cluster {
	s.Helper()
	c := aCluster(name)
	c.Spec.ControlPlaneEndpoint = clusterv1.APIEndpoint{Host: "127.0.0.1", Port: 6443}
	s.create(c)
	content := env.KubeConfig
	if !connected {
		content = []byte("apiVersion: v1\nkind: Config\nclusters: [{name: c, cluster: {server: 'https://127.0.0.1:1'}}]\ncontexts: [{name: c, context: {cluster: c, user: c}}]\nusers: [{name: c, user: {token: t}}]\ncurrent-context: c\n")
	}
	s.create(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name + "-kubeconfig", Labels: map[string]string{clusterv1.ClusterNameLabel: name}}, Type: clusterv1.ClusterSecretType, Data: map[string][]byte{"value": content}})
	provisioned := true
	c.Status.Initialization.InfrastructureProvisioned = &provisioned
	require.NoError(s, env.Client.Status().Update(s.Context(), c))
	return c
}

// payload makes a ConfigMap that holds a ConfigMap for this namespace.
func (s *story) payload(name, value string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: map[string]string{"a.yaml": s.object(name+"-delivered", value)}}
}

func (s *story) object(name, value string) string {
	return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name + ", namespace: " + s.namespace + "}\ndata: {value: " + value + "}\n"
}

// delivered is the value of a delivered ConfigMap; empty if there is none.
func (s *story) delivered(name string) string {
	m := &corev1.ConfigMap{}
	_ = env.Client.Get(s.Context(), client.ObjectKey{Namespace: s.namespace, Name: name + "-delivered"}, m)
	return m.Data["value"]
}

func (s *story) until(what string, done func() bool) {
	s.Helper()
	require.Eventually(s, done, time.Minute, 20*time.Millisecond, what)
}

func (s *story) condition(set *addonsv1.ClusterResourceSet) (reason, message string) {
	_ = env.Client.Get(s.Context(), client.ObjectKeyFromObject(set), set)
	return conditions.Reason(set, addonsv1.ClusterResourceSetResourcesAppliedCondition), conditions.Message(set, addonsv1.ClusterResourceSetResourcesAppliedCondition)
}

func tell(t *testing.T) *story { return &story{T: t, namespace: env.Namespace(t)} }

// Conformance: RS-05, RS-07, RS-09, RS-12, RS-13
func TestOnce(t *testing.T) {
	s := tell(t)
	set := aSet("s", "ApplyOnce")
	s.create(set)
	s.cluster("c", true)
	s.until("the missing ConfigMap is named", func() bool {
		_, message := s.condition(set)
		return message == "* Cluster c: ConfigMap cni: it does not exist"
	})
	content := s.payload("cni", "one")
	s.create(content)
	s.until("it is delivered when it appears", func() bool { reason, _ := s.condition(set); return reason == "Applied" && s.delivered("cni") == "one" })
	s.until("the set owns its resource", func() bool {
		return env.Client.Get(t.Context(), client.ObjectKeyFromObject(content), content) == nil && len(content.OwnerReferences) == 1
	})
	binding := &addonsv1.ClusterResourceSetBinding{}
	require.NoError(t, env.Client.Get(t.Context(), client.ObjectKey{Namespace: s.namespace, Name: "c"}, binding))
	entry := binding.Spec.Bindings[0].Resources[0]
	assert.True(t, entry.Applied)
	assert.Contains(t, entry.Hash, "sha256:")
	assert.NotZero(t, entry.LastAppliedTime)

	require.NoError(t, env.Client.Delete(t.Context(), set))
	s.until("the set and the binding go", func() bool {
		return apierrors.IsNotFound(env.Client.Get(t.Context(), client.ObjectKeyFromObject(set), set)) &&
			apierrors.IsNotFound(env.Client.Get(t.Context(), client.ObjectKeyFromObject(binding), binding))
	})
	assert.Equal(t, "one", s.delivered("cni"), "what was delivered stays")
}

// Conformance: RS-06, RS-10, RS-14
func TestAgainWhenItChanges(t *testing.T) {
	s := tell(t)
	s.cluster("dead", false)
	s.cluster("c", true)
	content := s.payload("cni", "one")
	other := aSet("other", "ApplyOnce", func(o *addonsv1.ClusterResourceSet) {
		o.Spec.Resources = []addonsv1.ResourceReference{{Kind: "ConfigMap", Name: "more"}}
	})
	s.create(content, s.payload("more", "x"), aSet("s", "Reconcile"), other)
	s.until("both sets are delivered, though another Cluster does not answer", func() bool { return s.delivered("cni") == "one" && s.delivered("more") == "x" })
	binding := &addonsv1.ClusterResourceSetBinding{}
	s.until("the binding names both", func() bool {
		return env.Client.Get(t.Context(), client.ObjectKey{Namespace: s.namespace, Name: "c"}, binding) == nil && len(binding.Spec.Bindings) == 2
	})
	require.NoError(t, env.Client.Get(t.Context(), client.ObjectKeyFromObject(content), content))
	content.Data["a.yaml"] = s.object("cni-delivered", "two")
	require.NoError(t, env.Client.Update(t.Context(), content))
	s.until("the change is delivered", func() bool { return s.delivered("cni") == "two" })
}

// Conformance: RS-08, RS-11, RS-16
func TestWhatCannotBeDeliveredIsNamed(t *testing.T) {
	s := tell(t)
	s.cluster("c", true)
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "s"}, Data: map[string][]byte{"a": []byte("x")}}
	bad := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "bad"}, Data: map[string]string{"k": "a: b: c"}}
	partly := s.payload("partly", "good")
	partly.Data["b.yaml"] = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: Not-A-Name, namespace: " + s.namespace + "}\n"
	partly.Data["c.yaml"] = s.object("last-delivered", "good")
	typed := aSet("typed", "ApplyOnce", func(o *addonsv1.ClusterResourceSet) {
		o.Spec.Resources = []addonsv1.ResourceReference{{Kind: "Secret", Name: "s"}}
	})
	broken := aSet("broken", "ApplyOnce", func(o *addonsv1.ClusterResourceSet) {
		o.Spec.Resources = []addonsv1.ResourceReference{{Kind: "ConfigMap", Name: "bad"}}
	})
	partial := aSet("partial", "Reconcile", func(o *addonsv1.ClusterResourceSet) {
		o.Spec.Resources = []addonsv1.ResourceReference{{Kind: "ConfigMap", Name: "partly"}}
	})
	s.create(secret, bad, partly, typed, broken, partial)
	s.until("the type of the Secret is named", func() bool { reason, _ := s.condition(typed); return reason == "WrongSecretType" })
	s.until("the document is named", func() bool {
		_, message := s.condition(broken)
		return strings.Contains(message, "ConfigMap bad: it is malformed: key k, document 1 from line 1: yaml: ")
	})
	s.until("the object is named, and the others are there", func() bool {
		_, message := s.condition(partial)
		return strings.Contains(message, "ConfigMap Not-A-Name") && s.delivered("partly") == "good" && s.delivered("last") == "good"
	})
	secret.ResourceVersion, secret.UID = "", ""
	require.NoError(t, env.Client.Delete(t.Context(), secret))
	secret.Type, secret.Data = addonsv1.ClusterResourceSetSecretType, map[string][]byte{"a": []byte(s.object("secret-delivered", "there"))}
	s.create(secret)
	s.until("a Secret of the right type is delivered", func() bool { return s.delivered("secret") == "there" })
}
