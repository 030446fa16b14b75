package volumes

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/slipway-capi/slipway/core/internal/paging"
)

// page is how many objects are read with one request.
const page = 500

// Attachments reads the VolumeAttachments of a Node.
func Attachments(ctx context.Context, workload client.Reader, node string) ([]storagev1.VolumeAttachment, error) {
	var out []storagev1.VolumeAttachment
	empty := func() *storagev1.VolumeAttachmentList { return &storagev1.VolumeAttachmentList{} }
	err := paging.Each(ctx, workload, empty, page, func(list *storagev1.VolumeAttachmentList) {
		for _, a := range list.Items {
			if a.Spec.NodeName == node {
				out = append(out, a)
			}
		}
	})
	if err != nil {
		return nil, fmt.Errorf("listing VolumeAttachments: %w", err)
	}
	return out, nil
}

// PersistentVolumes reads all of them: which one an attached volume is stands in their specs only.
func PersistentVolumes(ctx context.Context, workload client.Reader) ([]corev1.PersistentVolume, error) {
	var out []corev1.PersistentVolume
	empty := func() *corev1.PersistentVolumeList { return &corev1.PersistentVolumeList{} }
	err := paging.Each(ctx, workload, empty, page, func(list *corev1.PersistentVolumeList) { out = append(out, list.Items...) })
	if err != nil {
		return nil, fmt.Errorf("listing PersistentVolumes: %w", err)
	}
	return out, nil
}
