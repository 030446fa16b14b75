// Package registry knows which extensions there are and what they serve. The controller of ExtensionConfigs fills it; whoever calls
// hooks asks it. What it says of an extension is what was last discovered: an extension that does not answer now keeps its handlers, so that
// their failure policies count, instead of being passed over.
package registry

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	hooks "github.com/slipway-capi/slipway/contract/api/runtime/hooks/v1alpha1"
	"github.com/slipway-capi/slipway/contract/extension/endpoint"
)

// Extension is an extension as it is registered.
type Extension struct {
	// Name is that of the ExtensionConfig; UID and Generation say which one it is, and in which version.
	Name       string
	UID        types.UID
	Generation int64
	// Endpoint is where its server is.
	Endpoint endpoint.Endpoint
	// Namespaces picks the namespaces whose clusters it works for.
	Namespaces labels.Selector
	Settings   map[string]string
	Handlers   []Handler
}

// Handler is one handler of an extension.
type Handler struct {
	// Name is unique in the management cluster; ShortName is what the extension itself calls it.
	Name, ShortName string
	Hook            hooks.GroupVersionHook
	Timeout         time.Duration
	// IgnoreFailure goes on as if there were no objection when the handler gives no response.
	IgnoreFailure bool
}

// Registered is a handler with its extension.
type Registered struct {
	Handler
	Extension *Extension
}

// Registry is safe for concurrent use.
type Registry struct {
	mu         sync.RWMutex
	extensions map[string]*Extension
	ready      chan struct{}
	once       sync.Once
}

// New makes an empty registry, which is not ready.
func New() *Registry {
	return &Registry{extensions: map[string]*Extension{}, ready: make(chan struct{})}
}

// SetReady says that all extensions that there were at the start of the manager are registered.
func (r *Registry) SetReady() { r.once.Do(func() { close(r.ready) }) }

// Wait waits until the registry is ready.
func (r *Registry) Wait(ctx context.Context) error {
	select {
	case <-r.ready:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Set registers an extension in place of what was registered under its name. The caller must not change it afterwards.
func (r *Registry) Set(e Extension) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.extensions[e.Name] = &e
}

// Remove forgets an extension.
func (r *Registry) Remove(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.extensions, name)
}

// Handlers lists all handlers of a hook, by name.
func (r *Registry) Handlers(id hooks.GroupVersionHook) []Registered {
	return r.list(func(h Handler) bool { return h.Hook == id })
}

// Find looks a handler up by its name.
func (r *Registry) Find(name string) (Registered, bool) {
	found := r.list(func(h Handler) bool { return h.Name == name })
	if len(found) == 0 {
		return Registered{}, false
	}
	return found[0], true
}

func (r *Registry) list(want func(Handler) bool) []Registered {
	r.mu.RLock()
	defer r.mu.RUnlock()
	var out []Registered
	for _, e := range r.extensions {
		for _, h := range e.Handlers {
			if want(h) {
				out = append(out, Registered{Handler: h, Extension: e})
			}
		}
	}
	slices.SortFunc(out, func(a, b Registered) int { return cmp.Compare(a.Name, b.Name) })
	return out
}
