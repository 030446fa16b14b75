// Package store keeps the objects of one simulated workload cluster: versions that grow, watches that can resume, and
// deletions that wait for finalizers, as an API server has them. It knows kinds only by group and resource.
package store

import (
	"errors"
	"sort"
	"strconv"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/apimachinery/pkg/watch"
)

var (
	// ErrNotFound says that there is no such object.
	ErrNotFound = errors.New("not found")
	// ErrExists says that there is one already.
	ErrExists = errors.New("already exists")
	// ErrConflict says that the object changed since the caller read it.
	ErrConflict = errors.New("the object has been modified")
	// ErrExpired says that a watch asked for a version that is no longer remembered.
	ErrExpired = errors.New("too old resource version")
)

// remembered is how many events a store keeps for watches that resume.
const remembered = 2000

// Key names one object; Namespace is empty for cluster-scoped kinds.
type Key struct {
	Resource        schema.GroupResource
	Namespace, Name string
}

// Event is a change of one object. Old is the object before it, nil for a new one.
type Event struct {
	Type    watch.EventType
	Version uint64
	Key     Key
	Object  *unstructured.Unstructured
	Old     *unstructured.Unstructured
}

// Store holds objects. Its methods are safe for concurrent use; objects that it returns must not be changed.
type Store struct {
	now func() time.Time

	mu      sync.RWMutex
	version uint64
	objects map[schema.GroupResource]map[types.NamespacedName]*unstructured.Unstructured
	owned   map[types.UID]map[Key]struct{}
	history []Event
	watches map[*Watch]struct{}
}

// New makes an empty store. Versions begin with the time: those that an earlier process gave out are then always older,
// and a client that resumes with one is told so instead of waiting for events that it has missed.
func New() *Store {
	return &Store{now: time.Now, version: uint64(time.Now().UnixMicro()), objects: map[schema.GroupResource]map[types.NamespacedName]*unstructured.Unstructured{}, owned: map[types.UID]map[Key]struct{}{}, watches: map[*Watch]struct{}{}}
}

// Get returns an object.
func (s *Store) Get(k Key) (*unstructured.Unstructured, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if o := s.objects[k.Resource][types.NamespacedName{Namespace: k.Namespace, Name: k.Name}]; o != nil {
		return o, nil
	}
	return nil, ErrNotFound
}

// List returns all objects of a resource, of one namespace or all, sorted by name, and the version of the list.
func (s *Store) List(resource schema.GroupResource, namespace string) ([]*unstructured.Unstructured, uint64) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.list(resource, namespace), s.version
}

func (s *Store) list(resource schema.GroupResource, namespace string) []*unstructured.Unstructured {
	var out []*unstructured.Unstructured
	for k, o := range s.objects[resource] {
		if namespace == "" || namespace == k.Namespace {
			out = append(out, o)
		}
	}
	sort.Slice(out, func(i, j int) bool {
		if out[i].GetNamespace() != out[j].GetNamespace() {
			return out[i].GetNamespace() < out[j].GetNamespace()
		}
		return out[i].GetName() < out[j].GetName()
	})
	return out
}

// Create adds an object and returns it as stored.
func (s *Store) Create(k Key, obj *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := types.NamespacedName{Namespace: k.Namespace, Name: k.Name}
	if s.objects[k.Resource][n] != nil {
		return nil, ErrExists
	}
	o := obj.DeepCopy()
	o.SetNamespace(k.Namespace)
	o.SetName(k.Name)
	o.SetUID(uuid.NewUUID())
	o.SetCreationTimestamp(metav1.NewTime(s.now().UTC().Truncate(time.Second)))
	o.SetGeneration(1)
	o.SetDeletionTimestamp(nil)
	s.put(k, o, nil, watch.Added)
	return o, nil
}

