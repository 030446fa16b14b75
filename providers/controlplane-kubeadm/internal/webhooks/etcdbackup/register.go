package etcdbackup

import (
	"context"
	"fmt"
	"net/url"
	"reflect"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	backupv1 "github.com/slipway-capi/slipway/providers/controlplane-kubeadm/api/backup/v1alpha1"
)

// +kubebuilder:webhook:path=/validate-backup-slipway-dev-v1alpha1-etcdbackup,mutating=false,failurePolicy=fail,matchPolicy=Equivalent,sideEffects=None,groups=backup.slipway.dev,resources=etcdbackups,verbs=create;update,versions=v1alpha1,name=validation.etcdbackup.backup.slipway.dev,admissionReviewVersions=v1
// +kubebuilder:webhook:path=/validate-backup-slipway-dev-v1alpha1-etcdsnapshot,mutating=false,failurePolicy=fail,matchPolicy=Equivalent,sideEffects=None,groups=backup.slipway.dev,resources=etcdsnapshots,verbs=create;update,versions=v1alpha1,name=validation.etcdsnapshot.backup.slipway.dev,admissionReviewVersions=v1
// +kubebuilder:webhook:path=/mutate-backup-slipway-dev-v1alpha1-etcdsnapshot,mutating=true,failurePolicy=fail,matchPolicy=Equivalent,sideEffects=None,groups=backup.slipway.dev,resources=etcdsnapshots,verbs=create,versions=v1alpha1,name=default.etcdsnapshot.backup.slipway.dev,admissionReviewVersions=v1

// Register adds the webhooks to the manager.
func Register(mgr ctrl.Manager) error {
	if err := ctrl.NewWebhookManagedBy(mgr, &backupv1.EtcdBackup{}).WithValidator(BackupWebhook{}).Complete(); err != nil {
		return fmt.Errorf("registering the webhook of EtcdBackup: %w", err)
	}
	// Both may come from one file: the cache might not know the backup yet.
	hook := SnapshotWebhook{Reader: mgr.GetAPIReader()}
	if err := ctrl.NewWebhookManagedBy(mgr, &backupv1.EtcdSnapshot{}).WithDefaulter(hook).WithValidator(hook).Complete(); err != nil {
		return fmt.Errorf("registering the webhooks of EtcdSnapshot: %w", err)
	}
	return nil
}

// BackupWebhook admits EtcdBackups.
type BackupWebhook struct{}

// ValidateCreate judges a new backup.
func (BackupWebhook) ValidateCreate(_ context.Context, b *backupv1.EtcdBackup) (admission.Warnings, error) {
	return warnings(b.Spec.Destination), invalid("EtcdBackup", b.Name, ValidateBackup(b))
}

// ValidateUpdate judges a change. What leaves the spec alone passes.
func (h BackupWebhook) ValidateUpdate(ctx context.Context, before, after *backupv1.EtcdBackup) (admission.Warnings, error) {
	if reflect.DeepEqual(before.Spec, after.Spec) {
		return nil, nil
	}
	return h.ValidateCreate(ctx, after)
}

// ValidateDelete allows every deletion: snapshots stay.
func (BackupWebhook) ValidateDelete(context.Context, *backupv1.EtcdBackup) (admission.Warnings, error) {
	return nil, nil
}

// SnapshotWebhook admits EtcdSnapshots.
type SnapshotWebhook struct{ Reader client.Reader }

// Default fills in what a new snapshot leaves to its backup.
func (h SnapshotWebhook) Default(ctx context.Context, s *backupv1.EtcdSnapshot) error {
	unset := s.Spec.Destination.Directory == nil && s.Spec.Destination.S3 == nil
	if s.Spec.BackupName == "" || s.Spec.ClusterName != "" && !unset && s.Spec.Encryption.SecretRef.Name != "" {
		return nil
	}
	backup := &backupv1.EtcdBackup{}
	err := h.Reader.Get(ctx, client.ObjectKey{Namespace: s.Namespace, Name: s.Spec.BackupName}, backup)
	if apierrors.IsNotFound(err) {
		return invalid("EtcdSnapshot", s.Name, field.ErrorList{field.NotFound(field.NewPath("spec", "backupName"), s.Spec.BackupName)})
	}
	if err != nil {
		return fmt.Errorf("reading EtcdBackup %s: %w", s.Spec.BackupName, err)
	}
	if s.Spec.ClusterName == "" {
		s.Spec.ClusterName = backup.Spec.ClusterName
	}
	if unset {
		s.Spec.Destination = *backup.Spec.Destination.DeepCopy()
	}
	if s.Spec.Encryption.SecretRef.Name == "" {
		s.Spec.Encryption = backup.Spec.Encryption
	}
	return nil
}

// ValidateCreate judges a new snapshot.
func (SnapshotWebhook) ValidateCreate(_ context.Context, s *backupv1.EtcdSnapshot) (admission.Warnings, error) {
	return warnings(s.Spec.Destination), invalid("EtcdSnapshot", s.Name, ValidateSnapshot(s))
}

// ValidateUpdate allows what the schema does: nothing that matters here can change.
func (SnapshotWebhook) ValidateUpdate(context.Context, *backupv1.EtcdSnapshot, *backupv1.EtcdSnapshot) (admission.Warnings, error) {
	return nil, nil
}

// ValidateDelete allows every deletion.
func (SnapshotWebhook) ValidateDelete(context.Context, *backupv1.EtcdSnapshot) (admission.Warnings, error) {
	return nil, nil
}

// warnings tell what works, but may not be meant.
func warnings(d backupv1.Destination) admission.Warnings {
	if d.S3 == nil {
		return nil
	}
	if u, err := url.Parse(d.S3.Endpoint); err == nil && u.Scheme == "http" {
		return admission.Warnings{"spec.destination.s3.endpoint: without https nobody knows which server it is; what is stored is encrypted all the same"}
	}
	return nil
}

func invalid(kind, name string, problems field.ErrorList) error {
	if len(problems) == 0 {
		return nil
	}
	return apierrors.NewInvalid(backupv1.GroupVersion.WithKind(kind).GroupKind(), name, problems)
}
