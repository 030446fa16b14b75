package kubeadmcontrolplane

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/ownership"
	bootstrapv1 "github.com/slipway-capi/slipway/providers/bootstrap-kubeadm/api/v1beta2"
	controlplanev1 "github.com/slipway-capi/slipway/providers/controlplane-kubeadm/api/v1beta2"
	"github.com/slipway-capi/slipway/providers/controlplane-kubeadm/internal/machines"
)

// Conformance: CP-97
func TestSecretsThatLostTheirOwner(t *testing.T) {
	mine := func(w World) metav1.OwnerReference {
		return ownership.ControllerReference(w.ControlPlane, machines.ControlPlaneGVK)
	}
	yes := true
	config := metav1.OwnerReference{APIVersion: bootstrapv1.GroupVersion.String(), Kind: "KubeadmConfig", Name: "x", UID: "x", Controller: &yes}
	former := mine(world(1))
	former.UID = "of-before-the-restore"
	secret := func(kind corev1.SecretType, edits ...func(*corev1.Secret)) change {
		return func(w *World) {
			s := &corev1.Secret{Type: kind, ObjectMeta: metav1.ObjectMeta{Name: "c-ca", Labels: map[string]string{clusterv1.ClusterNameLabel: "c"}}}
			for _, e := range edits {
				e(s)
			}
			w.Secrets = append(w.Secrets, s)
		}
	}
	owned := func(owners ...metav1.OwnerReference) func(*corev1.Secret) {
		return func(s *corev1.Secret) { s.OwnerReferences = owners }
	}
	unlabelled := func(s *corev1.Secret) { s.Labels = nil }
	going := func(s *corev1.Secret) { s.DeletionTimestamp = &metav1.Time{Time: now} }
	refers := func(kind, name string) change {
		return func(w *World) { w.Cluster.Spec.ControlPlaneRef.Kind, w.Cluster.Spec.ControlPlaneRef.Name = kind, name }
	}
	const system = clusterv1.ClusterSecretType
	for _, row := range []struct {
		name  string
		world World
		want  bool
	}{
		{"it has its owner", world(1, secret(system, owned(mine(world(1))))), false},
		{"nobody owns it", world(1, secret(system)), true},
		{"another controller has it", world(1, secret(system, owned(config))), true},
		{"it is of the control plane's former self", world(1, secret(system, owned(former))), true},
		{"its label is gone", world(1, secret(system, owned(mine(world(1))), unlabelled)), true},
		{"it is on its way out", world(1, secret(system, going)), false},
		{"it is a user's", world(1, secret(corev1.SecretTypeOpaque)), false},
		{"it is a user's, of another controller", world(1, secret(corev1.SecretTypeTLS, owned(config))), false},
		{"before there are machines", world(0, secret(system)), true},
		{"the control plane is being deleted, and the Secret has to go with it", world(0, secret(system), controlPlaneDeleted), true},
		{"the cluster names this control plane", world(1, secret(system), refers("KubeadmControlPlane", "cp")), true},
		{"the cluster has left for another control plane", world(1, secret(system), refers("KubeadmControlPlane", "other")), false},
		{"the cluster has left for another kind", world(1, secret(system), refers("OtherControlPlane", "cp")), false},
	} {
		t.Run(row.name, func(t *testing.T) {
			assert.Equal(t, row.want, slices.Contains(say(Decide(row.world).Actions), "OwnSecret"))
		})
	}
	released := world(0, secret(system), controlPlaneDeleted, func(w *World) { w.ControlPlane.Finalizers = []string{"other"} })
	assert.Empty(t, say(Decide(released).Actions), "what is nearly gone owns nothing more")
}

// Without an owner the certificates outlive the cluster, and the next one of its name runs with the same authority.
//
// Conformance: CP-97
func TestStrippedSecretsAreTakenBack(t *testing.T) {
	s := newScene(t, 1)
	mine := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "c1-proxy"}, Type: corev1.SecretTypeTLS,
		Data: map[string][]byte{"tls.crt": []byte("mine"), "tls.key": []byte("mine")}}
	require.NoError(t, env.Client.Create(t.Context(), mine))
	s.provisionInfrastructure()
	names := []string{"c1-ca", "c1-etcd", "c1-sa", "c1-kubeconfig"}
	data := map[string]map[string][]byte{}
	for _, name := range names {
		s.eventually(name+" is made", func() bool { return s.owns(name) })
		data[name] = s.secret(name).Data
	}
	for _, patch := range []string{`{"metadata":{"ownerReferences":null}}`, `{"metadata":{"ownerReferences":null,"labels":null}}`,
		`{"metadata":{"ownerReferences":[{"apiVersion":"x/v1","kind":"Other","name":"o","uid":"o","controller":true}]}}`} {
		for _, name := range names {
			require.NoError(t, env.Client.Patch(t.Context(), s.secret(name), client.RawPatch("application/merge-patch+json", []byte(patch))))
		}
		for _, name := range names {
			s.eventually(name+" is taken back after "+patch, func() bool { return s.owns(name) && len(s.secret(name).OwnerReferences) == 1 })
			assert.Equal(t, data[name], s.secret(name).Data, "its content is as it was")
		}
	}
	assert.Empty(t, s.secret("c1-proxy").OwnerReferences, "the user's stays as it is")
	assert.Empty(t, s.secret("c1-proxy").Labels)
}

// A control plane that is deleted while its Secrets have no owner takes them with it.
//
// Conformance: CP-97
func TestStrippedSecretsGoWithTheControlPlane(t *testing.T) {
	s := newScene(t, 1)
	s.eventually("certificates", func() bool { return s.owns("c1-ca") })
	s.change(func(cp *controlplanev1.KubeadmControlPlane) {
		cp.Annotations, cp.Finalizers = map[string]string{clusterv1.PausedAnnotation: ""}, append(cp.Finalizers, "test.slipway.dev/hold")
	})
	settle(s)
	require.NoError(t, env.Client.Patch(t.Context(), s.secret("c1-ca"), client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"ownerReferences":null}}`))))
	require.NoError(t, env.Client.Delete(t.Context(), s.get()))
	assert.Empty(t, s.secret("c1-ca").OwnerReferences, "nothing is done about what is paused")
	s.change(func(cp *controlplanev1.KubeadmControlPlane) { cp.Annotations = nil })
	s.eventually("the control plane is let go", func() bool { return !hasFinalizer(s.get()) })
	assert.True(t, s.owns("c1-ca"), "the garbage collector finds it")
	s.change(func(cp *controlplanev1.KubeadmControlPlane) { cp.Finalizers = nil })
	s.eventually("the control plane is gone", func() bool {
		return apierrors.IsNotFound(env.Client.Get(t.Context(), s.key("c1-cp"), &controlplanev1.KubeadmControlPlane{}))
	})
}

func (s *scene) secret(name string) *corev1.Secret {
	s.t.Helper()
	found := &corev1.Secret{}
	require.NoError(s.t, env.Client.Get(s.t.Context(), s.key(name), found))
	return found
}

// owns says whether a Secret exists and is the control plane's, with its label.
func (s *scene) owns(name string) bool {
	found := &corev1.Secret{}
	return env.Client.Get(s.t.Context(), s.key(name), found) == nil && metav1.IsControlledBy(found, s.get()) && found.Labels[clusterv1.ClusterNameLabel] == "c1"
}
