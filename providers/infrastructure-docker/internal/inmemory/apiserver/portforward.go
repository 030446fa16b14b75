package apiserver

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/streaming/pkg/httpstream"
	"k8s.io/streaming/pkg/httpstream/spdy"
)

// protocol is that of port-forward over SPDY; a client that tries a websocket first falls back to it.
const protocol = "portforward.k8s.io"

// portForward joins streams of the client with connections to the Pod's ports.
func (s *Server) portForward(w http.ResponseWriter, req *http.Request, t target) error {
	if _, err := s.Store.Get(t.key()); err != nil {
		return err
	}
	if _, err := httpstream.Handshake(req, w, []string{protocol}); err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	streams := make(chan httpstream.Stream, 16)
	conn := spdy.NewResponseUpgrader().UpgradeResponse(w, req, func(stream httpstream.Stream, _ <-chan struct{}) error {
		streams <- stream
		return nil
	})
	if conn == nil {
		return nil // the upgrader has answered
	}
	defer func() { _ = conn.Close() }()
	pairs := map[string]*pair{}
	for {
		select {
		case <-conn.CloseChan():
			return nil
		case stream := <-streams:
			id := stream.Headers().Get(corev1.PortForwardRequestIDHeader)
			p := pairs[id]
			if p == nil {
				p = &pair{}
				pairs[id] = p
			}
			if stream.Headers().Get(corev1.StreamType) == corev1.StreamTypeError {
				p.errors = stream
			} else {
				p.data = stream
			}
			if p.errors != nil && p.data != nil {
				delete(pairs, id)
				go s.join(t, p)
			}
		}
	}
}

// pair is the two streams of one forwarded connection.
type pair struct{ errors, data httpstream.Stream }

func (s *Server) join(t target, p *pair) {
	defer func() { _ = p.errors.Close() }()
	defer func() { _ = p.data.Close() }()
	port, err := strconv.Atoi(p.data.Headers().Get(corev1.PortHeader))
	var pod net.Conn
	if err == nil {
		pod, err = s.Forward(t.namespace, t.name, port)
	}
	if err != nil {
		_, _ = fmt.Fprintf(p.errors, "forwarding to port %d of pod %s: %v", port, t.name, err)
		return
	}
	defer func() { _ = pod.Close() }()
	var done sync.WaitGroup
	done.Add(1)
	go func() {
		defer done.Done()
		_, _ = io.Copy(p.data, pod)
		_ = p.data.Reset()
	}()
	_, _ = io.Copy(pod, p.data)
	_ = pod.Close()
	done.Wait()
}
