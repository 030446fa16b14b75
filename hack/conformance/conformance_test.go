package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func repository(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	return root
}

func TestRulesAndTheirTests(t *testing.T) {
	const ship = "docs/conformance/fleet/ship.tsv"
	claimed := "package a\n\n// TestSail sails.\n//\n// Conformance: SH-01, A5b\nfunc TestSail() {\n\t// Conformance: SH-02\n}\n"
	for _, c := range []struct {
		name  string
		files map[string]string
		errs  []string
		want  []string
	}{
		{
			name:  "a claim above and a claim inside",
			files: map[string]string{ship: "SH-01\tShips sail.\nSH-02\tThey | float.\nA5b\tIn water.\n", "a/a_test.go": claimed},
			want:  []string{"## ship", "| SH-01 | Ships sail. | [TestSail](../../a/a_test.go) |", `They \| float.`},
		},
		{
			name:  "a rule without a test, and a test without a rule",
			files: map[string]string{ship: "SH-01\tShips sail.\nSH-03\tAnd sink.\nA5b\tIn water.\n", "a/a_test.go": claimed},
			errs:  []string{"no test claims SH-03 (And sink.)", "a/a_test.go: TestSail claims the unknown rule SH-02"},
			want:  []string{"| SH-03 | And sink. | nothing yet |"},
		},
		{
			name:  "what differs needs no test",
			files: map[string]string{ship: "SH-03\tAnd sink.\tdiffers: ours float\n"},
			want:  []string{"| SH-03 | And sink. | **Differs:** ours float |"},
		},
		{
			name:  "a number given twice",
			files: map[string]string{ship: "SH-03\tAnd sink.\tdiffers: no\nSH-03\tAgain.\tdiffers: no\n"},
			errs:  []string{"SH-03 is there twice"},
		},
		{
			name:  "a third field that is no reason",
			files: map[string]string{ship: "SH-03\tAnd sink.\twhatever\n"},
			errs:  []string{`ship.tsv:1: SH-03: the third field is "differs: " and a reason`},
		},
		{
			name:  "a claim outside of a test",
			files: map[string]string{ship: "SH-03\tAnd sink.\tdiffers: no\n", "a_test.go": "package a\n\n// Conformance: SH-03\nvar x = 1\n"},
			errs:  []string{"belongs to no test"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			root := repository(t, c.files)
			err := run(root)
			if len(c.errs) == 0 {
				require.NoError(t, err)
			}
			for _, e := range c.errs {
				assert.ErrorContains(t, err, e)
			}
			if len(c.want) == 0 {
				return
			}
			text, err := os.ReadFile(filepath.Join(root, "docs/conformance/fleet.md"))
			require.NoError(t, err)
			for _, w := range c.want {
				assert.Contains(t, string(text), w)
			}
		})
	}
}
