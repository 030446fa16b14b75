// Package endpoint says where the server of an extension is, and to which addresses a manager may connect at all. It is pure.
package endpoint

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	runtimev1 "github.com/slipway-capi/slipway/contract/api/runtime/v1beta2"
)

// Endpoint is a server: where it is and how it proves to be the one. Endpoints can be compared with ==.
type Endpoint struct {
	// URL is the address before the paths of hooks, without a slash at the end.
	URL string
	// ServerName is the name that the certificate must be for.
	ServerName string
	// CABundle vouches for the certificate, in PEM; empty means the authorities of the system.
	CABundle string
}

const defaultPort = 443

// Of reads the endpoint of a client configuration.
func Of(c runtimev1.ExtensionConfigClientConfig) (Endpoint, error) {
	switch {
	case c.URL != "" && c.Service.Name != "":
		return Endpoint{}, fmt.Errorf("clientConfig has both url and service")
	case c.URL != "":
		u, err := ParseURL(c.URL)
		if err != nil {
			return Endpoint{}, fmt.Errorf("clientConfig.url: %w", err)
		}
		return Endpoint{URL: strings.TrimSuffix(u.String(), "/"), ServerName: u.Hostname(), CABundle: string(c.CABundle)}, nil
	case c.Service.Name != "":
		s := c.Service
		port := int32(defaultPort)
		if s.Port != nil {
			port = *s.Port
		}
		host := s.Name + "." + s.Namespace + ".svc"
		u := url.URL{Scheme: "https", Host: net.JoinHostPort(host, strconv.Itoa(int(port))), Path: strings.Trim(s.Path, "/")}
		return Endpoint{URL: strings.TrimSuffix(u.String(), "/"), ServerName: host, CABundle: string(c.CABundle)}, nil
	}
	return Endpoint{}, fmt.Errorf("clientConfig has neither url nor service")
}

// ParseURL reads an address of an extension and refuses what it must not be.
func ParseURL(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("it is no URL")
	}
	switch {
	case u.Scheme != "https":
		return nil, fmt.Errorf("it must begin with https://")
	case u.Hostname() == "":
		return nil, fmt.Errorf("it must name a host")
	case u.User != nil:
		return nil, fmt.Errorf("it must not hold a user or password")
	case u.RawQuery != "" || u.ForceQuery:
		return nil, fmt.Errorf("it must not have a query")
	case u.Fragment != "" || strings.Contains(text, "#"):
		return nil, fmt.Errorf("it must not have a fragment")
	}
	return u, nil
}

// Why says why a manager must not connect to an address; empty if it may. Who can create an ExtensionConfig could otherwise reach what
// listens only for the manager's own machine: other containers of its pod, the agent of the node, the metadata of the cloud.
func Why(address netip.Addr, allowLocal bool) string {
	address = address.Unmap().WithZone("")
	switch {
	case !address.IsValid() || address.IsUnspecified():
		return "it is no address of a host"
	case address.IsMulticast():
		return "it is a multicast address"
	case allowLocal:
		return ""
	case address.IsLoopback():
		return "it is a loopback address"
	case address.IsLinkLocalUnicast():
		return "it is a link-local address"
	}
	return ""
}
