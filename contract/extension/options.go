package extension

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"time"

	hooks "github.com/slipway-capi/slipway/contract/api/runtime/hooks/v1alpha1"
)

// Options say how a server listens. The zero value serves on port 9443 and needs CertFile and KeyFile to start.
type Options struct {
	// Address is host and port to listen on. Default ":9443".
	Address string
	// CertFile and KeyFile hold the certificate of the server and its key, in PEM. When they change they are read again.
	CertFile, KeyFile string
	// ClientCAFile holds authorities, in PEM. If it is set, only callers whose certificates these vouch for are served. When it
	// changes it is read again.
	ClientCAFile string
	// TLS changes the settings of connections, for example the oldest version (TLS 1.2 by default).
	TLS func(*tls.Config)
	// MaxRequestBytes is the largest request that is read. Default 16 MiB: requests hold all templates of a cluster.
	MaxRequestBytes int64
	// Logger gets what went wrong; nil means slog's default. Requests themselves are never logged, since they can hold secrets.
	Logger *slog.Logger
}

const (
	defaultAddress         = ":9443"
	defaultMaxRequestBytes = 16 << 20
)

func (o Options) withDefaults() Options {
	if o.Address == "" {
		o.Address = defaultAddress
	}
	if o.MaxRequestBytes <= 0 {
		o.MaxRequestBytes = defaultMaxRequestBytes
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	return o
}

// The bounds of the time that a call may take, and what it is where neither side says anything.
const (
	MinTimeout     = time.Second
	MaxTimeout     = 30 * time.Second
	DefaultTimeout = 10 * time.Second
)

// HandlerOption says more about a handler.
type HandlerOption func(*hooks.ExtensionHandler)

// Timeout says how long the managers wait for an answer: whole seconds from 1 to 30. Default is 10 seconds.
func Timeout(d time.Duration) HandlerOption {
	if d < MinTimeout || d > MaxTimeout || d%time.Second != 0 {
		panic(fmt.Sprintf("extension: the timeout of a handler must be from 1 to 30 whole seconds, not %s", d))
	}
	seconds := int32(d / time.Second)
	return func(h *hooks.ExtensionHandler) { h.TimeoutSeconds = &seconds }
}

// IgnoreFailure lets managers go on as if there were no objection when the extension cannot be reached. It does not
// change what a response with a failure means.
func IgnoreFailure() HandlerOption {
	return func(h *hooks.ExtensionHandler) {
		policy := hooks.FailurePolicyIgnore
		h.FailurePolicy = &policy
	}
}
