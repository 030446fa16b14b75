// Package store keeps snapshots where an EtcdBackup says: in a directory of the manager, or in a bucket. A snapshot is there as
// a whole or not at all, also when the manager is killed while it writes.
package store
