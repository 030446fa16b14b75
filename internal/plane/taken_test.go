package plane

import (
	"fmt"
	"net"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/slipway-capi/slipway/internal/ports"
)

func portsOf(t *testing.T, folder Folder, config Config) (ports.Set, []string, error) {
	t.Helper()
	p := &prepared{folder: folder, config: config}
	err := p.choosePorts()
	return p.ports, p.notes, err
}

func TestPortsOfManagersThatRestAreRemembered(t *testing.T) {
	folder := Folder(t.TempDir())
	all, notes, err := portsOf(t, folder, Config{})
	require.NoError(t, err)
	assert.Empty(t, notes)
	some, _, err := portsOf(t, folder, Config{Without: []string{"core"}})
	require.NoError(t, err)
	assert.NotContains(t, some, "core-webhook")
	again, _, err := portsOf(t, folder, Config{})
	require.NoError(t, err)
	assert.Equal(t, all, again)
}

// occupy takes a port for the length of a test.
func occupy(t *testing.T, port int) int {
	t.Helper()
	l, err := net.Listen("tcp", ports.Address(port))
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	return l.Addr().(*net.TCPAddr).Port
}

func TestAPortThatWasAskedForIsNotReplaced(t *testing.T) {
	folder, port := Folder(t.TempDir()), occupy(t, 0)
	_, _, err := portsOf(t, folder, Config{APIPort: port})
	require.ErrorContains(t, err, fmt.Sprintf("port %d of kube-apiserver is taken", port))
	assert.ErrorContains(t, err, "choose another with --api-port")

	free, _, err := portsOf(t, folder, Config{})
	require.NoError(t, err)
	chosen, notes, err := portsOf(t, Folder(t.TempDir()), Config{APIPort: free[portAPI]})
	require.NoError(t, err)
	assert.Equal(t, free[portAPI], chosen[portAPI])
	assert.Empty(t, notes)
}

func TestAnAPIServerThatMovesSaysSo(t *testing.T) {
	folder := Folder(t.TempDir())
	first, _, err := portsOf(t, folder, Config{})
	require.NoError(t, err)
	occupy(t, first[portAPI])
	second, notes, err := portsOf(t, folder, Config{})
	require.NoError(t, err)
	require.Len(t, notes, 1)
	assert.Contains(t, notes[0], fmt.Sprintf("port %d of kube-apiserver is taken", first[portAPI]))
	assert.Contains(t, notes[0], fmt.Sprintf("has moved to port %d: ", second[portAPI]))
	assert.Contains(t, notes[0], "--api-port")
}

func TestWhatAProcessSaidOfATakenPort(t *testing.T) {
	assert.Empty(t, takenHint("out of memory", "core", nil))
	const said = "listen tcp 127.0.0.1:1: bind: address already in use"
	assert.Contains(t, takenHint(said, "core", nil), "choose another one")
	if holder := portHolder(occupy(t, 0)); holder == "" {
		t.Skip("this system does not tell who holds a port")
	}
	port := occupy(t, 0)
	hint := takenHint(said, "core", ports.Set{"core-webhook": port, "etcd": port})
	assert.Contains(t, hint, fmt.Sprintf("port %d of core-webhook is taken by process %d (", port, os.Getpid()))
	assert.NotContains(t, hint, "etcd")
}
