package patches_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/slipway-capi/slipway/core/internal/topology/patches"
)

// Conformance: TP-41
func TestRoots(t *testing.T) {
	for text, want := range map[string][]string{
		"":                         nil,
		"plain":                    nil,
		"{{ broken":                nil,
		"{{ .a }}{{ .b.c }}{{.a}}": {"a", "b"},
		`{{ if .a }}{{ .b }}{{ else if eq .c "x" }}{{ .d }}{{ else }}{{ .e }}{{ end }}`: {"a", "b", "c", "d", "e"},
		"{{ range .list }}{{ .inner }}{{ $.outer.x }}{{ else }}{{ .none }}{{ end }}":    {"list", "outer", "none"},
		"{{ range $i, $v := .list }}{{ $v.inner }}{{ $i }}{{ end }}":                    {"list"},
		"{{ with .a }}{{ .inner }}{{ else with .b }}{{ .inner }}{{ end }}":              {"a", "b"},
		`{{ (index .a "k").b | default .c | quote }}`:                                   {"a", "c"},
		`{{ $x := .a }}{{ $x.b }}{{ $ }}{{ . }}`:                                        {"a"},
		`{{ define "t" }}{{ .inner }}{{ end }}{{ template "t" .a }}`:                    {"a"},
	} {
		assert.Equal(t, want, patches.Roots(text), text)
	}
}

func FuzzRoots(f *testing.F) {
	f.Add("{{ range .list }}{{ .inner }}{{ $.outer.x }}{{ end }}")
	f.Add("{{ (.a).b }}{{ with $x := .c }}{{ break }}{{ end }}")
	f.Fuzz(func(_ *testing.T, text string) { patches.Roots(text) })
}
