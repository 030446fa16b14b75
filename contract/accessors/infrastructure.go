package accessors

import (
	"errors"
	"fmt"
	"sort"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/bootstrapreport"
)

// The contract versions that provider objects may implement.
const (
	V1Beta1 = "v1beta1"
	V1Beta2 = "v1beta2"
)

// InfrastructureClusterContract has the paths of an InfraCluster (contract rules IC1 to IC8).
type InfrastructureClusterContract struct{ version string }

// InfrastructureCluster returns the paths of an InfraCluster that implements a contract version.
func InfrastructureCluster(version string) InfrastructureClusterContract {
	return InfrastructureClusterContract{version}
}

// ControlPlaneEndpoint is where the workload API answers.
func (InfrastructureClusterContract) ControlPlaneEndpoint() Path[clusterv1.APIEndpoint] {
	return at[clusterv1.APIEndpoint]("spec.controlPlaneEndpoint")
}

// Provisioned says that machines may be created.
func (c InfrastructureClusterContract) Provisioned() Path[bool] { return provisioned(c.version) }

// FailureDomains reads the failure domains sorted by name; the older contract has them as a map.
func (c InfrastructureClusterContract) FailureDomains(obj *unstructured.Unstructured) ([]clusterv1.FailureDomain, error) {
	var out []clusterv1.FailureDomain
	if c.version == V1Beta1 {
		byName, err := at[map[string]clusterv1.FailureDomain]("status.failureDomains").GetOr(obj, nil)
		if err != nil {
			return nil, err
		}
		for name, fd := range byName {
			fd.Name = name
			out = append(out, fd)
		}
	} else {
		list, err := at[[]clusterv1.FailureDomain]("status.failureDomains").GetOr(obj, nil)
		if err != nil {
			return nil, err
		}
		out = list
	}
	no := false
	for i := range out {
		if out[i].ControlPlane == nil {
			out[i].ControlPlane = &no
		}
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Name < out[j].Name })
	return out, nil
}

func provisioned(version string) Path[bool] {
	if version == V1Beta1 {
		return at[bool]("status.ready")
	}
	return at[bool]("status.initialization.provisioned")
}

// InfrastructureMachineContract has the paths of an InfraMachine (contract rules IM1 to IM15).
type InfrastructureMachineContract struct{ version string }

// InfrastructureMachine returns the paths of an InfraMachine that implements a contract version.
func InfrastructureMachine(version string) InfrastructureMachineContract {
	return InfrastructureMachineContract{version}
}

// ProviderID identifies the machine and its Node.
func (InfrastructureMachineContract) ProviderID() Path[string] { return at[string]("spec.providerID") }

// Provisioned says that the machine exists and runs.
func (c InfrastructureMachineContract) Provisioned() Path[bool] { return provisioned(c.version) }

// Addresses are the machine's names and addresses.
func (InfrastructureMachineContract) Addresses() Path[[]clusterv1.MachineAddress] {
	return at[[]clusterv1.MachineAddress]("status.addresses")
}

// FailureDomain is where the machine really runs.
func (InfrastructureMachineContract) FailureDomain() Path[string] {
	return at[string]("status.failureDomain")
}

// SpecFailureDomain is the older place of the failure domain, which wins over what the Machine asks for.
func (InfrastructureMachineContract) SpecFailureDomain() Path[string] {
	return at[string]("spec.failureDomain")
}

// Interruptible says that the cloud may take the machine away at any time.
func (InfrastructureMachineContract) Interruptible() Path[bool] {
	return at[bool]("status.interruptible")
}

// Capacity is what a machine of this template offers, for scaling from zero.
func (InfrastructureMachineContract) Capacity() Path[corev1.ResourceList] {
	return at[corev1.ResourceList]("status.capacity")
}

// BootstrapFailure reads why the machine's first boot made no Node of it; nil if the provider tells nothing. Where it
// stands does not depend on the contract version; see package bootstrapreport.
func (InfrastructureMachineContract) BootstrapFailure(obj *unstructured.Unstructured) *metav1.Condition {
	return bootstrapreport.Of(obj)
}

// InfrastructureMachinePoolContract has the paths of an InfraMachinePool (contract rules IP1 to IP9).
type InfrastructureMachinePoolContract struct{ version string }

// InfrastructureMachinePool returns the paths of an InfraMachinePool that implements a contract version.
func InfrastructureMachinePool(version string) InfrastructureMachinePoolContract {
	return InfrastructureMachinePoolContract{version}
}

// ProviderIDList identifies every member of the pool.
func (InfrastructureMachinePoolContract) ProviderIDList() Path[[]string] {
	return at[[]string]("spec.providerIDList")
}

// Replicas is how many members there are.
func (InfrastructureMachinePoolContract) Replicas() Path[int32] { return at[int32]("status.replicas") }

// Provisioned says that the pool exists; both places of the flag count (rule IP4).
func (InfrastructureMachinePoolContract) Provisioned(obj *unstructured.Unstructured) (bool, error) {
	ok, err := at[bool]("status.initialization.provisioned").Get(obj)
	if !errors.Is(err, ErrNotFound) {
		return ok, err
	}
	return at[bool]("status.ready").GetOr(obj, false)
}

// InfrastructureMachineKind is the kind of the objects that stand for single members.
func (InfrastructureMachinePoolContract) InfrastructureMachineKind() Path[string] {
	return at[string]("status.infrastructureMachineKind")
}

// BootstrapConfigContract has the paths of a BootstrapConfig (contract rules B1 to B10).
type BootstrapConfigContract struct{ version string }

// BootstrapConfig returns the paths of a BootstrapConfig that implements a contract version.
func BootstrapConfig(version string) BootstrapConfigContract { return BootstrapConfigContract{version} }

// DataSecretName is the Secret with the first-boot document.
func (BootstrapConfigContract) DataSecretName() Path[string] {
	return at[string]("status.dataSecretName")
}

// DataSecretCreated says that the Secret is complete.
func (c BootstrapConfigContract) DataSecretCreated() Path[bool] {
	if c.version == V1Beta1 {
		return at[bool]("status.ready")
	}
	return at[bool]("status.initialization.dataSecretCreated")
}

// Failure returns the old terminal failure of an object, for display only.
func Failure(obj *unstructured.Unstructured) (reason, message string) {
	reason, _ = at[string]("status.failureReason").GetOr(obj, "")
	message, _ = at[string]("status.failureMessage").GetOr(obj, "")
	return reason, message
}

// Describe names an object for messages: kind and name.
func Describe(obj *unstructured.Unstructured) string {
	return fmt.Sprintf("%s %s", obj.GetKind(), obj.GetName())
}
