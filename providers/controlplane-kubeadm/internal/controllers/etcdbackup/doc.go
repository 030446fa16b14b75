// Package etcdbackup makes an EtcdSnapshot at each time of an EtcdBackup's schedule, deletes those that its retention does not
// keep, and tells how the backup is doing. Taking and deleting data is the work of package etcdsnapshot.
package etcdbackup
