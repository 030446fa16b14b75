// Package etcdbackup admits EtcdBackups and EtcdSnapshots: it says at once what could not work.
package etcdbackup
