package pki

import (
	"crypto/x509"
	"encoding/pem"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func at(t time.Time) func() time.Time { return func() time.Time { return t } }

func open(t *testing.T, dir string, now time.Time) *Authority {
	t.Helper()
	a, err := Open(dir, at(now))
	require.NoError(t, err)
	return a
}

func parse(t *testing.T, file string) *x509.Certificate {
	t.Helper()
	content, err := os.ReadFile(file)
	require.NoError(t, err)
	block, _ := pem.Decode(content)
	require.NotNil(t, block)
	cert, err := x509.ParseCertificate(block.Bytes)
	require.NoError(t, err)
	return cert
}

func TestCertificatesSurviveARestart(t *testing.T) {
	dir := t.TempDir()
	first := open(t, dir, start)
	files, err := first.Client("admin", "slipway-admin", "system:masters")
	require.NoError(t, err)
	before := parse(t, files.Cert)

	second := open(t, dir, start.Add(24*time.Hour))
	assert.Equal(t, first.CA(), second.CA())
	files, err = second.Client("admin", "slipway-admin", "system:masters")
	require.NoError(t, err)
	assert.Equal(t, before.Raw, parse(t, files.Cert).Raw)
}

func TestCertificatesAreRenewed(t *testing.T) {
	tests := []struct {
		name   string
		now    time.Time
		groups []string
	}{
		{name: "a month before they end", now: start.Add(340 * 24 * time.Hour), groups: []string{"a"}},
		{name: "when the groups change", now: start, groups: []string{"a", "b"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			files, err := open(t, dir, start).Client("user", "user", "a")
			require.NoError(t, err)
			before := parse(t, files.Cert)
			files, err = open(t, dir, tt.now).Client("user", "user", tt.groups...)
			require.NoError(t, err)
			after := parse(t, files.Cert)
			assert.NotEqual(t, before.Raw, after.Raw)
			assert.Equal(t, tt.groups, after.Subject.Organization)
		})
	}
}

func TestACertificateOfAnotherAuthorityIsReplaced(t *testing.T) {
	dir := t.TempDir()
	files, err := open(t, dir, start).Client("user", "user")
	require.NoError(t, err)
	before := parse(t, files.Cert)
	require.NoError(t, os.Remove(filepath.Join(dir, "ca.crt")))
	files, err = open(t, dir, start).Client("user", "user")
	require.NoError(t, err)
	assert.NotEqual(t, before.Raw, parse(t, files.Cert).Raw)
}

func TestServersAreForTheLoopbackAddress(t *testing.T) {
	a := open(t, t.TempDir(), start)
	files, err := a.Server(WebhookDir+"/core", "kubernetes.default.svc")
	require.NoError(t, err)
	assert.Equal(t, "tls.crt", filepath.Base(files.Cert))
	cert := parse(t, files.Cert)
	roots := x509.NewCertPool()
	require.True(t, roots.AppendCertsFromPEM(a.CA()))
	for _, name := range []string{"127.0.0.1", "localhost", "kubernetes.default.svc"} {
		_, err := cert.Verify(x509.VerifyOptions{DNSName: name, Roots: roots, CurrentTime: start.Add(time.Hour)})
		assert.NoError(t, err, name)
	}
}

func TestKeysAreForTheOwnerOnly(t *testing.T) {
	a := open(t, t.TempDir(), start)
	files, err := a.ServiceAccounts()
	require.NoError(t, err)
	info, err := os.Stat(files.Key)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())
}
