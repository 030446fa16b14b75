package store

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/pem"
	"errors"
	"io"
	"io/fs"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	backupv1 "github.com/slipway-capi/slipway/providers/controlplane-kubeadm/api/backup/v1alpha1"
)

const object = "ns/c1/nightly-1.db.age"

var secret = map[string][]byte{"accessKeyID": []byte("id"), "secretAccessKey": []byte("very secret")}

type anyStore interface {
	Put(ctx context.Context, name string, content io.Reader) error
	Get(ctx context.Context, name string) (io.ReadCloser, error)
	Delete(ctx context.Context, name string) error
}

// bucket is a bucket on a server of its own, behind TLS.
func bucket(t *testing.T) *Bucket {
	t.Helper()
	backend := s3mem.New()
	require.NoError(t, backend.CreateBucket("backups"))
	server := httptest.NewTLSServer(gofakes3.New(backend).Server())
	t.Cleanup(server.Close)
	yes := true
	authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	b, err := NewBucket(&backupv1.S3Destination{Endpoint: server.URL, Bucket: "backups", Prefix: "fleet", ForcePathStyle: &yes, CABundle: string(authority)}, secret)
	require.NoError(t, err)
	b.partSize = 5 << 20 // the smallest that the protocol allows
	return b
}

// leftovers counts what is stored besides whole objects, and whole objects.
func leftovers(t *testing.T, s anyStore) (halves, whole int) {
	t.Helper()
	switch s := s.(type) {
	case *Bucket:
		uploads, err := s.client.ListMultipartUploads(context.Background(), &s3.ListMultipartUploadsInput{Bucket: &s.bucket})
		if code(err) == "NoSuchUpload" { // this server's way to say that there are none
			uploads, err = &s3.ListMultipartUploadsOutput{}, nil
		}
		require.NoError(t, err)
		objects, err := s.client.ListObjectsV2(context.Background(), &s3.ListObjectsV2Input{Bucket: &s.bucket})
		require.NoError(t, err)
		return len(uploads.Uploads), len(objects.Contents)
	case Directory:
		_ = filepath.WalkDir(s.Root, func(file string, d fs.DirEntry, _ error) error {
			switch {
			case d.IsDir():
			case filepath.Ext(file) == unfinished:
				halves++
			default:
				whole++
			}
			return nil
		})
	}
	return halves, whole
}

func stores(t *testing.T) map[string]anyStore {
	return map[string]anyStore{"s3": bucket(t), "directory": Directory{Root: t.TempDir(), Path: "fleet/a"}}
}

func get(t *testing.T, s anyStore, name string) []byte {
	t.Helper()
	r, err := s.Get(t.Context(), name)
	require.NoError(t, err)
	defer r.Close()
	content, err := io.ReadAll(r)
	require.NoError(t, err)
	return content
}

func noise(t *testing.T, size int) []byte {
	t.Helper()
	content := make([]byte, size)
	_, err := rand.Read(content)
	require.NoError(t, err)
	return content
}

func TestWhatIsPutCanBeGot(t *testing.T) {
	for kind, s := range stores(t) {
		for name, size := range map[string]int{"nothing": 0, "small": 1000, "one part": 5 << 20, "parts and a rest": 12<<20 + 7} {
			content := noise(t, size)
			require.NoError(t, s.Put(t.Context(), object, bytes.NewReader(content)), "%s, %s", kind, name)
			require.True(t, bytes.Equal(content, get(t, s, object)), "%s, %s", kind, name)
		}
		halves, whole := leftovers(t, s)
		assert.Zero(t, halves, kind)
		assert.Equal(t, 1, whole, kind)
		require.NoError(t, s.Delete(t.Context(), object), kind)
		require.NoError(t, s.Delete(t.Context(), object), "%s: what is gone may be deleted again", kind)
		_, err := s.Get(t.Context(), object)
		require.ErrorIs(t, err, ErrNotFound, kind)
	}
}

// stream gives some content, and then calls back instead of ending.
type stream struct {
	content io.Reader
	then    func() error
}

func (s stream) Read(p []byte) (int, error) {
	n, err := s.content.Read(p)
	if errors.Is(err, io.EOF) {
		return n, s.then()
	}
	return n, err
}

func TestNothingHalfStays(t *testing.T) {
	for kind, s := range stores(t) {
		torn := errors.New("torn")
		err := s.Put(t.Context(), object, stream{bytes.NewReader(noise(t, 11<<20)), func() error { return torn }})
		require.ErrorIs(t, err, torn, kind)

		ctx, cancel := context.WithCancel(t.Context())
		err = s.Put(ctx, object, stream{bytes.NewReader(noise(t, 11<<20)), func() error { cancel(); return ctx.Err() }})
		require.ErrorIs(t, err, context.Canceled, kind)

		halves, whole := leftovers(t, s)
		assert.Zero(t, halves, kind)
		assert.Zero(t, whole, kind)
	}
}

