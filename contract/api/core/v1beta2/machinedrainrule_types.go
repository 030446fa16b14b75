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

// MachineDrainRule says how pods are treated when Nodes are drained.
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

// MachineDrainRuleSpec picks Machines and pods, and says what happens to them.
type MachineDrainRuleSpec struct {
	// drain says what happens to the pods.
	// +required
	Drain MachineDrainRuleDrain `json:"drain,omitempty,omitzero"`

	// machines picks Machines; any entry suffices. Unset picks all of the namespace.
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	// +listType=atomic
	// +kubebuilder:validation:XValidation:rule="self.all(x, self.exists_one(y, x == y))",message="entries in machines must be unique"
	Machines []MachineDrainRuleMachine `json:"machines,omitempty"`

	// pods picks pods; any entry suffices. Unset picks all.
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	// +listType=atomic
	// +kubebuilder:validation:XValidation:rule="self.all(x, self.exists_one(y, x == y))",message="entries in pods must be unique"
	Pods []MachineDrainRulePod `json:"pods,omitempty"`
}

// MachineDrainRuleDrain is a treatment of pods.
type MachineDrainRuleDrain struct {
	// behavior is Drain, which evicts, Skip, which leaves the pods alone, or WaitCompleted, which waits until they end by
	// themselves.
	// +required
	// +kubebuilder:validation:Enum=Drain;Skip;WaitCompleted
	Behavior string `json:"behavior"`

	// order sorts evictions: pods of a lower number go, and must be gone, first. Default 0. It goes with Drain only.
	// +optional
	Order *int32 `json:"order,omitempty"`
}

// MachineDrainRuleMachine picks Machines by labels, theirs and their Cluster's; both must match.
// +kubebuilder:validation:MinProperties=1
type MachineDrainRuleMachine struct {
	// clusterSelector matches the labels of the Cluster.
	// +optional
	ClusterSelector metav1.LabelSelector `json:"clusterSelector,omitempty,omitzero"`

	// selector matches the labels of the Machine.
	// +optional
	Selector metav1.LabelSelector `json:"selector,omitempty,omitzero"`
}

// MachineDrainRulePod picks pods by labels, theirs and their namespace's; both must match.
// +kubebuilder:validation:MinProperties=1
type MachineDrainRulePod struct {
	// namespaceSelector matches the labels of the namespace.
	// +optional
	NamespaceSelector metav1.LabelSelector `json:"namespaceSelector,omitempty,omitzero"`

	// selector matches the labels of the pod.
	// +optional
	Selector metav1.LabelSelector `json:"selector,omitempty,omitzero"`
}
