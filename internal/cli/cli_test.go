package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/slipway-capi/slipway/internal/binaries"
	"github.com/slipway-capi/slipway/internal/plane"
	"github.com/slipway-capi/slipway/internal/supervise"
)

func run(t *testing.T, args ...string) (out, errOut string, err error) {
	t.Helper()
	var o, e bytes.Buffer
	cmd := New(&o, &e)
	cmd.SetArgs(args)
	err = cmd.ExecuteContext(t.Context())
	return o.String(), e.String(), err
}

func TestCommandsWithoutAPlane(t *testing.T) {
	t.Setenv("KUBECONFIG", "")
	dir := t.TempDir()
	out, _, err := run(t, "status", "--state-dir", dir)
	require.NoError(t, err)
	assert.Equal(t, "Phase:   Stopped\nState:   "+dir+"\n", out)

	_, said, err := run(t, "down", "--state-dir", dir)
	require.NoError(t, err)
	assert.Equal(t, "No management plane runs\n", said)

	_, _, err = run(t, "watch", "c", "--state-dir", dir)
	assert.ErrorContains(t, err, "no management plane runs")
	_, _, err = run(t, "get", "kubeconfig", "c", "--state-dir", dir)
	assert.ErrorContains(t, err, "no management plane runs")
}

func TestForeignFoldersAreLeftAlone(t *testing.T) {
	dir := t.TempDir()
	_, said, err := run(t, "down", "--delete-state", "--state-dir", dir)
	require.NoError(t, err)
	assert.Equal(t, "No management plane runs, there is no state in "+dir+"\n", said)

	letter := filepath.Join(dir, "letter")
	require.NoError(t, os.WriteFile(letter, nil, 0o600))
	_, said, err = run(t, "down", "--delete-state", "--state-dir", dir)
	require.ErrorContains(t, err, "nothing was deleted: "+dir+" is no state folder of a management plane: it holds letter")
	assert.Empty(t, said)
	assert.FileExists(t, letter)

	t.Setenv(binaries.CacheVariable, t.TempDir()) // an empty one, so a build would be seen
	_, said, err = run(t, "up", "--state-dir", dir)
	require.ErrorContains(t, err, "it holds letter; choose another with --state-dir or $SLIPWAY_STATE_DIR")
	assert.Empty(t, said, "nothing is built for a plane that cannot be")
}

func TestWrongArguments(t *testing.T) {
	tests := map[string][]string{
		"name a cluster: `slipway watch CLUSTER`":           {"watch"},
		"--output must be text or json":                     {"status", "-o", "yaml"},
		`required flag(s) "filename"`:                       {"quickstart"},
		"--api-port must be a port":                         {"up", "--api-port", "70000"},
		`unknown command "fly"`:                             {"fly"},
		`no "foo" to slipway get; there is: kubeconfig`:     {"get", "foo"},
		`no "foo" to slipway class; there is: render, test`: {"class", "foo", "bar"},
		"--output must be text, json or yaml, not \"xml\"":  {"version", "-o", "xml"},
		`kubernetes v0.1 has no module under hack/`:         {"binaries", "--version", "v0.1"},
		`has no program "emacs"`:                            {"binaries", "emacs"},
	}
	for want, args := range tests {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			_, _, err := run(t, args...)
			assert.ErrorContains(t, err, want)
		})
	}
}

func TestBinariesAreListed(t *testing.T) {
	cache := t.TempDir()
	t.Setenv(binaries.CacheVariable, cache)
	out, _, err := run(t, "binaries", "--list")
	require.NoError(t, err)
	assert.Regexp(t, `(?m)^kube-apiserver +v1\.\d+\.\d+ +no +`+cache, out)
	assert.Regexp(t, `(?m)^etcd +v3\.\d+\.\d+ +no +`+cache, out)
}

func TestStatus(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 1, 0, 0, time.UTC)
	status := plane.Status{
		Phase: plane.Ready, Supervisor: 1, Started: now.Add(-time.Minute), StartTook: 2500 * time.Millisecond,
		Server: "https://127.0.0.1:1", Kubeconfig: "/s/kubeconfig",
		Processes: []supervise.State{
			{Name: "etcd", PID: 2, Started: now.Add(-time.Minute), Log: "/s/logs/etcd.log"},
			{Name: "core", Restarts: 3, LastExit: "exit status 1", Log: "/s/logs/core.log"},
		},
	}
	usages := map[string]plane.Usage{
		"supervisor": {Resident: 10 << 20, CPU: time.Second}, "etcd": {Resident: 30 << 20, CPU: 2 * time.Second},
	}
	var out bytes.Buffer
	require.NoError(t, printStatus(&out, "text", "/s", status, usages, now))
	assert.Equal(t, `Phase:        Ready
State:        /s
Server:       https://127.0.0.1:1
Kubeconfig:   /s/kubeconfig
Start took:   2.5s
Memory:       40 MiB

PROCESS      PID   MEMORY   CPU    RESTARTS   UP              LOG
supervisor   1     10 MiB   1.0s   0          1m0s            
etcd         2     30 MiB   2.0s   0          1m0s            /s/logs/etcd.log
core         -     0 MiB    0.0s   3          exit status 1   /s/logs/core.log
`, out.String())

	out.Reset()
	require.NoError(t, printStatus(&out, "json", "/s", status, usages, now))
	var document map[string]any
	require.NoError(t, json.Unmarshal(out.Bytes(), &document))
	assert.EqualValues(t, 40<<20, document["resident"])
	assert.Equal(t, "Ready", document["phase"])
}

func TestBuildsAreDescribed(t *testing.T) {
	p := binaries.Progress{Program: binaries.Program{Name: "etcd", Cold: time.Minute}, Index: 1, Count: 3}
	assert.Equal(t, "  [1/3] etcd (up to about 1m0s)", describeBuild(p))
	p.Elapsed = 5 * time.Second
	assert.Equal(t, "  [1/3] etcd 5s of up to about 1m0s", describeBuild(p))
	p.Done = true
	assert.Equal(t, "  [1/3] etcd built in 5s", describeBuild(p))

	var out bytes.Buffer
	reporter := newBuildReporter(&out)
	p.Set = binaries.Set{Name: "etcd", Version: "v3.7.3"}
	reporter.report(binaries.Progress{Set: p.Set, Waiting: true})
	reporter.report(p)
	reporter.report(p)
	assert.Equal(t, "Waiting for another process that builds etcd v3.7.3\n"+
		"Building etcd v3.7.3 from its Go module; this happens once\n"+
		"  [1/3] etcd built in 5s\n  [1/3] etcd built in 5s\n", out.String())
}
