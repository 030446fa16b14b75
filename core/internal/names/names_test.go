package names_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/slipway-capi/slipway/core/internal/names"
)

func TestOf(t *testing.T) {
	for want, all := range map[string][]string{
		"Pod a":                   {"a"},
		"Pod b":                   {"b", "b"},
		"Pods a, b":               {"b", "a"},
		"Pods a, b, c":            {"c", "b", "a", "a"},
		"Pods a, b, c and 2 more": {"e", "d", "c", "b", "a"},
	} {
		assert.Equal(t, want, names.Of("Pod", all))
	}
	given := []string{"b", "a"}
	names.Of("Pod", given)
	assert.Equal(t, []string{"b", "a"}, given, "the list of the caller stays as it is")
}
