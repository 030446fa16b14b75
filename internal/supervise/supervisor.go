package supervise

import (
	"context"
	"fmt"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"
)

// Supervisor runs children. Its zero value is ready for use.
type Supervisor struct {
	// Changed is called after the state of a child changed; it must not call back. It may be nil.
	Changed func([]State)

	mutex    sync.Mutex
	children []*child
}

type child struct {
	process Process
	cancel  context.CancelFunc
	ended   chan struct{}
	state   State
}

// Start starts a child and keeps it running until Stop. It returns once the first start was tried; later ones are retried.
func (s *Supervisor) Start(p Process) error {
	s.mutex.Lock()
	if slices.ContainsFunc(s.children, func(c *child) bool { return c.process.Name == p.Name }) {
		s.mutex.Unlock()
		return fmt.Errorf("a child named %s runs already", p.Name)
	}
	ctx, cancel := context.WithCancel(context.Background())
	c := &child{process: p, cancel: cancel, ended: make(chan struct{}), state: State{Name: p.Name, Log: p.Log}}
	s.children = append(s.children, c)
	s.mutex.Unlock()
	first := make(chan error, 1)
	go s.keep(ctx, c, first)
	return <-first
}

// keep is the life of a child: run, wait, run again.
func (s *Supervisor) keep(ctx context.Context, c *child, first chan<- error) {
	// The kernel's "parent died" signal is bound to the thread that started the child, so that thread must stay.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer close(c.ended)
	deaths := 0
	for ctx.Err() == nil {
		began := time.Now()
		cmd, err := c.process.start()
		if err == nil {
			s.update(c, func(st *State) { st.PID, st.Started = cmd.Process.Pid, began })
		}
		if first != nil {
			first <- err
			first = nil
		}
		if err == nil {
			err = c.wait(ctx, cmd)
		}
		var wait time.Duration
		wait, deaths = backoff(deaths, time.Since(began))
		s.update(c, func(st *State) { st.PID, st.LastExit = 0, describe(err) })
		if ctx.Err() == nil {
			sleep(ctx, wait)
			s.update(c, func(st *State) { st.Restarts++ })
		}
	}
}

// wait returns when the child has ended, ending it first when the context is done.
func (c *child) wait(ctx context.Context, cmd *exec.Cmd) error {
	done := make(chan struct{})
	var err error
	go func() {
		err = cmd.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-ctx.Done():
		c.process.stop(cmd, done)
	}
	return err
}

func (s *Supervisor) update(c *child, change func(*State)) {
	s.mutex.Lock()
	change(&c.state)
	s.mutex.Unlock()
	if s.Changed != nil {
		s.Changed(s.States())
	}
}

// States tells about every child in the order of their start.
func (s *Supervisor) States() []State {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	states := make([]State, 0, len(s.children))
	for _, c := range s.children {
		states = append(states, c.state)
	}
	return states
}

// Get tells about one child.
func (s *Supervisor) Get(name string) (State, bool) {
	for _, state := range s.States() {
		if state.Name == name {
			return state, true
		}
	}
	return State{}, false
}

// Stop ends all children: those of the last group first, the children of one group at the same time. Children that are
// named in no group are ended before all others.
func (s *Supervisor) Stop(groups ...[]string) {
	s.mutex.Lock()
	remaining := slices.Clone(s.children)
	s.mutex.Unlock()
	var ordered [][]*child
	for _, names := range groups {
		var group []*child
		remaining = slices.DeleteFunc(remaining, func(c *child) bool {
			if slices.Contains(names, c.process.Name) {
				group = append(group, c)
				return true
			}
			return false
		})
		ordered = append(ordered, group)
	}
	for _, group := range slices.Backward(append(ordered, remaining)) {
		for _, c := range group {
			c.cancel()
		}
		for _, c := range group {
			<-c.ended
		}
	}
}

func sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

func describe(err error) string {
	if err == nil {
		return "exit status 0"
	}
	return err.Error()
}

func lastLines(text string, n int) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}
