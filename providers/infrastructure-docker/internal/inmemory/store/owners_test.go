package store

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// family makes objects of the given names; owners maps a name to those that own it, which come before it.
func family(t *testing.T, s *Store, owners map[string][]string, names ...string) {
	t.Helper()
	uids := map[string]types.UID{}
	for _, name := range names {
		o := pod()
		var refs []metav1.OwnerReference
		for _, owner := range owners[name] {
			refs = append(refs, metav1.OwnerReference{APIVersion: "v1", Kind: "Pod", Name: owner, UID: uids[owner]})
		}
		o.SetOwnerReferences(refs)
		made, err := s.Create(key(name), o)
		require.NoError(t, err)
		uids[name] = made.GetUID()
	}
}

func names(s *Store) (out []string) {
	items, _ := s.List(pods, "")
	for _, o := range items {
		out = append(out, o.GetName())
	}
	return out
}

func TestWhatIsOwnedGoesWithItsLastOwner(t *testing.T) {
	s := New()
	family(t, s, map[string][]string{"child": {"a"}, "grandchild": {"child"}, "shared": {"a", "b"}}, "a", "b", "child", "grandchild", "shared", "stranger")
	_, err := s.Delete(key("a"), metav1.DeleteOptions{})
	require.NoError(t, err)
	assert.Equal(t, []string{"b", "shared", "stranger"}, names(s))
	_, err = s.Delete(key("b"), metav1.DeleteOptions{})
	require.NoError(t, err)
	assert.Equal(t, []string{"stranger"}, names(s))
	assert.Empty(t, s.owned, "nothing is remembered of what is gone")
}

func TestOrphansStay(t *testing.T) {
	s := New()
	family(t, s, map[string][]string{"child": {"a"}}, "a", "child")
	orphan := metav1.DeletePropagationOrphan
	_, err := s.Delete(key("a"), metav1.DeleteOptions{PropagationPolicy: &orphan})
	require.NoError(t, err)
	child, err := s.Get(key("child"))
	require.NoError(t, err)
	assert.Empty(t, child.GetOwnerReferences())
}

func TestAFinalizerHoldsWhatIsOwned(t *testing.T) {
	s := New()
	made, err := s.Create(key("a"), pod("hold"))
	require.NoError(t, err)
	child := pod()
	child.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: "a", UID: made.GetUID()}})
	_, err = s.Create(key("child"), child)
	require.NoError(t, err)
	_, err = s.Delete(key("a"), metav1.DeleteOptions{})
	require.NoError(t, err)
	assert.Equal(t, []string{"a", "child"}, names(s))
	_, err = s.Update(key("a"), func(o *unstructured.Unstructured) (*unstructured.Unstructured, error) {
		o.SetFinalizers(nil)
		return o, nil
	})
	require.NoError(t, err)
	assert.Empty(t, names(s))
}

func TestANamespaceTakesItsContentAlong(t *testing.T) {
	s := New()
	inside, outside := Key{Resource: pods, Namespace: "gone", Name: "p"}, key("p")
	maps := Key{Resource: schema.GroupResource{Resource: "configmaps"}, Namespace: "gone", Name: "m"}
	namespace := Key{Resource: namespaces, Name: "gone"}
	for _, k := range []Key{inside, outside, maps, namespace} {
		_, err := s.Create(k, pod())
		require.NoError(t, err)
	}
	_, err := s.Delete(namespace, metav1.DeleteOptions{})
	require.NoError(t, err)
	assert.Equal(t, []string{"p"}, names(s))
	_, err = s.Get(maps)
	require.ErrorIs(t, err, ErrNotFound)
	_, err = s.Get(outside)
	require.NoError(t, err)
}
