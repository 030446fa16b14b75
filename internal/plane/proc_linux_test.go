package plane

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/slipway-capi/slipway/internal/supervise"
)

func TestProgramAreas(t *testing.T) {
	maps := `00400000-00401000 r-xp 00000000 fe:00 1 /bin/program
00401000-00403000 r--p 00001000 fe:00 1 /bin/program
00403000-00404000 rw-p 00003000 fe:00 1 /bin/program
7f0000000000-7f0000001000 r--s 00000000 fe:00 2 /data/etcd/member/snap/db
7f0000002000-7f0000003000 rw-p 00000000 00:00 0
7ffc00000000-7ffc00001000 r-xp 00000000 00:00 0 [vdso]
`
	assert.Equal(t, []area{{0x400000, 0x1000}, {0x401000, 0x2000}}, programAreas(maps),
		"neither data that was written, nor mappings shared with others, nor what is no file")
}

func TestParseStat(t *testing.T) {
	stat := "42 (a (b) c) S 1 42 42 0 -1 4194560 100 0 0 0 250 50 0 0 20 0 9 0 1000 123456 2048 18446744073709551615 0"
	got, err := parseStat(stat, 4096)
	require.NoError(t, err)
	assert.Equal(t, Usage{CPU: 3 * time.Second, Resident: 2048 * 4096}, got)
	_, err = parseStat("42 (x) S 1", 4096)
	assert.Error(t, err)
}

func TestUsageOfThisProcess(t *testing.T) {
	got, err := usage(os.Getpid())
	require.NoError(t, err)
	assert.Positive(t, got.Resident)
	releaseProgram(os.Getpid())
	_, err = usage(os.Getpid())
	require.NoError(t, err, "a process goes on after its program's pages were taken")
}

func TestARebuiltProgramIsNoticed(t *testing.T) {
	dir := t.TempDir()
	content, err := os.ReadFile("/bin/sleep")
	require.NoError(t, err)
	program := filepath.Join(dir, "sleep")
	require.NoError(t, os.WriteFile(program, content, 0o755))
	cmd := exec.Command(program, "60")
	require.NoError(t, cmd.Start())
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}()
	status := Status{Processes: []supervise.State{{Name: "core", PID: cmd.Process.Pid}, {Name: "dead"}}}
	assert.Empty(t, status.Outdated())
	require.NoError(t, os.Remove(program))
	assert.Equal(t, []string{"core"}, status.Outdated())
}
