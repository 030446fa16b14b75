package main

import (
	"errors"

	"github.com/spf13/pflag"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/slipway-capi/slipway/contract/extension/hookcall"
	"github.com/slipway-capi/slipway/contract/extension/registry"
	"github.com/slipway-capi/slipway/contract/extension/wire"
	"github.com/slipway-capi/slipway/contract/manager"
	"github.com/slipway-capi/slipway/core/internal/controllers/extensionconfig"
)

// +kubebuilder:rbac:groups="",resources=namespaces,verbs=get;list;watch

// extensionOptions are the flags about runtime extensions.
type extensionOptions struct {
	concurrency       int
	certFile, keyFile string
	allowLocal        bool
}

func (o *extensionOptions) addTo(fs *pflag.FlagSet) {
	manager.Concurrency(fs, &o.concurrency, "extensionconfig", 10)
	fs.StringVar(&o.certFile, "runtime-extension-client-cert-file", "", "File with the certificate that the manager shows to runtime extensions, in PEM.")
	fs.StringVar(&o.keyFile, "runtime-extension-client-key-file", "", "File with the key of that certificate, in PEM.")
	fs.BoolVar(&o.allowLocal, "runtime-extension-allow-local-addresses", false, "Let the manager connect to runtime extensions at loopback and link-local addresses.")
}

func (o *extensionOptions) validate() error {
	if (o.certFile == "") != (o.keyFile == "") {
		return errors.New("--runtime-extension-client-cert-file and --runtime-extension-client-key-file must be set together")
	}
	return nil
}

// setup makes what calls extensions and the controller that keeps it up to date. Without the feature both are nil.
func (o *extensionOptions) setup(mgr ctrl.Manager, flags *manager.Flags) (*hookcall.Client, *extensionconfig.Controller) {
	if !flags.Features.Enabled(manager.FeatureRuntimeSDK) {
		return nil, nil
	}
	known := registry.New()
	pool := wire.NewPool(wire.Options{AllowLocal: o.allowLocal, CertFile: o.certFile, KeyFile: o.keyFile, UserAgent: name})
	return hookcall.New(known, pool, hookcall.NamespaceLabels(mgr.GetClient())), &extensionconfig.Controller{
		Client: mgr.GetClient(), Live: mgr.GetAPIReader(), Registry: known, Pool: pool, WatchFilter: flags.WatchFilter, Namespace: flags.Namespace,
	}
}
