package kubeadmcontrolplane

import (
	"reflect"

	"github.com/blang/semver/v4"

	"github.com/slipway-capi/slipway/contract/decision"
	controlplanev1 "github.com/slipway-capi/slipway/providers/controlplane-kubeadm/api/v1beta2"
	"github.com/slipway-capi/slipway/providers/controlplane-kubeadm/internal/kubeadmconfig"
	"github.com/slipway-capi/slipway/providers/controlplane-kubeadm/internal/machines"
)

// grantsItself is the first version whose kubeadm gives the API server its role for kubelets on joining.
var grantsItself = semver.MustParse("1.38.0")

// prepareJoin makes what kubeadm reads in the workload cluster fit the machines that are about to join. It returns
// false if nothing may join yet.
func prepareJoin(w World, p *plan) bool {
	switch {
	case w.Joining.Problem != "":
		p.problem = w.Joining.Problem
		p.blocked = append(p.blocked, w.Joining.Problem)
		return false
	case !w.Joining.Known:
		p.blocked = append(p.blocked, "the workload cluster cannot be reached")
		return false
	}
	document := w.Joining.Config.Data[kubeadmconfig.Key]
	updated, err := kubeadmconfig.Update(document, WantedKubeadmConfig(w.ControlPlane))
	if err != nil {
		p.problem = err.Error()
		p.blocked = append(p.blocked, p.problem)
		return false
	}
	if needsGrant(w.ControlPlane.Spec.Version) && !w.Joining.Granted {
		p.do(GrantKubeletAccess{Why: decision.Because("PrepareUpgrade", "the API server must be allowed to speak to kubelets")})
	}
	if updated != document {
		p.do(UpdateKubeadmConfig{Config: w.Joining.Config, Document: updated,
			Why: decision.Because("PrepareRollout", "the next machine joins with version %s and the present configuration", w.ControlPlane.Spec.Version)})
	}
	return true
}

// WantedKubeadmConfig is what kubeadm is to find in the workload cluster when a machine joins.
func WantedKubeadmConfig(controlPlane *controlplanev1.KubeadmControlPlane) kubeadmconfig.Wanted {
	configuration := machines.WantedConfig(controlPlane).ClusterConfiguration
	wanted := kubeadmconfig.Wanted{Version: controlPlane.Spec.Version, Gates: configuration.FeatureGates}
	if !reflect.ValueOf(controlPlane.Spec.KubeadmConfigSpec.ClusterConfiguration).IsZero() {
		wanted.Configuration = &configuration
	}
	return wanted
}

// needsGrant: pre-releases count as their release.
func needsGrant(version string) bool {
	parsed, err := semver.ParseTolerant(version)
	if err != nil {
		return false
	}
	parsed.Pre, parsed.Build = nil, nil
	return parsed.LT(grantsItself)
}
