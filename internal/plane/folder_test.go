package plane

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// stopped is the configuration of a plane that has run here.
func stopped() Config {
	return Config{Programs: map[string]string{etcd: "/etcd", apiServer: "/kube-apiserver"}, Without: componentNames()}
}

func write(t *testing.T, folder Folder, name, content string) {
	t.Helper()
	require.NoError(t, os.WriteFile(folder.path(name), []byte(content), 0o600))
}

func TestWhichFoldersAPlaneTakes(t *testing.T) {
	folder := Folder(filepath.Join(t.TempDir(), "state"))
	require.NoError(t, folder.Check(), "it is made")
	require.NoError(t, os.Mkdir(string(folder), 0o700))
	require.NoError(t, folder.Check(), "it is empty")
	write(t, folder, "status.json.tmp", "")
	require.NoError(t, folder.Check(), "what a plane left that was stopped at its start")
	write(t, folder, "config.json", `{"name": "a web page"}`)
	require.ErrorIs(t, folder.Check(), ErrForeign, "others have files of that name too")
	require.NoError(t, writeJSON(folder.config(), stopped()))
	require.NoError(t, folder.Check())

	foreign := Folder(t.TempDir())
	for _, name := range []string{"a", "b", "c", "d", "etcd"} {
		write(t, foreign, name, "")
	}
	assert.EqualError(t, foreign.Check(), string(foreign)+" is no state folder of a management plane: it holds a, b, c, 1 more")
	assert.ErrorIs(t, Configure(foreign, stopped()), ErrForeign)
	assert.NoFileExists(t, foreign.config())
	assert.ErrorContains(t, Folder(foreign.path("a")).Check(), "not a directory")
}

func TestDeleteLeavesForeignFoldersAlone(t *testing.T) {
	dir := Folder(t.TempDir())
	found, _, err := Delete(dir)
	require.NoError(t, err)
	assert.False(t, found)
	assert.DirExists(t, string(dir), "an empty folder may be somebody's")
	write(t, dir, "letter", "")
	_, _, err = Delete(dir)
	require.ErrorIs(t, err, ErrForeign)
	assert.FileExists(t, dir.path("letter"))
}

func TestSnapshotsOutliveTheStateTheyWereTakenWith(t *testing.T) {
	folder := Folder(filepath.Join(t.TempDir(), "state"))
	require.NoError(t, Configure(folder, stopped()))
	require.NoError(t, os.MkdirAll(folder.etcdBackups(), 0o700))
	write(t, folder, filepath.Join(kept, "snapshot"), "")
	_, left, err := Delete(folder)
	require.NoError(t, err)
	assert.Equal(t, []string{kept}, left)
	require.NoError(t, folder.Check(), "a new plane may take the folder over")

	require.NoError(t, Configure(folder, stopped()))
	require.NoError(t, os.Remove(filepath.Join(folder.etcdBackups(), "snapshot")))
	_, left, err = Delete(folder)
	require.NoError(t, err)
	assert.Empty(t, left)
	assert.NoDirExists(t, string(folder))
}

func TestDeleteLeavesForeignFilesAlone(t *testing.T) {
	folder := Folder(filepath.Join(t.TempDir(), "state"))
	require.NoError(t, Configure(folder, stopped()))
	require.NoError(t, os.MkdirAll(folder.data(), 0o700))
	write(t, folder, "letter", "")
	found, left, err := Delete(folder)
	require.NoError(t, err)
	assert.True(t, found)
	assert.Equal(t, []string{"letter"}, left)
	assert.NoDirExists(t, folder.data())

	require.NoError(t, os.Remove(folder.path("letter")))
	require.NoError(t, Configure(folder, stopped()))
	_, left, err = Delete(folder)
	require.NoError(t, err)
	assert.Empty(t, left)
	assert.NoDirExists(t, string(folder))
}
