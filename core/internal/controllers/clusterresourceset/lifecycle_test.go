package clusterresourceset

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonsv1 "github.com/slipway-capi/slipway/contract/api/addons/v1beta2"
	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/clustercache"
)

// hanging is a cluster cache in which the Cluster called slow is connected, but lets every request wait for its deadline.
type hanging struct{ clustercache.Cache }

func (h hanging) UncachedClient(ctx context.Context, cluster client.ObjectKey) (client.Client, error) {
	c, err := h.Cache.UncachedClient(ctx, cluster)
	if err != nil || cluster.Name != "slow" {
		return c, err
	}
	return stuck{c}, nil
}

type stuck struct{ client.Client }

func (stuck) Create(ctx context.Context, _ client.Object, _ ...client.CreateOption) error {
	<-ctx.Done()
	return ctx.Err()
}

func (s *story) gone(o client.Object) bool {
	return apierrors.IsNotFound(env.Client.Get(s.Context(), client.ObjectKeyFromObject(o), o))
}

func (s *story) merge(o client.Object, content string) {
	s.Helper()
	require.NoError(s, env.Client.Patch(s.Context(), o, client.RawPatch("application/merge-patch+json", []byte(content))))
}

func (s *story) binding(cluster string) *addonsv1.ClusterResourceSetBinding {
	return &addonsv1.ClusterResourceSetBinding{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: cluster}}
}

// applied says whether a set is delivered to the Cluster c, and says so. A set without Clusters says so, too.
func (s *story) applied(set *addonsv1.ClusterResourceSet) bool {
	reason, _ := s.condition(set)
	binding := s.binding("c")
	return reason == addonsv1.ClusterResourceSetResourcesAppliedReason && !s.gone(binding) && binding.Spec.Bindings[0].Resources[0].Applied
}

// Conformance: RS-17, RS-18
func TestAClusterOfTheSameNameReceivesEverythingAnew(t *testing.T) {
	s := tell(t)
	set := aSet("s", "ApplyOnce")
	s.create(set, s.payload("cni", "one"))
	first := s.cluster("c", true)
	s.until("delivered", func() bool { return s.applied(set) && s.delivered("cni") == "one" })
	require.NoError(t, env.Client.Delete(t.Context(), first))
	s.until("the binding goes with its Cluster", func() bool { return s.gone(s.binding("c")) })
	for _, o := range []client.Object{&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "cni-delivered"}}, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "c-kubeconfig"}}} {
		o.SetNamespace(s.namespace)
		require.NoError(t, env.Client.Delete(t.Context(), o))
	}
	s.cluster("c", true)
	s.until("and the next one of the name receives everything", func() bool { return s.delivered("cni") == "one" })
}

// Conformance: RS-18
func TestASetIsNotHeldByAClusterThatIsGone(t *testing.T) {
	s := tell(t)
	set := aSet("s", "ApplyOnce")
	left := s.binding("gone") // as it stays when a Cluster goes while no manager runs
	left.Spec = addonsv1.ClusterResourceSetBindingSpec{ClusterName: "gone", Bindings: []addonsv1.ResourceSetBinding{{ClusterResourceSetName: "s"}}}
	s.create(set, left)
	require.NoError(t, env.Client.Delete(t.Context(), set))
	s.until("the set goes", func() bool { return s.gone(set) && s.gone(left) })
}

// Conformance: RS-15, SH-04
func TestUnpausingDelivers(t *testing.T) {
	s := tell(t)
	set := aSet("s", "ApplyOnce", func(o *addonsv1.ClusterResourceSet) {
		o.Annotations = map[string]string{clusterv1.PausedAnnotation: ""}
	})
	s.create(set, s.payload("cni", "one"))
	cluster := s.cluster("c", true)
	s.until("paused", func() bool {
		_ = env.Client.Get(t.Context(), client.ObjectKeyFromObject(set), set)
		return len(set.Status.Conditions) == 1
	})
	assert.Empty(t, s.delivered("cni"))
	s.merge(cluster, `{"spec":{"paused":true}}`)
	s.merge(set, `{"metadata":{"annotations":null}}`)
	s.until("the paused Cluster is named", func() bool { _, message := s.condition(set); return message == "* Cluster c: it is paused" })
	assert.Empty(t, s.delivered("cni"))
	s.merge(set, `{"metadata":{"annotations":{"cluster.x-k8s.io/paused":""}}}`)
	s.until("the set is paused again", func() bool {
		_ = env.Client.Get(t.Context(), client.ObjectKeyFromObject(set), set)
		return set.Status.Conditions[len(set.Status.Conditions)-1].Status == metav1.ConditionTrue
	})
	s.merge(cluster, `{"spec":{"paused":false}}`)
	s.merge(set, `{"metadata":{"annotations":null}}`)
	s.until("delivered", func() bool { return s.delivered("cni") == "one" })
}

