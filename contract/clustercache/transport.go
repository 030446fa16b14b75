package clustercache

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync/atomic"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// swappableTransport lets long-living clients and informers change credentials, and gives every request but a watch a
// deadline.
type swappableTransport struct {
	current atomic.Pointer[http.RoundTripper]
}

func (t *swappableTransport) swap(next http.RoundTripper) {
	if old := t.current.Swap(&next); old != nil {
		closeIdle(*old)
	}
}

// RoundTrip sends a request with the credentials of the moment.
func (t *swappableTransport) RoundTrip(request *http.Request) (*http.Response, error) {
	transport := *t.current.Load()
	if request.URL.Query().Get("watch") == "true" {
		return transport.RoundTrip(request)
	}
	ctx, cancel := context.WithTimeout(request.Context(), requestTimeout)
	response, err := transport.RoundTrip(request.WithContext(ctx))
	if err != nil {
		cancel()
		return nil, err
	}
	response.Body = cancellingBody{ReadCloser: response.Body, cancel: cancel}
	return response, nil
}

func (t *swappableTransport) closeIdle() {
	if current := t.current.Load(); current != nil {
		closeIdle(*current)
	}
}

// cancellingBody frees the deadline's timer when the answer has been read.
type cancellingBody struct {
	io.ReadCloser
	cancel context.CancelFunc
}

// Close implements io.Closer.
func (b cancellingBody) Close() error {
	defer b.cancel()
	return b.ReadCloser.Close()
}

func closeIdle(transport http.RoundTripper) {
	if closer, ok := transport.(interface{ CloseIdleConnections() }); ok {
		closer.CloseIdleConnections()
	}
}

// startPause is how long a reader waits between looks at a cache that is about to start.
const startPause = 2 * time.Millisecond

// boundedReader gives every read a deadline: a cache that cannot sync would block it for ever.
type boundedReader struct {
	client.Reader
	timeout time.Duration
}

// Get reads one object.
func (r boundedReader) Get(ctx context.Context, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
	return r.read(ctx, func(ctx context.Context) error { return r.Reader.Get(ctx, key, object, options...) })
}

// List reads a list.
func (r boundedReader) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	return r.read(ctx, func(ctx context.Context) error { return r.Reader.List(ctx, list, options...) })
}

// read also waits for the goroutine that starts the cache: the first reader may be faster than that.
func (r boundedReader) read(ctx context.Context, do func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, r.timeout)
	defer cancel()
	for {
		err := do(ctx)
		var notStarted *cache.ErrCacheNotStarted
		if !errors.As(err, &notStarted) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(startPause):
		}
	}
}
