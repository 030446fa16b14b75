// Package schedule says when the snapshots of a backup are due. It is pure: the time comes from the caller.
package schedule

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
)

// Schedule is a set of times in UTC.
type Schedule struct{ spec cron.Schedule }

var parser = cron.NewParser(cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow | cron.Descriptor)

// Parse reads the five fields of cron, or a name such as @daily.
func Parse(text string) (Schedule, error) {
	switch {
	case strings.Contains(text, "TZ="):
		return Schedule{}, errors.New("has a time zone, but schedules are in UTC: leave it out")
	case strings.HasPrefix(text, "@every"):
		return Schedule{}, errors.New("counts from no fixed time: say when, such as 0 */6 * * * for every six hours")
	}
	spec, err := parser.Parse(text)
	if err != nil {
		return Schedule{}, fmt.Errorf("is no schedule (%w): give minute, hour, day of month, month and day of week, such as 30 2 * * * for 02:30 every day", err)
	}
	s := Schedule{spec: spec}
	// February has 30 days in no year, whichever it is.
	if s.Next(time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)).IsZero() {
		return Schedule{}, errors.New("names a day that no month has")
	}
	return s, nil
}

// Next is the first time after the given one.
func (s Schedule) Next(after time.Time) time.Time { return s.spec.Next(after.UTC()) }

// latest is the last time after the first and not after the second, or zero if there is none.
func (s Schedule) latest(after, now time.Time) time.Time {
	// A backup that nobody looked at for a year may have missed half a million times: look back from now, further each time.
	for window := time.Hour; ; window *= 2 {
		from := now.Add(-window)
		whole := !from.After(after)
		if whole {
			from = after
		}
		var last time.Time
		for t := s.Next(from); !t.IsZero() && !t.After(now); t = s.Next(t) {
			last = t
		}
		if whole || !last.IsZero() {
			return last
		}
	}
}

// History is what is known of a backup.
type History struct {
	// Begin is since when the schedule counts.
	Begin time.Time
	// Done are times that need no snapshot any more, and neither do those before: times of the schedule for which one was
	// asked for, and when snapshots were completed.
	Done []time.Time
	// Planned is what the last decision said would be the next time; zero if there was none.
	Planned time.Time
	// Running says that a snapshot is being taken.
	Running bool
}

// since is from when on nothing has been done. What lies in the future was written under a clock that was wrong: it is left
// out, so that nothing waits until that future has come.
func (h History) since(now time.Time) time.Time {
	var since time.Time
	for _, t := range append([]time.Time{h.Begin}, h.Done...) {
		if t.After(since) && !t.After(now) {
			since = t
		}
	}
	switch {
	case !since.IsZero():
		return since
	case !h.Planned.IsZero() && !h.Planned.After(now):
		return h.Planned.Add(-time.Nanosecond)
	}
	return now
}

// Decision says whether a snapshot is due, and when the next one is.
type Decision struct {
	// Due is the time of the schedule for which a snapshot is to be taken now; zero if none is due.
	Due time.Time
	// Next is the next time of the schedule after now.
	Next time.Time
}

// Decide says whether a snapshot is due. However many times were missed, one snapshot is due for all of them; and none while
// one is being taken, which will do for the times that pass meanwhile.
func Decide(s Schedule, h History, now time.Time) Decision {
	d := Decision{Next: s.Next(now)}
	if !h.Running {
		d.Due = s.latest(h.since(now), now)
	}
	return d
}
