package alike

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestTo(t *testing.T) {
	names := []string{"imageRepository", "imageTag", "name", "zones"}
	for name, want := range map[string][]string{
		"imageRepositry": {"imageRepository"},
		"ImageTags":      {"imageTag"},
		"nmae":           {"name"},
		"repository":     {"imageRepository"},
		"zonez":          {"zones"},
		"qqqqqq":         nil,
	} {
		assert.Equal(t, want, To(name, names), name)
	}
}
