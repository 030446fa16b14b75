package unseen_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/types"

	"github.com/slipway-capi/slipway/contract/unseen"
)

var (
	start = time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	p, q  = types.NamespacedName{Name: "p"}, types.NamespacedName{Name: "q"}
)

func TestLeft(t *testing.T) {
	created := func(w *unseen.Writes) { w.Created(p, "a", start) }
	deleted := func(w *unseen.Writes) { w.Deleted(p, "a", start) }
	for _, tt := range []struct {
		name  string
		write func(*unseen.Writes)
		seen  map[string]bool
		after time.Duration
		left  map[string]bool
	}{
		{"nothing written", func(*unseen.Writes) {}, map[string]bool{"a": true}, 0, map[string]bool{}},
		{"created, not visible", created, nil, time.Second, map[string]bool{"a": true}},
		{"created, visible", created, map[string]bool{"a": true}, time.Second, map[string]bool{}},
		{"created, visible and already leaving", created, map[string]bool{"a": false}, time.Second, map[string]bool{}},
		{"created and never visible", created, nil, time.Minute, map[string]bool{}},
		{"deleted, still alive in the cache", deleted, map[string]bool{"a": true}, time.Second, map[string]bool{"a": true}},
		{"deleted, leaving", deleted, map[string]bool{"a": false}, time.Second, map[string]bool{}},
		{"deleted, gone", deleted, nil, time.Second, map[string]bool{}},
		{"deleted in vain", deleted, map[string]bool{"a": true}, time.Minute, map[string]bool{}},
		{"created, then deleted before it was visible", func(w *unseen.Writes) { created(w); deleted(w) }, nil, time.Second, map[string]bool{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := &unseen.Writes{}
			tt.write(w)
			assert.Equal(t, tt.left, w.Left(p, tt.seen, start.Add(tt.after)))
			assert.Empty(t, w.Left(q, nil, start.Add(tt.after)), "another parent has nothing to do with it")
		})
	}
}

func TestWhatWasVisibleOnceIsForgotten(t *testing.T) {
	w := &unseen.Writes{}
	w.Created(p, "a", start)
	w.Created(p, "b", start)
	assert.Equal(t, map[string]bool{"b": true}, w.Left(p, map[string]bool{"a": true}, start))
	assert.Equal(t, map[string]bool{"b": true}, w.Left(p, nil, start), "a is gone by now, which is no stale cache")
}
