// Package firstboot holds what the first-boot document of a machine is made of, whatever its format: the packages cloudinit
// and ignition write it.
package firstboot

import (
	"fmt"
	"strconv"

	bootstrapv1 "github.com/slipway-capi/slipway/providers/bootstrap-kubeadm/api/v1beta2"
)

const (
	// SentinelDirectory holds the file that tells the infrastructure provider that the boot succeeded.
	SentinelDirectory = "/run/cluster-api"
	// Sentinel is written by the boot script when kubeadm succeeded.
	Sentinel = SentinelDirectory + "/bootstrap-success.complete"
)

// Verb is what kubeadm does on the machine.
type Verb string

// The two verbs.
const (
	Init Verb = "init"
	Join Verb = "join"
)

// Input is everything that a machine's document is made of. Files are complete: their sources have been read.
type Input struct {
	Verb Verb
	// Kubeadm is the kubeadm configuration, one or two YAML documents.
	Kubeadm string
	// Certificates come before the user's files, so that a user's file of the same path wins.
	Certificates []bootstrapv1.File
	Files        []bootstrapv1.File
	// Users are complete: their passwords have been read.
	Users                     []bootstrapv1.User
	BootCommands              []string
	PreCommands, PostCommands []string
	NTP                       bootstrapv1.NTP
	Disks                     bootstrapv1.DiskSetup
	Mounts                    [][]string
	Verbosity                 *int32
}

// KubeadmCommand is the command that makes a node of the machine, with the configuration at the path.
func (in Input) KubeadmCommand(path string) string {
	verbosity := ""
	if in.Verbosity != nil {
		verbosity = " --v " + strconv.Itoa(int(*in.Verbosity))
	}
	return fmt.Sprintf("kubeadm %s --config %s%s", in.Verb, path, verbosity)
}
