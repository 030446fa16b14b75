package machinepool

import (
	"sync"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// forgetAfter is when a creation that the cache never showed is given up.
const forgetAfter = 10 * time.Second

// creations remembers the Machines that were made and that the cache does not show yet, so that none is made, and told of,
// twice. It need not survive a restart: a new cache is not stale. The zero value is ready for use.
type creations struct {
	mu     sync.Mutex
	byPool map[client.ObjectKey]map[string]time.Time
}

func (c *creations) note(pool client.ObjectKey, machine string, now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.byPool == nil {
		c.byPool = map[client.ObjectKey]map[string]time.Time{}
	}
	if c.byPool[pool] == nil {
		c.byPool[pool] = map[string]time.Time{}
	}
	c.byPool[pool][machine] = now
}

// unseen forgets what is visible or too old, and returns the rest.
func (c *creations) unseen(pool client.ObjectKey, visible map[string]bool, now time.Time) map[string]bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := map[string]bool{}
	for name, at := range c.byPool[pool] {
		if visible[name] || now.Sub(at) > forgetAfter {
			delete(c.byPool[pool], name)
			continue
		}
		out[name] = true
	}
	if len(c.byPool[pool]) == 0 {
		delete(c.byPool, pool)
	}
	return out
}
