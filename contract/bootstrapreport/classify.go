package bootstrapreport

import (
	"regexp"
	"slices"
	"strings"
)

// Execution is one step of a first boot that did not go well.
type Execution struct {
	// Step is what was done, in words; see [Report]. The steps "kubeadm init" and "kubeadm join" are judged as such.
	Step string
	// Status is the exit status of a command; 0 if there is none.
	Status int
	// TimedOut says that the step was still running when time was up.
	TimedOut bool
	// Output is what the step printed, as it is. It may be long and may hold secrets.
	Output string
	// Services is what the machine says about its services after the failure, such as the kubelet's journal. It is shown
	// where the cause lies with them. Of its lines, "service kubelet is failed" says that one does not run, and "container
	// etcd was started again after: ..." how one ended.
	Services string
}

func (e Execution) kubeadm() bool { return strings.HasPrefix(e.Step, "kubeadm") }

// stackTrace is what kubeadm says after each error.
const stackTrace = "To see the stack trace of this error execute with --v=5 or higher"

// Diagnose judges a step and keeps what may be shown of it.
func Diagnose(e Execution, secrets Redactor) Report {
	text := strings.ReplaceAll(clean(e.Output), stackTrace, "")
	cause, line := Classify(e)
	cause, line = blame(cause, line, clean(e.Services))
	r := Report{
		Step: shorten(secrets.Redact(oneLine(clean(e.Step))), maxStep), Phase: phaseOf(e, text), Cause: cause,
		Detail: shorten(secrets.Redact(line), maxDetail), Output: lastLines(secrets.Redact(text)),
	}
	if !e.kubeadm() {
		r.Status = e.Status
	}
	if e.Services != "" && (e.TimedOut || slices.Contains(ofServices, cause)) {
		r.Output = strings.TrimLeft(r.Output+"\n"+lastLines(secrets.Redact(clean(e.Services))), "\n")
	}
	return r
}

// ofServices are the causes that services can tell more about.
var ofServices = []Cause{KubeletUnhealthy, ControlPlaneUnhealthy, EtcdUnavailable, ContainerRuntimeDown}

// blame finds the service behind what kubeadm waited for in vain, and its own words if it has left any.
func blame(cause Cause, line, services string) (Cause, string) {
	switch {
	case cause != KubeletUnhealthy && cause != ControlPlaneUnhealthy && cause != TimedOut:
		return cause, line
	case down.runtime.MatchString(services):
		return ContainerRuntimeDown, line
	case down.kubelet.MatchString(services):
		cause = KubeletUnhealthy
		if said := kubeletSaid.FindAllStringSubmatch(services, -1); said != nil {
			line = "the kubelet ended with: " + said[len(said)-1][1]
		}
	case cause == ControlPlaneUnhealthy:
		if said := containerSaid.FindString(services); said != "" {
			line = said
		}
	}
	return cause, line
}

var (
	kubeletSaid   = regexp.MustCompile(`(?m)"command failed" err="(.*)"$`)
	containerSaid = regexp.MustCompile(`(?m)^container \S+ was started again after: .+$`)
)

// down are the words of an Execution's Services for a service that does not run.
var down = struct{ runtime, kubelet *regexp.Regexp }{
	regexp.MustCompile(`(?m)^service (containerd|crio) is `), regexp.MustCompile(`(?m)^service kubelet is `),
}

// Classify finds the class of the cause, and the line of the output that shows it, which may hold secrets.
func Classify(e Execution) (Cause, string) {
	text := clean(e.Output)
	// What another command printed long before its end needs not be why it failed.
	parts := []string{lastLines(text)}
	if e.kubeadm() {
		parts = []string{verdict(text), withoutWarnings(text)}
	}
	for _, part := range parts {
		for _, r := range rules {
			if r.kubeadm && !e.kubeadm() {
				continue
			}
			if at := r.pattern.FindStringIndex(part); at != nil {
				return r.cause, telling(lineAt(part, at[0]))
			}
		}
	}
	return fallback(e, text)
}

func fallback(e Execution, text string) (Cause, string) {
	line := telling(lastError(text))
	switch {
	case e.TimedOut:
		return TimedOut, "it did not end in time"
	case e.Status == 127:
		return CommandNotFound, line
	case e.Status == 126:
		return PermissionDenied, line
	case e.Status == 137:
		return OutOfMemory, "it was killed"
	case !e.kubeadm() && e.Status != 0:
		return CommandFailed, line
	}
	return Unknown, line
}

