// Package retention decides which snapshots of a backup are deleted. It is pure.
package retention

import (
	"cmp"
	"slices"
	"time"

	"github.com/slipway-capi/slipway/contract/decision"
)

// Grade says what is known of a snapshot.
type Grade int

const (
	// Open snapshots are being taken or have not been read back. They are never deleted.
	Open Grade = iota
	// Good snapshots are stored, and nothing speaks against them.
	Good
	// Bad snapshots were read back and are not what they should be.
	Bad
)

// Snapshot is one snapshot of the backup.
type Snapshot struct {
	Name  string
	Taken time.Time
	Grade Grade
	// Deleting says that it goes already.
	Deleting bool
}

// Policy says what is kept.
type Policy struct {
	// Count is how many good snapshots are kept at most; it is at least 1.
	Count int
	// MaxAge is the age after which snapshots go; zero means that age does not matter.
	MaxAge time.Duration
}

// Deletion is a snapshot that is to go.
type Deletion struct {
	Name string
	decision.Why
}

// Decide says which snapshots go. The newest good one stays, whatever its age; and while there is no good one, bad ones stay,
// too: part of a snapshot is better than nothing.
func Decide(policy Policy, snapshots []Snapshot, now time.Time) []Deletion {
	var stored []Snapshot
	for _, s := range snapshots {
		if s.Grade != Open && !s.Deleting {
			stored = append(stored, s)
		}
	}
	// The newest first. Of two of the same moment the name decides, so that every look comes to the same end.
	slices.SortFunc(stored, func(a, b Snapshot) int {
		return cmp.Or(b.Taken.Compare(a.Taken), cmp.Compare(b.Name, a.Name))
	})
	var deletions []Deletion
	good := 0
	for _, s := range stored {
		why, goes := judge(policy, s, good, now)
		if s.Grade == Good {
			good++
		}
		if goes {
			deletions = append(deletions, Deletion{Name: s.Name, Why: why})
		}
	}
	return deletions
}

// judge decides on one snapshot, given how many good ones are newer.
func judge(policy Policy, s Snapshot, newer int, now time.Time) (decision.Why, bool) {
	switch {
	case newer == 0:
		return decision.Why{}, false
	case newer >= policy.Count:
		return decision.Because("TooMany", "%d good snapshots are newer, and no more than %d are kept", newer, policy.Count), true
	case policy.MaxAge > 0 && now.Sub(s.Taken) > policy.MaxAge:
		return decision.Because("TooOld", "it is older than %s", policy.MaxAge), true
	}
	return decision.Why{}, false
}

// Next is when the next of the snapshots becomes too old; zero if none will. Those that go now must be left out.
func Next(policy Policy, snapshots []Snapshot, now time.Time) time.Time {
	var newest, next time.Time
	for _, s := range snapshots {
		if s.Grade == Good && s.Taken.After(newest) {
			newest = s.Taken
		}
	}
	for _, s := range snapshots {
		// One becomes too old when it is a moment older than allowed.
		end := s.Taken.Add(policy.MaxAge).Add(time.Second)
		if policy.MaxAge > 0 && s.Grade != Open && s.Taken.Before(newest) && end.After(now) && (next.IsZero() || end.Before(next)) {
			next = end
		}
	}
	return next
}
