// Package lifecycle decides which hooks of the life of a cluster are due, and what holds until their extensions agree. The decision is
// pure: it names the next question until all are answered, and Settle asks them. What has been asked, and what must still be told, is
// kept in annotations of the Cluster, so that an interruption loses nothing: a hook that comes after something is noted before that
// begins.
package lifecycle

import (
	"context"
	"fmt"
	"slices"

	"github.com/slipway-capi/slipway/contract/extension/answers"
	"github.com/slipway-capi/slipway/contract/extension/hook"
	"github.com/slipway-capi/slipway/core/internal/topology/upgrade"
)

// World is what the hooks of one Cluster depend on.
type World struct {
	// Created says that the Cluster has, or had, objects of its topology; Initialized that its API has answered once.
	Created, Initialized bool
	// Pending names the hooks that must still be told, as the Cluster has noted them.
	Pending []string
	// Step is the version that the control plane was last told to take, as the Cluster has noted it.
	Step string
	// Held names what holds upgrades of this Cluster back by hand; empty if nothing does.
	Held string
	// Off says that extensions are off: nothing is asked or noted but the step.
	Off bool
	// Upgrade is the world of versions, without holds.
	Upgrade upgrade.World

	// answered is what extensions have said so far.
	answered map[question]answers.Wait
}

// question tells the calls of one decision apart: no hook is called twice for one version.
type question struct{ hook, to string }

// Call is a question to, or news for, the extensions.
type Call struct {
	Hook string
	// From and To are the versions of an upgrade. Of hooks that come after something, To is the version that was reached.
	From, To string
	// ControlPlane and Workers are the versions that they still go through, this one included.
	ControlPlane, Workers []string
}

// Ask puts a call to all extensions that have a handler for it.
type Ask func(ctx context.Context, call Call) (answers.Wait, error)

// Decision is what holds now.
type Decision struct {
	// Pending and Step are what the Cluster must note before anything of the upgrade is done.
	Pending []string
	Step    string
	// Hold and HoldWorkers keep control plane and workers from upgrading; they say why.
	Hold, HoldWorkers string
	// HoldCreation says that the objects must not be made yet.
	HoldCreation bool
	// Waits lists the hooks that make the cluster wait, with what their handlers say.
	Waits []Wait
	// AfterSeconds is when to ask again; zero if there is nothing to ask.
	AfterSeconds int32

	// due is a question that must be answered first; with one, nothing else in the decision counts.
	due *Call
}

// Wait is a hook that makes the cluster wait.
type Wait struct{ Hook, Message string }

// String tells users who makes them wait.
func (w Wait) String() string {
	return fmt.Sprintf("Hook %s makes the cluster wait (%s)", w.Hook, w.Message)
}

// Settle asks what is due, one question after the other, until nothing is, and returns what holds then. The first call that fails
// ends it.
func Settle(ctx context.Context, w World, ask Ask) (Decision, error) {
	w.answered = map[question]answers.Wait{}
	for {
		d := decide(w)
		if d.due == nil {
			return d, nil
		}
		wait, err := ask(ctx, *d.due)
		if err != nil {
			return d, err
		}
		w.answered[question{d.due.Hook, d.due.To}] = wait
	}
}

// run is a decision in the making.
type run struct {
	Decision
	w World
}

// decide says what holds, or what must be asked first.
func decide(w World) Decision {
	r := &run{w: w, Decision: Decision{Pending: slices.Clone(w.Pending), Step: w.Step}}
	if !w.Created {
		r.create()
		return r.Decision
	}
	for _, stage := range []func(){r.initialized, r.controlPlaneDone, r.workersDone, r.doneBefore, r.begin, r.workersBegin, r.done} {
		if stage(); r.due != nil {
			break
		}
	}
	return r.Decision
}

// call says whether the way is free, and notes who makes the cluster wait. It is not free while nobody has been asked.
func (r *run) call(c Call) (free bool) {
	if r.w.Off {
		return true
	}
	wait, asked := r.w.answered[question{c.Hook, c.To}]
	if !asked {
		r.due = &c
		return false
	}
	if wait.AfterSeconds == 0 {
		return true
	}
	r.Waits = append(r.Waits, Wait{c.Hook, wait.Message})
	if r.AfterSeconds == 0 || wait.AfterSeconds < r.AfterSeconds {
		r.AfterSeconds = wait.AfterSeconds
	}
	return false
}

func (r *run) pending(name string) bool { return slices.Contains(r.Pending, name) }

// note adds a hook to those that must still be told.
func (r *run) note(name string) {
	if !r.pending(name) && !r.w.Off {
		r.Pending = append(r.Pending, name)
		slices.Sort(r.Pending)
	}
}

func (r *run) told(name string) {
	r.Pending = slices.DeleteFunc(r.Pending, func(p string) bool { return p == name })
}

func (r *run) create() {
	free := r.call(Call{Hook: hook.BeforeClusterCreate.Name})
	if r.HoldCreation = !free; free {
		r.note(hook.AfterControlPlaneInitialized.Name)
	}
}

func (r *run) initialized() {
	if r.w.Initialized && r.pending(hook.AfterControlPlaneInitialized.Name) && r.call(Call{Hook: hook.AfterControlPlaneInitialized.Name}) {
		r.told(hook.AfterControlPlaneInitialized.Name)
	}
}
