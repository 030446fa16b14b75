package docker

import (
	"context"
	"fmt"
	"net/netip"
)

// FixedAddressesLabel marks the networks whose addresses this package gives out, so that containers keep theirs over a restart
// of the engine. In others, such as one that kind has made, the engine chooses an address at each start.
const FixedAddressesLabel = "slipway.dev/fixed-addresses"

// Network is a bridge network as far as addresses go.
type Network struct {
	// Subnet is where fixed addresses come from; not valid where the engine alone gives addresses out.
	Subnet  netip.Prefix
	Gateway netip.Addr
}

// create makes the network if need be, and a container in it. Where it can, the container gets an address for its lifetime:
// certificates, etcd peers and the endpoint of a cluster hold addresses, which must outlive a restart of the engine.
func (h *Host) create(ctx context.Context, spec ContainerSpec) error {
	h.addressing.Lock()
	defer h.addressing.Unlock()
	network, err := h.Engine.EnsureNetwork(ctx, spec.Network)
	if err != nil {
		return fmt.Errorf("making network %s: %w", spec.Network, err)
	}
	if network.Subnet.IsValid() {
		containers, err := h.Engine.List(ctx, nil)
		if err != nil {
			return fmt.Errorf("listing the addresses in use: %w", err)
		}
		if spec.IPv4, err = freeAddress(network, containers); err != nil {
			return err
		}
	}
	return h.Engine.Create(ctx, spec)
}

// freeAddress returns the lowest unused address of the upper half: the engine gives out the lower ones to containers of others.
func freeAddress(n Network, containers []Container) (netip.Addr, error) {
	used := map[netip.Addr]bool{n.Gateway: true}
	for _, c := range containers {
		for _, text := range []string{c.IPv4, c.FixedIPv4} {
			if address, err := netip.ParseAddr(text); err == nil {
				used[address] = true
			}
		}
	}
	last := lastAddress(n.Subnet)
	for a := upperHalf(n.Subnet); a.Less(last); a = a.Next() {
		if !used[a] {
			return a, nil
		}
	}
	return netip.Addr{}, fmt.Errorf("network %s has no free address left in its upper half; remove containers that are not needed", n.Subnet)
}

// upperHalf is the first address after the middle of a subnet.
func upperHalf(subnet netip.Prefix) netip.Addr {
	a := subnet.Masked().Addr().As4()
	if bits := subnet.Bits(); bits < 32 {
		a[bits/8] |= 1 << (7 - bits%8)
	}
	return netip.AddrFrom4(a).Next()
}

// lastAddress is the broadcast address of a subnet.
func lastAddress(subnet netip.Prefix) netip.Addr {
	a := subnet.Masked().Addr().As4()
	for bit := subnet.Bits(); bit < 32; bit++ {
		a[bit/8] |= 1 << (7 - bit%8)
	}
	return netip.AddrFrom4(a)
}
