package extension

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"
)

// checkEvery is how often files are looked at, at most: a new certificate is used that much later, and handshakes stay cheap.
const checkEvery = time.Second

// tlsConfig makes the settings of connections. Certificates that cannot be read now are an error; ones that cannot be read
// later leave those before in use.
func (s *Server) tlsConfig() (*tls.Config, error) {
	if s.options.CertFile == "" || s.options.KeyFile == "" {
		return nil, errors.New("a server needs CertFile and KeyFile: hooks are served by TLS only")
	}
	pair := &reloaded[*tls.Certificate]{files: []string{s.options.CertFile, s.options.KeyFile}, logger: s.options.Logger, read: func() (*tls.Certificate, error) {
		pair, err := tls.LoadX509KeyPair(s.options.CertFile, s.options.KeyFile)
		return &pair, err
	}}
	if _, err := pair.get(time.Now()); err != nil {
		return nil, fmt.Errorf("reading the certificate of the server: %w", err)
	}
	config := &tls.Config{
		MinVersion:     tls.VersionTLS12,
		NextProtos:     []string{"h2", "http/1.1"},
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return pair.get(time.Now()) },
	}
	if s.options.TLS != nil {
		s.options.TLS(config)
	}
	if s.options.ClientCAFile == "" {
		return config, nil
	}
	return s.demandClients(config)
}

// demandClients lets only callers in whose certificates the authorities vouch for.
func (s *Server) demandClients(config *tls.Config) (*tls.Config, error) {
	pool := &reloaded[*x509.CertPool]{files: []string{s.options.ClientCAFile}, logger: s.options.Logger, read: func() (*x509.CertPool, error) {
		content, err := os.ReadFile(s.options.ClientCAFile)
		if err != nil {
			return nil, err
		}
		pool := x509.NewCertPool()
		if !pool.AppendCertsFromPEM(content) {
			return nil, fmt.Errorf("%s holds no certificate", s.options.ClientCAFile)
		}
		return pool, nil
	}}
	if _, err := pool.get(time.Now()); err != nil {
		return nil, fmt.Errorf("reading the authorities of clients: %w", err)
	}
	config.ClientAuth = tls.RequireAndVerifyClientCert
	each := config.Clone()
	// A session that is resumed skips the check of the certificate, against the authorities of a time that may be over.
	each.SessionTicketsDisabled = true
	config.GetConfigForClient = func(*tls.ClientHelloInfo) (*tls.Config, error) {
		authorities, err := pool.get(time.Now())
		if err != nil {
			return nil, err
		}
		own := each.Clone()
		own.ClientCAs = authorities
		return own, nil
	}
	return config, nil
}

// reloaded is what was read from files, read again when they change.
type reloaded[T any] struct {
	files  []string
	read   func() (T, error)
	logger *slog.Logger

	mu      sync.Mutex
	value   T
	loaded  bool
	checked time.Time
	stamps  []stamp
}

// stamp tells versions of a file apart.
type stamp struct {
	modified time.Time
	size     int64
}

// get returns what the files hold. Once they could be read, the last good content stays until there is a better one: files may be
// seen half written, or a certificate before its key.
func (r *reloaded[T]) get(now time.Time) (T, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.loaded && now.Sub(r.checked) < checkEvery {
		return r.value, nil
	}
	stamps, err := r.stat()
	if err == nil && r.loaded && equal(stamps, r.stamps) {
		r.checked = now
		return r.value, nil
	}
	var value T
	if err == nil {
		value, err = r.read()
	}
	r.checked = now
	switch {
	case err == nil:
		r.value, r.stamps, r.loaded = value, stamps, true
	case r.loaded:
		r.logger.Error("New certificates cannot be read; those before stay in use", "files", r.files, "error", err)
		err = nil
	}
	return r.value, err
}

func (r *reloaded[T]) stat() ([]stamp, error) {
	var out []stamp
	for _, file := range r.files {
		info, err := os.Stat(file)
		if err != nil {
			return nil, err
		}
		out = append(out, stamp{info.ModTime(), info.Size()})
	}
	return out, nil
}

func equal(a, b []stamp) bool {
	for i := range a {
		if i >= len(b) || !a[i].modified.Equal(b[i].modified) || a[i].size != b[i].size {
			return false
		}
	}
	return len(a) == len(b)
}
