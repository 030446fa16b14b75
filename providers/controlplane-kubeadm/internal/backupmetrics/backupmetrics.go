// Package backupmetrics tells how old and how large the snapshots of etcd are, and how often taking them fails. Ages are counted
// when they are asked for, so that nothing has to be done while nothing happens.
package backupmetrics

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

var (
	labels = []string{"namespace", "backup", "cluster"}

	age = prometheus.NewDesc("slipway_etcd_backup_snapshot_age_seconds",
		"Age of the newest stored snapshot of a backup.", labels, nil)
	verifiedAge = prometheus.NewDesc("slipway_etcd_backup_verification_age_seconds",
		"Time since a snapshot of a backup was read back and found good.", labels, nil)
	size = prometheus.NewDesc("slipway_etcd_backup_snapshot_size_bytes",
		"Size of the newest stored snapshot of a backup.", labels, nil)
	available = prometheus.NewDesc("slipway_etcd_backup_available",
		"1 while the newest snapshot of a backup that was due is there and good, else 0.", labels, nil)

	failures = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "slipway_etcd_snapshot_failures_total",
		Help: "Failed attempts by step: take, verify or delete.",
	}, []string{"namespace", "cluster", "step"})

	shared = &collector{now: time.Now, seen: map[client.ObjectKey]Backup{}}
)

func init() {
	metrics.Registry.MustRegister(shared, failures)
}

// Backup is what is told of one EtcdBackup. Zero times are not told.
type Backup struct {
	Cluster         string
	Taken, Verified time.Time
	Size            int64
	Available       bool
}

// Set tells of a backup.
func Set(key client.ObjectKey, b Backup) { shared.set(key, b) }

// Drop forgets a backup.
func Drop(key client.ObjectKey) { shared.drop(key) }

// Failed counts a failed attempt.
func Failed(namespace, cluster, step string) {
	failures.WithLabelValues(namespace, cluster, step).Inc()
}

type collector struct {
	now  func() time.Time
	mu   sync.Mutex
	seen map[client.ObjectKey]Backup
}

func (c *collector) set(key client.ObjectKey, b Backup) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seen[key] = b
}

func (c *collector) drop(key client.ObjectKey) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.seen, key)
}

// Describe implements prometheus.Collector.
func (c *collector) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{age, verifiedAge, size, available} {
		to <- d
	}
}

// Collect implements prometheus.Collector.
func (c *collector) Collect(to chan<- prometheus.Metric) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now()
	for key, b := range c.seen {
		tell := func(d *prometheus.Desc, value float64) {
			to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, key.Namespace, key.Name, b.Cluster)
		}
		if !b.Taken.IsZero() {
			tell(age, now.Sub(b.Taken).Seconds())
			tell(size, float64(b.Size))
		}
		if !b.Verified.IsZero() {
			tell(verifiedAge, now.Sub(b.Verified).Seconds())
		}
		is := 0.0
		if b.Available {
			is = 1
		}
		tell(available, is)
	}
}
