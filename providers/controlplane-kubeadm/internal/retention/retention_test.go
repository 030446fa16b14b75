package retention

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var now = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

func taken(name string, hoursAgo int, grade Grade) Snapshot {
	return Snapshot{Name: name, Taken: now.Add(-time.Duration(hoursAgo) * time.Hour), Grade: grade}
}

func TestDecide(t *testing.T) {
	day := 24 * time.Hour
	deleting := taken("c", 3, Good)
	deleting.Deleting = true
	for _, row := range []struct {
		name      string
		policy    Policy
		snapshots []Snapshot
		want      []string
	}{
		{name: "nothing there", policy: Policy{Count: 1}},
		{name: "as many as wanted", policy: Policy{Count: 2}, snapshots: []Snapshot{taken("a", 1, Good), taken("b", 2, Good)}},
		{name: "the oldest goes", policy: Policy{Count: 2}, snapshots: []Snapshot{taken("c", 3, Good), taken("a", 1, Good), taken("b", 2, Good)}, want: []string{"c TooMany"}},
		{name: "what goes already is not told twice", policy: Policy{Count: 2}, snapshots: []Snapshot{deleting, taken("a", 1, Good), taken("b", 2, Good)}},
		{name: "one that is not verified yet pushes no good one out", policy: Policy{Count: 1}, snapshots: []Snapshot{taken("new", 0, Open), taken("old", 24, Good)}},
		{name: "a bad one pushes no good one out", policy: Policy{Count: 1}, snapshots: []Snapshot{taken("bad", 0, Bad), taken("old", 24, Good)}},
		{name: "a bad one goes when a newer one is good", policy: Policy{Count: 1}, snapshots: []Snapshot{taken("new", 0, Good), taken("bad", 24, Bad)}, want: []string{"bad TooMany"}},
		{name: "bad ones are better than none", policy: Policy{Count: 1, MaxAge: day}, snapshots: []Snapshot{taken("x", 100, Bad), taken("y", 200, Bad)}},
		{name: "too old", policy: Policy{Count: 9, MaxAge: day}, snapshots: []Snapshot{taken("a", 1, Good), taken("b", 24, Good), taken("c", 25, Good)}, want: []string{"c TooOld"}},
		{name: "the last good one stays for ever", policy: Policy{Count: 9, MaxAge: day}, snapshots: []Snapshot{taken("a", 1000, Good), taken("b", 2000, Good)}, want: []string{"b TooOld"}},
		{name: "one from the future is not old", policy: Policy{Count: 2, MaxAge: day}, snapshots: []Snapshot{taken("a", -500, Good), taken("b", 1, Good)}},
		{name: "of the same moment the name decides", policy: Policy{Count: 1}, snapshots: []Snapshot{taken("a", 1, Good), taken("b", 1, Good)}, want: []string{"a TooMany"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			var got []string
			for _, d := range Decide(row.policy, row.snapshots, now) {
				got = append(got, d.Name+" "+d.Reason)
				assert.NotEmpty(t, d.Because)
			}
			assert.Equal(t, row.want, got)
		})
	}
}

func TestNext(t *testing.T) {
	day := 24 * time.Hour
	all := []Snapshot{taken("a", 1, Good), taken("b", 2, Good), taken("c", 3, Bad), taken("d", 23, Open)}
	assert.Zero(t, Next(Policy{Count: 1}, all, now), "age does not matter")
	assert.Equal(t, now.Add(21*time.Hour+time.Second), Next(Policy{Count: 1, MaxAge: day}, all, now))
	assert.Zero(t, Next(Policy{Count: 1, MaxAge: day}, all[:1], now), "the last good one never goes")
	assert.Zero(t, Next(Policy{Count: 1, MaxAge: day}, nil, now))
	left := Decide(Policy{Count: 9, MaxAge: day}, all, Next(Policy{Count: 1, MaxAge: day}, all, now))
	require.Len(t, left, 1)
	assert.Equal(t, "c", left[0].Name)
}

func TestWhatMustNeverHappen(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 5000 {
		policy := Policy{Count: 1 + random.IntN(4), MaxAge: time.Duration(random.IntN(3)) * 20 * time.Hour}
		var all []Snapshot
		for i := range random.IntN(10) {
			s := taken(fmt.Sprint(i), random.IntN(100)-5, Grade(random.IntN(3)))
			s.Deleting = random.IntN(5) == 0
			all = append(all, s)
		}
		gone := map[string]bool{}
		for _, d := range Decide(policy, all, now) {
			require.False(t, gone[d.Name], "twice")
			gone[d.Name] = true
		}
		var kept, before []Snapshot
		for _, s := range all {
			if s.Grade == Good && !s.Deleting {
				before = append(before, s)
				if !gone[s.Name] {
					kept = append(kept, s)
				}
			}
			require.False(t, gone[s.Name] && (s.Grade == Open || s.Deleting))
		}
		require.LessOrEqual(t, len(kept), policy.Count)
		if len(before) > 0 {
			newest := slices.MaxFunc(before, func(a, b Snapshot) int { return a.Taken.Compare(b.Taken) })
			require.True(t, slices.ContainsFunc(kept, func(s Snapshot) bool { return s.Taken.Equal(newest.Taken) }), "the newest good one stays")
		} else {
			require.Empty(t, gone, "without a good one nothing goes")
		}
		// What is left is what a second look leaves.
		left := slices.DeleteFunc(slices.Clone(all), func(s Snapshot) bool { return gone[s.Name] })
		require.Empty(t, Decide(policy, left, now))
	}
}
