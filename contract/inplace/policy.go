package inplace

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
)

// Policy is whether Machines are updated in place.
type Policy string

// The policies.
const (
	Prefer  Policy = clusterv1.InPlaceUpdatesPrefer
	Require Policy = clusterv1.InPlaceUpdatesRequire
	Never   Policy = clusterv1.InPlaceUpdatesNever
)

// Policies lists all policies.
var Policies = []Policy{Prefer, Require, Never}

// PolicyOf reads the policy of a MachineDeployment, of a MachineSet, which has its annotations, or of a control plane.
func PolicyOf(o metav1.Object) Policy {
	switch p := Policy(o.GetAnnotations()[clusterv1.InPlaceUpdatesAnnotation]); p {
	case Require, Never:
		return p
	}
	return Prefer
}
