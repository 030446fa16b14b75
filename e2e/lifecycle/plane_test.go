package lifecycle

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
)

func TestMain(m *testing.M) {
	log.SetLogger(logr.Discard())
	os.Exit(m.Run())
}

const root = "../.."

// plane is a management plane of one test.
type plane struct {
	client.Client
	stateDir, kubeconfig string
}

func startPlane(t *testing.T) *plane {
	t.Helper()
	require.FileExists(t, filepath.Join(root, "bin", "slipway"), "run `make build` first")
	p := &plane{stateDir: filepath.Join(t.TempDir(), "plane")}
	p.kubeconfig = filepath.Join(p.stateDir, "kubeconfig")
	t.Cleanup(func() {
		p.checkLogs(t)
		if t.Failed() {
			p.tellLogs(t)
		}
		p.slipway(t, "down", "--delete-state")
	})
	p.slipway(t, "up")
	content, err := os.ReadFile(p.kubeconfig)
	require.NoError(t, err)
	p.Client = newClient(t, content)
	return p
}

// checkLogs looks for what a manager is not allowed to do, which mere repetition hides or delays.
func (p *plane) checkLogs(t *testing.T) {
	logs, _ := filepath.Glob(filepath.Join(p.stateDir, "logs", "*.log"))
	for _, log := range logs {
		content, err := os.ReadFile(log)
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(content)) {
			if strings.Contains(line, "slipway:") && strings.Contains(line, "is forbidden") {
				t.Errorf("%s: %s", filepath.Base(log), line)
				break
			}
		}
	}
}

// tellLogs puts the ends of the logs into the test's output: the folder is gone when somebody looks.
func (p *plane) tellLogs(t *testing.T) {
	logs, _ := filepath.Glob(filepath.Join(p.stateDir, "logs", "*.log"))
	for _, log := range logs {
		content, err := os.ReadFile(log)
		if err != nil {
			continue
		}
		lines := strings.Split(strings.TrimSpace(string(content)), "\n")
		t.Logf("%s:\n%s", filepath.Base(log), strings.Join(lines[max(0, len(lines)-25):], "\n"))
	}
}

// slipway runs the command and returns what it wrote to standard output.
func (p *plane) slipway(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.Command(filepath.Join("bin", "slipway"), append(args, "--state-dir", p.stateDir, "--kubeconfig", p.kubeconfig)...)
	cmd.Dir = root
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	start := time.Now()
	err := cmd.Run()
	t.Logf("slipway %s: %.1fs", strings.Join(args, " "), time.Since(start).Seconds())
	assert.NoError(t, err, "slipway %s\n%s%s", strings.Join(args, " "), out.String(), errOut.String())
	if err != nil {
		t.FailNow()
	}
	return out.String()
}

func merge(patch string) client.Patch {
	return client.RawPatch(types.MergePatchType, []byte(patch))
}

// scale sets the replicas of an object and waits until the cluster is as asked for.
func (p *plane) scale(t *testing.T, object client.Object, replicas string, timeout time.Duration) {
	t.Helper()
	require.NoError(t, p.Patch(t.Context(), object, merge(`{"spec":{"replicas":`+replicas+`}}`)))
	p.waitReady(t, timeout)
}

func (p *plane) waitReady(t *testing.T, timeout time.Duration) {
	t.Helper()
	p.slipway(t, "watch", clusterName, "--until-ready", "--timeout", timeout.String())
}

// workload connects to the cluster that the plane has made.
func (p *plane) workload(t *testing.T) client.Client {
	t.Helper()
	return newClient(t, []byte(p.slipway(t, "get", "kubeconfig", clusterName)))
}

func newClient(t *testing.T, kubeconfig []byte) client.Client {
	t.Helper()
	config, err := clientcmd.RESTConfigFromKubeConfig(kubeconfig)
	require.NoError(t, err)
	config.QPS = -1
	scheme := runtime.NewScheme()
	require.NoError(t, corev1.AddToScheme(scheme))
	require.NoError(t, clusterv1.AddToScheme(scheme))
	c, err := client.New(config, client.Options{Scheme: scheme})
	require.NoError(t, err)
	return c
}

func replaceInFile(t *testing.T, file, old, new string) {
	content, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Contains(t, string(content), old)
	require.NoError(t, os.WriteFile(file, []byte(strings.ReplaceAll(string(content), old, new)), 0o600))
}
