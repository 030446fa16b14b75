package wire

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"syscall"
	"time"
)

// Error says that an extension gave no response. Its text is the same for the same mishap each time: no ports, no times, nothing that
// the other side wrote. What it wraps is for logs.
type Error struct {
	because string
	err     error
}

func (e *Error) Error() string { return e.because }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.err }

// explain finds the words for what happened to a call.
func explain(err error, timeout time.Duration) *Error {
	return &Error{because: words(err, timeout), err: err}
}

func words(err error, timeout time.Duration) string {
	var (
		forbidden errForbidden
		answer    errAnswer
		name      *net.DNSError
		timedOut  net.Error
	)
	switch {
	case errors.As(err, &forbidden):
		return "the manager does not connect to its address: " + forbidden.why
	case errors.As(err, &answer):
		return answer.what
	case errors.As(err, &name) && name.IsNotFound:
		return "the name of its host is not found"
	case errors.As(err, &name):
		return "the name of its host cannot be looked up"
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timedOut) && timedOut.Timeout():
		return fmt.Sprintf("it does not answer within %s", timeout)
	case errors.Is(err, syscall.ECONNREFUSED):
		return "it refuses the connection"
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "it breaks the connection off"
	}
	if text := certificateWords(err); text != "" {
		return text
	}
	return "it cannot be reached"
}

func certificateWords(err error) string {
	var (
		unknown x509.UnknownAuthorityError
		host    x509.HostnameError
		invalid x509.CertificateInvalidError
		remote  *net.OpError
	)
	switch {
	case errors.As(err, &unknown):
		return "its certificate is signed by an unknown authority; clientConfig.caBundle must hold the right one"
	case errors.As(err, &host):
		return "its certificate is not for " + host.Host
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return "its certificate has expired or is not valid yet"
	case errors.As(err, &invalid):
		return "its certificate is not valid"
	case errors.Is(err, http.ErrSchemeMismatch):
		return "it does not speak TLS"
	case errors.As(err, &remote) && remote.Op == "remote error":
		return "it ends the TLS handshake: " + remote.Err.Error() // an alert: one of a few texts
	}
	return ""
}
