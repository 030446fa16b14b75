package bootstrapreport_test

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/slipway-capi/slipway/contract/bootstrapreport"
)

const pem = "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA7dQ0Lx5Y2sVbZ3T6nqJxX1k8Zk4t0m3v5c7bQw9e1r2t3y4u\nc2hvcnQ=\n-----END RSA PRIVATE KEY-----\n"

// TestShapes: what looks like a secret is one, whoever printed it.
func TestShapes(t *testing.T) {
	for name, x := range map[string]struct{ text, secret string }{
		"token":                {"[bootstrap-token] Using token: abcdef.0123456789abcdef", "0123456789abcdef"},
		"token in a word":      {"x=abcdef.0123456789abcdef,y", "0123456789abcdef"},
		"two tokens":           {"abcdef.0123456789abcdef abcdef.0123456789abcdeg", "0123456789abcdeg"},
		"certificate key":      {"--certificate-key f8902e114ef118304e561c3ecd4d0b543adc226b7a07f675f56564185ffe0c07", "f8902e114e"},
		"private key":          {"cat: " + pem, "c2hvcnQ="},
		"private key, escaped": {strings.ReplaceAll(pem, "\n", `\n`), "c2hvcnQ="},
		"key without its end":  {strings.TrimSuffix(pem, "-----END RSA PRIVATE KEY-----\n"), "c2hvcnQ="},
		"key without its head": {strings.TrimPrefix(pem, "-----BEGIN RSA PRIVATE KEY-----\n"), "c2hvcnQ="},
		"password in a URL":    {"curl: https://admin:hunter2@registry.example/x", "hunter2"},
		"slash in a URL":       {"https://admin:hun/ter2@registry.example/x", "ter2"},
		"slash after digits":   {"https://admin:12/hunter2@registry.example/x", "hunter2"},
		"encoded in a URL":     {"https://admin:hun%2Fter2@registry.example/x", "ter2"},
		"all of it in a URL":   {"https://admin:h/u@n/t?e#r2@registry.example/x", "t?e#r2"},
		"no user in a URL":     {"redis://:hun/ter2@cache.example:6379/0", "ter2"},
		"odd one in a URL":     {"https://admin:hun@ter2@registry.example/x", "ter2"},
		"header":               {"Authorization: Basic YWRtaW46aHVudGVyMg==", "YWRtaW46"},
		"bearer":               {"> authorization: bearer abc-def_123456", "abc-def"},
		"assignment":           {"+ REGISTRY_PASSWORD=hunter2 ./login", "hunter2"},
		"quoted":               {`token = "two words"`, "words"},
		"option":               {"helm --registry-password hunter2", "hunter2"},
		"option with =":        {"x --password='hunter 2'", "hunter"},
		"field":                {"password: correct horse", "horse"},
		"JSON":                 {`{"client_secret": "s3cr3t"}`, "s3cr3t"},
		"kubeconfig":           {"client-key-data: LS0tLS1CRUdJTg==", "LS0tLS1"},
		"JSON web token":       {"got eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJr.c2ln", "c2ln"},
		"base64":               {"x " + base64.StdEncoding.EncodeToString([]byte("a private thing of some length, yes")), "YSBwcml2"},
		"password hash":        {"useradd -p $6$salt$0123456789abcdef./x", "0123456789abcdef"},
		"access key":           {"AKIAIOSFODNN7EXAMPLE", "IOSFODNN"},
	} {
		got := bootstrapreport.Redactor{}.Redact(x.text)
		assert.NotContains(t, got, x.secret, name)
		assert.Contains(t, got, "[redacted]", name)
	}
}

// TestWhatIsNotSecretStays: a report without its facts would be of no use.
func TestWhatIsNotSecretStays(t *testing.T) {
	config := "apiVersion: kubeadm.k8s.io/v1beta4\nkind: JoinConfiguration\ndiscovery:\n  bootstrapToken:\n    apiServerEndpoint: quickstart-lb:6443\n    token: abcdef.0123456789abcdef\n" +
		"nodeRegistration:\n  name: quickstart-md-0-abc12\n  criSocket: unix:///var/run/containerd/containerd.sock\n  taints:\n  - key: node-role.kubernetes.io/control-plane\ncertificatesDir: /etc/kubernetes/pki\n"
	r := bootstrapreport.NewRedactor([]byte(config))
	for _, text := range []string{
		"pulling docker://registry.example:5000/team/app@sha256:0 failed",
		`Get "https://172.18.0.3:6443/api/v1/namespaces/kube-public/configmaps/cluster-info?timeout=10s": dial tcp 172.18.0.3:6443: connect: connection refused`,
		`dial tcp: lookup quickstart-lb on 10.0.0.1:53: no such host`,
		"\t[ERROR FileAvailable--etc-kubernetes-manifests-kube-apiserver.yaml]: /etc/kubernetes/manifests/kube-apiserver.yaml already exists",
		"failed to pull image registry.k8s.io/kube-controller-manager:v1.37.2: not found",
		`a Node with name "quickstart-md-0-abc12" and status "Ready" already exists in the cluster`,
		`could not find a JWS signature in the cluster-info ConfigMap for token ID "abcdef"`,
		`error downloading the secret: Secret "kubeadm-certs" was not found in the "kube-system" Namespace`,
		"/var/lib/kubelet/pods/0a1b2c3d-4e5f-6a7b-8c9d-0e1f2a3b4c5d/volumes/kubernetes.io~projected/kube-api-access",
		"[mark-control-plane] Marking the node by adding the taint node-role.kubernetes.io/control-plane:NoSchedule",
	} {
		assert.Equal(t, text, r.Redact(text))
	}
}

