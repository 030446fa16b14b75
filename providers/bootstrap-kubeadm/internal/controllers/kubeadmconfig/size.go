package kubeadmconfig

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/slipway-capi/slipway/providers/bootstrap-kubeadm/internal/firstboot"
)

// maxContent is what a Secret holds, less some room for the format beside the document.
const maxContent = corev1.MaxSecretSize - 64

// tooLargeRetry is how often a document that does not fit is written anew: its files may come from Secrets, which nobody watches.
const tooLargeRetry = 5 * time.Minute

// tooLargeError is about a document that does not fit into a Secret. Only a user can make it smaller.
type tooLargeError struct {
	size    int
	part    string
	portion int
}

// Error implements error.
func (e tooLargeError) Error() string {
	return fmt.Sprintf("the first-boot document has %d bytes, and a Secret holds %d: make it smaller; the largest part is %s with %d bytes", e.size, maxContent, e.part, e.portion)
}

// fitting is the document, if it fits.
func fitting(content []byte, in firstboot.Input, err error) ([]byte, error) {
	if err != nil || len(content) <= maxContent {
		return content, err
	}
	e := tooLargeError{size: len(content), part: "the kubeadm configuration", portion: len(in.Kubeadm)}
	larger := func(part string, portion int) {
		if portion > e.portion {
			e.part, e.portion = part, portion
		}
	}
	for _, f := range in.Certificates {
		larger("file "+f.Path, len(f.Content))
	}
	for _, f := range in.Files {
		larger("file "+f.Path, len(f.Content))
	}
	for part, commands := range map[string][]string{"bootCommands": in.BootCommands, "preKubeadmCommands": in.PreCommands, "postKubeadmCommands": in.PostCommands} {
		total := 0
		for _, c := range commands {
			total += len(c)
		}
		larger(part, total)
	}
	return nil, e
}
