package registration

import (
	"errors"
	"fmt"

	"github.com/spf13/pflag"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/slipway-capi/slipway/contract/extension/hookcall"
	"github.com/slipway-capi/slipway/contract/extension/registry"
	"github.com/slipway-capi/slipway/contract/extension/wire"
)

// Options are the flags of a manager about the extensions that it calls.
type Options struct {
	// CertFile and KeyFile hold what the manager shows to extensions.
	CertFile, KeyFile string
	// AllowLocal lets it connect to loopback and link-local addresses.
	AllowLocal bool
}

// AddTo adds the flags.
func (o *Options) AddTo(fs *pflag.FlagSet) {
	fs.StringVar(&o.CertFile, "runtime-extension-client-cert-file", "", "File with the certificate that the manager shows to runtime extensions, in PEM.")
	fs.StringVar(&o.KeyFile, "runtime-extension-client-key-file", "", "File with the key of that certificate, in PEM.")
	fs.BoolVar(&o.AllowLocal, "runtime-extension-allow-local-addresses", false, "Let the manager connect to runtime extensions at loopback and link-local addresses.")
}

// Validate refuses half of a certificate.
func (o *Options) Validate() error {
	if (o.CertFile == "") != (o.KeyFile == "") {
		return errors.New("--runtime-extension-client-cert-file and --runtime-extension-client-key-file must be set together")
	}
	return nil
}

// Pool makes the connections to extensions.
func (o *Options) Pool(userAgent string) *wire.Pool {
	return wire.NewPool(wire.Options{AllowLocal: o.AllowLocal, CertFile: o.CertFile, KeyFile: o.KeyFile, UserAgent: userAgent})
}

// Client makes what calls extensions for a manager that does not handle ExtensionConfigs itself, and keeps it up to date.
// Its manager needs the rights to get, list and watch ExtensionConfigs and namespaces.
func (o *Options) Client(mgr ctrl.Manager, userAgent string) (*hookcall.Client, error) {
	known, pool := registry.New(), o.Pool(userAgent)
	if err := mgr.Add(&Runnable{Cache: mgr.GetCache(), Registry: known, Pool: pool}); err != nil {
		return nil, fmt.Errorf("adding the registration of extensions: %w", err)
	}
	return hookcall.New(known, pool, hookcall.NamespaceLabels(mgr.GetClient())), nil
}
