package remediation

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	controlplanev1 "github.com/slipway-capi/slipway/providers/controlplane-kubeadm/api/v1beta2"
)

var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func TestRecordsAreKeptInAnnotations(t *testing.T) {
	local := time.FixedZone("x", 3600)
	r := Record{Machine: "m0", Timestamp: now.In(local).Add(500 * time.Millisecond), RetryCount: 2}
	assert.JSONEq(t, `{"machine":"m0","timestamp":"2026-03-01T12:00:00Z","retryCount":2}`, r.String())
	back, err := Parse(r.String())
	require.NoError(t, err)
	assert.Equal(t, Record{Machine: "m0", Timestamp: now, RetryCount: 2}, back)

	old, err := Parse(`{"machine":"m0","retryCount":1}`)
	require.NoError(t, err)
	assert.True(t, old.Timestamp.IsZero())
	for _, bad := range []string{"", "m0", `{"timestamp":"yesterday"}`} {
		_, err := Parse(bad)
		require.Error(t, err, bad)
	}
}

func number(n int32) *int32 { return &n }

func TestPolicyOf(t *testing.T) {
	assert.Equal(t, Policy{MinHealthyPeriod: time.Hour}, PolicyOf(controlplanev1.KubeadmControlPlaneRemediation{}))
	assert.Equal(t, Policy{MaxRetry: number(3), RetryPeriod: 10 * time.Second, MinHealthyPeriod: 0}, PolicyOf(controlplanev1.KubeadmControlPlaneRemediation{
		MaxRetry: number(3), RetryPeriodSeconds: number(10), MinHealthyPeriodSeconds: number(0),
	}))
}

// Conformance: CP-73
func TestJudge(t *testing.T) {
	ago := func(d time.Duration, count int32) *Record {
		return &Record{Machine: "m", Timestamp: now.Add(-d), RetryCount: count}
	}
	patient := Policy{MaxRetry: number(3), RetryPeriod: 10 * time.Minute, MinHealthyPeriod: time.Hour}
	for _, row := range []struct {
		name     string
		policy   Policy
		previous *Record
		want     Verdict
	}{
		{"never replaced anything", patient, nil, Verdict{Allowed: true}},
		{"healthy for long enough", patient, ago(time.Hour, 3), Verdict{Allowed: true}},
		{"not healthy for long enough", patient, ago(time.Hour-time.Second, 2), Verdict{Allowed: true, RetryCount: 3}},
		{"last retry used", patient, ago(30*time.Minute, 3), Verdict{Exhausted: true}},
		{"too early", patient, ago(4*time.Minute, 0), Verdict{After: 6 * time.Minute}},
		{"too early, and the last retry used", patient, ago(4*time.Minute, 3), Verdict{After: 6 * time.Minute}},
		{"the very moment", patient, ago(10*time.Minute, 0), Verdict{Allowed: true, RetryCount: 1}},
		{"no retry at all", Policy{MaxRetry: number(0), MinHealthyPeriod: time.Hour}, ago(time.Minute, 0), Verdict{Exhausted: true}},
		{"no limit", Policy{MinHealthyPeriod: time.Hour}, ago(time.Minute, 99), Verdict{Allowed: true, RetryCount: 100}},
		{"no time recorded", patient, &Record{Machine: "m", RetryCount: 3}, Verdict{Allowed: true}},
		{"every failure is a new one", Policy{MaxRetry: number(1)}, ago(time.Second, 1), Verdict{Allowed: true}},
	} {
		t.Run(row.name, func(t *testing.T) { assert.Equal(t, row.want, row.policy.Judge(row.previous, now)) })
	}
}

// Whatever the history: with a limit a sequence of failing replacements ends.
func TestSequencesEnd(t *testing.T) {
	policy := Policy{MaxRetry: number(2), MinHealthyPeriod: time.Hour}
	at, attempts := now, 0
	var previous *Record
	for ; attempts < 10; attempts++ {
		verdict := policy.Judge(previous, at)
		if !verdict.Allowed {
			assert.True(t, verdict.Exhausted)
			break
		}
		previous = &Record{Machine: "m", Timestamp: at, RetryCount: verdict.RetryCount}
		at = at.Add(10 * time.Minute)
	}
	assert.Equal(t, 3, attempts, "the first replacement and two retries")
}
