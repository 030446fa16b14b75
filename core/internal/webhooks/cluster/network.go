package cluster

import (
	"fmt"
	"net/netip"
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
)

// block is a range of addresses and the field it stands in.
type block struct {
	path   string
	prefix netip.Prefix
}

// NetworkWarnings tell what of a network is accepted and will hardly work, when the Cluster is made or its network changes; before is nil
// when it is new. They are no errors, since a provider may have its own idea of a network.
func NetworkWarnings(cluster, before *clusterv1.Cluster) []string {
	network := cluster.Spec.ClusterNetwork
	if before != nil && reflect.DeepEqual(before.Spec.ClusterNetwork, network) {
		return nil
	}
	path := field.NewPath("spec", "clusterNetwork")
	blocks := append(parsed(network.Pods.CIDRBlocks, path.Child("pods", "cidrBlocks")), parsed(network.Services.CIDRBlocks, path.Child("services", "cidrBlocks"))...)
	var warnings []string
	for i, b := range blocks {
		if masked := b.prefix.Masked(); masked != b.prefix {
			warnings = append(warnings, fmt.Sprintf("%s: %s has bits set behind its prefix; it stands for %s", b.path, b.prefix, masked))
		}
		for _, other := range blocks[:i] {
			if b.prefix.Overlaps(other.prefix) {
				warnings = append(warnings, fmt.Sprintf("%s: %s overlaps %s of %s: some addresses would be given out twice", b.path, b.prefix, other.prefix, other.path))
			}
		}
	}
	domain := network.ServiceDomain
	if problems := validation.IsDNS1123Subdomain(domain); domain != "" && len(problems) > 0 {
		warnings = append(warnings, fmt.Sprintf("%s: %q is no DNS domain such as cluster.local: it is written in small letters, digits, - and ., without a dot at either end",
			path.Child("serviceDomain"), strings.ToValidUTF8(domain, "?")))
	}
	return warnings
}

// parsed leaves out what is no range, which is an error anyway.
func parsed(texts []string, path *field.Path) []block {
	var blocks []block
	for i, text := range texts {
		if prefix, err := netip.ParsePrefix(text); err == nil {
			blocks = append(blocks, block{path.Index(i).String(), prefix})
		}
	}
	return blocks
}
