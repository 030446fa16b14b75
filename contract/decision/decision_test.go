package decision_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/slipway-capi/slipway/contract/decision"
)

func TestWhy(t *testing.T) {
	why := decision.Because("ScaleDown", "%d replicas wanted, %d exist", 3, 4)
	assert.Equal(t, decision.Why{Reason: "ScaleDown", Because: "3 replicas wanted, 4 exist"}, why)
	assert.Equal(t, "ScaleDown: 3 replicas wanted, 4 exist", why.String())
}

func TestWait(t *testing.T) {
	assert.Zero(t, decision.ForEvent("Waiting", "for %s", "a node").After)
	assert.Equal(t, time.Minute, decision.For(time.Minute, "Waiting", "for a node").After)
}

// Conformance: SH-41
func TestSooner(t *testing.T) {
	for _, c := range []struct{ a, b, want time.Duration }{{0, 0, 0}, {0, 5, 5}, {5, 0, 5}, {5, 3, 3}, {-1, 5, 5}, {5, -1, 5}, {-1, -1, 0}} {
		assert.Equal(t, c.want, decision.Sooner(c.a, c.b), "%v", c)
	}
}
