package etcdbackup

import (
	"encoding/json"
	"os"
	"testing"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/slipway-capi/slipway/contract/conditions"
	backupv1 "github.com/slipway-capi/slipway/providers/controlplane-kubeadm/api/backup/v1alpha1"
)

func (s *scene) byHand(name string) *backupv1.EtcdSnapshot {
	s.t.Helper()
	snapshot := &backupv1.EtcdSnapshot{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: name}, Spec: backupv1.EtcdSnapshotSpec{BackupName: "nightly"}}
	s.create(snapshot)
	return snapshot
}

func (s *scene) verified(snapshot *backupv1.EtcdSnapshot) {
	s.t.Helper()
	s.eventually(snapshot.Name+" is verified", func() bool {
		s.get(snapshot)
		return conditions.IsTrue(snapshot, backupv1.VerifiedCondition)
	})
}

func TestASnapshotByHandNeedsOnlyTheNameOfTheBackup(t *testing.T) {
	s := newScene(t)
	s.keys()
	backup := s.backup(inDirectory())
	s.eventually("the next time is told", func() bool { s.get(backup); return backup.Status.NextTime != nil })
	assert.True(t, backup.Status.NextTime.After(time.Now()))
	assert.Equal(t, backupv1.NoSnapshotReason, conditions.Reason(backup, backupv1.AvailableCondition))
	assert.Empty(t, s.snapshots(), "nothing is taken before its time")

	one := s.byHand("now")
	s.verified(one)
	assert.Equal(t, "c1", one.Spec.ClusterName)
	assert.Equal(t, backupv1.Retain, one.Spec.DeletionPolicy)
	assert.Equal(t, s.node, one.Status.MemberName)
	assert.Equal(t, "v1.37.2", one.Status.KubernetesVersion)
	assert.Equal(t, "3.7.3", one.Status.EtcdVersion)
	assert.Equal(t, string(s.cluster.UID), one.Status.ClusterUID)
	assert.Equal(t, int64(300), one.Status.TotalKeys)
	assert.Positive(t, one.Status.Revision)
	content, err := os.ReadFile(file(one))
	require.NoError(t, err)
	assert.Len(t, content, int(one.Status.SizeBytes))
	assert.NotContains(t, string(content), "/registry/000001", "it is encrypted")
	s.eventually("the backup tells of it", func() bool {
		s.get(backup)
		return conditions.IsTrue(backup, backupv1.AvailableCondition) && backup.Status.LastVerifiedSnapshot != nil && backup.Status.LastSnapshot.Name == "now"
	})

	s.isQuiet(one)
	require.NoError(t, env.Client.Delete(t.Context(), one))
	s.eventually("the object is gone", func() bool { return len(s.snapshots()) == 0 })
	assert.FileExists(t, file(one), "what is stored is not deleted silently")
}

// isQuiet: once all is said, nothing is written any more.
func (s *scene) isQuiet(snapshot *backupv1.EtcdSnapshot) {
	s.t.Helper()
	s.get(snapshot)
	version := snapshot.ResourceVersion
	time.Sleep(500 * time.Millisecond)
	s.get(snapshot)
	assert.Equal(s.t, version, snapshot.ResourceVersion)
}

func TestDaysGoByAndOldSnapshotsGo(t *testing.T) {
	defer ahead.Store(0)
	s := newScene(t)
	s.keys()
	bucket, destination := s.bucket()
	backup := s.backup(destination)
	seen := map[string]bool{}
	for range 3 {
		ahead.Add(48) // two times were missed: one snapshot for both
		s.touch(backup)
		s.eventually("one good snapshot, a new one", func() bool {
			list := s.snapshots()
			return len(list) == 1 && !seen[list[0].Name] && conditions.IsTrue(&list[0], backupv1.VerifiedCondition)
		})
		list := s.snapshots()
		seen[list[0].Name] = true
		objects, err := bucket.ListBucket("backups", &gofakes3.Prefix{}, gofakes3.ListBucketPage{})
		require.NoError(t, err)
		require.Len(t, objects.Contents, 1, "the data of the former one is gone")
		assert.Equal(t, "fleet/"+list[0].Status.Location, objects.Contents[0].Key)
	}
	s.get(backup)
	text, err := json.Marshal(s.snapshots())
	require.NoError(t, err)
	assert.NotContains(t, string(text), "very-secret-key")
}

