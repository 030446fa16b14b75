// Package tunnel opens network connections to a port of a Pod through the port-forward subresource of a workload
// cluster's API server: the management cluster needs no route to the nodes.
package tunnel

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	//lint:ignore SA1019 client-go reports upgrade failures with this type; both packages must be asked
	//lint:ignore SA1019 client-go's dialers still speak in the types of this package
	"k8s.io/apimachinery/pkg/util/httpstream"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/portforward"
	"k8s.io/client-go/transport/spdy"
	streaming "k8s.io/streaming/pkg/httpstream"
)

// DialTimeout is how long opening a tunnel may take when the caller sets no shorter deadline.
const DialTimeout = 10 * time.Second

// Target is a port of a Pod.
type Target struct {
	Namespace, Pod string
	Port           int
}

// Dial opens a connection. It obeys the context and the connection obeys deadlines, so that a dead node cannot hold
// the caller.
func Dial(ctx context.Context, config *rest.Config, target Target) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, DialTimeout)
	defer cancel()
	type result struct {
		conn net.Conn
		err  error
	}
	done := make(chan result, 1)
	go func() {
		conn, err := open(config, target)
		done <- result{conn, err}
	}()
	select {
	case r := <-done:
		return r.conn, r.err
	case <-ctx.Done():
		go func() {
			if late := <-done; late.conn != nil {
				_ = late.conn.Close()
			}
		}()
		return nil, fmt.Errorf("opening a tunnel to Pod %s: %w", target.Pod, ctx.Err())
	}
}

func open(config *rest.Config, target Target) (net.Conn, error) {
	dialer, err := newDialer(config, target)
	if err != nil {
		return nil, err
	}
	connection, _, err := dialer.Dial(portforward.PortForwardProtocolV1Name)
	if err != nil {
		return nil, fmt.Errorf("opening a tunnel to Pod %s: %w", target.Pod, err)
	}
	data, err := streams(connection, target.Port)
	if err != nil {
		_ = connection.Close()
		return nil, fmt.Errorf("opening a tunnel to Pod %s: %w", target.Pod, err)
	}
	return bridge(connection, data, target), nil
}

// newDialer speaks websocket first, which passes through more proxies, and SPDY with API servers that know no other.
func newDialer(config *rest.Config, target Target) (httpstream.Dialer, error) {
	base, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return nil, fmt.Errorf("reading the server's address: %w", err)
	}
	url := base.JoinPath("api", "v1", "namespaces", target.Namespace, "pods", target.Pod, "portforward")
	roundTripper, upgrader, err := spdy.RoundTripperFor(config)
	if err != nil {
		return nil, fmt.Errorf("preparing SPDY: %w", err)
	}
	fallback := spdy.NewDialer(upgrader, &http.Client{Transport: roundTripper, Timeout: DialTimeout}, http.MethodPost, url)
	primary, err := portforward.NewSPDYOverWebsocketDialer(url, config)
	if err != nil {
		return nil, fmt.Errorf("preparing the websocket: %w", err)
	}
	return portforward.NewFallbackDialer(primary, fallback, noWebsocket), nil
}

// noWebsocket: client-go reports a refused upgrade with a type of either package, depending on the transport.
func noWebsocket(err error) bool {
	return httpstream.IsUpgradeFailure(err) || streaming.IsUpgradeFailure(err)
}

// streams opens the pair of streams that the protocol wants per connection: one for an error text, one for data.
func streams(connection httpstream.Connection, port int) (httpstream.Stream, error) {
	headers := http.Header{}
	headers.Set(corev1.PortHeader, strconv.Itoa(port))
	headers.Set(corev1.PortForwardRequestIDHeader, "0")
	headers.Set(corev1.StreamType, corev1.StreamTypeError)
	failure, err := connection.CreateStream(headers)
	if err != nil {
		return nil, fmt.Errorf("opening the error stream: %w", err)
	}
	_ = failure.Close() // only the other side writes to it
	headers.Set(corev1.StreamType, corev1.StreamTypeData)
	data, err := connection.CreateStream(headers)
	if err != nil {
		return nil, fmt.Errorf("opening the data stream: %w", err)
	}
	go func() {
		text, err := io.ReadAll(failure)
		if err == nil && len(text) > 0 {
			_ = connection.Close()
		}
	}()
	return data, nil
}

// bridge makes a connection of a stream. A stream has no deadlines, an in-memory pipe has.
func bridge(connection httpstream.Connection, data httpstream.Stream, target Target) net.Conn {
	near, far := net.Pipe()
	conn := &conn{Conn: near, connection: connection, address: address(target)}
	go func() {
		_, _ = io.Copy(far, data)
		_ = far.Close()
	}()
	go func() {
		_, _ = io.Copy(data, far)
		_ = data.Close()
		_ = far.Close()
	}()
	return conn
}

type conn struct {
	net.Conn
	connection httpstream.Connection
	address    address
}

// Close ends the tunnel with the connection.
func (c *conn) Close() error {
	return errors.Join(c.Conn.Close(), c.connection.Close())
}

// RemoteAddr names the Pod.
func (c *conn) RemoteAddr() net.Addr { return c.address }

type address Target

// Network implements net.Addr.
func (address) Network() string { return "portforward" }

// String implements net.Addr.
func (a address) String() string {
	return strings.Join([]string{a.Namespace, a.Pod, strconv.Itoa(a.Port)}, "/")
}
