package docker_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/slipway-capi/slipway/contract/bootstrapreport"
	"github.com/slipway-capi/slipway/providers/infrastructure-docker/internal/docker"
)

const secretive = "#cloud-config\nwrite_files:\n- path: /etc/licence\n  content: |\n    first\n    correcthorsebattery\nruncmd:\n- login --password=hunter2\n- kubeadm join\n"

// TestBlackBox: the step that failed first is told with its own output, the later ones in a line, and nothing of secrets.
func TestBlackBox(t *testing.T) {
	host, _, in := newHost("new", "failed\npreKubeadmCommands[0] ended with status 127")
	pre := "sh: 1: login: not found (correcthorsebattery, hunter2)\n"
	join := "[preflight] Running pre-flight checks\nerror: error execution phase preflight: couldn't validate the identity of the API Server: could not find a JWS signature in the cluster-info ConfigMap for token ID \"abcdef\"\n"
	in.log = "noise\n" + pre + join
	in.steps = fmt.Sprintf("begin\twriting file /etc/licence\t0\nend\t0\nbegin\tpreKubeadmCommands[0]\t6\nend\t127\nbegin\tkubeadm join\t%d\nend\t1\n", 6+len(pre))
	p := finish(t, host, machine(), secretive)
	require.True(t, p.Terminal())
	require.NotNil(t, p.Report)
	assert.Equal(t, bootstrapreport.CommandNotFound, p.Report.Cause)
	assert.Equal(t, "preKubeadmCommands[0] failed with status 127: sh: 1: login: not found ([redacted], [redacted])", p.Report.Headline())
	assert.Equal(t, "sh: 1: login: not found ([redacted], [redacted])\n"+strings.TrimSpace(join), p.Report.Output, "of both steps, without what was before")
	require.Len(t, p.Report.Then, 1)
	assert.Contains(t, p.Report.Then[0], "kubeadm join failed in phase preflight: couldn't validate")
	assert.False(t, p.Report.Retried)
}

// TestBlackBoxWhenTimeIsUp: what did not end comes first, with what the machine says about its services.
func TestBlackBoxWhenTimeIsUp(t *testing.T) {
	host, _, in := newHost("new") // it never ends
	in.log = "[kubelet-start] Starting the kubelet\n"
	in.steps = "begin\tpreKubeadmCommands[0]\t0\nend\t1\nbegin\tkubeadm join\t0\n"
	in.services = "service kubelet is activating\nE1203 run.go:72] \"command failed\" err=\"unknown flag: --nonsense\"\n"
	s := machine()
	s.Timeout = 50 * time.Millisecond
	p := finish(t, host, s, secretive)
	require.NotNil(t, p.Report)
	assert.Equal(t, bootstrapreport.KubeletUnhealthy, p.Report.Cause)
	assert.Equal(t, "kubeadm join failed in phase kubelet-start: the kubelet ended with: unknown flag: --nonsense", p.Report.Headline())
	assert.Contains(t, p.Report.Output, "unknown flag: --nonsense")
	assert.Len(t, p.Report.Then, 1)
}

// TestBlackBoxOfSilentMachines: a machine that says nothing takes nothing away from what is known.
func TestBlackBoxOfSilentMachines(t *testing.T) {
	for _, x := range []struct {
		state string
		cause bootstrapreport.Cause
		line  string
	}{
		{"failed\nruncmd ended early with status 4", "", "the bootstrap failed: bootstrap failed: runcmd ended early with status 4"},
		{"lost", bootstrapreport.Interrupted, "the bootstrap failed: bootstrap failed: it was cut short: it began and neither runs nor has a result; the container may have restarted meanwhile"},
	} {
		host, _, _ := newHost(x.state)
		p := finish(t, host, machine(), document)
		require.NotNil(t, p.Report)
		assert.Equal(t, x.cause, p.Report.Cause)
		assert.Equal(t, x.line, p.Report.Headline())
	}
}

func TestReportsOfEarlierStages(t *testing.T) {
	for _, x := range []struct {
		name    string
		change  func(*docker.MachineSpec, *docker.Host)
		data    string
		cause   bootstrapreport.Cause
		retried bool
		line    string
	}{
		{"image", func(s *docker.MachineSpec, _ *docker.Host) { s.Images = []string{"absent"} }, document, bootstrapreport.MachineImageUnavailable, true, "getting the image of the machine failed"},
		{"preload", func(s *docker.MachineSpec, _ *docker.Host) { s.PreloadImages = []string{"absent"} }, document, bootstrapreport.ContainerImageUnavailable, true, "loading images failed"},
		{"data", nil, "#cloud-config\nruncmd: {a: b}\n", bootstrapreport.BootstrapDataInvalid, false, "reading the bootstrap data failed"},
	} {
		host, _, _ := newHost("new", "completed")
		s := machine()
		if x.change != nil {
			x.change(&s, host)
		}
		p := finish(t, host, s, x.data)
		require.NotNil(t, p.Report, x.name)
		assert.Equal(t, x.cause, p.Report.Cause, x.name)
		assert.Equal(t, x.retried, p.Report.Retried, x.name)
		assert.Contains(t, p.Report.Headline(), x.line)
	}
}

// TestReportsGoWhenTheirStageIsOver: until then they stay, also while the stage is tried again.
func TestReportsGoWhenTheirStageIsOver(t *testing.T) {
	host, engine, _ := newHost("new", "completed")
	fail := true
	engine.OnStart = func(string) error {
		if fail {
			return errors.New("no memory at https://user:hunter2@x")
		}
		return nil
	}
	p := finish(t, host, machine(), document)
	require.NotNil(t, p.Report)
	assert.Equal(t, bootstrapreport.MachineNotStarted, p.Report.Cause)
	assert.NotContains(t, p.Report.Message(), "hunter2")
	fail = false
	require.Eventually(t, func() bool {
		host.Start(t.Context(), machine(), data(document))
		return host.Progress("c-m").Stage == docker.Completed
	}, time.Minute, 50*time.Millisecond)
	assert.Nil(t, host.Progress("c-m").Report)
}