// TestContentsOfFilesAreSecrets: whatever a file of the machine holds may come back in an output, in whole or in part.
func TestContentsOfFilesAreSecrets(t *testing.T) {
	r := bootstrapreport.NewRedactor([]byte("hunter2"), []byte("user: admin\nPIN_CODE: 4711\nnote: the cat sleeps\nvalue: Tr0ub4dor&3x\n"), []byte("license\nlowercaseonly\n"))
	for text, want := range map[string]string{
		"login with hunter2 failed": "login with [redacted] failed",
		"note: the cat sleeps":      "[redacted]",
		"got lowercaseonly":         "got [redacted]",
		"got Tr0ub4dor":             "got [redacted]",
	} {
		assert.Equal(t, want, r.Redact(text))
	}
	r = bootstrapreport.Redactor{}.AndValues([]byte("registry-login --user ci --password hunter2\nexport API_TOKEN=qwertz\ncurl -d x9Kp2mQ7vL http://x"))
	assert.Equal(t, "registry-login --user ci: no", r.Redact("registry-login --user ci: no"), "a command is no secret")
	assert.NotContains(t, r.Redact("sh: qwertz x9Kp2mQ7vL: not found"), "qwertz")
	assert.NotContains(t, r.Redact("sh: qwertz x9Kp2mQ7vL: not found"), "x9Kp2mQ7vL")
}

func TestSecretsThatOverlap(t *testing.T) {
	r := bootstrapreport.NewRedactor([]byte("aaaabbbb\nbbbbcccc\n"))
	assert.Equal(t, "x [redacted] y", r.Redact("x aaaabbbbcccc y"))
}

// TestPlantedSecrets puts random secrets of all kinds into real outputs, through the whole way to the condition.
func TestPlantedSecrets(t *testing.T) {
	entries, err := outputs.ReadDir("testdata")
	require.NoError(t, err)
	random := rand.New(rand.NewPCG(1, 2))
	text := func(alphabet string, n int) string {
		var b strings.Builder
		for range n {
			b.WriteByte(alphabet[random.IntN(len(alphabet))])
		}
		return b.String()
	}
	const lower, hex = "abcdefghijklmnopqrstuvwxyz0123456789", "0123456789abcdef"
	const all = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	for i := range 400 {
		file := text(all, 9+random.IntN(30))
		secrets := []string{text(lower, 6) + "." + text(lower, 16), text(hex, 64), file}
		long := base64.StdEncoding.EncodeToString([]byte(text(all, 40)))
		lines := strings.Split(output(t, strings.TrimSuffix(entries[i%len(entries)].Name(), ".txt")), "\n")
		for _, s := range append(secrets, long) {
			at := random.IntN(len(lines))
			cut := random.IntN(len(lines[at]) + 1)
			lines[at] = lines[at][:cut] + []string{" ", "=", `"`, "(", "\t"}[random.IntN(5)] + s + []string{" ", ",", `"`, ")", "\n"}[random.IntN(5)] + lines[at][cut:]
		}
		e := bootstrapreport.Execution{Step: "kubeadm join", Status: 1, Output: strings.Join(lines, "\n"), Services: strings.Join(secrets, "\n")}
		r := bootstrapreport.Diagnose(e, bootstrapreport.NewRedactor([]byte(fmt.Sprintf("# a file\n%s\n", file))))
		for _, s := range append(secrets, long) {
			require.NotContains(t, fmt.Sprintf("%+v", r), s, "secret %s", s)
			require.NotContains(t, r.Condition().Message, s)
		}
	}
}

func FuzzRedact(f *testing.F) {
	f.Add("before ", "hunter2hunter2", " after", "x: 1\n")
	f.Add("https://a:", "pass\nword1234", "@host", pem)
	f.Add("-----BEGIN A-----", "abcdef.0123456789abcdef", "-----END A-----", "token: q")
	f.Fuzz(func(t *testing.T, before, secret, after, other string) {
		r := bootstrapreport.NewRedactor([]byte(secret), []byte(other))
		got := r.Redact(before + secret + after)
		if len(strings.TrimSpace(secret)) == len(secret) && len(secret) >= 8 && strings.ToValidUTF8(secret, "") == secret && !strings.ContainsFunc(secret, func(r rune) bool { return r < ' ' || r == 0x7f }) {
			assert.NotContains(t, strings.ReplaceAll(got, "[redacted]", ""), secret)
		}
		again := bootstrapreport.Redactor{}.Redact(bootstrapreport.Redactor{}.Redact(before + after))
		assert.Equal(t, bootstrapreport.Redactor{}.Redact(before+after), again, "what is redacted stays so")
	})
}
