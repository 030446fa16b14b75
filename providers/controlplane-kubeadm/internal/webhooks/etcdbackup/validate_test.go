package etcdbackup

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	backupv1 "github.com/slipway-capi/slipway/providers/controlplane-kubeadm/api/backup/v1alpha1"
)

func backup(change func(*backupv1.EtcdBackup)) *backupv1.EtcdBackup {
	b := &backupv1.EtcdBackup{ObjectMeta: metav1.ObjectMeta{Name: "nightly"}}
	b.Spec.Schedule = "30 2 * * *"
	b.Spec.Destination.S3 = &backupv1.S3Destination{Endpoint: "https://minio.example.com:9000", Bucket: "backups", Prefix: "fleet/a"}
	change(b)
	return b
}

func directory(path string) func(*backupv1.EtcdBackup) {
	return func(b *backupv1.EtcdBackup) {
		b.Spec.Destination = backupv1.Destination{Directory: &backupv1.DirectoryDestination{Path: path}}
	}
}

func TestMistakesAreRefusedWithFieldAndCure(t *testing.T) {
	for _, row := range []struct {
		name   string
		change func(*backupv1.EtcdBackup)
		want   []string
	}{
		{name: "fine", change: func(*backupv1.EtcdBackup) {}},
		{name: "Amazon", change: func(b *backupv1.EtcdBackup) { b.Spec.Destination.S3.Endpoint, b.Spec.Destination.S3.Prefix = "", "" }},
		{name: "directory", change: directory("clusters/production")},
		{name: "the root itself", change: directory(".")},
		{name: "schedule", change: func(b *backupv1.EtcdBackup) { b.Spec.Schedule = "at night" }, want: []string{"spec.schedule", "30 2 * * *"}},
		{name: "time zone", change: func(b *backupv1.EtcdBackup) { b.Spec.Schedule = "TZ=Asia/Tokyo 0 2 * * *" }, want: []string{"spec.schedule", "UTC"}},
		{name: "never", change: func(b *backupv1.EtcdBackup) { b.Spec.Schedule = "0 0 31 2 *" }, want: []string{"spec.schedule", "no month"}},
		{name: "absolute path", change: directory("/var/backups"), want: []string{"spec.destination.directory.path", "relative"}},
		{name: "outside", change: directory("a/../../b"), want: []string{"spec.destination.directory.path", "stay below"}},
		{name: "no URL", change: func(b *backupv1.EtcdBackup) { b.Spec.Destination.S3.Endpoint = "minio:9000" }, want: []string{"spec.destination.s3.endpoint", "https://minio.example.com:9000"}},
		{name: "bucket in the URL", change: func(b *backupv1.EtcdBackup) { b.Spec.Destination.S3.Endpoint = "https://minio/backups" }, want: []string{"spec.destination.s3.endpoint", "fields of their own"}},
		{name: "credentials in the URL", change: func(b *backupv1.EtcdBackup) { b.Spec.Destination.S3.Endpoint = "https://u:p@minio" }, want: []string{"spec.destination.s3.endpoint", "credentialsSecretRef"}},
		{name: "bucket", change: func(b *backupv1.EtcdBackup) { b.Spec.Destination.S3.Bucket = "Backups/a" }, want: []string{"spec.destination.s3.bucket", "small letters"}},
		{name: "prefix", change: func(b *backupv1.EtcdBackup) { b.Spec.Destination.S3.Prefix = "/a/" }, want: []string{"spec.destination.s3.prefix", "clusters/production"}},
		{name: "prefix outside", change: func(b *backupv1.EtcdBackup) { b.Spec.Destination.S3.Prefix = "../a" }, want: []string{"spec.destination.s3.prefix"}},
		{name: "authorities", change: func(b *backupv1.EtcdBackup) { b.Spec.Destination.S3.CABundle = "x" }, want: []string{"spec.destination.s3.caBundle", "PEM"}},
		{name: "name", change: func(b *backupv1.EtcdBackup) { b.Name = strings.Repeat("a", 201) }, want: []string{"metadata.name", "200"}},
	} {
		problems := ValidateBackup(backup(row.change))
		if len(row.want) == 0 {
			assert.Empty(t, problems, row.name)
			continue
		}
		if assert.Len(t, problems, 1, row.name) {
			for _, part := range row.want {
				assert.ErrorContains(t, problems[0], part, row.name)
			}
		}
	}
}
