package docker

import (
	"context"
	"errors"
	"time"

	"github.com/slipway-capi/slipway/contract/bootstrapreport"
)

// Stage is how far a machine has come.
type Stage int

// The stages of a machine, in order.
const (
	// Idle: nothing runs for the machine in this process.
	Idle Stage = iota
	// Creating its container.
	Creating
	// Starting: systemd and containerd come up.
	Starting
	// Preloading images into its containerd.
	Preloading
	// Bootstrapping: its bootstrap data is carried out.
	Bootstrapping
	// Completed: it is done.
	Completed
)

// Progress is what is known of a machine on its way.
type Progress struct {
	Stage Stage
	// Err ended the stage; nil while it runs.
	Err error
	// RetryAt is when the machine may be started again; zero if that makes no sense.
	RetryAt time.Time
	// Report says why the machine does not come up, without secrets: the last failure, until its stage is over.
	Report *bootstrapreport.Report
	// Ignored are the keys of the bootstrap data that have no effect in a container.
	Ignored []string
}

// Terminal says that the machine has failed and no retry will help.
func (p Progress) Terminal() bool { return p.Err != nil && p.RetryAt.IsZero() }

// ErrBootstrap marks failures of the bootstrap itself: trying again on the same machine would not help.
var ErrBootstrap = errors.New("bootstrap failed")

const (
	firstRetry = 2 * time.Second
	lastRetry  = time.Minute
)

type task struct {
	progress Progress
	cancel   context.CancelFunc
	done     chan struct{}
	attempts int
	// failedAt is the stage of the report.
	failedAt Stage
}

// Progress returns what is known of a machine in this process.
func (h *Host) Progress(container string) Progress {
	h.mu.Lock()
	defer h.mu.Unlock()
	if t := h.tasks[container]; t != nil {
		return t.progress
	}
	return Progress{}
}

// Start brings a machine up in the background, from wherever it is: container, systemd, images, bootstrap. Nothing happens
// while that runs, or when it has ended for good. The bootstrap data is fetched only when it is needed.
func (h *Host) Start(ctx context.Context, s MachineSpec, data func(context.Context) ([]byte, error)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.tasks == nil {
		h.tasks = map[string]*task{}
	}
	t := h.tasks[s.Container()]
	if t == nil {
		t = &task{}
		h.tasks[s.Container()] = t
	} else if t.progress.Err == nil || t.progress.Terminal() || time.Now().Before(t.progress.RetryAt) {
		return
	}
	// The task outlives the reconcile that starts it.
	ctx, t.cancel = context.WithCancel(context.WithoutCancel(ctx))
	t.progress, t.done = Progress{Stage: Creating, Report: t.progress.Report}, make(chan struct{})
	t.attempts++
	go h.run(ctx, s, data, t)
}

func (h *Host) run(ctx context.Context, s MachineSpec, data func(context.Context) ([]byte, error), t *task) {
	defer close(t.done)
	defer t.cancel()
	report := func(change func(*Progress)) {
		h.mu.Lock()
		change(&t.progress)
		if t.progress.Stage > t.failedAt {
			t.progress.Report = nil // it got further than last time
		}
		h.mu.Unlock()
		if h.Changed != nil && ctx.Err() == nil {
			h.Changed(s.Key)
		}
	}
	err := h.bringUp(ctx, s, data, report)
	report(func(p *Progress) {
		p.Err = err
		switch {
		case err == nil:
			p.Stage, p.Report = Completed, nil
		case !errors.Is(err, ErrBootstrap):
			p.RetryAt = time.Now().Add(min(firstRetry<<min(t.attempts-1, 10), lastRetry))
		}
		if err != nil {
			p.Report, t.failedAt = explain(p.Stage, err), p.Stage
		}
	})
}

// cancel ends the task of a machine and waits for it.
func (h *Host) cancel(container string) {
	h.mu.Lock()
	t := h.tasks[container]
	delete(h.tasks, container)
	h.mu.Unlock()
	if t == nil {
		return
	}
	t.cancel()
	<-t.done
}
