package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
)

// Patch is a change of one object.
type Patch struct {
	// patchType is JSONPatch or JSONMergePatch.
	PatchType PatchType `json:"patchType,omitempty"`

	// patch is the change in the format of its type.
	Patch []byte `json:"patch,omitempty"`
}

// IsDefined says whether there is a change at all.
func (p Patch) IsDefined() bool { return p.PatchType != "" || len(p.Patch) > 0 }

// CanUpdateMachineRequestObjects are a Machine and the objects it refers to.
type CanUpdateMachineRequestObjects struct {
	// machine is the Machine.
	Machine clusterv1.Machine `json:"machine,omitempty,omitzero"`

	// infrastructureMachine is its infrastructure object.
	InfrastructureMachine runtime.RawExtension `json:"infrastructureMachine,omitempty,omitzero"`

	// bootstrapConfig is its bootstrap object; empty if it has none.
	BootstrapConfig runtime.RawExtension `json:"bootstrapConfig,omitempty,omitzero"`
}

// CanUpdateMachineSetRequestObjects are a MachineSet and the templates it refers to.
type CanUpdateMachineSetRequestObjects struct {
	// machineSet is the MachineSet.
	MachineSet clusterv1.MachineSet `json:"machineSet,omitempty,omitzero"`

	// infrastructureMachineTemplate is the template of its infrastructure objects.
	InfrastructureMachineTemplate runtime.RawExtension `json:"infrastructureMachineTemplate,omitempty,omitzero"`

	// bootstrapConfigTemplate is the template of its bootstrap objects; empty if it has none.
	BootstrapConfigTemplate runtime.RawExtension `json:"bootstrapConfigTemplate,omitempty,omitzero"`
}

// UpdateMachineRequestObjects are a Machine and the objects it refers to, as they should be.
type UpdateMachineRequestObjects struct {
	// machine is the Machine.
	Machine clusterv1.Machine `json:"machine,omitempty,omitzero"`

	// infrastructureMachine is its infrastructure object.
	InfrastructureMachine runtime.RawExtension `json:"infrastructureMachine,omitempty,omitzero"`

	// bootstrapConfig is its bootstrap object; empty if it has none.
	BootstrapConfig runtime.RawExtension `json:"bootstrapConfig,omitempty,omitzero"`
}

// CanUpdateMachineRequest asks an extension how much of the difference between two states of a Machine it can bring about on the running machine.
// +kubebuilder:object:root=true
type CanUpdateMachineRequest struct {
	metav1.TypeMeta `json:",inline"`
	CommonRequest   `json:",inline"`

	// current is what is there.
	Current CanUpdateMachineRequestObjects `json:"current,omitempty,omitzero"`

	// desired is what is wanted.
	Desired CanUpdateMachineRequestObjects `json:"desired,omitempty,omitzero"`
}

// CanUpdateMachineResponse holds the part of the difference that the extension takes over, as patches of the current objects.
// +kubebuilder:object:root=true
type CanUpdateMachineResponse struct {
	metav1.TypeMeta `json:",inline"`
	CommonResponse  `json:",inline"`

	// machinePatch changes the current Machine.
	MachinePatch Patch `json:"machinePatch,omitempty,omitzero"`

	// infrastructureMachinePatch changes the current infrastructure object.
	InfrastructureMachinePatch Patch `json:"infrastructureMachinePatch,omitempty,omitzero"`

	// bootstrapConfigPatch changes the current bootstrap object.
	BootstrapConfigPatch Patch `json:"bootstrapConfigPatch,omitempty,omitzero"`
}

// CanUpdateMachineSetRequest asks the same as CanUpdateMachineRequest for all Machines of a MachineSet.
// +kubebuilder:object:root=true
type CanUpdateMachineSetRequest struct {
	metav1.TypeMeta `json:",inline"`
	CommonRequest   `json:",inline"`

	// current is what is there.
	Current CanUpdateMachineSetRequestObjects `json:"current,omitempty,omitzero"`

	// desired is what is wanted.
	Desired CanUpdateMachineSetRequestObjects `json:"desired,omitempty,omitzero"`
}

// CanUpdateMachineSetResponse holds the part of the difference that the extension takes over, as patches of the current objects.
// +kubebuilder:object:root=true
type CanUpdateMachineSetResponse struct {
	metav1.TypeMeta `json:",inline"`
	CommonResponse  `json:",inline"`

	// machineSetPatch changes the current MachineSet.
	MachineSetPatch Patch `json:"machineSetPatch,omitempty,omitzero"`

	// infrastructureMachineTemplatePatch changes the current infrastructure template.
	InfrastructureMachineTemplatePatch Patch `json:"infrastructureMachineTemplatePatch,omitempty,omitzero"`

	// bootstrapConfigTemplatePatch changes the current bootstrap template.
	BootstrapConfigTemplatePatch Patch `json:"bootstrapConfigTemplatePatch,omitempty,omitzero"`
}

// UpdateMachineRequest asks an extension to bring a machine to the state wanted. It is sent again until the extension is done.
// +kubebuilder:object:root=true
type UpdateMachineRequest struct {
	metav1.TypeMeta `json:",inline"`
	CommonRequest   `json:",inline"`

	// desired is what is wanted.
	Desired UpdateMachineRequestObjects `json:"desired,omitempty,omitzero"`
}

// UpdateMachineResponse says with a retryAfterSeconds above 0 that the work goes on, and with 0 that it is done.
// +kubebuilder:object:root=true
type UpdateMachineResponse struct {
	metav1.TypeMeta     `json:",inline"`
	CommonRetryResponse `json:",inline"`
}
