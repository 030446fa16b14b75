package snapshot

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"testing"
	"testing/iotest"

	"filippo.io/age"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.etcd.io/bbolt"
	etcdutl "go.etcd.io/etcd/etcdutl/v3/snapshot"
	"go.uber.org/zap"

	"github.com/slipway-capi/slipway/providers/controlplane-kubeadm/internal/etcd"
	"github.com/slipway-capi/slipway/providers/controlplane-kubeadm/internal/etcdtest"
	"github.com/slipway-capi/slipway/providers/controlplane-kubeadm/internal/sealing"
	"github.com/slipway-capi/slipway/providers/controlplane-kubeadm/internal/store"
)

const object = "ns/c1/s1.db.age"

// keys are a new identity's.
func keys(t *testing.T) (sealing.Keys, *age.X25519Identity) {
	t.Helper()
	identity, err := age.GenerateX25519Identity()
	require.NoError(t, err)
	k, err := sealing.FromSecret(map[string][]byte{"identity": []byte(identity.String())})
	require.NoError(t, err)
	return k, identity
}

// streamOf begins a snapshot of a member as the manager does.
func streamOf(t *testing.T, m *etcdtest.Member) *etcd.Stream {
	t.Helper()
	client, err := etcd.Connect(t.Context(), "a", etcd.Options{Dial: func(ctx context.Context, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "tcp", m.Address)
	}})
	require.NoError(t, err)
	t.Cleanup(client.Close)
	stream, err := client.Snapshot(t.Context())
	require.NoError(t, err)
	t.Cleanup(func() { _ = stream.Close() })
	return stream
}

// The round trip: what is taken of an etcd with many keys, decrypted by age and restored by etcdutl, is what etcd had.
func TestWhatIsTakenCanBeRestored(t *testing.T) {
	source := etcdtest.Start(t, "a", "")
	source.Fill(t, "/registry/", 10_000)
	_, err := source.Client.Delete(t.Context(), "/registry/000007")
	require.NoError(t, err)
	k, identity := keys(t)
	d := store.Directory{Root: t.TempDir(), Path: "backups"}
	taken, err := Take(t.Context(), streamOf(t, source), k, d, object)
	require.NoError(t, err)

	content, err := Verify(t.Context(), d, object, taken, k)
	require.NoError(t, err)
	file := decrypt(t, filepath.Join(d.Root, d.Path, object), identity)
	judge := etcdutl.NewV3(zap.NewNop())
	status, err := judge.Status(file)
	require.NoError(t, err)
	assert.Equal(t, status.Revision, content.Revision)
	assert.Equal(t, int64(status.TotalKey), content.Keys)
	assert.Equal(t, int64(9_999), content.Keys)
	assert.Equal(t, status.TotalSize, taken.DatabaseSize)

	data := filepath.Join(t.TempDir(), "restored")
	require.NoError(t, judge.Restore(etcdutl.RestoreConfig{SnapshotPath: file, Name: "b", OutputDataDir: data,
		PeerURLs: []string{"http://127.0.0.1:1"}, InitialCluster: "b=http://127.0.0.1:1", InitialClusterToken: "t"}))
	restored := etcdtest.Start(t, "b", data)
	assert.Equal(t, source.All(t, "/registry/"), restored.All(t, "/registry/"))
}

func decrypt(t *testing.T, file string, identity age.Identity) string {
	t.Helper()
	sealed, err := os.Open(file)
	require.NoError(t, err)
	defer sealed.Close()
	opened, err := age.Decrypt(sealed, identity)
	require.NoError(t, err)
	content, err := io.ReadAll(opened)
	require.NoError(t, err)
	plain := filepath.Join(t.TempDir(), "snapshot.db")
	require.NoError(t, os.WriteFile(plain, content, 0o600))
	return plain
}

// database is a small database of etcd's shape with its trailer.
func database(t *testing.T) []byte {
	t.Helper()
	source := etcdtest.Start(t, "a", "")
	source.Fill(t, "/registry/", 10)
	content, err := io.ReadAll(streamOf(t, source))
	require.NoError(t, err)
	return content
}

func withTrailer(content []byte) []byte {
	sum := sha256.Sum256(content)
	return append(bytes.Clone(content), sum[:]...)
}

func TestTornStreamsAreNotStored(t *testing.T) {
	k, _ := keys(t)
	good := withTrailer(bytes.Repeat([]byte("x"), 200*512))
	flipped := bytes.Clone(good)
	flipped[5000] ^= 1
	torn := errors.New("the connection is gone")
	for name, source := range map[string]io.Reader{
		"empty":            bytes.NewReader(nil),
		"cut":              bytes.NewReader(good[:len(good)-1]),
		"cut at a page":    bytes.NewReader(good[:100*512+trailer]),
		"without trailer":  bytes.NewReader(good[:len(good)-trailer]),
		"a bit has turned": bytes.NewReader(flipped),
		"broken":           io.MultiReader(bytes.NewReader(good[:5000]), iotest.ErrReader(torn)),
	} {
		d := store.Directory{Root: t.TempDir(), Path: "backups"}
		_, err := Take(t.Context(), source, k, d, object)
		require.Error(t, err, name)
		if name == "broken" {
			require.ErrorIs(t, err, torn)
		} else {
			require.ErrorIs(t, err, errTorn, name)
		}
		_, err = d.Get(t.Context(), object)
		require.ErrorIs(t, err, store.ErrNotFound, name)
	}
	for name, source := range map[string]io.Reader{
		"byte by byte":          iotest.OneByteReader(bytes.NewReader(good)),
		"the end with the data": iotest.DataErrReader(bytes.NewReader(good)),
	} {
		d := store.Directory{Root: t.TempDir(), Path: "backups"}
		_, err := Take(t.Context(), source, k, d, object)
		require.NoError(t, err, name)
	}
}

