package ports

import (
	"net"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestPortsAreRemembered(t *testing.T) {
	first, err := Choose(nil, "a", "b", "c")
	require.NoError(t, err)
	assert.Len(t, first, 3)
	assert.NotEqual(t, first["a"], first["b"])
	assert.NotEqual(t, first["b"], first["c"])

	second, err := Choose(first, "a", "b", "c")
	require.NoError(t, err)
	assert.Equal(t, first, second)
}

func TestAPortThatIsTakenIsReplaced(t *testing.T) {
	first, err := Choose(nil, "a", "b")
	require.NoError(t, err)
	l, err := net.Listen("tcp", first.Address("a"))
	require.NoError(t, err)
	defer l.Close()

	second, err := Choose(first, "a", "b")
	require.NoError(t, err)
	assert.NotEqual(t, first["a"], second["a"])
	assert.Equal(t, first["b"], second["b"])
}

func TestANewNameGetsAPortOfItsOwn(t *testing.T) {
	first, err := Choose(nil, "a")
	require.NoError(t, err)
	second, err := Choose(first, "new", "a")
	require.NoError(t, err)
	assert.Equal(t, first["a"], second["a"])
	assert.NotZero(t, second["new"])
	assert.NotEqual(t, second["a"], second["new"])
}

func TestAddresses(t *testing.T) {
	s := Set{"api": 6443}
	assert.Equal(t, "127.0.0.1:6443", s.Address("api"))
	assert.Equal(t, "https://127.0.0.1:6443", s.URL("api"))
}
