package filelock

import (
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestOnlyOneHoldsALock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	holder, err := Holder(path)
	require.NoError(t, err)
	assert.Zero(t, holder, "no file, no holder")

	first, err := Try(path)
	require.NoError(t, err)
	_, err = Try(path)
	assert.True(t, IsHeld(err), "second try: %v", err)
	holder, err = Holder(path)
	require.NoError(t, err)
	assert.Equal(t, os.Getpid(), holder)

	require.NoError(t, first.Release())
	holder, err = Holder(path)
	require.NoError(t, err)
	assert.Zero(t, holder, "a released lock has no holder although its file stays")
	second, err := Try(path)
	require.NoError(t, err)
	require.NoError(t, second.Release())
}

func TestOtherErrorsAreNotHeld(t *testing.T) {
	_, err := Try(filepath.Join(t.TempDir(), "missing", "lock"))
	require.Error(t, err)
	assert.False(t, IsHeld(err))
}

// TestAskingIsNotHolding takes and asks at the same time: asking neither keeps the lock from others nor fails.
func TestAskingIsNotHolding(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	done := make(chan struct{})
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
					_, err := Holder(path)
					assert.NoError(t, err)
				}
			}
		})
	}
	for range 100 {
		lock, err := Try(path)
		require.NoError(t, err)
		holder, err := Holder(path)
		require.NoError(t, err)
		assert.Equal(t, os.Getpid(), holder)
		require.NoError(t, lock.Release())
	}
	close(done)
	wg.Wait()
}
