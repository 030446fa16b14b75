package v1beta2

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// +kubebuilder:object:root=true
// +kubebuilder:storageversion
// +kubebuilder:resource:path=machinedrainrules,scope=Namespaced,categories=cluster-api
// +kubebuilder:printcolumn:name="Behavior",type="string",JSONPath=".spec.drain.behavior"
// +kubebuilder:printcolumn:name="Order",type="integer",JSONPath=".spec.drain.order"
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp"
// +kubebuilder:metadata:labels="cluster.x-k8s.io/v1beta2=v1beta2"

// MachineDrainRule ...
type MachineDrainRule struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty,omitzero"`

	// spec says what is wanted.
	// +required
	Spec MachineDrainRuleSpec `json:"spec,omitempty,omitzero"`
}

// +kubebuilder:object:root=true

// MachineDrainRuleList is a list of MachineDrainRule.
type MachineDrainRuleList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty,omitzero"`
	Items           []MachineDrainRule `json:"items"`
}

func init() {
	objectTypes = append(objectTypes, &MachineDrainRule{}, &MachineDrainRuleList{})
}

// MachineDrainRuleSpec ...
type MachineDrainRuleSpec struct {
	// drain ...
	// +required
	Drain MachineDrainRuleDrain `json:"drain,omitempty,omitzero"`

	// machines ...
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	// +listType=atomic
	// +kubebuilder:validation:XValidation:rule="self.all(x, self.exists_one(y, x == y))",message="entries in machines must be unique"
	Machines []MachineDrainRuleMachine `json:"machines,omitempty"`

	// pods ...
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	// +listType=atomic
	// +kubebuilder:validation:XValidation:rule="self.all(x, self.exists_one(y, x == y))",message="entries in pods must be unique"
	Pods []MachineDrainRulePod `json:"pods,omitempty"`
}

// MachineDrainRuleDrain ...
type MachineDrainRuleDrain struct {
	// behavior ...
	// +required
	// +kubebuilder:validation:Enum=Drain;Skip;WaitCompleted
	Behavior string `json:"behavior"`

	// order ...
	// +optional
	Order *int32 `json:"order,omitempty"`
}

// MachineDrainRuleMachine ...
// +kubebuilder:validation:MinProperties=1
type MachineDrainRuleMachine struct {
	// clusterSelector ...
	// +optional
	ClusterSelector metav1.LabelSelector `json:"clusterSelector,omitempty,omitzero"`

	// selector ...
	// +optional
	Selector metav1.LabelSelector `json:"selector,omitempty,omitzero"`
}

// MachineDrainRulePod ...
// +kubebuilder:validation:MinProperties=1
type MachineDrainRulePod struct {
	// namespaceSelector ...
	// +optional
	NamespaceSelector metav1.LabelSelector `json:"namespaceSelector,omitempty,omitzero"`

	// selector ...
	// +optional
	Selector metav1.LabelSelector `json:"selector,omitempty,omitzero"`
}