// memory stores what it is given and gives what it is told to.
type memory struct {
	content []byte
	err     error
	// get, if set, is what is read back.
	get io.Reader
}

func (m *memory) Put(_ context.Context, _ string, content io.Reader) error {
	if m.err != nil {
		return m.err
	}
	var err error
	m.content, err = io.ReadAll(content)
	return err
}

func (m *memory) Get(context.Context, string) (io.ReadCloser, error) {
	if m.get != nil {
		return io.NopCloser(m.get), nil
	}
	return io.NopCloser(bytes.NewReader(m.content)), nil
}

func (m *memory) Delete(context.Context, string) error { return nil }

func TestAStoreThatGivesUpEndsTheTaking(t *testing.T) {
	k, _ := keys(t)
	full := errors.New("the disk is full")
	_, err := Take(t.Context(), bytes.NewReader(withTrailer(make([]byte, 1<<20))), k, &memory{err: full}, object)
	require.ErrorIs(t, err, full)
}

func TestVerifyFindsWhatIsWrong(t *testing.T) {
	k, _ := keys(t)
	good := database(t)
	take := func(content []byte) (*memory, Taken) {
		m := &memory{}
		taken, err := Take(t.Context(), bytes.NewReader(content), k, m, object)
		require.NoError(t, err)
		return m, taken
	}
	m, taken := take(good)
	content, err := Verify(t.Context(), m, object, taken, k)
	require.NoError(t, err)
	assert.Equal(t, int64(10), content.Keys)

	torn := errors.New("the connection is gone")
	m.get = io.MultiReader(bytes.NewReader(m.content[:3000]), iotest.ErrReader(torn))
	_, err = Verify(t.Context(), m, object, taken, k)
	require.ErrorIs(t, err, torn)
	require.NotErrorIs(t, err, ErrCorrupt, "a broken connection says nothing about the snapshot")

	for _, at := range []int{0, 50, len(m.content) / 2, len(m.content) - 1} {
		flipped := bytes.Clone(m.content)
		flipped[at] ^= 1
		m.get = bytes.NewReader(flipped)
		_, err = Verify(t.Context(), m, object, taken, k)
		require.ErrorIs(t, err, ErrCorrupt, "byte %d", at)
	}
	m.get = bytes.NewReader(m.content[:len(m.content)-100])
	_, err = Verify(t.Context(), m, object, taken, k)
	require.ErrorIs(t, err, ErrCorrupt, "cut")
	m.get = nil

	other, _ := keys(t)
	_, err = Verify(t.Context(), m, object, taken, other)
	require.ErrorContains(t, err, "other keys")

	_, identity := keys(t)
	public, err := sealing.FromSecret(map[string][]byte{"recipients": []byte(identity.Recipient().String())})
	require.NoError(t, err)
	_, err = Verify(t.Context(), m, object, taken, public)
	require.ErrorIs(t, err, sealing.ErrNoIdentity)
	m.content = m.content[:len(m.content)-1]
	_, err = Verify(t.Context(), m, object, taken, public)
	require.ErrorIs(t, err, ErrCorrupt, "also without an identity what is stored is compared")
}

func TestWhatIsNoDatabaseOfEtcdIsCorrupt(t *testing.T) {
	k, _ := keys(t)
	good := database(t)
	good = good[:len(good)-trailer]
	broken := bytes.Clone(good)
	for i := 3 * 4096; i < len(broken); i++ { // all pages but the first three
		broken[i] = 0xff
	}
	for name, content := range map[string][]byte{
		"noise":        bytes.Repeat([]byte("x"), 64*512),
		"other":        otherDatabase(t),
		"broken pages": broken,
		"cut short":    good[:4*4096],
	} {
		m := &memory{}
		taken, err := Take(t.Context(), bytes.NewReader(withTrailer(content)), k, m, object)
		require.NoError(t, err, "%s: etcd said that this is its database", name)
		_, err = Verify(t.Context(), m, object, taken, k)
		require.ErrorIs(t, err, ErrCorrupt, name)
	}
}

func otherDatabase(t *testing.T) []byte {
	t.Helper()
	file := filepath.Join(t.TempDir(), "other.db")
	db, err := bbolt.Open(file, 0o600, nil)
	require.NoError(t, err)
	require.NoError(t, db.Update(func(tx *bbolt.Tx) error {
		_, err := tx.CreateBucket([]byte("recipes"))
		return err
	}))
	require.NoError(t, db.Close())
	content, err := os.ReadFile(file)
	require.NoError(t, err)
	return content
}

func TestNothingPlainStaysOnTheDisk(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	file, err := nameless()
	require.NoError(t, err)
	defer file.Close()
	entries, err := os.ReadDir(os.TempDir())
	require.NoError(t, err)
	assert.Empty(t, entries)
}
