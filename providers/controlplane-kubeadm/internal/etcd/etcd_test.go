package etcd

import (
	"context"
	"crypto"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/slipway-capi/slipway/contract/certificates"
)

// etcdVersion is the one that the build scripts put into the cache.
const etcdVersion = "v3.7.3"

// cluster is a real etcd cluster with TLS. Members listen on free ports; dial finds them by name.
type cluster struct {
	t       *testing.T
	binary  string
	ca      certificates.KeyPair
	options Options
	members map[string]*process
}

type process struct{ client, peer int }

func newCluster(t *testing.T) *cluster {
	t.Helper()
	root := os.Getenv("SLIPWAY_CACHE")
	if root == "" {
		home, err := os.UserCacheDir()
		require.NoError(t, err)
		root = filepath.Join(home, "slipway")
	}
	c := &cluster{t: t, binary: filepath.Join(root, "etcd", etcdVersion, "etcd"), members: map[string]*process{}}
	require.FileExists(t, c.binary, "build etcd first (make binaries)")
	var err error
	c.ca, err = certificates.NewCA(certificates.ECDSAP256, 0, time.Now())
	require.NoError(t, err)
	pair, err := ClientPair(c.ca, newKey(t), time.Now())
	require.NoError(t, err)
	c.options.TLS, err = TLSConfig(c.ca, pair)
	require.NoError(t, err)
	c.options.CallTimeout = 5 * time.Second
	c.options.Dial = func(ctx context.Context, node string) (net.Conn, error) {
		member, ok := c.members[node]
		if !ok {
			return nil, errors.New("no such node: " + node)
		}
		return (&net.Dialer{}).DialContext(ctx, "tcp", fmt.Sprintf("127.0.0.1:%d", member.client))
	}
	return c
}

func newKey(t *testing.T) crypto.Signer {
	t.Helper()
	key, err := certificates.NewKey(certificates.ECDSAP256)
	require.NoError(t, err)
	return key
}

func freePort(t *testing.T) int {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port
}

func (c *cluster) plan(name string) *process {
	p := &process{client: freePort(c.t), peer: freePort(c.t)}
	c.members[name] = p
	return p
}

func (p *process) peerURL() string { return fmt.Sprintf("http://127.0.0.1:%d", p.peer) }

// start runs a member. The server certificate names another host on purpose: only the chain is checked.
func (c *cluster) start(name, initial, state string) {
	c.t.Helper()
	dir := c.t.TempDir()
	key, err := certificates.NewKey(certificates.ECDSAP256)
	require.NoError(c.t, err)
	server, err := c.ca.Sign(certificates.Request{
		CommonName: "member", DNSNames: []string{"elsewhere"}, Validity: time.Hour,
		Usages: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}, key, time.Now())
	require.NoError(c.t, err)
	for file, content := range map[string][]byte{"ca.crt": c.ca.Cert, "server.crt": server.Cert, "server.key": server.Key} {
		require.NoError(c.t, os.WriteFile(filepath.Join(dir, file), content, 0o600))
	}
	p := c.members[name]
	clientURL := fmt.Sprintf("https://127.0.0.1:%d", p.client)
	command := exec.Command(c.binary, "--name", name, "--data-dir", filepath.Join(dir, "data"),
		"--listen-client-urls", clientURL, "--advertise-client-urls", clientURL,
		"--listen-peer-urls", p.peerURL(), "--initial-advertise-peer-urls", p.peerURL(),
		"--initial-cluster", initial, "--initial-cluster-state", state, "--log-level", "error",
		"--client-cert-auth", "--trusted-ca-file", filepath.Join(dir, "ca.crt"),
		"--cert-file", filepath.Join(dir, "server.crt"), "--key-file", filepath.Join(dir, "server.key"))
	require.NoError(c.t, command.Start())
	c.t.Cleanup(func() {
		_ = command.Process.Kill()
		_ = command.Wait()
	})
}

func (c *cluster) connect(nodes ...string) (*Client, *State) {
	c.t.Helper()
	var client *Client
	var state *State
	require.Eventually(c.t, func() bool {
		var err error
		client, state, err = ConnectAny(c.t.Context(), nodes, c.options)
		return err == nil
	}, time.Minute, 100*time.Millisecond)
	c.t.Cleanup(client.Close)
	return client, state
}

