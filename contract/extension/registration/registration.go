// Package registration keeps a registry of extensions equal to the stored ExtensionConfigs. It needs controller-runtime.
package registration

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"

	hooks "github.com/slipway-capi/slipway/contract/api/runtime/hooks/v1alpha1"
	runtimev1 "github.com/slipway-capi/slipway/contract/api/runtime/v1beta2"
	"github.com/slipway-capi/slipway/contract/extension/endpoint"
	"github.com/slipway-capi/slipway/contract/extension/registry"
	"github.com/slipway-capi/slipway/contract/extension/wire"
)

// Runnable keeps the registry equal to the stored ExtensionConfigs. It runs in every instance of the manager, also in those that do
// not lead: who begins to lead must not pass an extension over because it has not been asked yet.
type Runnable struct {
	// Cache is where ExtensionConfigs are watched.
	Cache    cache.Cache
	Registry *registry.Registry
	// Pool forgets the connections of an extension that goes.
	Pool *wire.Pool
}

// NeedLeaderElection lets it run everywhere.
func (r *Runnable) NeedLeaderElection() bool { return false }

// Start registers what is stored, says that the registry is ready, and follows all changes until the context ends.
func (r *Runnable) Start(ctx context.Context) error {
	informer, err := r.Cache.GetInformer(ctx, &runtimev1.ExtensionConfig{})
	if err != nil {
		return fmt.Errorf("watching ExtensionConfigs: %w", err)
	}
	handle, err := informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
		AddFunc:    r.keep,
		UpdateFunc: func(_, now any) { r.keep(now) },
		DeleteFunc: func(o any) {
			if gone, ok := o.(toolscache.DeletedFinalStateUnknown); ok {
				o = gone.Obj
			}
			if config, ok := o.(*runtimev1.ExtensionConfig); ok {
				r.drop(config.Name)
			}
		},
	})
	if err != nil {
		return fmt.Errorf("watching ExtensionConfigs: %w", err)
	}
	if !toolscache.WaitForCacheSync(ctx.Done(), handle.HasSynced) {
		return nil
	}
	r.Registry.SetReady()
	<-ctx.Done()
	return errors.Join(informer.RemoveEventHandler(handle))
}

func (r *Runnable) keep(o any) {
	config, ok := o.(*runtimev1.ExtensionConfig)
	if !ok {
		return
	}
	e, ok := Extension(config)
	if !ok {
		r.drop(config.Name)
		return
	}
	r.Registry.Set(e)
}

func (r *Runnable) drop(name string) {
	r.Registry.Remove(name)
	r.Pool.Forget(name)
}

// Extension is what is registered for an ExtensionConfig; false if nothing is. It is pure.
func Extension(config *runtimev1.ExtensionConfig) (registry.Extension, bool) {
	if !config.DeletionTimestamp.IsZero() || len(config.Status.Handlers) == 0 {
		return registry.Extension{}, false
	}
	at, err := endpoint.Of(config.Spec.ClientConfig)
	if err != nil {
		return registry.Extension{}, false // admission refuses these
	}
	selector, err := metav1.LabelSelectorAsSelector(&config.Spec.NamespaceSelector)
	if err != nil {
		return registry.Extension{}, false
	}
	e := registry.Extension{
		Name: config.Name, UID: config.UID, Generation: config.Generation, Endpoint: at, Namespaces: selector, Settings: config.Spec.Settings,
	}
	for _, h := range config.Status.Handlers {
		e.Handlers = append(e.Handlers, registry.Handler{
			Name: h.Name, ShortName: strings.TrimSuffix(h.Name, "."+config.Name),
			Hook:          hooks.GroupVersionHook{APIVersion: h.RequestHook.APIVersion, Hook: h.RequestHook.Hook},
			Timeout:       time.Duration(h.TimeoutSeconds) * time.Second,
			IgnoreFailure: h.FailurePolicy == runtimev1.FailurePolicyIgnore,
		})
	}
	return e, true
}
