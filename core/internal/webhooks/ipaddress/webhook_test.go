package ipaddress_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	ipamv1 "github.com/slipway-capi/slipway/contract/api/ipam/v1beta2"
	"github.com/slipway-capi/slipway/core/internal/webhooks/ipaddress"
	"github.com/slipway-capi/slipway/core/internal/webhooks/ipaddressclaim"
)

var pool = clusterv1.ContractVersionedObjectReference{APIGroup: "g", Kind: "Pool", Name: "p"}

func address(ip string, prefix int32, gateway string) *ipamv1.IPAddress {
	return &ipamv1.IPAddress{Spec: ipamv1.IPAddressSpec{Address: ip, Prefix: prefix, Gateway: gateway, PoolRef: pool}}
}

// Conformance: IPAM6
func TestValidate(t *testing.T) {
	for _, c := range []struct {
		name          string
		after, before *ipamv1.IPAddress
		want          string
	}{
		{"IPv4", address("10.0.0.5", 24, "10.0.0.1"), nil, ""},
		{"IPv6", address("fd00::5", 128, ""), nil, ""},
		{"no address", address("10.0.0", 24, ""), nil, "spec.address"},
		{"prefix of the other family", address("10.0.0.5", 64, ""), nil, "between 0 and 32"},
		{"prefix too long", address("fd00::5", 129, ""), nil, "between 0 and 128"},
		{"no gateway", address("10.0.0.5", 24, "router"), nil, "spec.gateway"},
		{"unchanged", address("10.0.0.5", 24, ""), address("10.0.0.5", 24, ""), ""},
		{"changed", address("10.0.0.6", 24, ""), address("10.0.0.5", 24, ""), "must not change"},
	} {
		t.Run(c.name, func(t *testing.T) {
			problems := ipaddress.Validate(c.after, c.before)
			if c.want == "" {
				assert.Empty(t, problems)
				return
			}
			assert.Len(t, problems, 1)
			assert.ErrorContains(t, problems.ToAggregate(), c.want)
		})
	}
}

// Conformance: IPAM2
func TestClaims(t *testing.T) {
	claim := &ipamv1.IPAddressClaim{Spec: ipamv1.IPAddressClaimSpec{ClusterName: "c", PoolRef: pool}}
	assert.Empty(t, ipaddressclaim.Validate(claim, nil))
	assert.Empty(t, ipaddressclaim.Validate(claim, claim))
	other := claim.DeepCopy()
	other.Spec.PoolRef.Name = "q"
	assert.ErrorContains(t, ipaddressclaim.Validate(other, claim).ToAggregate(), "must not change")
	other.Spec.PoolRef.APIGroup = ""
	assert.ErrorContains(t, ipaddressclaim.Validate(other, nil).ToAggregate(), "spec.poolRef.apiGroup")
}

// Conformance: IPAM6
func TestThePoolIsThatOfTheClaim(t *testing.T) {
	claim := &ipamv1.IPAddressClaim{Spec: ipamv1.IPAddressClaimSpec{PoolRef: pool}}
	assert.Empty(t, ipaddress.ValidateClaim(address("10.0.0.5", 24, ""), claim))
	for _, change := range []func(*clusterv1.ContractVersionedObjectReference){
		func(r *clusterv1.ContractVersionedObjectReference) { r.Name = "q" },
		func(r *clusterv1.ContractVersionedObjectReference) { r.Kind = "Other" },
		func(r *clusterv1.ContractVersionedObjectReference) { r.APIGroup = "h" },
	} {
		other := claim.DeepCopy()
		change(&other.Spec.PoolRef)
		assert.ErrorContains(t, ipaddress.ValidateClaim(address("10.0.0.5", 24, ""), other).ToAggregate(), "spec.poolRef")
	}
}
