// Package unseen remembers what a controller has created and deleted and its cache does not show yet, so that a stale cache
// neither creates twice nor deletes one more. It is for controllers that keep a number of children. It need not survive a
// restart: a new cache is newer than any write before it.
package unseen

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// patience is when a write that the cache never showed is given up, for instance because someone undid it at once.
const patience = 30 * time.Second

// Writes are those of one controller. The zero value is ready for use, also from several goroutines.
type Writes struct {
	mu       sync.Mutex
	byParent map[types.NamespacedName]map[string]write
}

type write struct {
	created bool
	at      time.Time
}

// Created notes that a child was created.
func (w *Writes) Created(parent types.NamespacedName, child string, now time.Time) {
	w.note(parent, child, write{created: true, at: now})
}

// Deleted notes that the deletion of a child was asked for.
func (w *Writes) Deleted(parent types.NamespacedName, child string, now time.Time) {
	w.note(parent, child, write{at: now})
}

func (w *Writes) note(parent types.NamespacedName, child string, x write) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.byParent == nil {
		w.byParent = map[types.NamespacedName]map[string]write{}
	}
	if w.byParent[parent] == nil {
		w.byParent[parent] = map[string]write{}
	}
	w.byParent[parent][child] = x
}

// Left forgets the writes that have become visible and returns the names of the children whose are not. Seen tells for each
// child in the cache whether it is alive, that is not being deleted.
func (w *Writes) Left(parent types.NamespacedName, seen map[string]bool, now time.Time) map[string]bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	left := map[string]bool{}
	for child, x := range w.byParent[parent] {
		alive, exists := seen[child]
		visible := (x.created && exists) || (!x.created && !alive)
		if visible || now.Sub(x.at) > patience {
			delete(w.byParent[parent], child)
			continue
		}
		left[child] = true
	}
	if len(w.byParent[parent]) == 0 {
		delete(w.byParent, parent)
	}
	return left
}
