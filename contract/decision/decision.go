// Package decision is the small vocabulary that every Decide function shares: why something is done, and when to look again.
package decision

import (
	"fmt"
	"time"
)

// Why gives an action's reason, in a word for machines and in a sentence for people.
type Why struct {
	// Reason is one CamelCase word, such as ScaleDown; it becomes the reason of the event.
	Reason string
	// Because is a sentence with names and numbers; it holds no times and no secrets.
	Because string
}

// Because makes a Why from a word and a sentence in the manner of fmt.Sprintf.
func Because(reason, format string, args ...any) Why {
	return Why{Reason: reason, Because: fmt.Sprintf(format, args...)}
}

// String gives the reason as a log line shows it.
func (w Why) String() string { return w.Reason + ": " + w.Because }

// Wait says what is awaited. A zero After means that a watch will tell, so nobody has to look again.
type Wait struct {
	Why
	// After is the time until the next look, exact where it is known; zero when an event will come.
	After time.Duration
}

// ForEvent waits for something that a watch reports.
func ForEvent(reason, format string, args ...any) Wait {
	return Wait{Why: Because(reason, format, args...)}
}

// For waits for a given time.
func For(after time.Duration, reason, format string, args ...any) Wait {
	return Wait{Why: Because(reason, format, args...), After: after}
}

// Sooner returns the smaller of two requeue times, where zero means never.
func Sooner(a, b time.Duration) time.Duration {
	switch {
	case a <= 0:
		return max(b, 0)
	case b <= 0:
		return a
	default:
		return min(a, b)
	}
}
