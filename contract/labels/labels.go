// Package labels builds label values and selectors that the objects of a cluster carry.
package labels

import (
	"encoding/base64"
	"hash/fnv"
	"maps"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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

// Matches says whether a label value stands for the name, as it is or hashed.
func Matches(value, name string) bool { return value == Value(name) }

// ClusterName returns the name of the cluster that an object belongs to, or "" if it carries no such label.
func ClusterName(obj metav1.Object) string { return obj.GetLabels()[clusterv1.ClusterNameLabel] }

// SetClusterName labels an object with its cluster; it says whether that changed anything.
func SetClusterName(obj metav1.Object, clusterName string) bool {
	return Set(obj, clusterv1.ClusterNameLabel, clusterName)
}

// Set gives one label of an object a value; it says whether that changed anything.
func Set(obj metav1.Object, key, value string) bool {
	current := obj.GetLabels()
	if v, ok := current[key]; ok && v == value {
		return false
	}
	obj.SetLabels(Merge(current, map[string]string{key: value}))
	return true
}

// OfCluster is the label set of everything that belongs to a cluster.
func OfCluster(clusterName string) map[string]string {
	return map[string]string{clusterv1.ClusterNameLabel: clusterName}
}

// OfControlPlane is the label set of the machines of a control plane.
func OfControlPlane(clusterName, controlPlaneName string) map[string]string {
	return map[string]string{
		clusterv1.ClusterNameLabel:             clusterName,
		clusterv1.MachineControlPlaneLabel:     "",
		clusterv1.MachineControlPlaneNameLabel: Value(controlPlaneName),
	}
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
		maps.Copy(out, s)
	}
	return out
}
