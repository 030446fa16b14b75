package docker

import (
	"context"
	"errors"
	"io"
	"net/netip"
)

// ErrNotFound says that a container, image or file does not exist.
var ErrNotFound = errors.New("not found")

// Engine is what this package needs of a container engine. Containers are named by name.
type Engine interface {
	// List returns the containers, running or not, that have all the labels, by name.
	List(ctx context.Context, labels map[string]string) ([]Container, error)
	// Inspect returns one container; ErrNotFound if there is none.
	Inspect(ctx context.Context, name string) (Container, error)
	// Create makes a container without starting it.
	Create(ctx context.Context, spec ContainerSpec) error
	// Start starts a container; nothing happens if it runs.
	Start(ctx context.Context, name string) error
	// Remove takes a container and its anonymous volumes away, running or not; nothing happens if there is none.
	Remove(ctx context.Context, name string) error
	// Signal sends a signal to the first process of a container.
	Signal(ctx context.Context, name, signal string) error
	// Exec runs a command in a container to its end. A command that fails is no error: the result has its status.
	Exec(ctx context.Context, name string, command Command) (Result, error)
	// ReadFile returns a file of a container; ErrNotFound if there is none.
	ReadFile(ctx context.Context, name, path string) ([]byte, error)
	// WriteFile writes a file into a container, which need not run. It is not atomic.
	WriteFile(ctx context.Context, name, path string, content []byte) error
	// HasImage says whether the engine holds an image.
	HasImage(ctx context.Context, image string) (bool, error)
	// Pull fetches an image from its registry.
	Pull(ctx context.Context, image string) error
	// Save returns an image as an archive.
	Save(ctx context.Context, image string) (io.ReadCloser, error)
	// EnsureNetwork makes a bridge network unless there is one of the name, and returns it.
	EnsureNetwork(ctx context.Context, name string) (Network, error)
	// Machine describes the engine's host.
	Machine(ctx context.Context) (MachineInfo, error)
}

// Container is what the engine knows about one container.
type Container struct {
	Name    string
	Image   string
	Labels  map[string]string
	Running bool
	// Status is the engine's word for the state of a container: created, running, exited.
	Status string
	// IPv4 and IPv6 are its addresses in the network it was made for; empty unless it runs.
	IPv4, IPv6 string
	// FixedIPv4 is the address that is kept for it, whether it runs or not; empty if the engine chooses one at each start.
	FixedIPv4 string
}

// MachineInfo is what every container of an engine finds.
type MachineInfo struct {
	// CPUs counts the processors.
	CPUs int
	// Memory is in bytes.
	Memory int64
	// Architecture is named as Go and Kubernetes do: amd64, arm64.
	Architecture string
}

// ContainerSpec is how a container is made.
type ContainerSpec struct {
	Name, Image, Network string
	// IPv4 is its address for good; not valid lets the engine choose one at each start.
	IPv4                netip.Addr
	Labels              map[string]string
	Entrypoint, Command []string
	Environment         []string
	Mounts              []Mount
	// Ports are those to publish at random ports of the host.
	Ports []Port
	// Node asks for what systemd and a kubelet need: privileges, temporary file systems, a volume for /var.
	Node bool
}

// Mount binds a path of the engine's host into the container.
type Mount struct {
	Host, Container string
	ReadOnly        bool
}

// Port is a port to publish. An empty address means all addresses.
type Port struct {
	Container uint16
	Address   string
}

// Command is what to run in a container.
type Command struct {
	Args  []string
	Stdin io.Reader
}

// Result is what a command left behind. The outputs hold at most the last outputLimit bytes.
type Result struct {
	Status         int
	Stdout, Stderr string
}

// outputLimit bounds how much of a command's output is kept.
const outputLimit = 1 << 20

// shell is a command for the shell.
func shell(script string) Command { return Command{Args: []string{"/bin/sh", "-c", script}} }
