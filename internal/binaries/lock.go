package binaries

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/slipway-capi/slipway/internal/filelock"
)

// lock waits until no other process builds the set.
func (b Builder) lock(ctx context.Context, set Set) (unlock func(), err error) {
	path := filepath.Join(b.Cache.Dir(set), ".lock")
	told := false
	for {
		lock, err := filelock.Try(path)
		if err == nil {
			return func() { _ = lock.Release() }, nil
		}
		if !filelock.IsHeld(err) {
			return nil, fmt.Errorf("locking the cache: %w", err)
		}
		if !told {
			b.report(Progress{Set: set, Waiting: true})
			told = true
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(200 * time.Millisecond):
		}
	}
}
