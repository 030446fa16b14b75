// Package cloudconfig turns the cloud-config document of a machine into a shell script for a machine that is a container.
//
// It understands what kubeadm bootstrap providers emit: write_files in all encodings, bootcmd, runcmd and users, with the
// template variables of cloud-init. What makes no sense in a container (disks, mounts, time servers) is reported, not done.
// The order is cloud-init's: bootcmd, write_files, users, deferred files, runcmd; a failing command does not keep the next from running.
// One executor serves all images, those of kind have no cloud-init (docs/decisions/0004-bootstrap-in-containers.md). It is pure.
package cloudconfig
