package kubeadmcontrolplane

import (
	"context"
	"encoding/json"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/slipway-capi/slipway/providers/controlplane-kubeadm/internal/coredns"
	"github.com/slipway-capi/slipway/providers/controlplane-kubeadm/internal/kubeadmconfig"
)

const (
	kubeletAccessBinding = "kubeadm:apiserver-kubelet-client"
	kubeletAccessRole    = "system:kubelet-api-admin"
	kubeletAccessUser    = "kube-apiserver-kubelet-client"
)

func (r *run) workload(ctx context.Context) (client.Client, error) {
	return r.Clusters.UncachedClient(ctx, client.ObjectKeyFromObject(r.world.Cluster))
}

// updateKubeadmConfig changes one key and nothing else, and only if the ConfigMap is as it was read.
func (r *run) updateKubeadmConfig(ctx context.Context, read *corev1.ConfigMap, document string) error {
	if read == nil || read.Data[kubeadmconfig.Key] == document {
		return nil
	}
	return r.patchWorkload(ctx, &corev1.ConfigMap{ObjectMeta: key(kubeadmconfig.Name)}, types.MergePatchType, map[string]any{
		"metadata": map[string]any{"resourceVersion": read.ResourceVersion},
		"data":     map[string]any{kubeadmconfig.Key: document},
	})
}

// grantKubeletAccess creates the binding if it is absent. An existing one is the user's.
func (r *run) grantKubeletAccess(ctx context.Context) error {
	remote, err := r.workload(ctx)
	if err != nil {
		return err
	}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: kubeletAccessBinding},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: kubeletAccessRole},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: kubeletAccessUser}},
	}
	if err := remote.Create(ctx, binding); err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("creating ClusterRoleBinding %s: %w", kubeletAccessBinding, err)
	}
	return nil
}

func (r *run) updateKubeProxy(ctx context.Context, a UpdateKubeProxy) error {
	r.memory.addonsChanged(r.world.Cluster)
	return r.patchWorkload(ctx, &appsv1.DaemonSet{ObjectMeta: key(kubeProxy)}, types.StrategicMergePatchType,
		podPatch(map[string]any{"containers": []any{map[string]any{"name": kubeProxy, "image": a.Image}}}))
}

// updateCoreDNS keeps DNS working at every moment: while the new Corefile is stored, the old version reads the old one
// from the backup. A Corefile that needs no change is not touched, so pods restart once only.
func (r *run) updateCoreDNS(ctx context.Context, a UpdateCoreDNS) error {
	r.memory.addonsChanged(r.world.Cluster)
	if err := r.updateKubeadmConfig(ctx, a.Config, a.Document); err != nil {
		return err
	}
	u := a.Upgrade
	if u.Former != u.Migrated {
		if err := r.storeCorefile(ctx, u.Former, u.Former); err != nil {
			return err
		}
		if u.Mounted {
			if err := r.patchCoreDNS(ctx, map[string]any{"volumes": shownCorefile(coredns.BackupKey)}); err != nil {
				return err
			}
		}
		if err := r.storeCorefile(ctx, u.Migrated, u.Former); err != nil {
			return err
		}
	}
	spec := map[string]any{"containers": []any{map[string]any{"name": coredns.Name, "image": u.Image}}}
	if u.Mounted {
		spec["volumes"] = shownCorefile(coredns.CorefileKey)
	}
	return r.patchCoreDNS(ctx, spec)
}

// storeCorefile writes two keys; labels and keys of others stay.
func (r *run) storeCorefile(ctx context.Context, corefile, backup string) error {
	return r.patchWorkload(ctx, &corev1.ConfigMap{ObjectMeta: key(coredns.Name)}, types.MergePatchType, map[string]any{
		"data": map[string]any{coredns.CorefileKey: corefile, coredns.BackupKey: backup},
	})
}

func (r *run) patchCoreDNS(ctx context.Context, spec map[string]any) error {
	return r.patchWorkload(ctx, &appsv1.Deployment{ObjectMeta: key(coredns.Name)}, types.StrategicMergePatchType, podPatch(spec))
}

// shownCorefile is the volume that shows a key of the ConfigMap as Corefile.
func shownCorefile(configKey string) []any {
	return []any{map[string]any{"name": coredns.Volume, "configMap": map[string]any{
		"name": coredns.Name, "items": []any{map[string]any{"key": configKey, "path": coredns.CorefileKey}},
	}}}
}

func podPatch(spec map[string]any) map[string]any {
	return map[string]any{"spec": map[string]any{"template": map[string]any{"spec": spec}}}
}

func key(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: kubeSystem, Name: name} }

func (r *run) patchWorkload(ctx context.Context, target client.Object, kind types.PatchType, content map[string]any) error {
	remote, err := r.workload(ctx)
	if err != nil {
		return err
	}
	body, err := json.Marshal(content)
	if err != nil {
		return fmt.Errorf("encoding the patch of %s: %w", target.GetName(), err)
	}
	if err := remote.Patch(ctx, target, client.RawPatch(kind, body), client.FieldOwner(fieldOwner)); err != nil {
		return fmt.Errorf("patching %T %s of the workload cluster: %w", target, target.GetName(), err)
	}
	return nil
}
