package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ExtensionHandler is one hook that an extension serves.
type ExtensionHandler struct {
	// name is the name of the handler within the extension; it becomes part of the path.
	Name string `json:"name"`

	// requestHook is the hook that it serves.
	RequestHook GroupVersionHook `json:"requestHook"`

	// timeoutSeconds is how long a call may take, 1 to 30. Default 10.
	TimeoutSeconds *int32 `json:"timeoutSeconds,omitempty"`

	// failurePolicy says what it means if the extension cannot be reached. Default Fail.
	FailurePolicy *FailurePolicy `json:"failurePolicy,omitempty"`
}

// GroupVersionHook identifies a hook in one version.
type GroupVersionHook struct {
	// apiVersion is group and version of the hook.
	APIVersion string `json:"apiVersion"`

	// hook is the name of the hook, such as BeforeClusterCreate.
	Hook string `json:"hook"`
}

// FailurePolicy says what it means if an extension cannot be reached.
// +enum
type FailurePolicy string

// The failure policies.
const (
	// FailurePolicyIgnore goes on as if the extension had no objection.
	FailurePolicyIgnore FailurePolicy = "Ignore"
	// FailurePolicyFail makes the call an error that is tried again.
	FailurePolicyFail FailurePolicy = "Fail"
)

// DiscoveryRequest asks an extension which hooks it serves.
// +kubebuilder:object:root=true
type DiscoveryRequest struct {
	metav1.TypeMeta `json:",inline"`
}

// DiscoveryResponse lists the handlers.
// +kubebuilder:object:root=true
type DiscoveryResponse struct {
	metav1.TypeMeta `json:",inline"`
	CommonResponse  `json:",inline"`

	// handlers lists what the extension serves.
	Handlers []ExtensionHandler `json:"handlers,omitempty"`
}
