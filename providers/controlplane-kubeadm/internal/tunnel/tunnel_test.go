package tunnel

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	//lint:ignore SA1019 the test speaks for servers built on the older package
	//lint:ignore SA1019 client-go's dialers still speak in the types of this package
	//lint:ignore SA1019 the test speaks for servers built on the older package
	"k8s.io/apimachinery/pkg/util/httpstream"
	//lint:ignore SA1019 client-go's dialers still speak in the types of this package
	"k8s.io/apimachinery/pkg/util/httpstream/spdy"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/portforward"
)

// server is an API server that knows port-forward by SPDY only and hands every data stream to the function.
func server(t *testing.T, handle func(port string, stream httpstream.Stream)) *rest.Config {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			http.Error(w, "only SPDY here", http.StatusBadRequest)
			return
		}
		assert.Equal(t, "/api/v1/namespaces/kube-system/pods/etcd-a/portforward", r.URL.Path)
		_, err := httpstream.Handshake(r, w, []string{portforward.PortForwardProtocolV1Name})
		if !assert.NoError(t, err) {
			return
		}
		connection := spdy.NewResponseUpgrader().UpgradeResponse(w, r, func(stream httpstream.Stream, _ <-chan struct{}) error {
			if stream.Headers().Get(corev1.StreamType) == corev1.StreamTypeData {
				go handle(stream.Headers().Get(corev1.PortHeader), stream)
			}
			return nil
		})
		if connection != nil {
			<-connection.CloseChan()
		}
	}))
	t.Cleanup(s.Close)
	return &rest.Config{Host: s.URL}
}

var target = Target{Namespace: "kube-system", Pod: "etcd-a", Port: 2379}

func TestBytesGoBothWays(t *testing.T) {
	config := server(t, func(port string, stream httpstream.Stream) {
		assert.Equal(t, "2379", port)
		_, _ = io.Copy(stream, stream)
	})
	conn, err := Dial(t.Context(), config, target)
	require.NoError(t, err)
	_, err = conn.Write([]byte("hello"))
	require.NoError(t, err)
	buffer := make([]byte, 5)
	_, err = io.ReadFull(conn, buffer)
	require.NoError(t, err)
	assert.Equal(t, "hello", string(buffer))
	assert.Equal(t, "kube-system/etcd-a/2379", conn.RemoteAddr().String())
	require.NoError(t, conn.Close())
}

func TestDeadlinesInterruptBlockedReads(t *testing.T) {
	config := server(t, func(_ string, stream httpstream.Stream) { _, _ = io.Copy(io.Discard, stream) })
	conn, err := Dial(t.Context(), config, target)
	require.NoError(t, err)
	defer conn.Close()
	require.NoError(t, conn.SetReadDeadline(time.Now().Add(100*time.Millisecond)))
	start := time.Now()
	_, err = conn.Read(make([]byte, 1))
	require.Error(t, err)
	assert.Less(t, time.Since(start), time.Minute, "it does not hang")
}

func TestDialObeysTheContext(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	start := time.Now()
	_, err := Dial(ctx, &rest.Config{Host: s.URL}, target)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	assert.Less(t, time.Since(start), time.Minute, "it does not hang")
}
