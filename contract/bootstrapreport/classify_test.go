package bootstrapreport_test

import (
	"embed"
	"os"
	"path"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/slipway-capi/slipway/contract/bootstrapreport"
)

// outputs are what real programs printed, and in a few cases what the sources of kubeadm say that they print.
//
//go:embed testdata/*.txt
var outputs embed.FS

func output(t testing.TB, name string) string {
	t.Helper()
	content, err := outputs.ReadFile(path.Join("testdata", name+".txt"))
	require.NoError(t, err)
	return string(content)
}

func TestFindingsOfRealOutputs(t *testing.T) {
	for _, x := range []struct {
		file, step string
		cause      bootstrapreport.Cause
		phase      string
		detail     string
	}{
		{"join-unreachable", "kubeadm join", bootstrapreport.APIServerUnreachable, "preflight", "connection refused"},
		{"join-unknown-host", "kubeadm join", bootstrapreport.NameNotResolved, "preflight", "no such host"},
		{"join-token", "kubeadm join", bootstrapreport.TokenUnknown, "preflight", "JWS signature"},
		{"join-authority", "kubeadm join", bootstrapreport.AuthorityMismatch, "preflight", "cluster-info ConfigMap is invalid"},
		{"join-used", "kubeadm join", bootstrapreport.HostUsedBefore, "preflight", "already exists"},
		{"join-port", "kubeadm join", bootstrapreport.PortInUse, "preflight", "Port 10250 is in use"},
		{"join-runtime", "kubeadm join", bootstrapreport.ContainerRuntimeDown, "preflight", "container runtime"},
		{"join-certificates", "kubeadm join", bootstrapreport.ConfigurationInvalid, "preflight", "stable controlPlaneEndpoint"},
		{"join-download", "kubeadm join", bootstrapreport.CertificatesMissing, "control-plane-prepare/download-certs", "kubeadm-certs"},
		{"join-field", "kubeadm join", bootstrapreport.ConfigurationInvalid, "", "bootstrapToken or file must be set"},
		{"init-image", "kubeadm init", bootstrapreport.ContainerImageUnavailable, "preflight", "failed to pull"},
		{"init-healthz", "kubeadm init", bootstrapreport.KubeletUnhealthy, "wait-control-plane", "kubelet"},
		{"init-apiserver", "kubeadm init", bootstrapreport.ControlPlaneUnhealthy, "wait-control-plane", "could not bootstrap the admin user"},
		{"init-version", "kubeadm init", bootstrapreport.VersionMismatch, "", "only supports deploying clusters"},
		{"init-disk", "kubeadm init", bootstrapreport.DiskFull, "certs/ca", "no space left on device"},
		{"join-node-exists", "kubeadm join", bootstrapreport.NodeExists, "kubelet-start", "already exists in the cluster"},
		{"join-etcd", "kubeadm join", bootstrapreport.EtcdUnavailable, "etcd-join", "etcd"},
		{"join-forbidden", "kubeadm join", bootstrapreport.Forbidden, "preflight", "is forbidden"},
	} {
		t.Run(x.file, func(t *testing.T) {
			r := bootstrapreport.Diagnose(bootstrapreport.Execution{Step: x.step, Status: 1, Output: output(t, x.file)}, bootstrapreport.Redactor{})
			assert.Equal(t, x.cause, r.Cause, r.Detail)
			assert.Equal(t, x.phase, r.Phase)
			assert.Contains(t, r.Detail, x.detail)
			assert.NotContains(t, r.Detail, "error execution phase")
			assert.NotEmpty(t, r.Output)
		})
	}
}

