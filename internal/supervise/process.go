package supervise

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// Process says how to run one child.
type Process struct {
	// Name is unique in a supervisor and names the log file.
	Name string
	Path string
	Args []string
	// Env is added to the supervisor's own environment.
	Env []string
	// Log is the file that receives the output; the one of the start before is kept with the suffix .1.
	Log string
	// Grace is how long the child may take to end after a signal; zero means ten seconds.
	Grace time.Duration
}

// State is what is known about a child.
type State struct {
	Name string `json:"name"`
	// PID is 0 while the child does not run.
	PID      int       `json:"pid,omitempty"`
	Started  time.Time `json:"started,omitzero"`
	Restarts int       `json:"restarts,omitempty"`
	// LastExit is how it ended the last time, in words.
	LastExit string `json:"lastExit,omitempty"`
	Log      string `json:"log,omitempty"`
}

// maxLog is the size at which a log is set aside when the child starts.
const maxLog = 16 << 20

func openLog(path string) (*os.File, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	if info, err := os.Stat(path); err == nil && info.Size() > maxLog {
		if err := os.Rename(path, path+".1"); err != nil {
			return nil, err
		}
	}
	return os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
}

func (p Process) start() (*exec.Cmd, error) {
	log, err := openLog(p.Log)
	if err != nil {
		return nil, fmt.Errorf("opening the log of %s: %w", p.Name, err)
	}
	defer log.Close()
	fmt.Fprintf(log, "--- %s starting %s\n", time.Now().UTC().Format(time.RFC3339), p.Name)
	cmd := exec.Command(p.Path, p.Args...)
	cmd.Env = append(os.Environ(), p.Env...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = childAttributes()
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting %s: %w", p.Name, err)
	}
	return cmd, nil
}

// stop ends a running child; ended is closed when it is gone.
func (p Process) stop(cmd *exec.Cmd, ended <-chan struct{}) {
	grace := p.Grace
	if grace == 0 {
		grace = 10 * time.Second
	}
	_ = cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-ended:
	case <-time.After(grace):
		_ = cmd.Process.Kill()
		<-ended
	}
}

// Tail returns the last lines of a log, at most n, so that an error can say why a child died.
func Tail(path string, n int) string {
	file, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer file.Close()
	const window = 8 << 10
	if info, err := file.Stat(); err == nil && info.Size() > window {
		_, _ = file.Seek(-window, io.SeekEnd)
	}
	content, err := io.ReadAll(file)
	if err != nil {
		return ""
	}
	return lastLines(string(content), n)
}
