package docker

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestFreeAddress(t *testing.T) {
	for _, c := range []struct {
		name, subnet, gateway string
		containers            []Container
		want, err             string
	}{
		{name: "the upper half of a wide network", subnet: "172.18.0.0/16", gateway: "172.18.0.1", want: "172.18.128.1"},
		{name: "the upper half of a narrow one", subnet: "10.0.0.0/24", gateway: "10.0.0.1", want: "10.0.0.129"},
		{name: "a middle that is inside of a byte", subnet: "10.0.16.0/20", gateway: "10.0.16.1", want: "10.0.24.1"},
		{name: "the gateway is up there", subnet: "10.0.0.0/24", gateway: "10.0.0.129", want: "10.0.0.130"},
		{
			name: "running, stopped and foreign containers hold theirs", subnet: "10.0.0.0/24", gateway: "10.0.0.1",
			containers: []Container{{IPv4: "10.0.0.129"}, {FixedIPv4: "10.0.0.130"}, {IPv4: "10.0.0.131", FixedIPv4: "10.0.0.131"}, {IPv4: "10.0.0.2"}, {}},
			want:       "10.0.0.132",
		},
		{
			name: "none is left", subnet: "10.0.0.0/30", gateway: "10.0.0.1", containers: []Container{{FixedIPv4: "10.0.0.3"}},
			err: "network 10.0.0.0/30 has no free address left",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := freeAddress(Network{Subnet: netip.MustParsePrefix(c.subnet), Gateway: netip.MustParseAddr(c.gateway)}, c.containers)
			if c.err != "" {
				require.ErrorContains(t, err, c.err)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, c.want, got.String())
		})
	}
}

func FuzzAddressesStayInTheirSubnet(f *testing.F) {
	f.Add([]byte{172, 18, 0, 0}, 16)
	f.Add([]byte{10, 0, 0, 0}, 30)
	f.Fuzz(func(t *testing.T, address []byte, bits int) {
		if len(address) != 4 || bits < 8 || bits > 30 {
			return
		}
		subnet := netip.PrefixFrom(netip.AddrFrom4([4]byte(address)), bits).Masked()
		got, err := freeAddress(Network{Subnet: subnet, Gateway: subnet.Addr().Next()}, nil)
		if bits == 30 {
			return // its upper half is one address and the broadcast address
		}
		require.NoError(t, err)
		assert.True(t, subnet.Contains(got), "%s in %s", got, subnet)
		assert.NotEqual(t, lastAddress(subnet), got)
	})
}
