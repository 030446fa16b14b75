package docker_test

import (
	"bytes"
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/slipway-capi/slipway/providers/infrastructure-docker/internal/docker"
	"github.com/slipway-capi/slipway/providers/infrastructure-docker/internal/docker/dockertest"
)

const haproxy = "slipway/haproxy:latest"

func balancer(backends ...docker.Backend) docker.LoadBalancerSpec {
	return docker.LoadBalancerSpec{Cluster: "c", Owner: "owner-1", Backends: backends}
}

var one = docker.Backend{Name: "c-cp-1", Address: "172.18.0.3", Weight: 100}

func started(t *testing.T) (*docker.Host, *dockertest.Engine) {
	t.Helper()
	engine := dockertest.New(haproxy)
	host := &docker.Host{Engine: engine, Network: "kind"}
	c, err := host.EnsureLoadBalancer(context.Background(), balancer())
	require.NoError(t, err)
	require.True(t, c.Running)
	engine.Changes()
	return host, engine
}

func TestLoadBalancerIsMadeOnce(t *testing.T) {
	host, engine := started(t)
	_, err := host.EnsureLoadBalancer(context.Background(), balancer())
	require.NoError(t, err)
	assert.Empty(t, engine.Changes())
	spec := engine.Spec("c-lb")
	assert.Equal(t, "external-load-balancer", spec.Labels[docker.RoleLabel])
	assert.Equal(t, []docker.Port{{Container: 6443, Address: "127.0.0.1"}, {Container: 8404, Address: "127.0.0.1"}}, spec.Ports,
		"nothing is open to the network of the engine's host")
}

func TestCustomPortIsPublished(t *testing.T) {
	engine := dockertest.New(haproxy)
	host := &docker.Host{Engine: engine, Network: "kind"}
	spec := balancer()
	spec.Port = 8443
	_, err := host.EnsureLoadBalancer(context.Background(), spec)
	require.NoError(t, err)
	assert.Equal(t, docker.Port{Container: 8443, Address: "127.0.0.1"}, engine.Spec("c-lb").Ports[0])
	config, err := docker.RenderHAProxy("", 8443, []docker.Backend{one})
	require.NoError(t, err)
	assert.Contains(t, string(config), "bind *:8443")
	assert.Contains(t, string(config), "172.18.0.3:6443 weight 100 ")
}

// BC-25: reload only what is whole, and only a difference.
func TestReloadOnlyOnEqualityAndDifference(t *testing.T) {
	ctx := context.Background()
	host, engine := started(t)
	changed, err := host.UpdateLoadBalancer(ctx, balancer())
	require.NoError(t, err)
	assert.False(t, changed)
	assert.Empty(t, engine.Changes(), "no reload when nothing changed")

	engine.OnWrite = func(_ string, content []byte) []byte { return content[:len(content)/2] }
	_, err = host.UpdateLoadBalancer(ctx, balancer(one))
	require.Error(t, err)
	assert.NotContains(t, engine.Changes(), "signal c-lb SIGHUP", "a truncated file must not be loaded")

	engine.OnWrite = nil
	changed, err = host.UpdateLoadBalancer(ctx, balancer(one))
	require.NoError(t, err)
	assert.True(t, changed)
	assert.Contains(t, engine.Changes(), "signal c-lb SIGHUP")
	balanced, err := host.Balanced(ctx, balancer(one))
	require.NoError(t, err)
	assert.True(t, balanced)
}

func TestRefusedConfigurationIsNotLoaded(t *testing.T) {
	host, engine := started(t)
	engine.OnExec = func(context.Context, string, docker.Command) (docker.Result, error) {
		return docker.Result{Status: 1, Stderr: "unknown keyword 'nonsense'"}, nil
	}
	spec := balancer(one)
	spec.Template = "nonsense {{ len .BackendServers }}"
	_, err := host.UpdateLoadBalancer(context.Background(), spec)
	require.ErrorContains(t, err, "nonsense")
	assert.NotContains(t, engine.Changes(), "signal c-lb SIGHUP")
}

// D11: what another management cluster left behind is neither used nor removed.
func TestStrangersAreRefused(t *testing.T) {
	ctx := context.Background()
	host, engine := started(t)
	stranger := balancer()
	stranger.Owner = "owner-2"
	_, err := host.EnsureLoadBalancer(ctx, stranger)
	require.ErrorIs(t, err, docker.ErrStranger)
	assert.Contains(t, err.Error(), "docker rm -fv c-lb")
	require.NoError(t, host.DeleteLoadBalancer(ctx, stranger))
	assert.Empty(t, engine.Changes())

	stranger.Recorded = true // the object has moved to another management cluster
	_, err = host.EnsureLoadBalancer(ctx, stranger)
	require.NoError(t, err)
	require.NoError(t, host.DeleteLoadBalancer(ctx, stranger))
	assert.Equal(t, []string{"remove c-lb"}, engine.Changes())
}

func TestConfigurationDoesNotDependOnTheOrderOfBackends(t *testing.T) {
	two := docker.Backend{Name: "c-cp-2", Address: "fd00::2", Weight: 0}
	a, err := docker.RenderHAProxy("", 6443, []docker.Backend{one, two})
	require.NoError(t, err)
	b, err := docker.RenderHAProxy("", 6443, []docker.Backend{two, one})
	require.NoError(t, err)
	assert.True(t, bytes.Equal(a, b))
	assert.Contains(t, string(a), "[fd00::2]:6443 weight 0 ")
	assert.Contains(t, string(a), "bind *:6443,:::6443")
}

func TestBadTemplates(t *testing.T) {
	for _, text := range []string{"{{ .Nothing }}", "{{ if }}"} {
		_, err := docker.RenderHAProxy(text, 6443, nil)
		require.Error(t, err)
	}
}
