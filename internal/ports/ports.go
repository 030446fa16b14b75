// Package ports chooses free TCP ports on the loopback address and keeps to the choice as long as it can.
package ports

import (
	"fmt"
	"net"
	"slices"
	"strconv"
)

// Set maps what a port is for to its number.
type Set map[string]int

// Choose returns a port for each name: the remembered one where it is still free, else a new one. No two names share one.
func Choose(remembered Set, names ...string) (Set, error) {
	chosen := Set{}
	// All listeners stay open to the end, so that no port is handed out twice.
	var listeners []net.Listener
	defer func() {
		for _, l := range listeners {
			_ = l.Close()
		}
	}()
	take := func(name string, port int) error {
		l, err := net.Listen("tcp", Address(port))
		if err != nil {
			return err
		}
		listeners = append(listeners, l)
		chosen[name] = l.Addr().(*net.TCPAddr).Port
		return nil
	}
	var open []string
	for _, name := range names {
		if port := remembered[name]; port == 0 || take(name, port) != nil {
			open = append(open, name)
		}
	}
	for _, name := range slices.Compact(open) {
		if err := take(name, 0); err != nil {
			return nil, fmt.Errorf("finding a free port for %s: %w", name, err)
		}
	}
	return chosen, nil
}

// Address is a port on the loopback address.
func Address(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }

// Address is the loopback address with the port of a name.
func (s Set) Address(name string) string { return Address(s[name]) }

// URL is the HTTPS address of the port of a name.
func (s Set) URL(name string) string { return "https://" + s.Address(name) }
