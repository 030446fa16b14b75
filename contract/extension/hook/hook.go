// Package hook is the catalog of runtime hooks: their names, the types of their requests and responses, and the paths under which
// extensions serve them. Both sides of a call use it: extensions through package extension, and the managers.
package hook

import (
	"path"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation"

	hooks "github.com/slipway-capi/slipway/contract/api/runtime/hooks/v1alpha1"
)

// Request is what every request is.
type Request interface{ runtime.Object }

// Configurable is a request that carries settings: all but that of discovery.
type Configurable interface {
	Request
	GetSettings() map[string]string
	SetSettings(settings map[string]string)
}

// Response is what every response is.
type Response interface {
	runtime.Object
	GetStatus() hooks.ResponseStatus
	SetStatus(status hooks.ResponseStatus)
	GetMessage() string
	SetMessage(message string)
}

// Retry is a response that can make the caller wait.
type Retry interface {
	Response
	GetRetryAfterSeconds() int32
	SetRetryAfterSeconds(seconds int32)
}

// Definition is a hook without the types of its request and response.
type Definition struct {
	// Name is the name of the hook, such as BeforeClusterCreate.
	Name string

	newRequest  func() Request
	newResponse func() Response
}

// Hook is a hook with the types of its request and response.
type Hook[Q, R any] struct{ Definition }

func define[Q, R any, PQ interface {
	*Q
	Request
}, PR interface {
	*R
	Response
}](name string) Hook[Q, R] {
	return Hook[Q, R]{Definition{
		Name:        name,
		newRequest:  func() Request { return PQ(new(Q)) },
		newResponse: func() Response { return PR(new(R)) },
	}}
}

// APIVersion is group and version of the hook.
func (d Definition) APIVersion() string { return hooks.GroupVersion.String() }

// ID identifies the hook on the wire.
func (d Definition) ID() hooks.GroupVersionHook {
	return hooks.GroupVersionHook{APIVersion: d.APIVersion(), Hook: d.Name}
}

// Path is where an extension serves a handler of the hook. Discovery, which has no handlers, has an empty name.
func (d Definition) Path(handler string) string {
	return path.Join("/", hooks.GroupVersion.Group, hooks.GroupVersion.Version, strings.ToLower(d.Name), handler)
}

// RequestKind is the kind that requests name.
func (d Definition) RequestKind() string { return d.Name + "Request" }

// ResponseKind is the kind that responses name.
func (d Definition) ResponseKind() string { return d.Name + "Response" }

// NewRequest makes an empty request that names its kind.
func (d Definition) NewRequest() Request {
	r := d.newRequest()
	r.GetObjectKind().SetGroupVersionKind(hooks.GroupVersion.WithKind(d.RequestKind()))
	return r
}

// NewResponse makes an empty response that names its kind.
func (d Definition) NewResponse() Response {
	r := d.newResponse()
	r.GetObjectKind().SetGroupVersionKind(hooks.GroupVersion.WithKind(d.ResponseKind()))
	return r
}

// CanWait says whether a response of the hook can make the caller wait.
func (d Definition) CanWait() bool {
	_, ok := d.newResponse().(Retry)
	return ok
}

// HandlerNameProblems says what is wrong with the name of a handler, which becomes part of a path and of a longer name.
func HandlerNameProblems(name string) []string { return validation.IsDNS1123Label(name) }