func TestFindings(t *testing.T) {
	command := func(status int, output string) bootstrapreport.Execution {
		return bootstrapreport.Execution{Step: "preKubeadmCommands[0]", Status: status, Output: output}
	}
	for _, x := range []struct {
		name string
		of   bootstrapreport.Execution
		want bootstrapreport.Cause
		line string
	}{
		{"no such program", command(127, "/var/x: 2: apk: not found\n"), bootstrapreport.CommandNotFound, "/var/x: 2: apk: not found"},
		{"no such program, in silence", command(127, ""), bootstrapreport.CommandNotFound, ""},
		{"no such program, inside", command(1, "make: gcc: command not found\nmake: *** [x] Error 127\n"), bootstrapreport.CommandNotFound, "make: gcc: command not found"},
		{"not executable", command(126, "sh: ./x: Permission denied"), bootstrapreport.PermissionDenied, "sh: ./x: Permission denied"},
		{"killed", command(137, "Killed"), bootstrapreport.OutOfMemory, "it was killed"},
		{"no name server", command(100, "E: Failed to fetch http://deb/x  Temporary failure resolving 'deb'\nE: Unable to fetch some archives\n"), bootstrapreport.NameNotResolved, ""},
		{"no network", command(7, "curl: (7) Failed to connect to 10.0.0.1 port 80: Connection refused"), bootstrapreport.NetworkUnreachable, ""},
		{"disk", command(2, "tar: x: Cannot write: No space left on device"), bootstrapreport.DiskFull, "tar: x: Cannot write: No space left on device"},
		{"in silence", command(3, ""), bootstrapreport.CommandFailed, ""},
		{"with a word", command(1, "all good\nerror: the licence is missing\nbye\n"), bootstrapreport.CommandFailed, "the licence is missing"},
		{"what kubeadm says counts for kubeadm only", command(1, "[ERROR Port-10250]: Port 10250 is in use"), bootstrapreport.CommandFailed, "[ERROR Port-10250]: Port 10250 is in use"},
		{"no kubeadm", bootstrapreport.Execution{Step: "kubeadm join", Status: 127, Output: "sh: 1: kubeadm: not found"}, bootstrapreport.CommandNotFound, "sh: 1: kubeadm: not found"},
		{"without a word", bootstrapreport.Execution{Step: "kubeadm join", Status: 1}, bootstrapreport.Unknown, ""},
		{"without end", bootstrapreport.Execution{Step: "kubeadm init", TimedOut: true, Output: "[certs] Generating\n"}, bootstrapreport.TimedOut, "it did not end in time"},
		{"without end, for a reason", bootstrapreport.Execution{Step: "kubeadm join", TimedOut: true, Output: "[kubelet-check] The kubelet is not healthy after 4m0s\n[x] waiting\n"},
			bootstrapreport.KubeletUnhealthy, "[kubelet-check] The kubelet is not healthy after 4m0s"},
		{"a warning is no reason", bootstrapreport.Execution{Step: "kubeadm init", Status: 1,
			Output: "W0101 version.go:1] dial tcp: lookup dl.k8s.io: no such host\n" + strings.Repeat("[certs] x\n", 20) + "error: odd\n"}, bootstrapreport.Unknown, "odd"},
		{"the machine was used: the port only follows from that", bootstrapreport.Execution{Step: "kubeadm join", Status: 1,
			Output: "[preflight] Some fatal errors occurred:\n\t[ERROR Port-10250]: Port 10250 is in use\n\t[ERROR FileAvailable--etc-kubernetes-kubelet.conf]: /etc/kubernetes/kubelet.conf already exists\n"},
			bootstrapreport.HostUsedBefore, "[ERROR FileAvailable--etc-kubernetes-kubelet.conf]: /etc/kubernetes/kubelet.conf already exists"},
		{"other checks", bootstrapreport.Execution{Step: "kubeadm join", Status: 1,
			Output: "[preflight] Some fatal errors occurred:\n\t[ERROR FileExisting-conntrack]: conntrack not found in system path\n"}, bootstrapreport.HostNotPrepared, ""},
		{"small machines", bootstrapreport.Execution{Step: "kubeadm init", Status: 1,
			Output: "\t[ERROR NumCPU]: the number of available CPUs 1 is less than the required 2\n"}, bootstrapreport.HostTooSmall, ""},
	} {
		t.Run(x.name, func(t *testing.T) {
			cause, line := bootstrapreport.Classify(x.of)
			assert.Equal(t, x.want, cause)
			if x.line != "" {
				assert.Equal(t, x.line, line)
			}
		})
	}
}

