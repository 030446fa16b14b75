package freshness_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/slipway-capi/slipway/core/internal/freshness"
)

func object(uid, version string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{UID: types.UID(uid), ResourceVersion: version}}
}

// Conformance: MG-18
func TestStale(t *testing.T) {
	start := time.Now()
	for _, c := range []struct {
		name   string
		cached *corev1.ConfigMap
		after  time.Duration
		want   bool
	}{
		{"an older state waits", object("a", "9"), 0, true},
		{"versions are numbers, not text", object("a", "100"), 0, false},
		{"the written state is fresh", object("a", "10"), 0, false},
		{"another object is fresh", object("b", "1"), 0, false},
		{"a write that never shows is given up", object("a", "9"), 6 * time.Second, false},
		{"an odd version is not waited for", object("a", "x"), 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			var tracker freshness.Tracker
			tracker.Wrote(object("a", "10"), start)
			assert.Equal(t, c.want, tracker.Stale(c.cached, start.Add(c.after)) > 0)
		})
	}
}

func TestAWriteIsForgottenOnceSeen(t *testing.T) {
	var tracker freshness.Tracker
	now := time.Now()
	tracker.Wrote(object("a", "10"), now)
	assert.Zero(t, tracker.Stale(object("a", "11"), now))
	assert.Zero(t, tracker.Stale(object("a", "9"), now), "after a restore of the API server versions may start anew")
}
