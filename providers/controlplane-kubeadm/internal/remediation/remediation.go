// Package remediation keeps count of how often an unhealthy machine was replaced, in annotations, so that the count
// survives restarts of the manager, and says whether it may be tried again. It is pure.
package remediation

import (
	"encoding/json"
	"fmt"
	"time"

	controlplanev1 "github.com/slipway-capi/slipway/providers/controlplane-kubeadm/api/v1beta2"
)

const defaultMinHealthyPeriod = time.Hour

// Record is one replacement: on the control plane while it is going on, and on the replacement afterwards.
type Record struct {
	// Machine is the machine that is replaced.
	Machine string `json:"machine"`
	// Timestamp is when its replacement began; zero counts as long ago.
	Timestamp time.Time `json:"timestamp"`
	// RetryCount is how many attempts preceded this one without success.
	RetryCount int32 `json:"retryCount"`
}

// Parse reads a record from an annotation.
func Parse(text string) (Record, error) {
	var r Record
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		return Record{}, fmt.Errorf("reading a remediation: %w", err)
	}
	return r, nil
}

// String is the record as an annotation holds it.
func (r Record) String() string {
	r.Timestamp = r.Timestamp.UTC().Truncate(time.Second)
	text, err := json.Marshal(r)
	if err != nil {
		return "" // cannot happen: a name, a time and a number
	}
	return string(text)
}

// Policy limits how often and how fast machines are replaced.
type Policy struct {
	// MaxRetry is nil for no limit.
	MaxRetry         *int32
	RetryPeriod      time.Duration
	MinHealthyPeriod time.Duration
}

// PolicyOf is the policy of a control plane.
func PolicyOf(spec controlplanev1.KubeadmControlPlaneRemediation) Policy {
	return Policy{
		MaxRetry:         spec.MaxRetry,
		RetryPeriod:      seconds(spec.RetryPeriodSeconds, 0),
		MinHealthyPeriod: seconds(spec.MinHealthyPeriodSeconds, defaultMinHealthyPeriod),
	}
}

func seconds(value *int32, fallback time.Duration) time.Duration {
	if value == nil {
		return fallback
	}
	return time.Duration(*value) * time.Second
}

// Verdict says whether a machine may be replaced.
type Verdict struct {
	Allowed bool
	// RetryCount is the count of the attempt, if it is allowed.
	RetryCount int32
	// Exhausted is set when no later attempt will be allowed either.
	Exhausted bool
	// After is when to ask again, if time alone will help.
	After time.Duration
}

// Judge says whether a machine may be replaced that was itself made to replace another one; previous is nil for other
// machines. A machine that was healthy for long enough starts a new count.
func (p Policy) Judge(previous *Record, now time.Time) Verdict {
	if previous == nil || !previous.Timestamp.Add(p.MinHealthyPeriod).After(now) {
		return Verdict{Allowed: true}
	}
	if wait := previous.Timestamp.Add(p.RetryPeriod).Sub(now); wait > 0 {
		return Verdict{After: wait}
	}
	if p.MaxRetry != nil && previous.RetryCount >= *p.MaxRetry {
		return Verdict{Exhausted: true}
	}
	return Verdict{Allowed: true, RetryCount: previous.RetryCount + 1}
}
