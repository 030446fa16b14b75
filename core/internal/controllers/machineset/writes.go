package machineset

import (
	"sync"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// forgetAfter is when a write that the cache never showed is given up, for instance because someone undid it at once.
const forgetAfter = 30 * time.Second

// writes remembers the creations and deletions that the cache does not show yet, so that a stale cache neither creates
// twice nor deletes one more. It need not survive a restart: a new cache is not stale.
type writes struct {
	mu    sync.Mutex
	byset map[client.ObjectKey]map[string]write
}

type write struct {
	alive bool
	at    time.Time
}

func (w *writes) note(set client.ObjectKey, machine string, alive bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.byset == nil {
		w.byset = map[client.ObjectKey]map[string]write{}
	}
	if w.byset[set] == nil {
		w.byset[set] = map[string]write{}
	}
	w.byset[set][machine] = write{alive: alive, at: time.Now()}
}

// settled forgets the writes that are visible and says whether none is left. seen tells for each Machine in the cache
// whether it is alive, that is not being deleted.
func (w *writes) settled(set client.ObjectKey, seen map[string]bool) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for name, x := range w.byset[set] {
		alive, exists := seen[name]
		visible := (x.alive && exists) || (!x.alive && !alive)
		if visible || time.Since(x.at) > forgetAfter {
			delete(w.byset[set], name)
		}
	}
	if len(w.byset[set]) == 0 {
		delete(w.byset, set)
		return true
	}
	return false
}
