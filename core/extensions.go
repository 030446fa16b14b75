package main

import (
	"github.com/spf13/pflag"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/slipway-capi/slipway/contract/extension/hookcall"
	"github.com/slipway-capi/slipway/contract/extension/registration"
	"github.com/slipway-capi/slipway/contract/extension/registry"
	"github.com/slipway-capi/slipway/contract/manager"
	"github.com/slipway-capi/slipway/core/internal/controllers/extensionconfig"
)

// +kubebuilder:rbac:groups="",resources=namespaces,verbs=get;list;watch

// extensionOptions are the flags about runtime extensions.
type extensionOptions struct {
	concurrency int
	client      registration.Options
}

func (o *extensionOptions) addTo(fs *pflag.FlagSet) {
	manager.Concurrency(fs, &o.concurrency, "extensionconfig", 10)
	o.client.AddTo(fs)
}

func (o *extensionOptions) validate() error { return o.client.Validate() }

// setup makes what calls extensions and the controller that keeps it up to date. Without the feature both are nil.
func (o *extensionOptions) setup(mgr ctrl.Manager, flags *manager.Flags) (*hookcall.Client, *extensionconfig.Controller) {
	if !flags.Features.Enabled(manager.FeatureRuntimeSDK) {
		return nil, nil
	}
	known, pool := registry.New(), o.client.Pool(name)
	return hookcall.New(known, pool, hookcall.NamespaceLabels(mgr.GetClient())), &extensionconfig.Controller{
		Client: mgr.GetClient(), Live: mgr.GetAPIReader(), Registry: known, Pool: pool, WatchFilter: flags.WatchFilter, Namespace: flags.Namespace,
	}
}
