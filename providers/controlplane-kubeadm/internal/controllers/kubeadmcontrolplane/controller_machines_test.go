package kubeadmcontrolplane

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/external"
	"github.com/slipway-capi/slipway/contract/ownership"
	bootstrapv1 "github.com/slipway-capi/slipway/providers/bootstrap-kubeadm/api/v1beta2"
	controlplanev1 "github.com/slipway-capi/slipway/providers/controlplane-kubeadm/api/v1beta2"
	"github.com/slipway-capi/slipway/providers/controlplane-kubeadm/internal/machines"
)

func (s *scene) infra(name string) *unstructured.Unstructured {
	s.t.Helper()
	found := &unstructured.Unstructured{}
	found.SetAPIVersion("infrastructure.cluster.x-k8s.io/v1beta2")
	found.SetKind("DevMachine")
	require.NoError(s.t, env.Client.Get(s.t.Context(), s.key(name), found))
	return found
}

// Conformance: CP-08, CP-10, CP-12
func TestMetadataReachesExistingMachinesInPlace(t *testing.T) {
	s := started(t, 1, func(cp *controlplanev1.KubeadmControlPlane) {
		cp.Spec.MachineTemplate.Metadata.Labels = map[string]string{"first": "1", "both": "old"}
	})
	name := s.machines()[0].Name
	foreign := []byte(`{"metadata":{"labels":{"theirs":"x"},"annotations":{"theirs":"x"}}}`)
	for _, object := range []client.Object{s.machine(name), s.infra(name), &bootstrapv1.KubeadmConfig{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: name}}} {
		require.NoError(t, env.Client.Patch(t.Context(), object, client.RawPatch("application/merge-patch+json", foreign), client.FieldOwner("user")))
	}
	five := int32(5)
	s.change(func(cp *controlplanev1.KubeadmControlPlane) {
		cp.Spec.MachineTemplate.Metadata = clusterv1.ObjectMeta{Labels: map[string]string{"both": "new"}, Annotations: map[string]string{"note": "n"}}
		cp.Spec.MachineTemplate.Spec.Deletion.NodeDrainTimeoutSeconds = &five
	})
	config := &bootstrapv1.KubeadmConfig{}
	s.eventually("everything is there", func() bool {
		require.NoError(t, env.Client.Get(t.Context(), s.key(name), config))
		for _, object := range []client.Object{s.machine(name), s.infra(name), config} {
			labels := object.GetLabels()
			_, first := labels["first"]
			if first || labels["both"] != "new" || labels["theirs"] != "x" || object.GetAnnotations()["note"] != "n" || object.GetAnnotations()["theirs"] != "x" {
				return false
			}
		}
		return true
	})
	machine := s.machine(name)
	assert.Equal(t, five, *machine.Spec.Deletion.NodeDrainTimeoutSeconds)
	assert.Contains(t, machine.Annotations, machines.CleanupHook)
	assert.Len(t, s.machines(), 1, "nothing is replaced")
	assert.Equal(t, "v1.37.2", machine.Spec.Version)
	s.eventually("the change is observed", func() bool { return s.get().Status.ObservedGeneration == s.get().Generation })
	settle(s)
	version := s.machine(name).ResourceVersion
	s.change(func(cp *controlplanev1.KubeadmControlPlane) { cp.Annotations = map[string]string{"touch": "it"} })
	settle(s)
	assert.Equal(t, version, s.machine(name).ResourceVersion, "no difference, no write")
}

