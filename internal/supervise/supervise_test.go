package supervise

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestBackoff(t *testing.T) {
	tests := []struct {
		name   string
		deaths int
		lived  time.Duration
		wait   time.Duration
		inARow int
	}{
		{name: "first death", wait: 200 * time.Millisecond, inARow: 1},
		{name: "it doubles", deaths: 3, lived: time.Second, wait: 1600 * time.Millisecond, inARow: 4},
		{name: "it ends at half a minute", deaths: 7, wait: 25600 * time.Millisecond, inARow: 8},
		{name: "it stays there", deaths: 1000, wait: 30 * time.Second, inARow: 1001},
		{name: "a minute of life starts anew", deaths: 9, lived: time.Minute, wait: 200 * time.Millisecond, inARow: 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			wait, inARow := backoff(tt.deaths, tt.lived)
			assert.Equal(t, tt.wait, wait)
			assert.Equal(t, tt.inARow, inARow)
		})
	}
}

func shell(t *testing.T, name, script string) Process {
	return Process{Name: name, Path: "/bin/sh", Args: []string{"-c", script}, Log: filepath.Join(t.TempDir(), name+".log"), Grace: time.Second}
}

func alive(pid int) bool { return pid != 0 && syscall.Kill(pid, 0) == nil }

func TestADeadChildIsStartedAgain(t *testing.T) {
	var s Supervisor
	defer s.Stop()
	require.NoError(t, s.Start(shell(t, "child", "echo hello; exec sleep 60")))
	first, ok := s.Get("child")
	require.True(t, ok)
	require.True(t, alive(first.PID))
	require.Eventually(t, func() bool { return strings.Contains(Tail(first.Log, 10), "hello") }, time.Minute, 10*time.Millisecond)

	require.NoError(t, syscall.Kill(first.PID, syscall.SIGKILL))
	require.Eventually(t, func() bool {
		now, _ := s.Get("child")
		return now.PID != 0 && now.PID != first.PID && alive(now.PID)
	}, time.Minute, 10*time.Millisecond)
	now, _ := s.Get("child")
	assert.Equal(t, 1, now.Restarts)
	assert.Equal(t, "signal: killed", now.LastExit)
	require.Eventually(t, func() bool { return strings.Count(Tail(now.Log, 10), "hello") == 2 }, time.Minute, 10*time.Millisecond,
		"the log keeps both lives")
}

func TestStopHeedsTheOrder(t *testing.T) {
	var mutex sync.Mutex
	var gone []string
	s := Supervisor{}
	s.Changed = func(states []State) {
		mutex.Lock()
		defer mutex.Unlock()
		for _, st := range states {
			if st.LastExit != "" && !contains(gone, st.Name) {
				gone = append(gone, st.Name)
			}
		}
	}
	for _, name := range []string{"store", "server", "manager"} {
		require.NoError(t, s.Start(shell(t, name, "exec sleep 60")))
	}
	s.Stop([]string{"store"}, []string{"server"})
	assert.Equal(t, []string{"manager", "server", "store"}, gone)
}

func contains(list []string, name string) bool {
	for _, n := range list {
		if n == name {
			return true
		}
	}
	return false
}

func TestAChildThatIgnoresTheSignalIsKilled(t *testing.T) {
	var s Supervisor
	p := shell(t, "stubborn", "trap '' TERM; while :; do sleep 0.05; done")
	p.Grace = 100 * time.Millisecond
	require.NoError(t, s.Start(p))
	time.Sleep(50 * time.Millisecond)
	start := time.Now()
	s.Stop()
	assert.Less(t, time.Since(start), time.Minute, "it does not hang")
	state, _ := s.Get("stubborn")
	assert.Equal(t, "signal: killed", state.LastExit)
}

func TestAProgramThatIsNotThere(t *testing.T) {
	var s Supervisor
	defer s.Stop()
	err := s.Start(Process{Name: "ghost", Path: "/no/such/program", Log: filepath.Join(t.TempDir(), "log")})
	assert.ErrorContains(t, err, "starting ghost")
}

func TestNamesAreUnique(t *testing.T) {
	var s Supervisor
	defer s.Stop()
	require.NoError(t, s.Start(shell(t, "one", "exec sleep 60")))
	assert.ErrorContains(t, s.Start(shell(t, "one", "exec sleep 60")), "runs already")
}

// TestChildrenEndWithTheSupervisor runs itself as a supervisor that is killed.
func TestChildrenEndWithTheSupervisor(t *testing.T) {
	if file := os.Getenv("SUPERVISE_TEST_PID_FILE"); file != "" {
		var s Supervisor
		require.NoError(t, s.Start(shell(t, "child", "exec sleep 60")))
		state, _ := s.Get("child")
		require.NoError(t, os.WriteFile(file, []byte(strconv.Itoa(state.PID)), 0o600))
		time.Sleep(time.Minute)
		return
	}
	file := filepath.Join(t.TempDir(), "pid")
	cmd := exec.Command(os.Args[0], "-test.run=^TestChildrenEndWithTheSupervisor$")
	cmd.Env = append(os.Environ(), "SUPERVISE_TEST_PID_FILE="+file)
	require.NoError(t, cmd.Start())
	var pid int
	require.Eventually(t, func() bool {
		content, err := os.ReadFile(file)
		pid, _ = strconv.Atoi(string(content))
		return err == nil && pid != 0
	}, time.Minute, 10*time.Millisecond)
	require.NoError(t, cmd.Process.Kill())
	_ = cmd.Wait()
	require.Eventually(t, func() bool { return !running(pid) }, time.Minute, 10*time.Millisecond)
}

// running is false for a process that is gone or waits to be collected by whoever inherited it.
func running(pid int) bool {
	content, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err == nil && !strings.Contains(string(content), ") Z ")
}
