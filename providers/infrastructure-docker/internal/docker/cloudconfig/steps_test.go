package cloudconfig_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/slipway-capi/slipway/providers/infrastructure-docker/internal/docker/cloudconfig"
)

// TestScriptNotesItsSteps: each step has its name in the bootstrap configuration, its status, and its part of the log.
func TestScriptNotesItsSteps(t *testing.T) {
	t.Setenv("PATH", fakeKubeadm(t)+":"+os.Getenv("PATH"))
	d := cloudconfig.Document{
		BootCommands: []string{"echo early"},
		Files:        []cloudconfig.File{{Path: "/proc/not\there/x", Content: []byte("a")}},
		RunCommands:  []string{"echo before; (exit 3)", "kubeadm join --config x && echo success", "end() { :; }; echo after", "exit 4", "never"},
	}
	root, result := runScript(t, d)
	content, err := os.ReadFile(root + "/state/steps")
	require.NoError(t, err)
	log, err := os.ReadFile(root + "/state/log")
	require.NoError(t, err)
	type seen struct {
		name   string
		status int
		output string
	}
	var got []seen
	for _, s := range cloudconfig.Steps(string(content)) {
		assert.True(t, s.Ended, s.Name)
		to := s.To
		if to < 0 {
			to = int64(len(log))
		}
		output := string(log[s.From:to])
		if strings.HasPrefix(s.Name, "writing") {
			output = "" // the shell's own words
		}
		got = append(got, seen{s.Name, s.Status, output})
	}
	assert.Equal(t, []seen{
		{"bootCommands[0]", 0, "early\n"}, {"writing file /proc/not here/x", 1, ""}, {"preKubeadmCommands[0]", 3, "before\n"},
		{"kubeadm join", 1, "error execution phase preflight\n"}, {"postKubeadmCommands[0]", 0, "after\n"}, {"postKubeadmCommands[1]", 4, ""},
	}, got)
	assert.Equal(t, "failed\nwriting file /proc/not here/x ended with status 1\npreKubeadmCommands[0] ended with status 3\nkubeadm join ended with status 1\nruncmd ended early with status 4\n", result)
}

func fakeKubeadm(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	require.NoError(t, os.WriteFile(folder+"/kubeadm", []byte("#!/bin/sh\necho error execution phase preflight\nexit 1\n"), 0o700))
	return folder
}

func TestStepsOfAMachineThatDied(t *testing.T) {
	steps := cloudconfig.Steps("begin\ta\t0\nend\t0\nend\t7\nbegin\tb\t5\nbegin\tc\tx\nend\tx\nbeg")
	assert.Equal(t, []cloudconfig.Step{{Name: "a", To: 5, Ended: true}, {Name: "b", From: 5, To: -1}}, steps)
	assert.Empty(t, cloudconfig.Steps(""))
}

func FuzzSteps(f *testing.F) {
	f.Add("begin\ta\t0\nend\t1\nbegin\tb\t-5\n")
	f.Fuzz(func(t *testing.T, text string) {
		for _, s := range cloudconfig.Steps(text) {
			assert.GreaterOrEqual(t, s.From, int64(0))
			assert.True(t, s.To == -1 || s.To >= s.From)
		}
	})
}

func TestSecretsOfADocument(t *testing.T) {
	d := parse(t, "#cloud-config\nwrite_files: [{path: /a, encoding: b64, content: aHVudGVyMg==}]\nusers: [{name: u, passwd: $6$x}]\nbootcmd: [a]\nruncmd: [b]\n")
	files, texts := d.Secrets()
	assert.Equal(t, [][]byte{[]byte("hunter2"), []byte("$6$x")}, files)
	assert.Equal(t, [][]byte{[]byte("a"), []byte("b")}, texts)
}
