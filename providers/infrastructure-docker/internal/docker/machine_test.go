package docker_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/slipway-capi/slipway/providers/infrastructure-docker/internal/docker"
	"github.com/slipway-capi/slipway/providers/infrastructure-docker/internal/docker/cloudconfig"
	"github.com/slipway-capi/slipway/providers/infrastructure-docker/internal/docker/dockertest"
)

const node = "slipway/node:v1.37.2"

// inside plays what happens in a machine: its bootstrap goes from state to state.
type inside struct {
	mu     sync.Mutex
	states []string
	script string
	// steps, log and services are what the black box of the machine holds.
	steps, log, services string
}

func (i *inside) exec(ctx context.Context, _ string, c docker.Command) (docker.Result, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	script := c.Args[len(c.Args)-1]
	switch {
	case c.Stdin != nil:
		content, err := io.ReadAll(c.Stdin)
		if strings.Contains(script, "systemd-run") {
			i.script = string(content)
		}
		return docker.Result{}, err
	case strings.Contains(script, "systemctl is-active --quiet slipway-bootstrap"):
		if len(i.states) == 0 { // it never ends
			<-ctx.Done()
			return docker.Result{}, ctx.Err()
		}
		state := i.states[0]
		i.states = i.states[1:]
		return docker.Result{Stdout: state + "\n"}, nil
	case strings.HasPrefix(script, "cat "+cloudconfig.StepsFile):
		return docker.Result{Stdout: i.steps}, nil
	case strings.HasPrefix(script, "tail -c"):
		return docker.Result{Stdout: part(script, i.log)}, nil
	case strings.Contains(script, "journalctl"):
		return docker.Result{Stdout: i.services}, nil
	}
	return docker.Result{}, nil
}

// part is what the script reads of the log.
func part(script, log string) string {
	var from, length int
	if n, _ := fmt.Sscanf(strings.ReplaceAll(script, cloudconfig.LogFile, ""), "tail -c +%d  | head -c %d", &from, &length); n == 2 {
		return log[from-1 : from-1+length]
	}
	return log[from-1:]
}

func machine() docker.MachineSpec {
	return docker.MachineSpec{Key: "ns/m", Cluster: "c", Name: "m", Owner: "uid-1", ControlPlane: true, Images: []string{"absent", node}, Timeout: time.Minute}
}

func data(text string) func(context.Context) ([]byte, error) {
	return func(context.Context) ([]byte, error) { return []byte(text), nil }
}

const document = "#cloud-config\nruncmd:\n- kubeadm init\nntp:\n  enabled: true\n"

func finish(t *testing.T, host *docker.Host, s docker.MachineSpec, content string) docker.Progress {
	t.Helper()
	host.Start(context.Background(), s, data(content))
	require.Eventually(t, func() bool {
		p := host.Progress(s.Container())
		return p.Err != nil || p.Stage == docker.Completed
	}, 5*time.Second, time.Millisecond)
	return host.Progress(s.Container())
}

func newHost(states ...string) (*docker.Host, *dockertest.Engine, *inside) {
	in := &inside{states: states}
	engine := dockertest.New(node)
	engine.OnExec = in.exec
	return &docker.Host{Engine: engine, Network: "kind"}, engine, in
}

func TestMachineComesUp(t *testing.T) {
	host, engine, in := newHost("new", "completed")
	s := machine()
	s.PreloadImages, s.FailureDomain = []string{node}, "fd1"
	p := finish(t, host, s, document)
	require.NoError(t, p.Err)
	assert.Equal(t, []string{"ntp"}, p.Ignored)
	assert.NotEmpty(t, in.script)
	assert.Equal(t, []string{"create c-m", "start c-m"}, engine.Changes())
	spec := engine.Spec("c-m")
	assert.Equal(t, map[string]string{
		docker.ClusterLabel: "c", docker.RoleLabel: "control-plane", docker.OwnerLabel: "uid-1", docker.FailureDomainLabel: "fd1",
	}, spec.Labels)
	assert.Equal(t, []docker.Port{{Container: 6443, Address: "127.0.0.1"}}, spec.Ports)
	assert.Equal(t, []string{"KUBECONFIG=/etc/kubernetes/admin.conf"}, spec.Environment)

	host.Start(context.Background(), s, data(document))
	assert.Empty(t, engine.Changes(), "starting again changes nothing")
}

