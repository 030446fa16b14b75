package extensionconfig

import (
	runtimev1 "github.com/slipway-capi/slipway/contract/api/runtime/v1beta2"

	hooks "github.com/slipway-capi/slipway/contract/api/runtime/hooks/v1alpha1"
)

// World is all that is known when a decision about one ExtensionConfig is taken.
type World struct {
	Config *runtimev1.ExtensionConfig
	// Authorities is what the Secret of the annotation holds; nil without annotation.
	Authorities []byte
	// Handlers is what the extension says it serves.
	Handlers []hooks.ExtensionHandler
	// Err is what kept anything above from being known. Its text is the same for the same mishap each time.
	Err error
}

// Decision is the ExtensionConfig as it should be stored.
type Decision struct {
	Config *runtimev1.ExtensionConfig
	// Err has the extension asked again, each time later.
	Err error
}
