package cloud

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"log"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// errNoServer refuses connections while the cluster has no API server, as a load balancer without backends does.
var errNoServer = errors.New("the cluster has no API server")

// listener serves the API of one cluster over TLS once there is a certificate.
type listener struct {
	tcp    net.Listener
	server *http.Server
	config atomic.Pointer[tls.Config]

	// silent is set while the network is cut.
	silent atomic.Bool

	mu    sync.Mutex
	conns map[net.Conn]struct{}
}

func listen(address string, handler http.Handler) (*listener, error) {
	tcp, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	l := &listener{tcp: tcp, conns: map[net.Conn]struct{}{}}
	config := &tls.Config{MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"}, GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) {
		if c := l.config.Load(); c != nil && !l.silent.Load() {
			return c, nil
		}
		return nil, errNoServer
	}}
	l.server = &http.Server{Handler: authenticated(handler), TLSConfig: config, ReadHeaderTimeout: 10 * time.Second, ConnState: l.track, ErrorLog: log.New(muted{}, "", 0)}
	go func() { _ = l.server.ServeTLS(tcp, "", "") }()
	return l, nil
}

// muted drops the handshake errors of clients that come before the cluster is there.
type muted struct{}

func (muted) Write(p []byte) (int, error) { return len(p), nil }

// serve begins to answer with a certificate, to clients whose certificates the authority signed.
func (l *listener) serve(certificate tls.Certificate, clients *x509.CertPool) {
	l.config.Store(&tls.Config{MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"}, Certificates: []tls.Certificate{certificate},
		ClientCAs: clients, ClientAuth: tls.VerifyClientCertIfGiven})
}

// pause stops answering; open connections end.
func (l *listener) pause() {
	l.config.Store(nil)
	l.hangUp()
}

// cut cuts the network off, or restores it.
func (l *listener) cut(off bool) {
	if l.silent.Swap(off) != off && off {
		l.hangUp()
	}
}

func (l *listener) hangUp() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for c := range l.conns {
		_ = c.Close()
	}
}

func (l *listener) track(c net.Conn, state http.ConnState) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch state {
	case http.StateNew:
		l.conns[c] = struct{}{}
	case http.StateClosed, http.StateHijacked: // a port-forward leads to a Pod, which ends it
		delete(l.conns, c)
	case http.StateActive, http.StateIdle:
	}
}

func (l *listener) serving() bool { return l.config.Load() != nil }

func (l *listener) port() int32 { return int32(l.tcp.Addr().(*net.TCPAddr).Port) }

func (l *listener) address() string { return l.tcp.Addr().String() }

func (l *listener) close() { _ = l.server.Close() }

// authenticated lets in who shows a certificate of the cluster's authority; the health endpoints are open to all.
func authenticated(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		open := req.URL.Path == "/healthz" || req.URL.Path == "/livez" || req.URL.Path == "/readyz" || req.URL.Path == "/version"
		if !open && (req.TLS == nil || len(req.TLS.VerifiedChains) == 0) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = w.Write([]byte(`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Unauthorized","message":"Unauthorized","code":401}`))
			return
		}
		next.ServeHTTP(w, req)
	})
}
