package store

import (
	"errors"
	"path"

	backupv1 "github.com/slipway-capi/slipway/providers/controlplane-kubeadm/api/backup/v1alpha1"
)

// ErrNotFound says that nothing is stored under a name.
var ErrNotFound = errors.New("it is not there")

// Location is the name under which a snapshot is stored. It holds part of the UID: a snapshot that is made again under an old
// name does not overwrite what is left of the former one.
func Location(s *backupv1.EtcdSnapshot) string {
	uid := string(s.UID)
	if len(uid) > 8 {
		uid = uid[:8]
	}
	return path.Join(s.Namespace, s.Spec.ClusterName, s.Name+"-"+uid+".db.age")
}
