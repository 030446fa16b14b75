package main

import (
	"testing"
	"time"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Conformance: KB-56
func TestLifetimeOfTokens(t *testing.T) {
	for text, want := range map[string]time.Duration{"": 15 * time.Minute, "1h": time.Hour, "0": 0, "-1m": 0} {
		var o options
		fs := pflag.NewFlagSet("test", pflag.ContinueOnError)
		o.flags(fs)
		var args []string
		if text != "" {
			args = append(args, "--bootstrap-token-ttl="+text)
		}
		require.NoError(t, fs.Parse(args))
		err := o.validate()
		if want == 0 {
			require.ErrorContains(t, err, "--bootstrap-token-ttl must be greater than 0", text)
			continue
		}
		require.NoError(t, err)
		assert.Equal(t, want, o.tokenTTL)
	}
}
