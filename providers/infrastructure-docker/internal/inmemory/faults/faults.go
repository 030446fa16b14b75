// Package faults says what goes wrong in a simulated cluster, and makes it go wrong. A plan is text that a user writes into an
// annotation; the same plan gives the same faults, whenever and wherever it runs.
package faults

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"path"
	"slices"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Plan is what goes wrong. Its zero value is a cluster without faults.
type Plan struct {
	// Delay is how long the API server takes for each answer.
	Delay metav1.Duration `json:"delay,omitzero"`
	// ErrorRate is the share of requests that the API server answers with 503, from 0 to 1.
	ErrorRate float64 `json:"errorRate,omitempty"`
	// Outage says that nothing answers, as if the network were cut.
	Outage bool `json:"outage,omitempty"`
	// LostMembers are the machines whose etcd members do not answer. Without a majority the API server fails too.
	LostMembers []string `json:"lostMembers,omitempty"`
	// FailedBoots are machines that never make a Node of themselves. It counts for those that have not done so yet.
	FailedBoots []FailedBoot `json:"failedBoots,omitempty"`
}

// FailedBoot says which machines fail at their first boot, and what they have to say about it.
type FailedBoot struct {
	// Machines is a pattern of names, such as quickstart-workers-*.
	Machines string `json:"machines"`
	// Step is what fails; kubeadm join if empty.
	Step string `json:"step,omitempty"`
	// Output is what it prints, from which the cause is found.
	Output string `json:"output,omitempty"`
}

// Boot is how a machine fails at its first boot; nil if it does not.
func (p Plan) Boot(machine string) *FailedBoot {
	for i := range p.FailedBoots {
		if yes, err := path.Match(p.FailedBoots[i].Machines, machine); err == nil && yes {
			return &p.FailedBoots[i]
		}
	}
	return nil
}

// maxDelay is longer than any client waits.
const maxDelay = 5 * time.Minute

// Parse reads a plan; an empty text is no fault.
func Parse(text string) (Plan, error) {
	var p Plan
	if text == "" {
		return p, nil
	}
	decoder := json.NewDecoder(bytes.NewBufferString(text))
	decoder.DisallowUnknownFields()
	switch err := decoder.Decode(&p); {
	case err != nil:
		return Plan{}, fmt.Errorf(`must be an object such as {"delay":"50ms","errorRate":0.1,"outage":false,"lostMembers":["name"]}: %w`, err)
	case p.ErrorRate < 0 || p.ErrorRate > 1:
		return Plan{}, fmt.Errorf("errorRate must be between 0 and 1, but is %v", p.ErrorRate)
	case p.Delay.Duration < 0 || p.Delay.Duration > maxDelay:
		return Plan{}, fmt.Errorf("delay must be between 0 and %s, but is %s", maxDelay, p.Delay.Duration)
	}
	for i := range p.FailedBoots {
		boot := &p.FailedBoots[i]
		if _, err := path.Match(boot.Machines, ""); err != nil || boot.Machines == "" {
			return Plan{}, fmt.Errorf("failedBoots[%d].machines must be a pattern of names such as %q, but is %q", i, "workers-*", boot.Machines)
		}
		if boot.Step == "" {
			boot.Step = "kubeadm join"
		}
	}
	return p, nil
}

// Equal compares two plans.
func (p Plan) Equal(q Plan) bool {
	return p.Delay == q.Delay && p.ErrorRate == q.ErrorRate && p.Outage == q.Outage && slices.Equal(p.LostMembers, q.LostMembers) &&
		slices.Equal(p.FailedBoots, q.FailedBoots)
}

// Injector makes the faults of a plan happen to requests. The zero value has no plan.
type Injector struct {
	plan     atomic.Pointer[Plan]
	requests atomic.Uint64
	// Broken, if set, says why the API server cannot work at all.
	Broken func() string
}

// Set replaces the plan.
func (i *Injector) Set(p Plan) { i.plan.Store(&p) }

// Plan is the present one.
func (i *Injector) Plan() Plan {
	if p := i.plan.Load(); p != nil {
		return *p
	}
	return Plan{}
}

// Handler delays requests and fails some of them before they reach the next handler.
func (i *Injector) Handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		p := i.Plan()
		if p.Delay.Duration > 0 {
			timer := time.NewTimer(p.Delay.Duration)
			defer timer.Stop()
			select {
			case <-timer.C:
			case <-req.Context().Done():
				return
			}
		}
		reason := ""
		if i.Broken != nil {
			reason = i.Broken()
		}
		if reason == "" && p.ErrorRate > 0 && fails(i.requests.Add(1), p.ErrorRate) {
			reason = "the fault plan of the cluster fails this request"
		}
		if reason != "" {
			refuse(w, reason)
			return
		}
		next.ServeHTTP(w, req)
	})
}

// fails spreads failures evenly over the requests: of any n in a row about n times the rate fail, always the same ones.
func fails(n uint64, rate float64) bool {
	return uint64(float64(n)*rate) != uint64(float64(n-1)*rate)
}

func refuse(w http.ResponseWriter, reason string) {
	status := apierrors.NewServiceUnavailable(reason).Status()
	status.TypeMeta = metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusServiceUnavailable)
	_ = json.NewEncoder(w).Encode(status) // the client may be gone
}
