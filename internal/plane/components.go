package plane

import (
	"io/fs"
	"os"
	"path/filepath"

	coreconfig "github.com/slipway-capi/slipway/core/config"
	bootstrapconfig "github.com/slipway-capi/slipway/providers/bootstrap-kubeadm/config"
	controlplaneconfig "github.com/slipway-capi/slipway/providers/controlplane-kubeadm/config"
	dockerconfig "github.com/slipway-capi/slipway/providers/infrastructure-docker/config"
)

// Component is one manager and all that belongs to it.
type Component struct {
	// Name is the manager's name on the command line, in logs and in the state folder.
	Name string
	// Prefix starts the names of its cluster-wide objects, as in a management cluster of its own.
	Prefix string
	// Files are its generated manifests.
	Files fs.FS
	// Args are flags that only this manager knows, given where the plane keeps its state; nil is none.
	Args func(Folder) []string
}

// Components are the managers of a plane in the order of their installation.
func Components() []Component {
	return []Component{
		// Extensions run beside a plane, on the same machine.
		{Name: "core", Prefix: "capi-", Files: coreconfig.Files, Args: always(allowLocal)},
		{Name: "bootstrap-kubeadm", Prefix: "capi-kubeadm-bootstrap-", Files: bootstrapconfig.Files},
		{Name: "control-plane-kubeadm", Prefix: "capi-kubeadm-control-plane-", Files: controlplaneconfig.Files,
			Args: func(f Folder) []string { return []string{"--etcd-backup-root=" + f.etcdBackups(), allowLocal} }},
		{Name: "infrastructure-docker", Prefix: "capd-", Files: dockerconfig.Files, Args: always("--docker-network=" + dockerNetwork())},
	}
}

// allowLocal lets a manager call extensions on its own machine.
const allowLocal = "--runtime-extension-allow-local-addresses"

func always(args ...string) func(Folder) []string { return func(Folder) []string { return args } }

// dockerNetwork is that of the machines. The managers' own default is kind's network, which managers in a kind cluster need,
// being cut off from all others. In a network that kind has made, the engine gives out other addresses at each start, and a
// cluster does not outlive that; a plane's managers reach every network, so it has one whose addresses stay.
func dockerNetwork() string {
	if network := os.Getenv("DOCKER_NETWORK"); network != "" {
		return network
	}
	return "slipway"
}

func componentNames() []string {
	var names []string
	for _, c := range Components() {
		names = append(names, c.Name)
	}
	return names
}

func (c Component) binary(dir string) string {
	return filepath.Join(dir, "slipway-"+c.Name+"-manager")
}

// process is the name of its child process.
func (c Component) process() string { return c.Name }

// user is the name by which its manager is known to the API server.
func (c Component) user() string { return "slipway:" + c.Name }
