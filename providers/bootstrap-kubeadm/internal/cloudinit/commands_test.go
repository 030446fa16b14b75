package cloudinit

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	bootstrapv1 "github.com/slipway-capi/slipway/providers/bootstrap-kubeadm/api/v1beta2"
	"github.com/slipway-capi/slipway/providers/bootstrap-kubeadm/internal/firstboot"
)

// Conformance: KB-82
func TestCommandsAfterAFailure(t *testing.T) {
	for _, row := range []struct {
		name, kubeadm string
		sentinel      bool
	}{
		{"kubeadm succeeds", "exit 0", true},
		{"kubeadm fails", "exit 1", false},
	} {
		t.Run(row.name, func(t *testing.T) {
			dir := t.TempDir()
			require.NoError(t, os.WriteFile(filepath.Join(dir, "kubeadm"), []byte("#!/bin/sh\necho kubeadm \"$@\" >>"+dir+"/log\n"+row.kubeadm+"\n"), 0o755))
			in := firstboot.Input{Verb: firstboot.Join, PreCommands: []string{"echo pre >>" + dir + "/log"}, PostCommands: []string{"echo post >>" + dir + "/log"}}
			// cloud-init makes one script of the list.
			script := strings.ReplaceAll(strings.Join(parse(t, render(t, in)).RunCmd, "\n"), firstboot.Sentinel, dir+"/sentinel")
			command := exec.Command("sh", "-c", script)
			command.Env = []string{"PATH=" + dir + ":" + os.Getenv("PATH")}
			out, err := command.CombinedOutput()
			require.NoError(t, err, "%s", out)
			log, err := os.ReadFile(filepath.Join(dir, "log"))
			require.NoError(t, err)
			assert.Equal(t, "pre\nkubeadm join --config /run/kubeadm/kubeadm-join-config.yaml\npost\n", string(log))
			content, _ := os.ReadFile(filepath.Join(dir, "sentinel"))
			assert.Equal(t, row.sentinel, string(content) == "success\n", "%q", content)
		})
	}
}

// Conformance: KB-83
func TestLaterFilesWin(t *testing.T) {
	for verb, document := range map[firstboot.Verb]string{firstboot.Init: initDocument, firstboot.Join: joinDocument} {
		p := parse(t, render(t, firstboot.Input{Verb: verb, Kubeadm: "ours", Certificates: []bootstrapv1.File{{Path: "/pki/ca.crt", Content: "ours"}},
			Files: []bootstrapv1.File{{Path: "/pki/ca.crt", Content: "theirs"}, {Path: document, Content: "theirs"}}}))
		disk := map[string]string{}
		for _, f := range p.WriteFiles {
			disk[f.Path] = f.Content
		}
		assert.Equal(t, []string{"theirs", "ours"}, []string{disk["/pki/ca.crt"], disk[document]})
	}
}