// Update replaces an object by what change makes of a copy of it. A version in the result that is not the stored one is
// a conflict. An object that is being deleted goes with its last finalizer. A change of nothing writes nothing.
func (s *Store) Update(k Key, change func(current *unstructured.Unstructured) (*unstructured.Unstructured, error)) (*unstructured.Unstructured, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	old := s.objects[k.Resource][types.NamespacedName{Namespace: k.Namespace, Name: k.Name}]
	if old == nil {
		return nil, ErrNotFound
	}
	o, err := change(old.DeepCopy())
	if err != nil {
		return nil, err
	}
	if v := o.GetResourceVersion(); v != "" && v != old.GetResourceVersion() {
		return nil, ErrConflict
	}
	if u := o.GetUID(); u != "" && u != old.GetUID() {
		return nil, ErrConflict
	}
	keep(o, old)
	if o.GetDeletionTimestamp() != nil && len(o.GetFinalizers()) == 0 {
		s.remove(k, o, old)
		s.collect(k, o, false)
		return o, nil
	}
	if sameObject(o, old) {
		return old, nil
	}
	s.put(k, o, old, watch.Modified)
	return o, nil
}

// keep carries over what a client may not change.
func keep(o, old *unstructured.Unstructured) {
	o.SetUID(old.GetUID())
	o.SetCreationTimestamp(old.GetCreationTimestamp())
	o.SetDeletionTimestamp(old.GetDeletionTimestamp())
	o.SetName(old.GetName())
	o.SetNamespace(old.GetNamespace())
	o.SetResourceVersion(old.GetResourceVersion())
	o.SetGeneration(old.GetGeneration())
	if len(o.GetManagedFields()) == 0 {
		o.SetManagedFields(old.GetManagedFields())
	}
	if !equalExcept(o.Object, old.Object, "metadata", "status") {
		o.SetGeneration(old.GetGeneration() + 1)
	}
}

// Delete removes an object and what it owned, or marks it while it has finalizers. UID and version, where given as
// preconditions, must be the stored ones. Dependents go in the background, also where the foreground is asked for.
func (s *Store) Delete(k Key, options metav1.DeleteOptions) (*unstructured.Unstructured, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.delete(k, options)
}

func (s *Store) delete(k Key, options metav1.DeleteOptions) (*unstructured.Unstructured, error) {
	old := s.objects[k.Resource][types.NamespacedName{Namespace: k.Namespace, Name: k.Name}]
	if old == nil {
		return nil, ErrNotFound
	}
	if p := options.Preconditions; p != nil {
		if (p.UID != nil && *p.UID != old.GetUID()) || (p.ResourceVersion != nil && *p.ResourceVersion != old.GetResourceVersion()) {
			return nil, ErrConflict
		}
	}
	o := old.DeepCopy()
	if len(o.GetFinalizers()) > 0 {
		if o.GetDeletionTimestamp() == nil {
			now := metav1.NewTime(s.now().UTC().Truncate(time.Second))
			o.SetDeletionTimestamp(&now)
			s.put(k, o, old, watch.Modified)
		}
		return o, nil
	}
	s.remove(k, o, old)
	s.collect(k, o, orphans(options))
	return o, nil
}

func orphans(options metav1.DeleteOptions) bool {
	return options.PropagationPolicy != nil && *options.PropagationPolicy == metav1.DeletePropagationOrphan
}

func (s *Store) put(k Key, o, old *unstructured.Unstructured, event watch.EventType) {
	s.version++
	o.SetResourceVersion(strconv.FormatUint(s.version, 10))
	if s.objects[k.Resource] == nil {
		s.objects[k.Resource] = map[types.NamespacedName]*unstructured.Unstructured{}
	}
	s.objects[k.Resource][types.NamespacedName{Namespace: k.Namespace, Name: k.Name}] = o
	s.index(k, o, old)
	s.publish(Event{Type: event, Version: s.version, Key: k, Object: o, Old: old})
}

func (s *Store) remove(k Key, o, old *unstructured.Unstructured) {
	s.version++
	o.SetResourceVersion(strconv.FormatUint(s.version, 10))
	delete(s.objects[k.Resource], types.NamespacedName{Namespace: k.Namespace, Name: k.Name})
	s.index(k, nil, old)
	s.publish(Event{Type: watch.Deleted, Version: s.version, Key: k, Object: o, Old: old})
}

func (s *Store) publish(e Event) {
	s.history = append(s.history, e)
	if len(s.history) > 2*remembered {
		s.history = append([]Event(nil), s.history[len(s.history)-remembered:]...)
	}
	for w := range s.watches {
		if w.resource == e.Key.Resource && (w.namespace == "" || w.namespace == e.Key.Namespace) {
			w.push(e)
		}
	}
}
