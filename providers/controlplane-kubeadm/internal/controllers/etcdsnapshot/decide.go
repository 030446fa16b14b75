package etcdsnapshot

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/conditions"
	"github.com/slipway-capi/slipway/contract/paused"
	backupv1 "github.com/slipway-capi/slipway/providers/controlplane-kubeadm/api/backup/v1alpha1"
	controlplanev1 "github.com/slipway-capi/slipway/providers/controlplane-kubeadm/api/v1beta2"
	"github.com/slipway-capi/slipway/providers/controlplane-kubeadm/internal/machines"
	"github.com/slipway-capi/slipway/providers/controlplane-kubeadm/internal/sealing"
	"github.com/slipway-capi/slipway/providers/controlplane-kubeadm/internal/snapshot"
)

// World is all that matters for one snapshot at one moment.
type World struct {
	Snapshot *backupv1.EtcdSnapshot
	// Cluster and ControlPlane are nil if there are none; ControlPlane also if it is of another kind.
	Cluster      *clusterv1.Cluster
	ControlPlane *controlplanev1.KubeadmControlPlane
	// Connected says that the workload cluster can be reached; Nodes are those with a member of etcd.
	Connected bool
	Nodes     []string

	// Store is where the snapshot is kept; StoreProblem says why there is none. StoreReason is its word for machines.
	Store                     snapshot.Store
	StoreReason, StoreProblem string
	Keys                      sealing.Keys
	KeysProblem               string
}

// Action is what to do next about a snapshot.
type Action string

// The actions.
const (
	Nothing Action = ""
	// Hold adds the finalizer.
	Hold Action = "Hold"
	// Take takes the snapshot, Verify reads it back.
	Take   Action = "Take"
	Verify Action = "Verify"
	// DeleteData deletes what is stored, and then the finalizer. TryDeleteData does so even if what is stored cannot be deleted.
	DeleteData    Action = "DeleteData"
	TryDeleteData Action = "TryDeleteData"
	// Release takes the finalizer away.
	Release Action = "Release"
)

// Decision is what to do about a snapshot and what to report meanwhile.
type Decision struct {
	Action Action
	// Report are the conditions that are true before the action.
	Report []metav1.Condition
	// Retry says that only looking again can find a change: nothing tells when a user's Secret does.
	Retry bool
}

// Decide says what to do about a snapshot, given all that is known about it. It is pure.
func Decide(w World) Decision {
	s := w.Snapshot
	held := slices.Contains(s.Finalizers, backupv1.SnapshotFinalizer)
	completed := conditions.IsTrue(s, backupv1.CompletedCondition)
	switch {
	case paused.HasAnnotation(s):
		return Decision{}
	case !s.DeletionTimestamp.IsZero():
		return decideDeletion(w, held, completed)
	case !held:
		return Decision{Action: Hold}
	case !completed:
		return decideTaking(w)
	case !settled(s):
		return decideVerification(w)
	}
	return Decision{}
}

// settled says that there is nothing more to learn by reading the snapshot back.
func settled(s *backupv1.EtcdSnapshot) bool {
	return !conditions.IsUnknown(s, backupv1.VerifiedCondition) || conditions.Reason(s, backupv1.VerifiedCondition) == backupv1.NoIdentityReason
}

func decideTaking(w World) Decision {
	wait := func(reason, message string, retry bool) Decision {
		return Decision{Retry: retry, Report: []metav1.Condition{incomplete(reason, message)}}
	}
	switch {
	case w.Cluster == nil:
		return wait(backupv1.ClusterNotFoundReason, "there is no Cluster "+w.Snapshot.Spec.ClusterName, false)
	case w.ControlPlane == nil || !machines.ManagedEtcd(w.ControlPlane):
		return wait(backupv1.EtcdNotManagedReason, "the cluster has no KubeadmControlPlane that runs etcd on its machines", false)
	case w.StoreProblem != "":
		return wait(w.StoreReason, w.StoreProblem, true)
	case w.KeysProblem != "":
		return wait(backupv1.SecretInvalidReason, w.KeysProblem, true)
	case !w.Connected:
		return wait(backupv1.WaitingForClusterReason, "there is no connection to the workload cluster", false)
	case len(w.Nodes) == 0:
		return wait(backupv1.WaitingForClusterReason, "no control plane machine has a Node", true)
	}
	d := Decision{Action: Take}
	// While attempts fail, the condition tells of the last failure.
	if conditions.Reason(w.Snapshot, backupv1.CompletedCondition) != backupv1.FailedReason {
		d.Report = []metav1.Condition{incomplete(backupv1.TakingReason, "")}
	}
	return d
}

func decideVerification(w World) Decision {
	for _, problem := range []string{w.StoreProblem, w.KeysProblem} {
		if problem != "" {
			return Decision{Retry: true, Report: []metav1.Condition{unverified(backupv1.NotYetVerifiedReason, problem)}}
		}
	}
	return Decision{Action: Verify}
}

// decideDeletion: of a snapshot that never was complete nobody wants to keep anything; but what is left of an attempt must not
// hold the object if the destination cannot be used.
func decideDeletion(w World, held, completed bool) Decision {
	remove := w.Snapshot.Spec.DeletionPolicy == backupv1.Delete
	switch {
	case !held:
		return Decision{}
	case completed && !remove:
		return Decision{Action: Release}
	case !completed && w.StoreProblem != "":
		return Decision{Action: Release}
	case !completed:
		return Decision{Action: TryDeleteData}
	case w.StoreProblem != "":
		return Decision{Retry: true, Report: []metav1.Condition{deleting(
			w.StoreProblem + "; the stored snapshot cannot be deleted. Set spec.deletionPolicy to Retain to leave it")}}
	}
	return Decision{Action: DeleteData}
}

func incomplete(reason, message string) metav1.Condition {
	return metav1.Condition{Type: backupv1.CompletedCondition, Status: metav1.ConditionFalse, Reason: reason, Message: message}
}

func unverified(reason, message string) metav1.Condition {
	return metav1.Condition{Type: backupv1.VerifiedCondition, Status: metav1.ConditionUnknown, Reason: reason, Message: message}
}

func deleting(message string) metav1.Condition {
	return metav1.Condition{Type: backupv1.DeletingCondition, Status: metav1.ConditionTrue, Reason: backupv1.FailedReason, Message: message}
}
