package v1beta2

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
)

// +kubebuilder:object:root=true
// +kubebuilder:storageversion
// +kubebuilder:resource:path=extensionconfigs,scope=Cluster,shortName=ext,categories=cluster-api
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Paused",type="string",JSONPath=".status.conditions[?(@.type==\"Paused\")].status"
// +kubebuilder:printcolumn:name="Discovered",type="string",JSONPath=".status.conditions[?(@.type==\"Discovered\")].status"
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp"
// +kubebuilder:metadata:labels="cluster.x-k8s.io/v1beta2=v1beta2"

// ExtensionConfig ...
type ExtensionConfig struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty,omitzero"`

	// spec says what is wanted.
	// +required
	Spec ExtensionConfigSpec `json:"spec,omitempty,omitzero"`

	// status says what is observed.
	// +optional
	Status ExtensionConfigStatus `json:"status,omitempty,omitzero"`
}

// GetConditions returns the conditions in the status.
func (x *ExtensionConfig) GetConditions() []metav1.Condition { return x.Status.Conditions }

// SetConditions replaces the conditions in the status.
func (x *ExtensionConfig) SetConditions(conditions []metav1.Condition) {
	x.Status.Conditions = conditions
}

// +kubebuilder:object:root=true

// ExtensionConfigList is a list of ExtensionConfig.
type ExtensionConfigList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty,omitzero"`
	Items           []ExtensionConfig `json:"items"`
}

func init() {
	objectTypes = append(objectTypes, &ExtensionConfig{}, &ExtensionConfigList{})
}

// ExtensionConfigSpec ...
type ExtensionConfigSpec struct {
	// clientConfig ...
	// +required
	ClientConfig ExtensionConfigClientConfig `json:"clientConfig,omitempty,omitzero"`

	// namespaceSelector ...
	// +optional
	NamespaceSelector metav1.LabelSelector `json:"namespaceSelector,omitempty,omitzero"`

	// settings ...
	// +optional
	Settings map[string]string `json:"settings,omitempty"`
}

// ExtensionConfigClientConfig ...
// +kubebuilder:validation:MinProperties=1
type ExtensionConfigClientConfig struct {
	// caBundle ...
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=51200
	CABundle string `json:"caBundle,omitempty"`

	// service ...
	// +optional
	Service ExtensionConfigClientConfigService `json:"service,omitempty,omitzero"`

	// url ...
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	URL string `json:"url,omitempty"`
}

// ExtensionConfigClientConfigService ...
type ExtensionConfigClientConfigService struct {
	// name ...
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name,omitempty"`

	// namespace ...
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Namespace string `json:"namespace,omitempty"`

	// path ...
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	Path string `json:"path,omitempty"`

	// port ...
	// +optional
	Port *int32 `json:"port,omitempty"`
}

// ExtensionConfigStatus ...
// +kubebuilder:validation:MinProperties=1
type ExtensionConfigStatus struct {
	// conditions ...
	// +optional
	// +kubebuilder:validation:MaxItems=32
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// deprecated ...
	// +optional
	Deprecated clusterv1.MachineHealthCheckDeprecatedStatus `json:"deprecated,omitempty,omitzero"`

	// handlers ...
	// +optional
	// +kubebuilder:validation:MaxItems=512
	// +listType=map
	// +listMapKey=name
	Handlers []ExtensionConfigHandlerStatus `json:"handlers,omitempty"`
}

// ExtensionConfigHandlerStatus ...
type ExtensionConfigHandlerStatus struct {
	// failurePolicy ...
	// +optional
	// +kubebuilder:validation:Enum=Ignore;Fail
	FailurePolicy string `json:"failurePolicy,omitempty"`

	// name ...
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	Name string `json:"name,omitempty"`

	// requestHook ...
	// +required
	RequestHook ExtensionConfigHandlerRequestHookStatus `json:"requestHook,omitempty,omitzero"`

	// timeoutSeconds ...
	// +optional
	// +kubebuilder:validation:Minimum=1
	TimeoutSeconds int32 `json:"timeoutSeconds,omitempty"`
}

// ExtensionConfigHandlerRequestHookStatus ...
type ExtensionConfigHandlerRequestHookStatus struct {
	// apiVersion ...
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	APIVersion string `json:"apiVersion,omitempty"`

	// hook ...
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Hook string `json:"hook,omitempty"`
}