// touch makes the controller look: the test's clock wakes nobody.
func (s *scene) touch(backup *backupv1.EtcdBackup) {
	s.t.Helper()
	body := []byte(`{"metadata":{"annotations":{"touched":"` + time.Now().Format(time.RFC3339Nano) + `"}}}`)
	require.NoError(s.t, env.Client.Patch(s.t.Context(), backup.DeepCopy(), client.RawPatch("application/merge-patch+json", body)))
}

func TestWhatIsWrongIsToldAndDoesNotHoldTheObject(t *testing.T) {
	s := newScene(t)
	s.backup(inDirectory())
	one := s.byHand("now")
	s.eventually("the Secret is missed", func() bool {
		s.get(one)
		return conditions.Reason(one, backupv1.CompletedCondition) == backupv1.SecretInvalidReason
	})
	assert.Contains(t, conditions.Message(one, backupv1.CompletedCondition), "there is no Secret keys")
	s.keys()
	s.verified(one) // the queue asks again by itself

	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "keys"}}
	require.NoError(t, env.Client.Delete(t.Context(), secret))
	two := s.byHand("later")
	s.eventually("the Secret is missed", func() bool { s.get(two); return conditions.Has(two, backupv1.CompletedCondition) })
	require.NoError(t, env.Client.Delete(t.Context(), two))
	s.eventually("it goes", func() bool {
		return apierrors.IsNotFound(env.Client.Get(t.Context(), client.ObjectKeyFromObject(two), two))
	})
}

func TestAWrongBucketIsToldWithTheServersWord(t *testing.T) {
	s := newScene(t)
	s.keys()
	_, destination := s.bucket()
	destination.S3.Bucket = "missing"
	backup := s.backup(destination)
	one := s.byHand("now")
	s.eventually("the failure is told", func() bool {
		s.get(one)
		return conditions.Reason(one, backupv1.CompletedCondition) == backupv1.FailedReason
	})
	assert.Contains(t, conditions.Message(one, backupv1.CompletedCondition), "NoSuchBucket")
	s.eventually("the backup tells it, too", func() bool {
		s.get(backup)
		return conditions.Reason(backup, backupv1.AvailableCondition) == backupv1.SnapshotFailingReason
	})
	require.NoError(t, env.Client.Delete(t.Context(), one))
	s.eventually("a snapshot that never was does not stay", func() bool { return len(s.snapshots()) == 0 })
}

func TestBadInputIsRefusedByTheServer(t *testing.T) {
	s := newScene(t)
	s.keys()
	backup := s.backup(inDirectory())
	bad := backup.DeepCopy()
	bad.Spec.Schedule = "at night"
	require.ErrorContains(t, env.Client.Patch(t.Context(), bad, client.MergeFrom(backup)), "spec.schedule")
	bad = backup.DeepCopy()
	bad.Spec.ClusterName = "c2"
	require.ErrorContains(t, env.Client.Patch(t.Context(), bad, client.MergeFrom(backup)), "cannot be changed")
	bad = backup.DeepCopy()
	bad.Spec.Destination.S3 = &backupv1.S3Destination{Bucket: "backups", CredentialsSecretRef: backupv1.SecretReference{Name: "x"}}
	require.ErrorContains(t, env.Client.Patch(t.Context(), bad, client.MergeFrom(backup)), "exactly one")

	unknown := &backupv1.EtcdSnapshot{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "x"}, Spec: backupv1.EtcdSnapshotSpec{BackupName: "weekly"}}
	require.ErrorContains(t, env.Client.Create(t.Context(), unknown), "spec.backupName")
	one := s.byHand("now")
	s.verified(one)
	changed := one.DeepCopy()
	changed.Spec.Destination.Directory.Path = "elsewhere"
	require.ErrorContains(t, env.Client.Patch(t.Context(), changed, client.MergeFrom(one)), "only deletionPolicy")
	changed = one.DeepCopy()
	changed.Spec.DeletionPolicy = backupv1.Delete
	require.NoError(t, env.Client.Patch(t.Context(), changed, client.MergeFrom(one)))
	require.NoError(t, env.Client.Delete(t.Context(), one))
	s.eventually("the data goes with the object", func() bool {
		_, err := os.Stat(file(one))
		return os.IsNotExist(err) && len(s.snapshots()) == 0
	})
}
