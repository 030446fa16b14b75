// Package freshness tells a controller whether its cache shows its own last write already. A reconcile on an older state
// would decide the same again: a second event, a second patch, a conflict.
package freshness

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// patience is how long a write may stay invisible before it is given up, for instance after a restore of the API server
// to an older revision.
const patience = 5 * time.Second

// Tracker remembers the resource versions that a controller has written. It need not survive a restart: a new cache is
// newer than any write before it. The zero value is ready for use.
type Tracker struct {
	mu      sync.Mutex
	written map[types.UID]write
}

type write struct {
	version string
	at      time.Time
}

// Wrote notes the state of an object after a write.
func (t *Tracker) Wrote(o client.Object, now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.written == nil {
		t.written = map[types.UID]write{}
	}
	t.written[o.GetUID()] = write{version: o.GetResourceVersion(), at: now}
}

// Stale says for how long at most to wait until the cache shows the last write; zero means that it does. The event that
// brings the write to the cache ends the wait.
func (t *Tracker) Stale(cached client.Object, now time.Time) time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	w, ok := t.written[cached.GetUID()]
	if !ok {
		return 0
	}
	left := patience - now.Sub(w.at)
	order, err := resourceversion.CompareResourceVersion(cached.GetResourceVersion(), w.version)
	if err != nil || order >= 0 || left <= 0 {
		delete(t.written, cached.GetUID())
		return 0
	}
	return left
}
