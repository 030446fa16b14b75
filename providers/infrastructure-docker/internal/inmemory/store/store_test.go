package store

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
)

var pods = schema.GroupResource{Resource: "pods"}

func key(name string) Key { return Key{Resource: pods, Namespace: "ns", Name: name} }

func pod(finalizers ...string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Pod", "spec": map[string]any{"nodeName": "a"}}}
	o.SetFinalizers(finalizers)
	return o
}

func set(value string, fields ...string) func(*unstructured.Unstructured) (*unstructured.Unstructured, error) {
	return func(o *unstructured.Unstructured) (*unstructured.Unstructured, error) {
		return o, unstructured.SetNestedField(o.Object, value, fields...)
	}
}

func TestLifeOfAnObject(t *testing.T) {
	s := New()
	made, err := s.Create(key("p"), pod("f"))
	require.NoError(t, err)
	assert.NotEmpty(t, made.GetUID())
	assert.EqualValues(t, 1, made.GetGeneration())
	_, err = s.Create(key("p"), pod())
	require.ErrorIs(t, err, ErrExists)

	same, err := s.Update(key("p"), func(o *unstructured.Unstructured) (*unstructured.Unstructured, error) { return o, nil })
	require.NoError(t, err)
	assert.Equal(t, made.GetResourceVersion(), same.GetResourceVersion(), "a change of nothing writes nothing")
	inStatus, err := s.Update(key("p"), set("Running", "status", "phase"))
	require.NoError(t, err)
	assert.EqualValues(t, 1, inStatus.GetGeneration(), "the generation counts changes of the spec only")
	inSpec, err := s.Update(key("p"), set("b", "spec", "nodeName"))
	require.NoError(t, err)
	assert.EqualValues(t, 2, inSpec.GetGeneration())
	_, err = s.Update(key("p"), set(made.GetResourceVersion(), "metadata", "resourceVersion"))
	require.ErrorIs(t, err, ErrConflict)
	_, err = s.Update(key("p"), set("other", "metadata", "uid"))
	require.ErrorIs(t, err, ErrConflict)

	other := types.UID("other")
	_, err = s.Delete(key("p"), metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &other}})
	require.ErrorIs(t, err, ErrConflict)
	marked, err := s.Delete(key("p"), metav1.DeleteOptions{})
	require.NoError(t, err)
	assert.NotNil(t, marked.GetDeletionTimestamp(), "a finalizer holds it")
	_, err = s.Update(key("p"), func(o *unstructured.Unstructured) (*unstructured.Unstructured, error) {
		o.SetFinalizers(nil)
		return o, nil
	})
	require.NoError(t, err)
	_, err = s.Get(key("p"))
	require.ErrorIs(t, err, ErrNotFound)
}

func TestWatchResumes(t *testing.T) {
	s := New()
	_, err := s.Create(key("a"), pod())
	require.NoError(t, err)
	seen := s.Version()
	_, err = s.Create(key("b"), pod())
	require.NoError(t, err)
	_, err = s.Create(Key{Resource: pods, Namespace: "elsewhere", Name: "c"}, pod())
	require.NoError(t, err)
	_, err = s.Delete(key("a"), metav1.DeleteOptions{})
	require.NoError(t, err)

	w, _, _, err := s.Watch(pods, "ns", seen)
	require.NoError(t, err)
	defer w.Stop()
	events := w.Take()
	require.Len(t, events, 2, "only those of the namespace, only those after the version")
	assert.Equal(t, watch.Added, events[0].Type)
	assert.Equal(t, watch.Deleted, events[1].Type)
	assert.Greater(t, events[1].Version, events[0].Version)
	_, err = s.Update(key("b"), set("b", "spec", "nodeName"))
	require.NoError(t, err)
	<-w.Ready()
	assert.Equal(t, watch.Modified, w.Take()[0].Type)
}

func TestWatchExpires(t *testing.T) {
	earlier := New().Version()
	s := New()
	for i := range 2*remembered + 2 {
		_, err := s.Create(key(fmt.Sprint(i)), pod())
		require.NoError(t, err)
	}
	for name, version := range map[string]uint64{"forgotten": s.Version() - 2*remembered, "of an earlier process": earlier, "of the future": s.Version() + 1} {
		_, _, _, err := s.Watch(pods, "", version)
		require.ErrorIs(t, err, ErrExpired, name)
	}
	w, _, _, err := s.Watch(pods, "", s.Version()-1)
	require.NoError(t, err)
	assert.Len(t, w.Take(), 1)
}

func BenchmarkCreate(b *testing.B) {
	s := New()
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if _, err := s.Create(key(fmt.Sprint(i)), pod()); err != nil {
			b.Fatal(err)
		}
	}
}
