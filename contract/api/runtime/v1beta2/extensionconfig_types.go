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

// ExtensionConfig registers a server whose hooks take part in the life of clusters.
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

// ExtensionConfigSpec says where the server is and for whom it works.
type ExtensionConfigSpec struct {
	// clientConfig says how the server is reached.
	// +required
	ClientConfig ExtensionConfigClientConfig `json:"clientConfig,omitempty,omitzero"`

	// namespaceSelector picks the namespaces whose clusters the extension works for. Default is all.
	// +optional
	NamespaceSelector metav1.LabelSelector `json:"namespaceSelector,omitempty,omitzero"`

	// settings is handed to the extension with each call; settings of the caller win.
	// +optional
	Settings map[string]string `json:"settings,omitempty"`
}

// ExtensionConfigClientConfig says how a server is reached: by url or by service.
// +kubebuilder:validation:MinProperties=1
type ExtensionConfigClientConfig struct {
	// caBundle holds certificates, in PEM, that vouch for the server. An annotation can have it filled in from a Secret.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=51200
	CABundle []byte `json:"caBundle,omitempty"`

	// service names a Service of the management cluster. It excludes url.
	// +optional
	Service ExtensionConfigClientConfigService `json:"service,omitempty,omitzero"`

	// url is an https address without query or fragment. It excludes service.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	URL string `json:"url,omitempty"`
}

// ExtensionConfigClientConfigService is a Service of the management cluster.
type ExtensionConfigClientConfigService struct {
	// name is the name of the Service.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name,omitempty"`

	// namespace is the namespace of the Service.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Namespace string `json:"namespace,omitempty"`

	// path is put before the paths of the hooks.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	Path string `json:"path,omitempty"`

	// port is the port of the Service. Default 443.
	// +optional
	Port *int32 `json:"port,omitempty"`
}

// ExtensionConfigStatus is what the server said when it was asked what it can do.
// +kubebuilder:validation:MinProperties=1
type ExtensionConfigStatus struct {
	// conditions tell what is the matter with the object, one entry for each aspect.
	// +optional
	// +kubebuilder:validation:MaxItems=32
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// deprecated holds what earlier API versions reported. Nothing acts on it.
	// +optional
	Deprecated clusterv1.MachineHealthCheckDeprecatedStatus `json:"deprecated,omitempty,omitzero"`

	// handlers lists the handlers of the server.
	// +optional
	// +kubebuilder:validation:MaxItems=512
	// +listType=map
	// +listMapKey=name
	Handlers []ExtensionConfigHandlerStatus `json:"handlers,omitempty"`
}

// ExtensionConfigHandlerStatus is one handler of an extension.
type ExtensionConfigHandlerStatus struct {
	// failurePolicy is Fail, where an unreachable handler stops the caller, or Ignore.
	// +optional
	// +kubebuilder:validation:Enum=Ignore;Fail
	FailurePolicy string `json:"failurePolicy,omitempty"`

	// name is the name by which the handler is called, unique in the whole management cluster.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	Name string `json:"name,omitempty"`

	// requestHook is the hook that the handler serves.
	// +required
	RequestHook ExtensionConfigHandlerRequestHookStatus `json:"requestHook,omitempty,omitzero"`

	// timeoutSeconds is for how long a call may take.
	// +optional
	// +kubebuilder:validation:Minimum=1
	TimeoutSeconds int32 `json:"timeoutSeconds,omitempty"`
}

// ExtensionConfigHandlerRequestHookStatus names a hook and its version.
type ExtensionConfigHandlerRequestHookStatus struct {
	// apiVersion is group and version of the hook.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	APIVersion string `json:"apiVersion,omitempty"`

	// hook is the name of the hook.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Hook string `json:"hook,omitempty"`
}
