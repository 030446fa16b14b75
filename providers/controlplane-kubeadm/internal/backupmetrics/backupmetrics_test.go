package backupmetrics

import (
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func TestAgesAreCountedWhenAsked(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	c := &collector{now: func() time.Time { return now }, seen: map[client.ObjectKey]Backup{}}
	key := client.ObjectKey{Namespace: "ns", Name: "nightly"}
	c.set(key, Backup{Cluster: "c1"})
	require.NoError(t, testutil.CollectAndCompare(c, strings.NewReader(`
# HELP slipway_etcd_backup_available 1 while the newest snapshot of a backup that was due is there and good, else 0.
# TYPE slipway_etcd_backup_available gauge
slipway_etcd_backup_available{backup="nightly",cluster="c1",namespace="ns"} 0
`)))
	c.set(key, Backup{Cluster: "c1", Taken: now, Verified: now, Size: 42, Available: true})
	now = now.Add(90 * time.Second)
	require.NoError(t, testutil.CollectAndCompare(c, strings.NewReader(`
# HELP slipway_etcd_backup_snapshot_age_seconds Age of the newest stored snapshot of a backup.
# TYPE slipway_etcd_backup_snapshot_age_seconds gauge
slipway_etcd_backup_snapshot_age_seconds{backup="nightly",cluster="c1",namespace="ns"} 90
# HELP slipway_etcd_backup_snapshot_size_bytes Size of the newest stored snapshot of a backup.
# TYPE slipway_etcd_backup_snapshot_size_bytes gauge
slipway_etcd_backup_snapshot_size_bytes{backup="nightly",cluster="c1",namespace="ns"} 42
`), "slipway_etcd_backup_snapshot_age_seconds", "slipway_etcd_backup_snapshot_size_bytes"))
	c.drop(key)
	require.Zero(t, testutil.CollectAndCount(c))
}
