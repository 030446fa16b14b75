package plane

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"

	"github.com/slipway-capi/slipway/internal/supervise"
)

// ErrOtherConfig says that the plane runs with another configuration than the one asked for.
var ErrOtherConfig = errors.New("the plane runs with another configuration; `slipway down` it first (its data is kept)")

// poll is how often a command looks at the status of a plane that starts or stops.
const poll = 50 * time.Millisecond

// Up starts a supervisor with the command given and returns when the plane is ready. A plane that runs already is left alone.
// Each new step is handed to report when it is done, and each 15 seconds until then.
func Up(ctx context.Context, folder Folder, config Config, supervisor []string, report func(Step)) (Status, error) {
	status, err := Read(folder)
	if err != nil {
		return status, err
	}
	if status.Supervisor == 0 {
		if err := Configure(folder, config); err != nil {
			return status, err
		}
		if err := detach(folder, supervisor); err != nil {
			return status, err
		}
	} else if err := sameConfig(folder, config); err != nil {
		return status, err
	}
	return follow(ctx, folder, report)
}

// Configure stores what the plane of a folder shall run.
func Configure(folder Folder, config Config) error {
	if err := errors.Join(config.Validate(), folder.Check()); err != nil {
		return err
	}
	if err := os.MkdirAll(string(folder), 0o700); err != nil {
		return fmt.Errorf("making the state folder: %w", err)
	}
	// What the last plane said must not be taken for the word of the next.
	if err := os.Remove(folder.status()); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return writeJSON(folder.config(), config)
}

func sameConfig(folder Folder, config Config) error {
	var running Config
	if err := readJSON(folder.config(), &running); err != nil {
		return fmt.Errorf("reading the running configuration: %w", err)
	}
	// As documents, since an empty list and none are the same there.
	a, err := json.Marshal(running)
	if err != nil {
		return err
	}
	b, err := json.Marshal(config)
	if err != nil {
		return err
	}
	if !bytes.Equal(a, b) {
		return ErrOtherConfig
	}
	return nil
}

// detach starts the supervisor in a session of its own, so that it outlives this command and its terminal.
func detach(folder Folder, command []string) error {
	path := folder.Log("supervisor")
	if err := os.MkdirAll(folder.path("logs"), 0o700); err != nil {
		return err
	}
	log, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("opening the supervisor's log: %w", err)
	}
	defer log.Close()
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Dir = "/"
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("starting the supervisor: %w", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	// Until it holds the lock, only its end tells that something went wrong.
	for {
		status, err := Read(folder)
		if err != nil {
			return err
		}
		if status.Supervisor != 0 {
			return nil
		}
		select {
		case err := <-ended:
			if status.Phase == Failed {
				return nil // follow tells
			}
			return fmt.Errorf("the supervisor ended at once (%v):\n%s", err, supervise.Tail(path, 5))
		case <-time.After(poll):
		}
	}
}

// heartbeat is how long nothing is reported at most.
const heartbeat = 15 * time.Second

// follow hands every new step to report until the plane is ready or has failed.
func follow(ctx context.Context, folder Folder, report func(Step)) (Status, error) {
	told, begun, beats := 0, time.Now(), time.Duration(1)
	for {
		status, err := Read(folder)
		if err != nil {
			return status, err
		}
		for ; told < len(status.Steps) && status.Steps[told].Done; told++ {
			report(status.Steps[told])
			begun, beats = time.Now(), 1
		}
		if took := time.Since(begun); took > beats*heartbeat && told < len(status.Steps) {
			step := status.Steps[told]
			step.Took = took
			report(step)
			beats++
		}
		switch status.Phase {
		case Ready:
			return status, nil
		case Failed:
			return status, fmt.Errorf("the plane did not start: %s", status.Failure)
		case Stopped, Stopping:
			return status, errors.New("the plane was stopped while it started")
		}
		select {
		case <-ctx.Done():
			return status, ctx.Err()
		case <-time.After(poll):
		}
	}
}

// Down stops the plane of a folder and returns when it is gone. It says whether there was one.
func Down(ctx context.Context, folder Folder) (bool, error) {
	found := false
	for {
		status, err := Read(folder)
		if err != nil || status.Supervisor == 0 {
			return found, err
		}
		if !found {
			if err := syscall.Kill(status.Supervisor, syscall.SIGTERM); err != nil && !errors.Is(err, syscall.ESRCH) {
				return true, fmt.Errorf("stopping the supervisor: %w", err)
			}
			found = true
		}
		select {
		case <-ctx.Done():
			return found, fmt.Errorf("waiting for the supervisor to end: %w", ctx.Err())
		case <-time.After(poll):
		}
	}
}
