package cluster_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/core/internal/webhooks/cluster"
)

func domain(name string) change {
	return func(c *clusterv1.Cluster) { c.Spec.ClusterNetwork.ServiceDomain = name }
}

func TestNetworkWarnings(t *testing.T) {
	overlap := []string{"spec.clusterNetwork.services.cidrBlocks[0]: 10.1.0.0/16 overlaps 10.0.0.0/8 of spec.clusterNetwork.pods.cidrBlocks[0]: some addresses would be given out twice"}
	for _, c := range []struct {
		name          string
		before, after *clusterv1.Cluster
		want          []string
	}{
		{name: "the network of the quick start", after: made(pods("192.168.0.0/16"), services("10.128.0.0/12"), domain("cluster.local"))},
		{name: "both families", after: made(pods("10.0.0.0/16", "fd00:1::/64"), services("10.1.0.0/16", "fd00:2::/112"))},
		{name: "no network", after: made()},
		{name: "pods and services overlap", after: made(pods("10.0.0.0/8"), services("10.1.0.0/16")), want: overlap},
		{name: "they did before, too", before: made(pods("10.0.0.0/8"), services("10.1.0.0/16")), after: made(infrastructure, pods("10.0.0.0/8"), services("10.1.0.0/16"))},
		{name: "they do now", before: made(pods("10.0.0.0/8")), after: made(pods("10.0.0.0/8"), services("10.1.0.0/16")), want: overlap},
		{name: "bits behind the prefix", after: made(pods("10.1.2.3/16", "fd00::1/64")), want: []string{
			"spec.clusterNetwork.pods.cidrBlocks[0]: 10.1.2.3/16 has bits set behind its prefix; it stands for 10.1.0.0/16",
			"spec.clusterNetwork.pods.cidrBlocks[1]: fd00::1/64 has bits set behind its prefix; it stands for fd00::/64",
		}},
		{name: "what is no range is an error elsewhere", after: made(pods("ten"))},
		{name: "a domain that is none", after: made(domain("Cluster.local.")), want: []string{
			`spec.clusterNetwork.serviceDomain: "Cluster.local." is no DNS domain such as cluster.local: it is written in small letters, digits, - and ., without a dot at either end`,
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			assert.Equal(t, c.want, cluster.NetworkWarnings(c.after, c.before))
		})
	}
}
