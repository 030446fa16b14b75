package pending

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestAnnotations(t *testing.T) {
	assert.Equal(t, []string{"A", "B"}, List(" B,A,,A "))
	assert.Empty(t, List(""))
	assert.Equal(t, "A,B", Join(List("B,A")))
}