// TestServicesAreShownWhereTheCauseIsTheirs: kubeadm only says that it waited in vain.
func TestServicesAreShownWhereTheCauseIsTheirs(t *testing.T) {
	e := bootstrapreport.Execution{Step: "kubeadm init", Status: 1, Output: output(t, "init-kubelet"), Services: output(t, "services-kubelet")}
	r := bootstrapreport.Diagnose(e, bootstrapreport.Redactor{})
	assert.Equal(t, bootstrapreport.KubeletUnhealthy, r.Cause)
	assert.Equal(t, "the kubelet ended with: failed to parse kubelet flag: unknown flag: --nonsense", r.Detail)
	assert.Contains(t, r.Output, "kubelet.service: Failed")
	e.Services = "E1203 06:33:57 kubelet.go:1] noise\ncontainer kube-apiserver was started again after: Error: unknown flag: --nonsense\n"
	r = bootstrapreport.Diagnose(e, bootstrapreport.Redactor{})
	assert.Equal(t, bootstrapreport.ControlPlaneUnhealthy, r.Cause)
	assert.Equal(t, "container kube-apiserver was started again after: Error: unknown flag: --nonsense", r.Detail)
	e.Services = "service containerd is failed\nservice kubelet is activating\n"
	assert.Equal(t, bootstrapreport.ContainerRuntimeDown, bootstrapreport.Diagnose(e, bootstrapreport.Redactor{}).Cause)
	e.Output = output(t, "join-token")
	r = bootstrapreport.Diagnose(e, bootstrapreport.Redactor{})
	assert.Equal(t, bootstrapreport.TokenUnknown, r.Cause, "what kubeadm knows counts more")
	assert.NotContains(t, r.Output, "containerd is failed")
}

func TestEveryCauseHasAdvice(t *testing.T) {
	for _, c := range bootstrapreport.Causes() {
		assert.Regexp(t, `^[a-z].*[.]$`, c.Advice(), c)
		assert.Regexp(t, `^[A-Z][A-Za-z]+$`, string(c))
	}
	assert.Empty(t, bootstrapreport.Cause("OfAnotherProvider").Advice())
}

func TestEveryCauseIsDocumented(t *testing.T) {
	page, err := os.ReadFile("../../docs/operating/bootstrap-failures.md")
	require.NoError(t, err)
	for _, c := range bootstrapreport.Causes() {
		assert.Contains(t, string(page), "`"+string(c)+"`")
	}
}

func FuzzDiagnose(f *testing.F) {
	entries, err := outputs.ReadDir("testdata")
	require.NoError(f, err)
	for _, e := range entries {
		content, err := outputs.ReadFile(path.Join("testdata", e.Name()))
		require.NoError(f, err)
		f.Add(string(content), 1, false)
	}
	f.Add("\x1b[31mred\r\rover\xff\x00", 127, true)
	f.Fuzz(func(t *testing.T, output string, status int, timedOut bool) {
		for _, step := range []string{"kubeadm join", "preKubeadmCommands[0]", output} {
			e := bootstrapreport.Execution{Step: step, Status: status, TimedOut: timedOut, Output: output, Services: output}
			r := bootstrapreport.Diagnose(e, bootstrapreport.Redactor{})
			c := r.Condition()
			assert.Contains(t, bootstrapreport.Causes(), r.Cause)
			assert.LessOrEqual(t, len(c.Message), bootstrapreport.MaxMessage)
			assert.True(t, strings.HasPrefix(c.Message, r.Headline()))
			assert.NotContains(t, r.Headline(), "\n")
			assert.Equal(t, strings.ToValidUTF8(c.Message, ""), c.Message)
			assert.Equal(t, r, bootstrapreport.Diagnose(e, bootstrapreport.Redactor{}), "always the same")
		}
	})
}