// Conformance: CP-57
func TestMembersOfARealCluster(t *testing.T) {
	c := newCluster(t)
	a := c.plan("a")
	initial := "a=" + a.peerURL()
	c.start("a", initial, "new")

	client, state := c.connect("unknown", "a")
	require.Len(t, state.Members, 1)
	assert.Equal(t, "a", state.Members[0].Name)
	assert.Equal(t, state.Members[0].ID, state.Leader)
	assert.False(t, state.Members[0].Learner)
	assert.Empty(t, state.Members[0].Alarms)
	require.ErrorIs(t, client.RemoveMember(t.Context(), state.Leader), ErrLastMember)
	require.NoError(t, client.RemoveMember(t.Context(), 4711), "a member that is gone is no error")

	// A join that failed leaves a member without a name.
	b := c.plan("b")
	added, err := client.client.MemberAddAsLearner(t.Context(), []string{b.peerURL()})
	require.NoError(t, err)
	state, err = client.State(t.Context())
	require.NoError(t, err)
	require.Len(t, state.Members, 2)
	assert.Empty(t, state.Members[0].Name, "sorted by name: the nameless one is first")
	assert.Nil(t, state.Member(""))

	// It starts, as a learner, and is promoted when it has caught up.
	c.start("b", initial+",b="+b.peerURL(), "existing")
	require.Eventually(t, func() bool {
		state, err = client.State(t.Context())
		return err == nil && state.Member("b") != nil
	}, time.Minute, 100*time.Millisecond)
	assert.True(t, state.Member("b").Learner)
	require.Eventually(t, func() bool {
		_, err := client.client.MemberPromote(t.Context(), added.Member.ID)
		return err == nil
	}, time.Minute, 100*time.Millisecond)

	// Leadership moves, and the former leader can be removed through the new one. A member that was promoted a moment ago may be too
	// far behind to be handed the leadership, which etcd then gives up.
	require.Eventually(t, func() bool {
		_ = client.MoveLeader(t.Context(), added.Member.ID)
		state, _ = client.State(t.Context())
		return state != nil && state.Leader == added.Member.ID
	}, time.Minute, 200*time.Millisecond, "the leadership moves")
	other, state := c.connect("b", "a")
	assert.Equal(t, added.Member.ID, state.Leader)
	leaver := state.Member("a").ID
	require.Eventually(t, func() bool { // etcd refuses until the new leader knows its peers for a while
		return other.RemoveMember(t.Context(), leaver) == nil
	}, time.Minute, 200*time.Millisecond)
	state, err = other.State(t.Context())
	require.NoError(t, err)
	assert.Len(t, state.Members, 1)
}

// Conformance: CP-50
func TestStrangersAreRefused(t *testing.T) {
	c := newCluster(t)
	a := c.plan("a")
	c.start("a", "a="+a.peerURL(), "new")
	c.connect("a")

	stranger, err := certificates.NewCA(certificates.ECDSAP256, 0, time.Now())
	require.NoError(t, err)
	pair, err := ClientPair(stranger, newKey(t), time.Now())
	require.NoError(t, err)
	options := c.options
	options.CallTimeout = time.Second
	options.TLS, err = TLSConfig(stranger, pair)
	require.NoError(t, err)
	_, _, err = ConnectAny(t.Context(), []string{"a"}, options)
	require.Error(t, err, "a member with a certificate of another authority is not trusted")
}

// Conformance: CP-50
func TestADeadNodeCostsNoMoreThanTheTimeout(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer listener.Close() // accepts, never answers
	options := Options{CallTimeout: 500 * time.Millisecond, Dial: func(ctx context.Context, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "tcp", listener.Addr().String())
	}}
	start := time.Now()
	_, _, err = ConnectAny(t.Context(), []string{"dead"}, options)
	require.Error(t, err)
	assert.Less(t, time.Since(start), time.Minute, "it does not hang")
}

// BC-16: the rest of a failed join makes etcd refuse every later one, until it is removed.
//
// Conformance: CP-56
func TestBC16AFailedJoinBlocksTheNextOneUntilItsMemberGoes(t *testing.T) {
	c := newCluster(t)
	a := c.plan("a")
	c.start("a", "a="+a.peerURL(), "new")
	client, _ := c.connect("a")
	failed, err := client.client.MemberAddAsLearner(t.Context(), []string{c.plan("b").peerURL()})
	require.NoError(t, err)
	_, err = client.client.MemberAddAsLearner(t.Context(), []string{c.plan("c").peerURL()})
	require.ErrorContains(t, err, "too many learner members")

	require.NoError(t, client.RemoveMember(t.Context(), failed.Member.ID))
	state, err := client.State(t.Context())
	require.NoError(t, err)
	require.Len(t, state.Members, 1)
	_, err = client.client.MemberAddAsLearner(t.Context(), []string{c.plan("d").peerURL()})
	require.NoError(t, err)
}
