package plane

import (
	"context"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/slipway-capi/slipway/internal/filelock"
	"github.com/slipway-capi/slipway/internal/supervise"
)

// Supervise runs the plane of a folder in this process until the context ends. Each change is written to status.json and
// handed to report, which may be nil.
func Supervise(ctx context.Context, folder Folder, report func(Status)) error {
	if err := os.MkdirAll(folder.etcdBackups(), 0o700); err != nil {
		return fmt.Errorf("making the state folder: %w", err)
	}
	lock, err := filelock.Try(folder.lock())
	if err != nil {
		return fmt.Errorf("a plane runs already: %w", err)
	}
	defer func() { _ = lock.Release() }()
	board := &board{folder: folder, report: report, status: Status{
		Phase: Starting, Supervisor: os.Getpid(), Started: time.Now(), Kubeconfig: folder.Kubeconfig(),
	}}
	supervisor := &supervise.Supervisor{Changed: func(states []supervise.State) {
		board.change(func(s *Status) { s.Processes = states })
	}}
	board.change(func(*Status) {})
	err = run(ctx, folder, supervisor, board)
	supervisor.Stop([]string{etcd}, []string{apiServer}, []string{controllerManager})
	board.change(func(s *Status) {
		// Without its number, since the next plane of this folder may be run by a process of the same number, and what this
		// one said last is not the word of the next.
		s.Phase, s.Supervisor = Stopped, 0
		if err != nil {
			s.Phase, s.Failure = Failed, err.Error()
		}
	})
	return err
}

func run(ctx context.Context, folder Folder, supervisor *supervise.Supervisor, board *board) error {
	var config Config
	if err := readJSON(folder.config(), &config); err != nil {
		return fmt.Errorf("reading the configuration: %w", err)
	}
	p, err := prepare(folder, config)
	if err != nil {
		return err
	}
	board.change(func(s *Status) { s.Server, s.Ports, s.Notes = p.ports.URL(portAPI), p.ports, p.notes })
	if err := boot(ctx, p, supervisor, board.step); err != nil {
		if ctx.Err() != nil {
			return nil // told to stop while starting
		}
		return err
	}
	board.change(func(s *Status) { s.Phase, s.StartTook = Ready, time.Since(s.Started) })
	settle(ctx, supervisor)
	<-ctx.Done()
	board.change(func(s *Status) { s.Phase = Stopping })
	return nil
}

// board is the status that others see.
type board struct {
	folder Folder
	report func(Status)

	mutex  sync.Mutex
	status Status
}

func (b *board) change(change func(*Status)) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	change(&b.status)
	if err := writeJSON(b.folder.status(), b.status); err != nil {
		fmt.Fprintf(os.Stderr, "writing the status: %v\n", err)
	}
	if b.report != nil {
		b.report(b.status)
	}
}

func (b *board) step(step Step) {
	b.change(func(s *Status) {
		if step.Done {
			s.Steps[len(s.Steps)-1] = step
			return
		}
		s.Steps = append(s.Steps, step)
	})
}
