package extensionconfig

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	hooks "github.com/slipway-capi/slipway/contract/api/runtime/hooks/v1alpha1"
	runtimev1 "github.com/slipway-capi/slipway/contract/api/runtime/v1beta2"
	"github.com/slipway-capi/slipway/contract/conditions"
	"github.com/slipway-capi/slipway/contract/extension"
	"github.com/slipway-capi/slipway/contract/extension/hook"
	"github.com/slipway-capi/slipway/contract/paused"
)

// Decide says what an ExtensionConfig should be. It is pure: same world, same decision.
func Decide(w World) Decision {
	d := Decision{Config: w.Config.DeepCopy()}
	pause := paused.Condition(nil, d.Config)
	conditions.Set(d.Config, pause)
	if pause.Status == metav1.ConditionTrue {
		return d
	}
	if w.Authorities != nil {
		d.Config.Spec.ClientConfig.CABundle = w.Authorities
	}
	err := w.Err
	if err == nil {
		err = errors.Join(problems(w.Handlers)...)
	}
	if err != nil {
		// The handlers stay as they were: an extension that does not answer must not be passed over.
		d.Err = err
		conditions.Set(d.Config, discovered(w.Config, metav1.ConditionFalse, runtimev1.ExtensionConfigNotDiscoveredReason, err.Error()))
		return d
	}
	d.Config.Status.Handlers = statuses(w.Handlers, w.Config.Name)
	conditions.Set(d.Config, discovered(w.Config, metav1.ConditionTrue, runtimev1.ExtensionConfigDiscoveredReason, ""))
	return d
}

func discovered(config *runtimev1.ExtensionConfig, status metav1.ConditionStatus, reason, message string) metav1.Condition {
	return metav1.Condition{
		Type: runtimev1.ExtensionConfigDiscoveredCondition, Status: status, Reason: reason, Message: message, ObservedGeneration: config.Generation,
	}
}

// maxHandlers is how many the status can hold.
const maxHandlers = 512

// problems says what is wrong with the handlers of an extension, in their order.
func problems(handlers []hooks.ExtensionHandler) []error {
	if len(handlers) > maxHandlers {
		return []error{fmt.Errorf("it serves %d handlers, more than %d", len(handlers), maxHandlers)}
	}
	var errs []error
	seen := map[string]bool{}
	for i, h := range handlers {
		if p := hook.HandlerNameProblems(h.Name); len(p) > 0 {
			errs = append(errs, fmt.Errorf("the name of its handler %d cannot be: %s", i, strings.Join(p, "; ")))
			continue
		}
		if seen[h.Name] {
			errs = append(errs, fmt.Errorf("it serves two handlers of the name %s", h.Name))
		}
		seen[h.Name] = true
		errs = append(errs, handlerProblems(h)...)
	}
	const shown = 5
	if more := len(errs) - shown; more > 0 {
		errs = append(errs[:shown], fmt.Errorf("and %d more", more))
	}
	return errs
}

func handlerProblems(h hooks.ExtensionHandler) (errs []error) {
	if _, known := hook.Find(h.RequestHook); !known {
		errs = append(errs, fmt.Errorf("its handler %s is for a hook that is not known", h.Name))
	}
	if t, most := h.TimeoutSeconds, int32(extension.MaxTimeout.Seconds()); t != nil && (*t < 0 || *t > most) {
		errs = append(errs, fmt.Errorf("the timeout of its handler %s is %d seconds, not from 0 to %d", h.Name, *t, most))
	}
	if p := h.FailurePolicy; p != nil && *p != hooks.FailurePolicyFail && *p != hooks.FailurePolicyIgnore {
		errs = append(errs, fmt.Errorf("the failure policy of its handler %s is neither Fail nor Ignore", h.Name))
	}
	return errs
}

// statuses are handlers as the status lists them, by name and with defaults filled in.
func statuses(handlers []hooks.ExtensionHandler, config string) []runtimev1.ExtensionConfigHandlerStatus {
	var out []runtimev1.ExtensionConfigHandlerStatus
	for _, h := range handlers {
		s := runtimev1.ExtensionConfigHandlerStatus{
			Name:           HandlerName(h.Name, config),
			RequestHook:    runtimev1.ExtensionConfigHandlerRequestHookStatus{APIVersion: h.RequestHook.APIVersion, Hook: h.RequestHook.Hook},
			TimeoutSeconds: int32(extension.DefaultTimeout.Seconds()), FailurePolicy: runtimev1.FailurePolicyFail,
		}
		if h.TimeoutSeconds != nil && *h.TimeoutSeconds > 0 {
			s.TimeoutSeconds = *h.TimeoutSeconds
		}
		if h.FailurePolicy != nil {
			s.FailurePolicy = string(*h.FailurePolicy)
		}
		out = append(out, s)
	}
	slices.SortFunc(out, func(a, b runtimev1.ExtensionConfigHandlerStatus) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

// HandlerName is the name by which a handler is called, unique in the management cluster: names of handlers have no dots.
func HandlerName(handler, config string) string { return handler + "." + config }