// Conformance: RS-12
func TestAClusterThatIsNotPickedAnyMoreLeavesTheRecord(t *testing.T) {
	s := tell(t)
	set := aSet("s", "ApplyOnce")
	s.create(set, s.payload("cni", "one"))
	cluster := s.cluster("c", true)
	s.until("delivered", func() bool { return s.applied(set) && !s.gone(s.binding("c")) })
	s.merge(cluster, `{"metadata":{"labels":{"cni":null}}}`)
	s.until("the binding goes", func() bool { return s.gone(s.binding("c")) })
	assert.Equal(t, "one", s.delivered("cni"), "what was delivered stays")
}

// Conformance: RS-14
func TestAClusterThatHangsDelaysNoOther(t *testing.T) {
	s := tell(t)
	set := aSet("s", "ApplyOnce")
	s.create(set, s.payload("cni", "one"))
	s.cluster("slow", true)
	s.cluster("c", true)
	s.until("only the slow one is open", func() bool {
		_, message := s.condition(set)
		return s.delivered("cni") == "one" && strings.HasPrefix(message, "* Cluster slow: ConfigMap cni: ") && !strings.Contains(message, "Cluster c:")
	})
}

const things = `apiVersion: %[1]s.example.org/v1
kind: Thing
metadata: {name: it, namespace: %[1]s}
spec: {size: 3}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.%[1]s.example.org}
spec:
  group: %[1]s.example.org
  names: {kind: Thing, listKind: ThingList, plural: things, singular: thing}
  scope: Namespaced
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]
`

// Conformance: RS-04, RS-22
func TestObjectsOfAKindThatComesWithThem(t *testing.T) {
	s := tell(t)
	content := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "cni"}, Data: map[string]string{"a": fmt.Sprintf(things, s.namespace)}}
	set := aSet("s", "Reconcile")
	s.create(set, content)
	s.cluster("c", true)
	thing := &unstructured.Unstructured{}
	thing.SetAPIVersion(s.namespace + ".example.org/v1")
	thing.SetKind("Thing")
	thing.SetNamespace(s.namespace)
	thing.SetName("it")
	s.until("the object is there as soon as its kind is served", func() bool {
		return env.Client.Get(t.Context(), client.ObjectKeyFromObject(thing), thing) == nil
	})
	s.until("and told", func() bool { return s.applied(set) })
}

// Conformance: RS-05, RS-23
func TestObjectsAsTheyWereExported(t *testing.T) {
	s := tell(t)
	mine := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "kept-delivered"}, Data: map[string]string{"value": "the user's"}}
	exported := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s, resourceVersion: '7', uid: x, creationTimestamp: 2030-01-01T00:00:00Z}\ndata: {value: exported}\n"
	content := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "cni"}, Data: map[string]string{
		"a": s.object("kept-delivered", "other"), "b": fmt.Sprintf(exported, s.namespace), // no namespace, so it goes to default
	}}
	set := aSet("s", "ApplyOnce")
	s.create(mine, set, content)
	s.cluster("c", true)
	s.until("delivered", func() bool { return s.applied(set) })
	assert.Equal(t, "the user's", s.delivered("kept"))
	got := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: s.namespace}}
	require.NoError(t, env.Client.Get(t.Context(), client.ObjectKeyFromObject(got), got))
	assert.Equal(t, "exported", got.Data["value"])
	require.NoError(t, env.Client.Delete(t.Context(), got))
}

// Conformance: RS-20
func TestTheConditionTellsNothingOfASecret(t *testing.T) {
	s := tell(t)
	bad := "apiVersion: v1\nkind: Service\nmetadata: {name: svc, namespace: " + s.namespace + "}\nspec: {clusterIP: hunter2, ports: [{port: 1}]}\n"
	set := aSet("s", "ApplyOnce", func(o *addonsv1.ClusterResourceSet) {
		o.Spec.Resources = []addonsv1.ResourceReference{{Kind: "Secret", Name: "s"}}
	})
	s.create(set, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "s"}, Type: addonsv1.ClusterResourceSetSecretType, Data: map[string][]byte{"a": []byte(bad)}})
	s.cluster("c", true)
	s.until("the object and the field are named", func() bool {
		_, message := s.condition(set)
		return strings.HasPrefix(message, "* Cluster c: Secret s: Service svc: Invalid (spec.clusterIP")
	})
	_, message := s.condition(set)
	assert.NotContains(t, message, "hunter2")
}

// A Service whose port is taken by itself is refused as invalid, not as existing.
//
// Conformance: RS-05
func TestAnObjectThatExistsIsNotRefused(t *testing.T) {
	s := tell(t)
	have := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "svc"}, Spec: corev1.ServiceSpec{Type: corev1.ServiceTypeNodePort, Selector: map[string]string{"a": "b"}, Ports: []corev1.ServicePort{{Port: 80}}}}
	s.create(have)
	service := fmt.Sprintf("apiVersion: v1\nkind: Service\nmetadata: {name: svc, namespace: %s}\nspec: {type: NodePort, selector: {a: b}, ports: [{port: 80, nodePort: %d}]}\n", s.namespace, have.Spec.Ports[0].NodePort)
	content := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "cni"}, Data: map[string]string{"a": service}}
	set := aSet("s", "ApplyOnce")
	s.create(content, set)
	s.cluster("c", true)
	s.until("delivered", func() bool { return s.applied(set) })
}
