package schedule

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func at(text string) time.Time {
	t, err := time.Parse("2006-01-02 15:04:05", text)
	if err != nil {
		panic(err)
	}
	return t
}

func TestParse(t *testing.T) {
	for _, text := range []string{"30 2 * * *", "*/5 * * * *", "0 0 29 2 *", "@daily", "0 6 * * MON-FRI"} {
		_, err := Parse(text)
		assert.NoError(t, err, text)
	}
	for text, want := range map[string]string{
		"":                             "minute, hour, day of month",
		"daily":                        "such as 30 2 * * *",
		"61 * * * *":                   "above maximum",
		"0 0 0 2 * *":                  "is no schedule",
		"0 0 30 2 *":                   "no month has",
		"@every 1h":                    "0 */6 * * *",
		"CRON_TZ=Asia/Tokyo 0 2 * * *": "in UTC",
		"TZ=UTC 0 2 * * *":             "in UTC",
	} {
		_, err := Parse(text)
		assert.ErrorContains(t, err, want, text)
	}
}

func TestDecide(t *testing.T) {
	begin := at("2026-01-01 10:00:00")
	for _, row := range []struct {
		name, schedule string
		history        History
		now            time.Time
		due, next      string
	}{
		{name: "the first time has not come", schedule: "0 2 * * *", history: History{Begin: begin}, now: at("2026-01-01 11:00:00"), next: "2026-01-02 02:00:00"},
		{name: "to the second", schedule: "0 2 * * *", history: History{Begin: begin}, now: at("2026-01-02 02:00:00"), due: "2026-01-02 02:00:00", next: "2026-01-03 02:00:00"},
		{name: "done for today", schedule: "0 2 * * *", history: History{Begin: begin, Done: []time.Time{at("2026-01-02 02:00:00")}}, now: at("2026-01-02 02:00:01"), next: "2026-01-03 02:00:00"},
		{name: "a week was missed: one for all", schedule: "0 2 * * *", history: History{Begin: begin, Done: []time.Time{at("2026-01-02 02:00:00")}},
			now: at("2026-01-09 12:00:00"), due: "2026-01-09 02:00:00", next: "2026-01-10 02:00:00"},
		{name: "after the catch-up nothing is due", schedule: "0 2 * * *", history: History{Begin: begin, Done: []time.Time{at("2026-01-09 02:00:00")}},
			now: at("2026-01-09 12:00:01"), next: "2026-01-10 02:00:00"},
		{name: "one that took until after the next time does for it", schedule: "0 * * * *", history: History{Begin: begin, Done: []time.Time{at("2026-01-01 13:10:00")}},
			now: at("2026-01-01 13:11:00"), next: "2026-01-01 14:00:00"},
		{name: "one at a time", schedule: "0 * * * *", history: History{Begin: begin, Done: []time.Time{at("2026-01-01 12:00:00")}, Running: true},
			now: at("2026-01-01 13:11:00"), next: "2026-01-01 14:00:00"},
		{name: "the clock went back a year: what was done before counts", schedule: "0 2 * * *",
			history: History{Begin: begin, Done: []time.Time{at("2027-01-02 02:00:00"), at("2026-01-05 02:00:00")}},
			now:     at("2026-01-05 12:00:00"), next: "2026-01-06 02:00:00"},
		{name: "the clock went back a year: what was missed is caught up", schedule: "0 2 * * *",
			history: History{Begin: begin, Done: []time.Time{at("2027-01-02 02:00:00"), at("2026-01-03 02:00:00")}},
			now:     at("2026-01-05 12:00:00"), due: "2026-01-05 02:00:00", next: "2026-01-06 02:00:00"},
		{name: "all that is known lies in the future: the plan counts", schedule: "0 2 * * *",
			history: History{Begin: at("2027-01-01 00:00:00"), Planned: at("2026-01-05 02:00:00")},
			now:     at("2026-01-05 02:00:00"), due: "2026-01-05 02:00:00", next: "2026-01-06 02:00:00"},
		{name: "all that is known lies in the future, also the plan", schedule: "0 2 * * *",
			history: History{Begin: at("2027-01-01 00:00:00"), Planned: at("2027-01-05 02:00:00")},
			now:     at("2026-01-05 02:00:00"), next: "2026-01-06 02:00:00"},
		{name: "the clock jumped by ten years", schedule: "*/1 * * * *", history: History{Begin: begin, Done: []time.Time{at("2026-01-02 02:00:00")}},
			now: at("2036-01-05 12:00:30"), due: "2036-01-05 12:00:00", next: "2036-01-05 12:01:00"},
		{name: "leap day", schedule: "0 0 29 2 *", history: History{Begin: begin}, now: at("2028-03-01 00:00:00"), due: "2028-02-29 00:00:00", next: "2032-02-29 00:00:00"},
	} {
		t.Run(row.name, func(t *testing.T) {
			s, err := Parse(row.schedule)
			require.NoError(t, err)
			d := Decide(s, row.history, row.now)
			assert.Equal(t, at(row.next), d.Next)
			if row.due == "" {
				assert.Zero(t, d.Due)
			} else {
				assert.Equal(t, at(row.due), d.Due)
			}
		})
	}
}

// Whatever the schedule, however irregularly somebody looks: each time is answered by one snapshot at most, what is due lies
// between the last one and now, and after each look nothing more is due.
func TestEachTimeIsAnsweredOnce(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, text := range []string{"*/7 * * * *", "0 2 * * *", "15 3 * * 1", "0 0 1 * *", "@hourly"} {
		s, err := Parse(text)
		require.NoError(t, err)
		now := at("2026-01-01 00:00:17")
		h, last := History{Begin: now}, now
		for range 300 {
			now = now.Add(time.Duration(random.Int64N(int64(40 * time.Hour))))
			d := Decide(s, h, now)
			require.True(t, d.Next.After(now))
			if d.Due.IsZero() {
				require.True(t, s.Next(last).After(now), "%s: one was missed at %s", text, now)
				continue
			}
			require.True(t, d.Due.After(last) && !d.Due.After(now))
			require.True(t, s.Next(d.Due).After(now), "the latest of those that were missed")
			last, h.Done = d.Due, append(h.Done, d.Due)
			require.Zero(t, Decide(s, h, now).Due)
		}
	}
}
