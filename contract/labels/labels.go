// Package labels builds label values and selectors that the objects of a cluster carry.
package labels

import (
	"encoding/base64"
	"hash/fnv"

	"k8s.io/apimachinery/pkg/util/validation"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
)

// Value returns a name as a label value: as it is where that is allowed, else a hash of it in the form hash_…_z.
func Value(name string) string {
	if len(validation.IsValidLabelValue(name)) == 0 {
		return name
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(name))
	return "hash_" + base64.RawURLEncoding.EncodeToString(h.Sum(nil)) + "_z"
}

// OfCluster is the label set of everything that belongs to a cluster.
func OfCluster(clusterName string) map[string]string {
	return map[string]string{clusterv1.ClusterNameLabel: clusterName}
}

// IsControlPlane says whether a machine, or an object of one, belongs to a control plane.
func IsControlPlane(labels map[string]string) bool {
	_, ok := labels[clusterv1.MachineControlPlaneLabel]
	return ok
}

// Merge returns the union of label or annotation sets; later sets win.
func Merge(sets ...map[string]string) map[string]string {
	out := map[string]string{}
	for _, s := range sets {
		for k, v := range s {
			out[k] = v
		}
	}
	return out
}
