package kubeadmcontrolplane

import (
	"strings"

	"k8s.io/apimachinery/pkg/util/intstr"

	controlplanev1 "github.com/slipway-capi/slipway/providers/controlplane-kubeadm/api/v1beta2"
)

// SetDefaults fills in what the user left out.
func SetDefaults(controlPlane *controlplanev1.KubeadmControlPlane) {
	spec := &controlPlane.Spec
	if spec.Replicas == nil {
		one := int32(1)
		spec.Replicas = &one
	}
	if spec.Version != "" && !strings.HasPrefix(spec.Version, "v") {
		spec.Version = "v" + spec.Version
	}
	spec.Rollout.Strategy.Type = controlplanev1.RollingUpdateStrategyType
	if spec.Rollout.Strategy.RollingUpdate.MaxSurge == nil {
		one := intstr.FromInt32(1)
		spec.Rollout.Strategy.RollingUpdate.MaxSurge = &one
	}
}
