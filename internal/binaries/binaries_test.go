package binaries

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func write(t *testing.T, path, content string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
}

func hack(t *testing.T) string {
	root := t.TempDir()
	write(t, filepath.Join(root, "hack/etcd/go.mod"), "module e\nrequire go.etcd.io/etcd/server/v3 v3.7.3\n")
	for minor, version := range map[string]string{"v1.36": "v1.36.5", "v1.37": "v1.37.2", "v1.9": "v1.9.11"} {
		write(t, filepath.Join(root, "hack/kubernetes", minor, "go.mod"), "module k\nrequire k8s.io/kubernetes "+version+"\n")
	}
	return root
}

func TestAnotherMinorIsAnotherFolder(t *testing.T) {
	sets, err := Discover(hack(t))
	require.NoError(t, err)
	var names []string
	for _, s := range sets {
		names = append(names, s.Name+" "+s.Version)
	}
	assert.Equal(t, []string{"etcd v3.7.3", "kubernetes v1.9.11", "kubernetes v1.36.5", "kubernetes v1.37.2"}, names)

	for version, want := range map[string]string{"": "v1.37.2", "v1.36": "v1.36.5", "1.36": "v1.36.5", "v1.37.2": "v1.37.2"} {
		got, err := Pick(sets, Kubernetes, version)
		require.NoError(t, err, version)
		assert.Equal(t, want, got.Version, "asked for %q", version)
	}
	_, err = Pick(sets, Kubernetes, "v1.3")
	assert.ErrorContains(t, err, "kubernetes v1.3 has no module", "v1.3 is no prefix of v1.36")
}

func TestAModuleWithoutTheProgramsIsAnError(t *testing.T) {
	root := t.TempDir()
	write(t, filepath.Join(root, "hack/etcd/go.mod"), "module e\n")
	_, err := Discover(root)
	assert.ErrorContains(t, err, "does not require go.etcd.io/etcd/server/v3")
}

func TestFindRootWalksUp(t *testing.T) {
	root := hack(t)
	deep := filepath.Join(root, "a", "b")
	require.NoError(t, os.MkdirAll(deep, 0o755))
	found, err := FindRoot(t.TempDir(), deep)
	require.NoError(t, err)
	assert.Equal(t, root, found)
	_, err = FindRoot(t.TempDir())
	assert.ErrorIs(t, err, ErrNoSources)
}

func etcdSet(t *testing.T) Set {
	sets, err := Discover(hack(t))
	require.NoError(t, err)
	return sets[0]
}

func TestTwoBuildersBuildOnce(t *testing.T) {
	set, cache := etcdSet(t), Cache(t.TempDir())
	var builds atomic.Int32
	builder := Builder{Cache: cache, Compile: func(_ context.Context, _ Set, _ Program, file string) error {
		builds.Add(1)
		time.Sleep(50 * time.Millisecond)
		return os.WriteFile(file, []byte("#!"), 0o755)
	}}
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() { assert.NoError(t, builder.Ensure(t.Context(), set)) })
	}
	wg.Wait()
	assert.EqualValues(t, 1, builds.Load())
	missing, err := cache.Missing(set)
	require.NoError(t, err)
	assert.Empty(t, missing)
	assert.FileExists(t, filepath.Join(string(cache), "etcd", "v3.7.3", "etcd"))
}

func TestAFailedBuildLeavesNothing(t *testing.T) {
	set, cache := etcdSet(t), Cache(t.TempDir())
	broken := errors.New("no space")
	err := Builder{Cache: cache, Compile: func(_ context.Context, _ Set, _ Program, file string) error {
		require.NoError(t, os.WriteFile(file, []byte("half"), 0o755))
		return broken
	}}.Ensure(t.Context(), set)
	require.ErrorIs(t, err, broken)
	entries, err := os.ReadDir(cache.Dir(set))
	require.NoError(t, err)
	require.Len(t, entries, 1, "only the lock stays")
	assert.Equal(t, ".lock", entries[0].Name())
}

func TestProgressTellsWhatIsBuilt(t *testing.T) {
	set := etcdSet(t)
	var mutex sync.Mutex
	var seen []Progress
	builder := Builder{
		Cache: Cache(t.TempDir()),
		Every: 5 * time.Millisecond,
		Report: func(p Progress) {
			mutex.Lock()
			defer mutex.Unlock()
			seen = append(seen, p)
		},
		Compile: func(_ context.Context, _ Set, _ Program, file string) error {
			time.Sleep(30 * time.Millisecond)
			return os.WriteFile(file, nil, 0o755)
		},
	}
	require.NoError(t, builder.Ensure(t.Context(), set))
	require.Greater(t, len(seen), 2)
	assert.Equal(t, "etcd", seen[0].Program.Name)
	assert.False(t, seen[0].Done)
	assert.True(t, seen[len(seen)-1].Done)
	assert.Positive(t, seen[len(seen)-1].Elapsed)

	before := len(seen)
	require.NoError(t, builder.Ensure(t.Context(), set))
	assert.Len(t, seen, before, "what is there is not talked about")
}

func TestUnknownProgram(t *testing.T) {
	_, err := Cache(t.TempDir()).Missing(etcdSet(t), "kube-apiserver")
	assert.ErrorContains(t, err, `etcd v3.7.3 has no program "kube-apiserver"`)
}

func TestKubernetesProgramsReportTheirVersion(t *testing.T) {
	assert.Contains(t, stampKubernetes("v1.36.5"), "k8s.io/component-base/version.gitMinor=36")
	assert.Contains(t, stampKubernetes("v1.36.5"), "k8s.io/component-base/version.gitVersion=v1.36.5")
}
