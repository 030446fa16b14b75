package etcdsnapshot

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/slipway-capi/slipway/providers/controlplane-kubeadm/internal/snapshot"
)

// lastWrite bounds the writing of what was found out when time is up.
const lastWrite = 10 * time.Second

var errStalled = errors.New("there was no progress for too long")

// watched ends the context when none of the readers that the second result makes has given anything for a while: a large
// snapshot may take long, one that stands still may not.
func watched(ctx context.Context, limit time.Duration) (context.Context, func(io.Reader) io.Reader, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	timer := time.AfterFunc(limit, func() { cancel(errStalled) })
	wrap := func(source io.Reader) io.Reader {
		return readerFunc(func(p []byte) (int, error) {
			n, err := source.Read(p)
			if n > 0 {
				timer.Reset(limit)
			}
			return n, err
		})
	}
	return ctx, wrap, func() { timer.Stop(); cancel(nil) }
}

// stalled is why the context ended, if that was for want of progress.
func stalled(ctx context.Context) error {
	if errors.Is(context.Cause(ctx), errStalled) {
		return errStalled
	}
	return nil
}

type readerFunc func(p []byte) (int, error)

// Read implements io.Reader.
func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// progressing is a store of which what is read counts as progress.
type progressing struct {
	snapshot.Store
	progress func(io.Reader) io.Reader
}

// Get implements the store.
func (p progressing) Get(ctx context.Context, name string) (io.ReadCloser, error) {
	stored, err := p.Store.Get(ctx, name)
	if err != nil {
		return nil, err
	}
	return struct {
		io.Reader
		io.Closer
	}{p.progress(stored), stored}, nil
}

// reasonOf is an error as a condition tells it: a stall explains all that came of it.
func reasonOf(err error) string {
	if errors.Is(err, errStalled) {
		return errStalled.Error()
	}
	return err.Error()
}

// innermost is the part of an error that says what happened; the outer parts repeat names and addresses.
func innermost(err error) error {
	var joined interface{ Unwrap() []error }
	if errors.As(err, &joined) {
		if list := joined.Unwrap(); len(list) > 0 {
			return innermost(list[0])
		}
	}
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err
		}
		err = inner
	}
}
