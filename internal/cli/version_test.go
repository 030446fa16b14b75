package cli

import (
	"encoding/json"
	"runtime"
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

func TestVersion(t *testing.T) {
	out, _, err := run(t, "version")
	require.NoError(t, err)
	assert.Regexp(t, `^slipway \S+(, commit \S+)?, go1\.\S+, `+runtime.GOOS+`/`, out)
	for format, read := range map[string]func([]byte, any) error{
		"json": json.Unmarshal, "yaml": func(content []byte, into any) error { return yaml.Unmarshal(content, into) },
	} {
		out, _, err := run(t, "version", "-o", format)
		require.NoError(t, err)
		var b build
		require.NoError(t, read([]byte(out), &b), format)
		assert.Equal(t, thisBuild(), b)
	}
}

func TestWhatABuildIsCalled(t *testing.T) {
	recorded := &debug.BuildInfo{Main: debug.Module{Version: "v0.1.1-0.2026"}, Settings: []debug.BuildSetting{
		{Key: "vcs.revision", Value: "abc"}, {Key: "vcs.modified", Value: "true"},
	}}
	for _, tt := range []struct {
		name            string
		info            *debug.BuildInfo
		version, commit string
		want            [2]string
	}{
		{name: "what Go has recorded", info: recorded, want: [2]string{"v0.1.1-0.2026", "abc-dirty"}},
		{name: "what was set at link time", info: recorded, version: "v1.0.0", commit: "def", want: [2]string{"v1.0.0", "def"}},
		{name: "nothing", want: [2]string{"unknown", ""}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := buildOf(tt.info, tt.version, tt.commit)
			assert.Equal(t, tt.want, [2]string{b.Version, b.Commit})
		})
	}
}
