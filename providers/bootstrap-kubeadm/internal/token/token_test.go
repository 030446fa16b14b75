package token_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/slipway-capi/slipway/providers/bootstrap-kubeadm/internal/token"
)

const (
	text = "abcdef.0123456789abcdef"
	ttl  = 15 * time.Minute
)

var (
	now = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	key = client.ObjectKey{Namespace: "kube-system", Name: "bootstrap-token-abcdef"}
)

func TestNewTokensAreWellFormedAndDiffer(t *testing.T) {
	seen := map[string]bool{}
	for range 1000 {
		one := token.New()
		_, _, err := token.Split(one)
		require.NoError(t, err)
		assert.False(t, seen[one])
		seen[one] = true
	}
}

func TestSplit(t *testing.T) {
	id, secret, err := token.Split(text)
	require.NoError(t, err)
	assert.Equal(t, []string{"abcdef", "0123456789abcdef"}, []string{id, secret})
	for _, bad := range []string{"", "abcdef", "abcdef.0123", "ABCDEF.0123456789abcdef", "abcdef.0123456789abcdef\n", "../xyz.0123456789abcdef"} {
		_, _, err := token.Split(bad)
		require.Error(t, err, bad)
		if bad != "" {
			assert.NotContains(t, err.Error(), bad, "a token is a secret")
		}
	}
}

// Conformance: KB-55, KB-57
func TestEnsureCreatesThenOnlyExtends(t *testing.T) {
	ctx, c := t.Context(), fake.NewClientBuilder().Build()
	require.NoError(t, token.Ensure(ctx, c, text, ttl, now))
	secret := &corev1.Secret{}
	require.NoError(t, c.Get(ctx, key, secret))
	assert.Equal(t, corev1.SecretType("bootstrap.kubernetes.io/token"), secret.Type)
	assert.Equal(t, "2026-03-04T05:21:07Z", string(secret.Data["expiration"]))
	assert.Equal(t, "system:bootstrappers:kubeadm:default-node-token", string(secret.Data["auth-extra-groups"]))
	assert.Equal(t, []string{"abcdef", "0123456789abcdef"}, []string{string(secret.Data["token-id"]), string(secret.Data["token-secret"])})
	assert.Contains(t, string(secret.Data["description"]), "slipway")
	for _, k := range []string{"usage-bootstrap-signing", "usage-bootstrap-authentication"} {
		assert.Equal(t, "true", string(secret.Data[k]))
	}

	secret.Data["auth-extra-groups"] = []byte("system:bootstrappers:mine")
	require.NoError(t, c.Update(ctx, secret))
	require.NoError(t, token.Ensure(ctx, c, text, ttl, now.Add(time.Minute)))
	require.NoError(t, c.Get(ctx, key, secret))
	assert.Equal(t, "system:bootstrappers:mine", string(secret.Data["auth-extra-groups"]), "what a user changed stays")
	state, err := token.Read(ctx, c, text)
	require.NoError(t, err)
	assert.Equal(t, token.State{Exists: true, Expires: now.Add(time.Minute + ttl)}, state)

	err = token.Ensure(ctx, c, "abcdef.ffffffffffffffff", ttl, now)
	require.ErrorIs(t, err, token.ErrTaken, "another token of the same id keeps working")
}

// Conformance: KB-57
func TestRead(t *testing.T) {
	ctx, c := t.Context(), fake.NewClientBuilder().Build()
	state, err := token.Read(ctx, c, text)
	require.NoError(t, err)
	assert.Equal(t, token.State{}, state)

	secret := &corev1.Secret{Data: map[string][]byte{}}
	secret.Namespace, secret.Name = key.Namespace, key.Name
	require.NoError(t, c.Create(ctx, secret))
	state, err = token.Read(ctx, c, text)
	require.NoError(t, err)
	assert.Equal(t, token.State{Exists: true}, state, "an expiration that is missing is not an error")

	secret.Data = map[string][]byte{"expiration": []byte("tomorrow")}
	require.NoError(t, c.Update(ctx, secret))
	_, err = token.Read(ctx, c, text)
	require.ErrorContains(t, err, "RFC 3339")
	assert.False(t, errors.Is(err, token.ErrTaken))
}

// Conformance: KB-57
func TestDue(t *testing.T) {
	left := func(d time.Duration) token.State { return token.State{Exists: true, Expires: now.Add(d)} }
	for _, c := range []struct {
		name   string
		state  token.State
		extend bool
	}{
		{"fresh", left(ttl), false},
		{"exactly five sixths left", left(ttl * 5 / 6), false},
		{"a little less", left(ttl*5/6 - time.Second), true},
		{"half left", left(ttl / 2), true},
		{"expired", left(-time.Minute), true},
		{"without expiration", token.State{Exists: true}, true},
		{"gone", token.State{}, true},
	} {
		extend, again := token.Due(c.state, ttl, now)
		assert.Equal(t, c.extend, extend, c.name)
		assert.Equal(t, 5*time.Minute, again)
	}
}
