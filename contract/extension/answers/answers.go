// Package answers judges the responses of extensions and makes one of several. It is pure.
package answers

import (
	"fmt"
	"maps"
	"strings"
	"unicode"
	"unicode/utf8"

	hooks "github.com/slipway-capi/slipway/contract/api/runtime/hooks/v1alpha1"
	"github.com/slipway-capi/slipway/contract/extension/hook"
)

// MaxText is how many bytes of a text from an extension reach a condition.
const MaxText = 1024

// Text makes a text from an extension fit for conditions and logs: bounded, printable, without line breaks.
func Text(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, strings.ToValidUTF8(text, "?"))
	text = strings.Join(strings.Fields(text), " ")
	const more = "…"
	if len(text) <= MaxText {
		return text
	}
	cut := MaxText - len(more)
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + more
}

// Failure is a response in which an extension says that it failed or objects.
type Failure struct{ Message string }

func (f *Failure) Error() string {
	if f.Message == "" {
		return "it reports a failure without saying why"
	}
	return "it reports a failure: " + f.Message
}

// Judge makes an error of a response that is a failure.
func Judge(response hook.Response) error {
	if response.GetStatus() == hooks.ResponseStatusSuccess {
		return nil
	}
	return &Failure{Message: Text(response.GetMessage())}
}

// Settings are those of a request: the caller's win over those of the ExtensionConfig.
func Settings(extension, caller map[string]string) map[string]string {
	if len(extension)+len(caller) == 0 {
		return nil
	}
	out := make(map[string]string, len(extension)+len(caller))
	maps.Copy(out, extension)
	maps.Copy(out, caller)
	return out
}

// Named is the response of one handler.
type Named struct {
	Handler  string
	Response hook.Response
}

// Wait is what the handlers of a hook said together: when to ask again, and who wants it.
type Wait struct {
	// AfterSeconds is the lowest of those that are not zero; zero goes on.
	AfterSeconds int32
	// Message names the handlers that make the caller wait and what they say, in order.
	Message string
}

// Together sums up successful responses, which come in the order of the names of their handlers.
func Together(responses []Named) Wait {
	var w Wait
	var messages []string
	for _, r := range responses {
		retry, ok := r.Response.(hook.Retry)
		if !ok || retry.GetRetryAfterSeconds() == 0 {
			continue
		}
		if after := retry.GetRetryAfterSeconds(); w.AfterSeconds == 0 || after < w.AfterSeconds {
			w.AfterSeconds = after
		}
		text := r.Handler
		if m := Text(r.Response.GetMessage()); m != "" {
			text = fmt.Sprintf("%s: %s", r.Handler, m)
		}
		messages = append(messages, text)
	}
	w.Message = bounded(messages)
	return w
}

// bounded joins messages of which a condition can hold only so many.
func bounded(messages []string) string {
	const shown = 8
	text := strings.Join(messages[:min(shown, len(messages))], "; ")
	if more := len(messages) - shown; more > 0 {
		text += fmt.Sprintf("; and %d more", more)
	}
	return text
}
