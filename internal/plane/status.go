package plane

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/slipway-capi/slipway/internal/filelock"
	"github.com/slipway-capi/slipway/internal/ports"
	"github.com/slipway-capi/slipway/internal/supervise"
)

// Phase is how far a plane is.
type Phase string

// The phases of a plane.
const (
	Stopped  Phase = "Stopped"
	Starting Phase = "Starting"
	Ready    Phase = "Ready"
	Stopping Phase = "Stopping"
	// Failed planes have told why and stopped again.
	Failed Phase = "Failed"
)

// Step is a part of the start.
type Step struct {
	Name string        `json:"name"`
	Done bool          `json:"done,omitempty"`
	Took time.Duration `json:"took,omitempty"`
}

// Status is what the supervisor tells about its plane.
type Status struct {
	Phase Phase `json:"phase"`
	// Supervisor is its process id; 0 while the plane does not run.
	Supervisor int       `json:"supervisor,omitempty"`
	Started    time.Time `json:"started,omitzero"`
	// StartTook is how long the last start took until everything was ready.
	StartTook time.Duration     `json:"startTook,omitempty"`
	Steps     []Step            `json:"steps,omitempty"`
	Processes []supervise.State `json:"processes,omitempty"`
	Failure   string            `json:"failure,omitempty"`
	// Notes are what people should know about this start.
	Notes []string `json:"notes,omitempty"`

	Server     string    `json:"server,omitempty"`
	Kubeconfig string    `json:"kubeconfig,omitempty"`
	Ports      ports.Set `json:"ports,omitempty"`
}

// Usage is what a process uses.
type Usage struct {
	// Resident is the memory in bytes that is in RAM, shared pages of the program file included.
	Resident int64 `json:"resident"`
	// CPU is the processor time since the start.
	CPU time.Duration `json:"cpu"`
}

// Read tells about the plane of a folder. A plane whose supervisor is gone is Stopped, whatever it wrote last.
func Read(folder Folder) (Status, error) {
	var status Status
	err := readJSON(folder.status(), &status)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return status, fmt.Errorf("reading the status: %w", err)
	}
	holder, err := filelock.Holder(folder.lock())
	if err != nil {
		return status, fmt.Errorf("asking who runs the plane: %w", err)
	}
	if holder == 0 {
		if status.Phase != Failed {
			status = Status{Phase: Stopped}
		}
		status.Supervisor, status.Processes = 0, nil
		return status, nil
	}
	if status.Supervisor != holder {
		// The new supervisor has not written yet.
		return Status{Phase: Starting, Supervisor: holder}, nil
	}
	return status, nil
}

// Usages measures the supervisor and its children, by name.
func (s Status) Usages() map[string]Usage {
	usages := map[string]Usage{}
	pids := map[string]int{"supervisor": s.Supervisor}
	for _, p := range s.Processes {
		pids[p.Name] = p.PID
	}
	for name, pid := range pids {
		if u, err := usage(pid); pid != 0 && err == nil {
			usages[name] = u
		}
	}
	return usages
}

// Outdated names the processes whose programs have been built again since they were started, where the system tells.
func (s Status) Outdated() []string {
	var names []string
	if s.Supervisor != 0 && replaced(s.Supervisor) {
		names = append(names, "supervisor")
	}
	for _, p := range s.Processes {
		if p.PID != 0 && replaced(p.PID) {
			names = append(names, p.Name)
		}
	}
	return names
}