func TestAFailureLeavesTheFormerObject(t *testing.T) {
	for kind, s := range stores(t) {
		require.NoError(t, s.Put(t.Context(), object, bytes.NewReader([]byte("former"))), kind)
		require.Error(t, s.Put(t.Context(), object, stream{bytes.NewReader(noise(t, 6<<20)), func() error { return errors.New("torn") }}), kind)
		assert.Equal(t, "former", string(get(t, s, object)), kind)
	}
}

// A manager that is killed cannot clean up. The next attempt, or the deletion, does, and touches nobody else's uploads.
func TestTheRestOfAKilledAttemptGoes(t *testing.T) {
	b := bucket(t)
	begin := func(name string) {
		_, err := b.client.CreateMultipartUpload(t.Context(), &s3.CreateMultipartUploadInput{Bucket: &b.bucket, Key: b.key(name)})
		require.NoError(t, err)
	}
	begin(object)
	begin(object)
	begin(object + "x")
	require.NoError(t, b.Put(t.Context(), object, bytes.NewReader([]byte("whole"))))
	halves, _ := leftovers(t, b)
	assert.Equal(t, 1, halves, "the upload of the other name")
	begin(object)
	require.NoError(t, b.Delete(t.Context(), object))
	halves, whole := leftovers(t, b)
	assert.Equal(t, 1, halves)
	assert.Zero(t, whole)

	d := Directory{Root: t.TempDir(), Path: "a"}
	file := filepath.Join(d.Root, "a", object+unfinished)
	require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o700))
	require.NoError(t, os.WriteFile(file, noise(t, 100), 0o600))
	require.NoError(t, d.Put(t.Context(), object, bytes.NewReader([]byte("whole"))))
	assert.Equal(t, "whole", string(get(t, d, object)))
	require.NoError(t, os.WriteFile(file, noise(t, 100), 0o600))
	require.NoError(t, d.Delete(t.Context(), object))
	require.NoFileExists(t, file)
}

func TestADirectoryIsNotLeft(t *testing.T) {
	outside := t.TempDir()
	root := t.TempDir()
	require.NoError(t, os.Symlink(outside, filepath.Join(root, "link")))
	for _, path := range []string{"../x", "/etc", "a/../../x", "", "link", "link/x"} {
		d := Directory{Root: root, Path: path}
		require.Error(t, d.Put(t.Context(), object, bytes.NewReader([]byte("x"))), path)
	}
	entries, err := os.ReadDir(outside)
	require.NoError(t, err)
	assert.Empty(t, entries)

	missing := Directory{Root: filepath.Join(root, "not-mounted"), Path: "a"}
	err = missing.Put(t.Context(), object, bytes.NewReader([]byte("x")))
	require.ErrorContains(t, err, "root for backups")
	assert.NotContains(t, err.Error(), root, "messages tell no paths of the manager")
}

func TestFilesAreForTheManagerOnly(t *testing.T) {
	d := Directory{Root: t.TempDir(), Path: "a"}
	require.NoError(t, d.Put(t.Context(), object, bytes.NewReader([]byte("x"))))
	info, err := os.Stat(filepath.Join(d.Root, "a", object))
	require.NoError(t, err)
	assert.Equal(t, fs.FileMode(0o600), info.Mode().Perm())
}

func TestErrorsAreStableAndTellNoSecrets(t *testing.T) {
	b := bucket(t)
	b.bucket = "missing"
	first := b.Put(t.Context(), object, bytes.NewReader(nil))
	require.ErrorContains(t, first, "NoSuchBucket")
	second := b.Put(t.Context(), object, bytes.NewReader(nil))
	assert.Equal(t, first.Error(), second.Error())
	assert.NotContains(t, first.Error(), "very secret")

	_, err := NewBucket(&backupv1.S3Destination{Bucket: "b"}, map[string][]byte{"accessKeyID": []byte("id"), "secret": []byte("very secret")})
	require.ErrorContains(t, err, "secretAccessKey")
	assert.NotContains(t, err.Error(), "very secret")
	_, err = NewBucket(&backupv1.S3Destination{Bucket: "b", CABundle: "x"}, secret)
	require.ErrorContains(t, err, "caBundle")
}

func TestOtherAuthoritiesAreNotTrusted(t *testing.T) {
	server := httptest.NewTLSServer(gofakes3.New(s3mem.New()).Server())
	t.Cleanup(server.Close)
	yes := true
	b, err := NewBucket(&backupv1.S3Destination{Endpoint: server.URL, Bucket: "backups", ForcePathStyle: &yes}, secret)
	require.NoError(t, err)
	require.ErrorContains(t, b.Put(t.Context(), object, bytes.NewReader(nil)), "unknown authority")
}

func TestLocation(t *testing.T) {
	s := &backupv1.EtcdSnapshot{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "nightly-1", UID: "0123456789"}}
	s.Spec.ClusterName = "c1"
	assert.Equal(t, "ns/c1/nightly-1-01234567.db.age", Location(s))
}
