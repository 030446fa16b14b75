package supervise

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestALargeLogIsSetAside(t *testing.T) {
	path := filepath.Join(t.TempDir(), "logs", "child.log")
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(t, os.WriteFile(path, make([]byte, maxLog+1), 0o600))
	file, err := openLog(path)
	require.NoError(t, err)
	require.NoError(t, file.Close())
	info, err := os.Stat(path)
	require.NoError(t, err)
	assert.Zero(t, info.Size())
	assert.FileExists(t, path+".1")
}

func TestTail(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	require.NoError(t, os.WriteFile(path, []byte("one\ntwo\nthree\n"), 0o600))
	assert.Equal(t, "two\nthree", Tail(path, 2))
	assert.Empty(t, Tail(path+".missing", 2))
}
