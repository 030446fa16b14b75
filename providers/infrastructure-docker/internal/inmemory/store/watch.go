package store

import (
	"maps"
	"reflect"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Watch delivers the changes of one resource. It never drops an event and never blocks the store.
type Watch struct {
	store     *Store
	resource  schema.GroupResource
	namespace string

	mu      sync.Mutex
	pending []Event
	wake    chan struct{}
}

// Watch starts a watch after a version: zero means from now on. The objects that exist at the start and the version of
// that state are returned for callers that want to begin with them.
func (s *Store) Watch(resource schema.GroupResource, namespace string, after uint64) (*Watch, []*unstructured.Unstructured, uint64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := &Watch{store: s, resource: resource, namespace: namespace, wake: make(chan struct{}, 1)}
	if after > s.version {
		return nil, nil, 0, ErrExpired
	}
	if after > 0 && after < s.version {
		if len(s.history) == 0 || s.history[0].Version > after+1 {
			return nil, nil, 0, ErrExpired
		}
		for _, e := range s.history {
			if e.Version > after && e.Key.Resource == resource && (namespace == "" || namespace == e.Key.Namespace) {
				w.push(e)
			}
		}
	}
	s.watches[w] = struct{}{}
	return w, s.list(resource, namespace), s.version, nil
}

func (w *Watch) push(e Event) {
	w.mu.Lock()
	w.pending = append(w.pending, e)
	w.mu.Unlock()
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// Ready is signalled when there may be events to take.
func (w *Watch) Ready() <-chan struct{} { return w.wake }

// Take returns the events that came since the last call.
func (w *Watch) Take() []Event {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := w.pending
	w.pending = nil
	return out
}

// Stop ends the watch.
func (w *Watch) Stop() {
	w.store.mu.Lock()
	defer w.store.mu.Unlock()
	delete(w.store.watches, w)
}

// Version is the present version of the store.
func (s *Store) Version() uint64 {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.version
}

func sameObject(a, b *unstructured.Unstructured) bool {
	x, y := withoutVersion(a), withoutVersion(b)
	return reflect.DeepEqual(x, y)
}

func withoutVersion(o *unstructured.Unstructured) map[string]any {
	out := maps.Clone(o.Object)
	if m, ok := out["metadata"].(map[string]any); ok {
		m = maps.Clone(m)
		delete(m, "resourceVersion")
		out["metadata"] = m
	}
	return out
}

func equalExcept(a, b map[string]any, keys ...string) bool {
	x, y := maps.Clone(a), maps.Clone(b)
	for _, k := range keys {
		delete(x, k)
		delete(y, k)
	}
	return reflect.DeepEqual(x, y)
}
