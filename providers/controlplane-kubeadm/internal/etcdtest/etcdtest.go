// Package etcdtest gives tests a real etcd of one member without TLS.
package etcdtest

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
)

// version is the one that the build scripts put into the cache.
const version = "v3.7.3"

// Member is the running member.
type Member struct {
	Client *clientv3.Client
	// Address is where it takes clients.
	Address string
}

// Start runs a member until the test ends, on data that is there or in a new directory if none is given.
func Start(t *testing.T, name, data string) *Member {
	t.Helper()
	if data == "" {
		data = filepath.Join(t.TempDir(), "data")
	}
	m := &Member{Address: free(t)}
	url, peer := "http://"+m.Address, "http://"+free(t)
	command := exec.Command(binary(t), "--name", name, "--data-dir", data, "--log-level", "error",
		"--listen-client-urls", url, "--advertise-client-urls", url,
		"--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", name+"="+peer)
	require.NoError(t, command.Start())
	t.Cleanup(func() {
		_ = command.Process.Kill()
		_ = command.Wait()
	})
	var err error
	m.Client, err = clientv3.New(clientv3.Config{Endpoints: []string{url}, Logger: zap.NewNop()})
	require.NoError(t, err)
	t.Cleanup(func() { _ = m.Client.Close() })
	require.Eventually(t, func() bool {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := m.Client.Get(ctx, "ready")
		return err == nil
	}, time.Minute, 100*time.Millisecond, "etcd does not answer")
	return m
}

// Fill writes so many keys, in few requests.
func (m *Member) Fill(t *testing.T, prefix string, keys int) {
	t.Helper()
	const most = 100 // etcd takes 128 operations at a time
	for from := 0; from < keys; from += most {
		var ops []clientv3.Op
		for i := from; i < min(from+most, keys); i++ {
			ops = append(ops, clientv3.OpPut(fmt.Sprintf("%s%06d", prefix, i), fmt.Sprintf("value of %d, %0200d", i, i*i)))
		}
		_, err := m.Client.Txn(t.Context()).Then(ops...).Commit()
		require.NoError(t, err)
	}
}

// All are the keys below a prefix with their values.
func (m *Member) All(t *testing.T, prefix string) map[string]string {
	t.Helper()
	found, err := m.Client.Get(t.Context(), prefix, clientv3.WithPrefix())
	require.NoError(t, err)
	all := map[string]string{}
	for _, kv := range found.Kvs {
		all[string(kv.Key)] = string(kv.Value)
	}
	return all
}

func binary(t *testing.T) string {
	root := os.Getenv("SLIPWAY_CACHE")
	if root == "" {
		home, err := os.UserCacheDir()
		require.NoError(t, err)
		root = filepath.Join(home, "slipway")
	}
	file := filepath.Join(root, "etcd", version, "etcd")
	require.FileExists(t, file, "build etcd first (make binaries)")
	return file
}

func free(t *testing.T) string {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer listener.Close()
	return listener.Addr().String()
}
