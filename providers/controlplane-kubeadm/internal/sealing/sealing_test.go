package sealing

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"filippo.io/age"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func identity(t *testing.T) *age.X25519Identity {
	t.Helper()
	i, err := age.GenerateX25519Identity()
	require.NoError(t, err)
	return i
}

func seal(t *testing.T, k Keys, content string) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := k.Seal(&out)
	require.NoError(t, err)
	_, err = w.Write([]byte(content))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return out.Bytes()
}

func TestWhatIsSealedOpensWithTheIdentityOnly(t *testing.T) {
	mine, offline := identity(t), identity(t)
	k, err := FromSecret(map[string][]byte{"identity": []byte("# made today\n" + mine.String() + "\n"), "recipients": []byte(offline.Recipient().String())})
	require.NoError(t, err)
	require.True(t, k.CanOpen())
	content := strings.Repeat("secret of a cluster ", 10_000)
	sealed := seal(t, k, content)
	assert.NotContains(t, string(sealed), "secret of a cluster")
	for _, reader := range []*age.X25519Identity{mine, offline} {
		other, err := FromSecret(map[string][]byte{"identity": []byte(reader.String())})
		require.NoError(t, err)
		opened, err := other.Open(bytes.NewReader(sealed))
		require.NoError(t, err)
		plain, err := io.ReadAll(opened)
		require.NoError(t, err)
		assert.Equal(t, content, string(plain))
	}
	stranger, err := FromSecret(map[string][]byte{"identity": []byte(identity(t).String())})
	require.NoError(t, err)
	_, err = stranger.Open(bytes.NewReader(sealed))
	require.ErrorContains(t, err, "other keys")
}

func TestPostQuantumKeys(t *testing.T) {
	i, err := age.GenerateHybridIdentity()
	require.NoError(t, err)
	k, err := FromSecret(map[string][]byte{"identity": []byte(i.String())})
	require.NoError(t, err)
	opened, err := k.Open(bytes.NewReader(seal(t, k, "x")))
	require.NoError(t, err)
	plain, err := io.ReadAll(opened)
	require.NoError(t, err)
	assert.Equal(t, "x", string(plain))
	_, err = FromSecret(map[string][]byte{"identity": []byte(i.String()), "recipients": []byte(identity(t).Recipient().String())})
	require.ErrorContains(t, err, "together")
}

func TestRecipientsAloneSealButDoNotOpen(t *testing.T) {
	k, err := FromSecret(map[string][]byte{"recipients": []byte(identity(t).Recipient().String())})
	require.NoError(t, err)
	assert.False(t, k.CanOpen())
	_, err = k.Open(bytes.NewReader(seal(t, k, "x")))
	require.ErrorIs(t, err, ErrNoIdentity)
}

func TestMistakesAreNamedWithoutQuotingKeys(t *testing.T) {
	good := identity(t).String()
	for name, data := range map[string]map[string][]byte{
		"nothing":             {},
		"wrong key":           {"Identity": []byte(good)},
		"cut":                 {"identity": []byte(good[:40])},
		"typo":                {"identity": []byte(good + "X")},
		"identity as a recip": {"recipients": []byte(good)},
		"blank":               {"identity": []byte(" \n")},
	} {
		_, err := FromSecret(data)
		require.Error(t, err, name)
		assert.NotContains(t, err.Error(), good[20:36], name)
		assert.Regexp(t, "identity|recipients", err.Error(), name)
	}
}
