package v1alpha1

// CommonRequest is part of every request but that of discovery.
type CommonRequest struct {
	// settings are those of the ExtensionConfig, overridden by those of the patch that names the extension.
	Settings map[string]string `json:"settings,omitempty"`
}

// ResponseStatus says how a call ended.
// +enum
type ResponseStatus string

// The ends of a call.
const (
	ResponseStatusSuccess ResponseStatus = "Success"
	ResponseStatusFailure ResponseStatus = "Failure"
)

// CommonResponse is part of every response.
type CommonResponse struct {
	// status is Success or Failure.
	Status ResponseStatus `json:"status"`

	// message says for people what happened; for a Failure, what is wrong.
	Message string `json:"message,omitempty"`
}

// GetStatus returns how the call ended.
func (r *CommonResponse) GetStatus() ResponseStatus { return r.Status }

// SetStatus sets how the call ended.
func (r *CommonResponse) SetStatus(status ResponseStatus) { r.Status = status }

// GetMessage returns what happened.
func (r *CommonResponse) GetMessage() string { return r.Message }

// SetMessage sets what happened.
func (r *CommonResponse) SetMessage(message string) { r.Message = message }

// CommonRetryResponse is part of the responses that can make the caller wait.
type CommonRetryResponse struct {
	CommonResponse `json:",inline"`

	// retryAfterSeconds is when to ask again; 0 goes on.
	RetryAfterSeconds int32 `json:"retryAfterSeconds"`
}

// GetRetryAfterSeconds returns when to ask again.
func (r *CommonRetryResponse) GetRetryAfterSeconds() int32 { return r.RetryAfterSeconds }

// SetRetryAfterSeconds sets when to ask again.
func (r *CommonRetryResponse) SetRetryAfterSeconds(seconds int32) { r.RetryAfterSeconds = seconds }

// GetSettings returns the settings of a request.
func (r *CommonRequest) GetSettings() map[string]string { return r.Settings }

// SetSettings sets the settings of a request.
func (r *CommonRequest) SetSettings(settings map[string]string) { r.Settings = settings }

// PatchType is a format of patches.
// +enum
type PatchType string

// The formats of patches.
const (
	// JSONPatchType is RFC 6902.
	JSONPatchType PatchType = "JSONPatch"
	// JSONMergePatchType is RFC 7386.
	JSONMergePatchType PatchType = "JSONMergePatch"
)