// A machine and its certificates that nobody controls, such as those of a restored backup, are taken over.
//
// Conformance: CP-88
func TestAdoption(t *testing.T) {
	s := newScene(t, 1, func(cp *controlplanev1.KubeadmControlPlane) {
		cp.Annotations = map[string]string{clusterv1.PausedAnnotation: ""}
	})
	ctx := t.Context()
	config := &bootstrapv1.KubeadmConfig{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "old", Labels: map[string]string{clusterv1.ClusterNameLabel: "c1"}}}
	require.NoError(t, env.Client.Create(ctx, config))
	owner := ownership.Reference(config, bootstrapv1.GroupVersion.WithKind("KubeadmConfig"))
	dataSecret := "old-data"
	for _, name := range []string{"c1-ca", dataSecret} {
		require.NoError(t, env.Client.Create(ctx, &corev1.Secret{Type: clusterv1.ClusterSecretType, ObjectMeta: metav1.ObjectMeta{
			Namespace: s.namespace, Name: name, Labels: map[string]string{clusterv1.ClusterNameLabel: "c1"}, OwnerReferences: []metav1.OwnerReference{owner},
		}}))
	}
	machine := &clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "old", Labels: map[string]string{
		clusterv1.ClusterNameLabel: "c1", clusterv1.MachineControlPlaneLabel: "",
	}}}
	machine.Spec.ClusterName, machine.Spec.Version = "c1", "v1.36.4"
	machine.Spec.Bootstrap.ConfigRef = clusterv1.ContractVersionedObjectReference{APIGroup: bootstrapv1.GroupVersion.Group, Kind: "KubeadmConfig", Name: "old"}
	machine.Spec.Bootstrap.DataSecretName = &dataSecret
	machine.Spec.InfrastructureRef = clusterv1.ContractVersionedObjectReference{APIGroup: "infrastructure.cluster.x-k8s.io", Kind: "DevMachine", Name: "old"}
	require.NoError(t, env.Client.Create(ctx, machine))

	s.change(func(cp *controlplanev1.KubeadmControlPlane) { cp.Annotations = nil })
	s.eventually("the machine is adopted", func() bool { return metav1.IsControlledBy(s.machine("old"), s.get()) })
	secret := &corev1.Secret{}
	require.NoError(t, env.Client.Get(ctx, s.key("c1-ca"), secret))
	assert.True(t, metav1.IsControlledBy(secret, s.get()), "its certificates come along")
	require.NoError(t, env.Client.Get(ctx, s.key(dataSecret), secret))
	assert.Equal(t, "KubeadmConfig", secret.OwnerReferences[0].Kind, "its boot document stays where it is")
	settle(s)
	assert.Len(t, s.machines(), 1, "nothing is created for it")
}

// Conformance: CP-02, CP-34
func TestHalfAMachineIsTakenAway(t *testing.T) {
	s := newScene(t, 1)
	s.provisionInfrastructure()
	s.eventually("the first machine", func() bool { return len(s.machines()) == 1 })
	for refused, want := range map[string]int{"DevMachine": 0, "KubeadmConfig": 1, "Machine": 2} {
		t.Run(refused, func(t *testing.T) {
			counting := &refusingClient{Client: env.Client, kind: refused}
			r := &run{
				Controller: &Controller{Client: counting, Live: env.Client, Resolver: external.NewResolver(env.Client), memory: newMemory()},
				world:      &World{ControlPlane: s.get(), Cluster: s.cluster},
			}
			err := r.createMachine(t.Context(), CreateMachine{Name: "half"})
			require.ErrorContains(t, err, "forbidden")
			assert.Equal(t, want, counting.deleted, "what was made before is deleted")
			for _, object := range []client.Object{&bootstrapv1.KubeadmConfig{}, &clusterv1.Machine{}} {
				require.True(t, apierrors.IsNotFound(env.Client.Get(t.Context(), s.key("half"), object)))
			}
		})
	}
	assert.Equal(t, []string{"FailedInitialization", "FailedScaleUp", "FailedScaleDown", "FailedRemediation"}, []string{
		failureReason(CreateMachine{Init: true}), failureReason(CreateMachine{}), deletionFailure(DeleteMachine{}), deletionFailure(DeleteMachine{Remediates: true}),
	})
}

// refusingClient refuses to apply one kind and counts deletions.
type refusingClient struct {
	client.Client
	kind    string
	deleted int
}

func (c *refusingClient) Patch(ctx context.Context, object client.Object, patch client.Patch, options ...client.PatchOption) error {
	if object.GetObjectKind().GroupVersionKind().Kind == c.kind {
		return apierrors.NewForbidden(controlplanev1.GroupVersion.WithResource("x").GroupResource(), object.GetName(), context.Canceled)
	}
	return c.Client.Patch(ctx, object, patch, options...)
}

func (c *refusingClient) Delete(ctx context.Context, object client.Object, options ...client.DeleteOption) error {
	c.deleted++
	return c.Client.Delete(ctx, object, options...)
}