// rule gives a pattern its cause.
type rule struct {
	cause Cause
	// kubeadm rules count only for kubeadm: the same words of another program may mean something else.
	kubeadm bool
	pattern *regexp.Regexp
}

func everywhere(cause Cause, pattern string) rule {
	return rule{cause, false, regexp.MustCompile(`(?i)` + pattern)}
}

func ofKubeadm(cause Cause, pattern string) rule {
	return rule{cause, true, regexp.MustCompile(`(?i)` + pattern)}
}

// rules are tried in order: those that leave no doubt first, then kubeadm's checks by their names, then what it waited
// for, and at last the network, of whose failures all others can be the reason.
var rules = []rule{
	everywhere(DiskFull, `no space left on device|disk quota exceeded|not enough free space`),
	everywhere(OutOfMemory, `cannot allocate memory|out of memory|oom-kill`),
	ofKubeadm(CommandNotFound, `kubeadm: (command )?not found|kubeadm: no such file`),

	ofKubeadm(HostUsedBefore, `\[ERROR (FileAvailable|DirAvailable)-`),
	ofKubeadm(PortInUse, `\[ERROR Port-\d+\]|bind: address already in use`),
	ofKubeadm(ContainerRuntimeDown, `\[ERROR (CRI|ContainerRuntimeVersion)\]|could not connect to the container runtime|container runtime is not running|(containerd|crio)\.sock[^\n]*(connection refused|no such file)`),
	ofKubeadm(ContainerImageUnavailable, `\[ERROR ImagePull\]|failed to pull (and unpack )?image|ErrImagePull|ImagePullBackOff`),
	ofKubeadm(VersionMismatch, `\[ERROR (KubeletVersion|KubernetesVersion)\]|only supports deploying clusters with the control plane version|kubernetes version is greater than kubeadm version|cannot execute 'kubelet --version'`),
	ofKubeadm(HostTooSmall, `\[ERROR (NumCPU|Mem)\]`),
	ofKubeadm(EtcdUnavailable, `\[ERROR ExternalEtcd`),
	ofKubeadm(HostNotPrepared, `\[ERROR [A-Za-z0-9-]+\]`),

	ofKubeadm(ConfigurationInvalid, `strict decoding error|error unmarshaling|error converting YAML|no kind "[^"\n]*" is registered|uses an old API spec|unknown (shorthand )?flag|flag needs an argument|mixed arguments|invalid configuration|couldn't (parse|decode)|: (Invalid value|Required value|Forbidden): |unable to load config|a stable controlPlaneEndpoint`),
	ofKubeadm(AuthorityMismatch, `none of the public keys "?[^\n]*are pinned|cluster CA found in [^\n]* is invalid|certificate signed by unknown authority|was different from the first|failed to verify JWS signature|is not signed by corresponding CA`),
	ofKubeadm(CertificateNotValid, `x509: certificate (is valid for|has expired)|certificate is not valid|x509: cannot validate certificate`),
	ofKubeadm(TokenUnknown, `could not find a JWS signature|token id "?[^\n]*is invalid for this cluster|isn't set up for token bootstrapping|configmaps "cluster-info" not found|: Unauthorized|the bootstrap token "[^"\n]*" was not of the form`),
	ofKubeadm(CertificatesMissing, `failure loading (certificate|key) |error downloading certs|Secret "kubeadm-certs" was not found|couldn't load the (certificate|private key) file|couldn't load CA certificate|error creating PKI assets|certificate authority from`),
	ofKubeadm(NodeExists, `a Node with name "[^\n]*already exists in the cluster`),
	ofKubeadm(EtcdUnavailable, `etcdserver: |etcd cluster is not healthy|error creating local etcd static pod|execution phase (check-etcd|etcd-join|control-plane-join/etcd)|etcd client for|waiting for etcd cluster to be available|the etcd member [^\n]*not started|etcd member`),
	ofKubeadm(Forbidden, `is forbidden: User `),
	ofKubeadm(KubeletUnhealthy, `kubelet is not healthy|kubelet isn't running|waiting for the kubelet to start|waiting for TLS bootstrap|localhost:10248|127\.0\.0\.1:10248`),
	ofKubeadm(ControlPlaneUnhealthy, `(kube-apiserver|kube-controller-manager|kube-scheduler) (is not healthy|check failed)|waiting for the control plane to start|couldn't initialize a Kubernetes cluster|could not bootstrap the admin user|execution phase wait-control-plane`),

	everywhere(NameNotResolved, `no such host|could not resolve host|temporary failure (in name resolution|resolving)|name or service not known|server misbehaving`),
	ofKubeadm(APIServerUnreachable, `connection refused|no route to host|i/o timeout|network is unreachable|connection reset by peer|context deadline exceeded|TLS handshake timeout|client rate limiter Wait|unexpected EOF|": EOF|Client\.Timeout exceeded|timed out waiting for the condition|unable to fetch the kubeadm-config ConfigMap|couldn't validate the identity of the API Server`),
	everywhere(NetworkUnreachable, `connection refused|no route to host|network is unreachable|connection timed out|i/o timeout|failed to connect to|tls handshake timeout`),
	everywhere(CommandNotFound, `: (command )?not found\b`),
	everywhere(PermissionDenied, `permission denied|operation not permitted`),
}

