package answers

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	hooks "github.com/slipway-capi/slipway/contract/api/runtime/hooks/v1alpha1"
	"github.com/slipway-capi/slipway/contract/extension/hook"
)

// Conformance: RT-12
func TestText(t *testing.T) {
	assert.Equal(t, "one two three", Text(" one\n\ttwo\x1b\x00 three\r\n"))
	assert.Equal(t, "a?b", Text("a\xffb"))
	for _, r := range []string{"x", "ö", "世"} {
		long := Text(strings.Repeat(r, 5000))
		assert.LessOrEqual(t, len(long), MaxText)
		assert.Greater(t, len(long), MaxText-8)
		assert.True(t, utf8.ValidString(long))
		assert.True(t, strings.HasSuffix(long, "…"))
	}
}

func FuzzText(f *testing.F) {
	f.Add("a\n")
	f.Fuzz(func(t *testing.T, text string) {
		out := Text(text)
		require.LessOrEqual(t, len(out), MaxText)
		require.True(t, utf8.ValidString(out))
		require.NotContains(t, out, "\n")
		require.Equal(t, out, Text(out))
	})
}

func TestJudge(t *testing.T) {
	r := hook.GeneratePatches.NewResponse()
	r.SetStatus(hooks.ResponseStatusSuccess)
	require.NoError(t, Judge(r))
	r.SetStatus(hooks.ResponseStatusFailure)
	require.EqualError(t, Judge(r), "it reports a failure without saying why")
	r.SetMessage("no\nspace")
	require.EqualError(t, Judge(r), "it reports a failure: no space")
}

// Conformance: RT-13
func TestSettings(t *testing.T) {
	assert.Equal(t, map[string]string{"a": "1", "b": "3", "c": "4"}, Settings(map[string]string{"a": "1", "b": "2"}, map[string]string{"b": "3", "c": "4"}))
	assert.Nil(t, Settings(nil, nil))
}

func answer(handler string, after int32, message string) Named {
	r := hook.BeforeClusterCreate.NewResponse().(hook.Retry)
	r.SetRetryAfterSeconds(after)
	r.SetMessage(message)
	return Named{Handler: handler, Response: r}
}

// Conformance: RT-14
func TestTogether(t *testing.T) {
	plain := Named{Handler: "p", Response: hook.AfterControlPlaneInitialized.NewResponse()}
	var many []Named
	for i := range 10 {
		many = append(many, answer(fmt.Sprintf("h%d", i), 1, ""))
	}
	for _, c := range []struct {
		name string
		in   []Named
		want Wait
	}{
		{"nobody", nil, Wait{}},
		{"nobody waits", []Named{answer("a", 0, "fine"), plain}, Wait{}},
		{"one waits", []Named{answer("a", 0, "fine"), answer("b", 7, "soon")}, Wait{7, "b: soon"}},
		{"the lowest counts", []Named{answer("a", 30, "x"), answer("b", 7, "y"), answer("c", 9, "")}, Wait{7, "a: x; b: y; c"}},
		{"a long list", many, Wait{1, "h0; h1; h2; h3; h4; h5; h6; h7; and 2 more"}},
	} {
		assert.Equal(t, c.want, Together(c.in), c.name)
	}
}
