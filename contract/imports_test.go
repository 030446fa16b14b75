package contract_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// pure are the packages that a provider can take without taking a framework with them.
var pure = []string{"./api/...", "./accessors", "./bootstrapreport", "./conditions", "./labels", "./paused", "./decision", "./cloning", "./contractversion",
	"./extension", "./extension/extensiontest", "./extension/hook", "./extension/templates",
	"./extension/answers", "./extension/endpoint", "./extension/memo", "./extension/pending"}

// allowed are the modules whose packages they may import directly, besides their own and the standard library.
var allowed = []string{"k8s.io/apimachinery/", "k8s.io/api/", "k8s.io/utils/", "github.com/slipway-capi/slipway/contract/"}

// forbidden may not even come with something else.
var forbidden = []string{"sigs.k8s.io/controller-runtime", "k8s.io/client-go/", "k8s.io/apiextensions-apiserver"}

func TestPurePackagesImportLittle(t *testing.T) {
	for line := range strings.Lines(list(t, "{{.ImportPath}}{{range .Imports}} {{.}}{{end}}", pure...)) {
		names := strings.Fields(line)
		for _, imported := range names[1:] {
			if strings.Contains(strings.Split(imported, "/")[0], ".") && !hasPrefix(imported, allowed) {
				t.Errorf("%s imports %s", names[0], imported)
			}
		}
	}
	for imported := range strings.Lines(list(t, "{{range .Deps}}{{println .}}{{end}}", pure...)) {
		if hasPrefix(strings.TrimSpace(imported), forbidden) {
			t.Errorf("a pure package needs %s", imported)
		}
	}
}

func list(t *testing.T, format string, packages ...string) string {
	t.Helper()
	out, err := exec.Command("go", append([]string{"list", "-f", format}, packages...)...).Output()
	require.NoError(t, err)
	return string(out)
}

func hasPrefix(name string, prefixes []string) bool {
	for _, p := range prefixes {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	return false
}