// D1: a manager that restarts in the middle follows what runs, and does not take the start for the end.
func TestBootstrapIsFollowedAfterARestart(t *testing.T) {
	for _, x := range []struct{ state, want string }{
		{"completed", ""},
		{"lost", "neither runs nor has a result"},
		{"failed\nruncmd 1 of 1 ended with status 1", "runcmd 1 of 1 ended with status 1"},
	} {
		host, _, in := newHost(x.state)
		p := finish(t, host, machine(), document)
		assert.Empty(t, in.script, "kubeadm must not run twice")
		if x.want == "" {
			require.NoError(t, p.Err)
			continue
		}
		require.ErrorIs(t, p.Err, docker.ErrBootstrap)
		assert.Contains(t, p.Err.Error(), x.want)
		assert.True(t, p.Terminal())
	}
}

// D2, D6: a bootstrap that does not end has failed, and says after how long.
func TestBootstrapTimeout(t *testing.T) {
	host, _, _ := newHost("new")
	s := machine()
	s.Timeout = 50 * time.Millisecond
	p := finish(t, host, s, document)
	require.ErrorIs(t, p.Err, docker.ErrBootstrap)
	assert.Contains(t, p.Err.Error(), "did not end within 50ms")
	assert.True(t, p.Terminal())
}

func TestBadDataIsTerminal(t *testing.T) {
	for _, content := range []string{"#!/bin/sh\n", "#cloud-config\nruncmd: {a: b}\n", "#cloud-config\n\t-"} {
		host, _, _ := newHost("new")
		p := finish(t, host, machine(), content)
		assert.True(t, p.Terminal(), content)
	}
}

func TestEngineFailuresAreRetried(t *testing.T) {
	host, engine, _ := newHost("new", "completed")
	engine.OnStart = func(string) error { return errors.New("no memory") }
	p := finish(t, host, machine(), document)
	require.ErrorContains(t, p.Err, "no memory")
	assert.False(t, p.Terminal())
	assert.False(t, p.RetryAt.IsZero())
	assert.Contains(t, engine.Changes(), "remove c-m", "a container that does not start is not left behind")
}

func TestStoppedContainers(t *testing.T) {
	host, engine, _ := newHost("completed")
	engine.Put(docker.Container{Name: "c-m", Labels: map[string]string{docker.ClusterLabel: "c", docker.OwnerLabel: "uid-1"}, Status: "exited"})
	p := finish(t, host, machine(), document)
	require.NoError(t, p.Err)
	assert.Equal(t, []string{"remove c-m", "create c-m", "start c-m"}, engine.Changes(), "never provisioned: made anew")

	host, engine, _ = newHost("completed")
	s := machine()
	s.Recorded = true
	p = finish(t, host, s, document)
	require.Error(t, p.Err)
	assert.Empty(t, engine.Changes(), "provisioned before: left for remediation")
}

// D11.
func TestStrangeMachine(t *testing.T) {
	host, engine, _ := newHost()
	engine.Put(docker.Container{Name: "c-m", Running: true, Labels: map[string]string{docker.ClusterLabel: "c", docker.OwnerLabel: "other"}})
	_, err := host.FindMachine(context.Background(), machine())
	require.ErrorIs(t, err, docker.ErrStranger)
	require.NoError(t, host.DeleteMachine(context.Background(), machine()))
	assert.Empty(t, engine.Changes())
}

func TestDeletionEndsTheTask(t *testing.T) {
	host, engine, _ := newHost("new") // the bootstrap never ends
	s := machine()
	host.Start(context.Background(), s, data(document))
	require.Eventually(t, func() bool { return host.Progress("c-m").Stage == docker.Bootstrapping }, time.Minute, time.Millisecond)
	require.NoError(t, host.DeleteMachine(context.Background(), s))
	assert.Equal(t, docker.Progress{}, host.Progress("c-m"))
	assert.Contains(t, engine.Changes(), "remove c-m")
}

func TestNames(t *testing.T) {
	assert.Equal(t, "c-1", docker.ContainerName("c", "c-1"))
	assert.Equal(t, "c-m", docker.ContainerName("c", "m"))
	assert.Equal(t, "docker:////c-m", docker.ProviderID("c-m"))
	assert.Equal(t, []string{"slipway/node:v1.37.2_x", "kindest/node:v1.37.2_x"}, docker.NodeImages("1.37.2+x"))
}
