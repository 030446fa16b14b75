package docker

import (
	"context"
	"fmt"
	"sync"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/moby/moby/api/types/network"
	"github.com/moby/moby/client"
)

// networks makes the look-up and the creation of a network one step within this process: engines allow two of one name.
var networks sync.Mutex

// EnsureNetwork implements Engine.
func (m *Moby) EnsureNetwork(ctx context.Context, name string) (Network, error) {
	networks.Lock()
	defer networks.Unlock()
	found, err := m.api.NetworkInspect(ctx, name, client.NetworkInspectOptions{})
	if cerrdefs.IsNotFound(err) {
		return m.createNetwork(ctx, name)
	}
	if err != nil || found.Network.Labels[FixedAddressesLabel] == "" {
		return Network{}, err
	}
	return addressesOf(found.Network.IPAM.Config), nil
}

// createNetwork makes a network twice: the engine finds a subnet that is free, but gives out fixed addresses only in one that
// it was told.
func (m *Moby) createNetwork(ctx context.Context, name string) (Network, error) {
	options := client.NetworkCreateOptions{Driver: "bridge"}
	first, err := m.api.NetworkCreate(ctx, name, options)
	if err != nil {
		return Network{}, err
	}
	found, err := m.api.NetworkInspect(ctx, first.ID, client.NetworkInspectOptions{})
	if err != nil {
		return Network{}, err
	}
	if _, err := m.api.NetworkRemove(ctx, first.ID, client.NetworkRemoveOptions{}); err != nil {
		return Network{}, fmt.Errorf("making it anew with its own subnet: %w", err)
	}
	addresses := addressesOf(found.Network.IPAM.Config)
	options.Labels = map[string]string{FixedAddressesLabel: "true"}
	options.IPAM = &network.IPAM{Config: []network.IPAMConfig{{Subnet: addresses.Subnet, Gateway: addresses.Gateway}}}
	_, err = m.api.NetworkCreate(ctx, name, options)
	return addresses, err
}

func addressesOf(configs []network.IPAMConfig) Network {
	for _, c := range configs {
		if c.Subnet.Addr().Is4() {
			return Network{Subnet: c.Subnet, Gateway: c.Gateway}
		}
	}
	return Network{}
}