var (
	// failed begins the last word of kubeadm.
	failed   = regexp.MustCompile(`(?mi)^(\[preflight\] Some fatal errors occurred|(error: )?error execution phase |error: )`)
	phase    = regexp.MustCompile(`error execution phase ([a-z0-9]+(?:[-/][a-z0-9]+)*)`)
	preamble = regexp.MustCompile(`^(error: )?(error execution phase [a-z0-9/-]+: )?`)
	warning  = regexp.MustCompile(`^\s*\[WARNING |^W[0-9]{4} `)
	// announced is how kubeadm begins each line of output.
	announced = regexp.MustCompile(`(?m)^\[([a-z0-9]+(?:-[a-z0-9]+)*)\]`)
)

// verdict is the output from where kubeadm says that it has failed, else its last lines.
func verdict(text string) string {
	if at := failed.FindAllStringIndex(text, -1); at != nil {
		from := at[len(at)-1][0]
		// kubeadm repeats only the sum of its checks after their list.
		if i := strings.LastIndex(text[:from], "[preflight] Some fatal errors occurred"); i >= 0 {
			from = i
		}
		return text[from:]
	}
	return lastLines(text)
}

// withoutWarnings leaves out what kubeadm itself does not take for a reason to fail.
func withoutWarnings(text string) string {
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		if !warning.MatchString(line) {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}

// telling is a line without what the headline says anyhow.
func telling(line string) string { return strings.TrimSpace(preamble.ReplaceAllString(line, "")) }

// phaseOf is the phase that kubeadm names, else the one whose output came last.
func phaseOf(e Execution, text string) string {
	if !e.kubeadm() {
		return ""
	}
	if found := phase.FindAllStringSubmatch(text, -1); found != nil {
		return found[len(found)-1][1]
	}
	if found := announced.FindAllStringSubmatch(text, -1); found != nil {
		return found[len(found)-1][1]
	}
	return ""
}

var bad = regexp.MustCompile(`(?i)error|fail|fatal|panic|cannot|not found|invalid|denied`)

// lastError is the last line that sounds like an error, else the last line.
func lastError(text string) string {
	last, worst := "", ""
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || line == stackTrace {
			continue
		}
		last = line
		if bad.MatchString(line) {
			worst = line
		}
	}
	if worst != "" {
		return worst
	}
	return last
}

func lineAt(text string, at int) string {
	from := strings.LastIndexByte(text[:at], '\n') + 1
	line, _, _ := strings.Cut(text[from:], "\n")
	return strings.TrimSpace(line)
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// escapes are the sequences by which programs colour their output.
var escapes = regexp.MustCompile("\x1b(\\[[0-9;?]*[ -/]*[@-~]|\\][^\x07\n]*\x07|.)")

// clean makes plain text of what a terminal would have shown: without colours, and of lines that were written over only
// the last state.
func clean(text string) string {
	text = strings.ToValidUTF8(text, "?")
	text = escapes.ReplaceAllString(text, "")
	text = strings.ReplaceAll(text, "\r\n", "\n")
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		if i := strings.LastIndexByte(strings.TrimRight(line, "\r"), '\r'); i >= 0 {
			line = line[i+1:]
		}
		lines = append(lines, strings.Map(printable, line))
	}
	return strings.Join(lines, "\n")
}

func printable(r rune) rune {
	if r == '\t' {
		return r
	}
	if r < ' ' || r == 0x7f {
		return -1
	}
	return r
}
