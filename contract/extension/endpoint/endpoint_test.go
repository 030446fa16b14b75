package endpoint

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	runtimev1 "github.com/slipway-capi/slipway/contract/api/runtime/v1beta2"
)

type (
	config  = runtimev1.ExtensionConfigClientConfig
	service = runtimev1.ExtensionConfigClientConfigService
)

func TestOf(t *testing.T) {
	port := int32(8443)
	for _, c := range []struct {
		name      string
		in        config
		want, err string
		server    string
	}{
		{name: "a URL", in: config{URL: "https://example.org:8443/base/"}, want: "https://example.org:8443/base", server: "example.org"},
		{name: "an address", in: config{URL: "https://[2001:db8::1]"}, want: "https://[2001:db8::1]", server: "2001:db8::1"},
		{name: "a Service", in: config{Service: service{Name: "s", Namespace: "n"}}, want: "https://s.n.svc:443", server: "s.n.svc"},
		{name: "a Service with all", in: config{Service: service{Name: "s", Namespace: "n", Port: &port, Path: "/base/"}}, want: "https://s.n.svc:8443/base", server: "s.n.svc"},
		{name: "a path cannot leave the Service", in: config{Service: service{Name: "s", Namespace: "n", Path: "a?b#c"}}, want: "https://s.n.svc:443/a%3Fb%23c", server: "s.n.svc"},
		{name: "both", in: config{URL: "https://example.org", Service: service{Name: "s", Namespace: "n"}}, err: "both url and service"},
		{name: "neither", err: "neither url nor service"},
		{name: "no TLS", in: config{URL: "http://example.org"}, err: "must begin with https://"},
		{name: "no host", in: config{URL: "https:///path"}, err: "must name a host"},
		{name: "only a port", in: config{URL: "https://:443"}, err: "must name a host"},
		{name: "a password", in: config{URL: "https://a:b@example.org"}, err: "must not hold a user or password"},
		{name: "a query", in: config{URL: "https://example.org/?a"}, err: "must not have a query"},
		{name: "a fragment", in: config{URL: "https://example.org/#a"}, err: "must not have a fragment"},
		{name: "an empty fragment", in: config{URL: "https://example.org/#"}, err: "must not have a fragment"},
		{name: "nonsense", in: config{URL: "https://exa mple"}, err: "it is no URL"},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.in.CABundle = []byte("bundle")
			got, err := Of(c.in)
			if c.err != "" {
				require.ErrorContains(t, err, c.err)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, Endpoint{URL: c.want, ServerName: c.server, CABundle: "bundle"}, got)
		})
	}
}

// Conformance: RT-10
func TestAddressesThatAreRefused(t *testing.T) {
	for _, c := range []struct {
		address string
		refused bool
		local   bool
	}{
		{address: "10.0.0.1"}, {address: "192.0.2.1"}, {address: "2001:db8::1"}, {address: "fd00::1"},
		{address: "127.0.0.1", refused: true}, {address: "127.8.8.8", refused: true}, {address: "::1", refused: true}, {address: "::ffff:127.0.0.1", refused: true},
		{address: "169.254.169.254", refused: true}, {address: "fe80::1", refused: true}, {address: "fe80::1%eth0", refused: true}, {address: "::ffff:169.254.169.254", refused: true},
		{address: "127.0.0.1", local: true}, {address: "fe80::1", local: true},
		{address: "0.0.0.0", refused: true, local: true}, {address: "::", refused: true, local: true}, {address: "224.0.0.1", refused: true, local: true}, {address: "ff02::1", refused: true, local: true},
	} {
		why := Why(netip.MustParseAddr(c.address), c.local)
		assert.Equal(t, c.refused, why != "", "%s (local %v): %s", c.address, c.local, why)
	}
	assert.NotEmpty(t, Why(netip.Addr{}, true))
}
