package patches

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	hooks "github.com/slipway-capi/slipway/contract/api/runtime/hooks/v1alpha1"
)

// Role is the part of a cluster that a template is for.
type Role string

// The roles.
const (
	InfrastructureCluster           Role = "InfrastructureCluster"
	ControlPlane                    Role = "ControlPlane"
	ControlPlaneMachine             Role = "ControlPlaneMachine"
	MachineDeploymentBootstrap      Role = "MachineDeploymentBootstrap"
	MachineDeploymentInfrastructure Role = "MachineDeploymentInfrastructure"
	MachinePoolBootstrap            Role = "MachinePoolBootstrap"
	MachinePoolInfrastructure       Role = "MachinePoolInfrastructure"
)

// Values are the values of variables by their names. Those that have none are not in it.
type Values map[string]clusterv1.JSON

// Template is one template and what it is for.
type Template struct {
	// UID identifies the template towards extensions, within one call.
	UID  types.UID
	Role Role
	// Class is the name of the worker class, for templates of workers.
	Class string
	// Holder says who refers to the template.
	Holder hooks.HolderReference
	Object *unstructured.Unstructured
	// Values are those that only this template has: overrides of its worker group, and what builtin says of its group.
	Values Values
}

// matches says whether a selector of a patch means this template.
func (t Template) matches(s clusterv1.PatchSelector) bool {
	if t.Object.GetAPIVersion() != s.APIVersion || t.Object.GetKind() != s.Kind {
		return false
	}
	switch m := s.MatchResources; t.Role {
	case InfrastructureCluster:
		return isTrue(m.InfrastructureCluster)
	case ControlPlane, ControlPlaneMachine:
		return isTrue(m.ControlPlane)
	case MachineDeploymentBootstrap, MachineDeploymentInfrastructure:
		return anyName(m.MachineDeploymentClass, t.Class)
	case MachinePoolBootstrap, MachinePoolInfrastructure:
		return anyName(m.MachinePoolClass, t.Class)
	}
	return false
}

func isTrue(b *bool) bool { return b != nil && *b }

func anyName(classes *clusterv1.PatchSelectorMatchResourcesMachineDeploymentClass, class string) bool {
	if classes == nil {
		return false
	}
	for _, pattern := range classes.Names {
		if MatchName(pattern, class) {
			return true
		}
	}
	return false
}
