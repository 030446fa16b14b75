package kubeadmcontrolplane

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/conditions"
	bootstrapv1 "github.com/slipway-capi/slipway/providers/bootstrap-kubeadm/api/v1beta2"
	controlplanev1 "github.com/slipway-capi/slipway/providers/controlplane-kubeadm/api/v1beta2"
	"github.com/slipway-capi/slipway/providers/controlplane-kubeadm/internal/machines"
)

// Conformance: CP-93
func TestCertificatesComeBeforeTheInfrastructure(t *testing.T) {
	s := newScene(t, 1)
	s.eventually("four certificate Secrets", func() bool {
		for _, purpose := range []string{"ca", "etcd", "proxy", "sa"} {
			if env.Client.Get(t.Context(), s.key("c1-"+purpose), &corev1.Secret{}) != nil {
				return false
			}
		}
		return true
	})
	assert.Empty(t, s.machines(), "no machine without infrastructure")
	s.eventually("the finalizer", func() bool { return hasFinalizer(s.get()) })
}

// Conformance: CP-03, CP-05, CP-06, CP-12, CP-94
func TestFirstMachineAndKubeconfig(t *testing.T) {
	s := newScene(t, 1)
	s.provisionInfrastructure()
	s.eventually("the first machine", func() bool { return len(s.machines()) == 1 })
	machine := s.machines()[0]
	assert.True(t, strings.HasPrefix(machine.Name, "c1-cp-"))
	assert.Equal(t, "fd-a", machine.Spec.FailureDomain)
	assert.Contains(t, machine.Annotations, machines.CleanupHook)
	assert.Equal(t, "c1-cp", machine.Labels[clusterv1.MachineControlPlaneNameLabel])
	assert.True(t, metav1.IsControlledBy(&machine, s.get()))

	config := &bootstrapv1.KubeadmConfig{}
	require.NoError(t, env.Client.Get(t.Context(), s.key(machine.Name), config))
	assert.Nil(t, config.Spec.JoinConfiguration.ControlPlane, "the first machine starts the cluster")
	assert.Nil(t, metav1.GetControllerOf(config))
	infra := &unstructured.Unstructured{}
	infra.SetAPIVersion("infrastructure.cluster.x-k8s.io/v1beta2")
	infra.SetKind("DevMachine")
	require.NoError(t, env.Client.Get(t.Context(), s.key(machine.Name), infra))
	assert.Equal(t, "c1-cp", infra.GetAnnotations()[clusterv1.TemplateClonedFromNameAnnotation])

	secret := &corev1.Secret{}
	s.eventually("the kubeconfig", func() bool { return env.Client.Get(t.Context(), s.key("c1-kubeconfig"), secret) == nil })
	assert.Equal(t, corev1.SecretType(clusterv1.ClusterSecretType), secret.Type)

	s.eventually("conditions", func() bool {
		return conditions.IsFalse(s.get(), clusterv1.AvailableCondition) && *s.get().Status.Replicas == 1
	})
	// Nothing changes any more: nothing is written.
	version := settle(s)
	time.Sleep(1500 * time.Millisecond)
	assert.Equal(t, version, s.get().ResourceVersion, "a quiet control plane is not written to")
}

// Conformance: CP-89
func TestDeletionNeedsNoCluster(t *testing.T) {
	s := newScene(t, 1)
	s.provisionInfrastructure()
	s.eventually("the first machine", func() bool { return len(s.machines()) == 1 })
	require.NoError(t, env.Client.Delete(t.Context(), s.cluster))
	require.NoError(t, env.Client.Delete(t.Context(), s.controlPlane))
	s.eventually("everything is gone", func() bool {
		return apierrors.IsNotFound(env.Client.Get(t.Context(), s.key("c1-cp"), &controlplanev1.KubeadmControlPlane{})) && len(s.machines()) == 0
	})
}

func TestBadInputIsRefusedAtAdmission(t *testing.T) {
	s := newScene(t, 1)
	even := int32(2)
	before := s.get()
	controlPlane := before.DeepCopy()
	controlPlane.Spec.Replicas = &even
	// A patch, since the controller writes at the same time and an update would be refused for that.
	require.ErrorContains(t, env.Client.Patch(t.Context(), controlPlane, client.MergeFrom(before)), "spec.replicas")
	scale := &autoscalingv1.Scale{Spec: autoscalingv1.ScaleSpec{Replicas: 4}}
	template := &controlplanev1.KubeadmControlPlaneTemplate{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "t"}}
	template.Spec.Template.Spec.KubeadmConfigSpec.Format = "cloud-config"
	require.ErrorContains(t, env.Client.Create(t.Context(), template), "ClusterTopology")
	require.ErrorContains(t, env.Client.SubResource("scale").Update(t.Context(), s.get(), client.WithSubResourceBody(scale)), "odd")
}

func TestPausedControlPlanesAreLeftAlone(t *testing.T) {
	s := newScene(t, 1)
	s.eventually("certificates", func() bool {
		return conditions.IsTrue(s.get(), controlplanev1.KubeadmControlPlaneCertificatesAvailableCondition)
	})
	yes := true
	s.cluster.Spec.Paused = &yes
	require.NoError(t, env.Client.Update(t.Context(), s.cluster))
	s.eventually("the condition", func() bool { return conditions.IsTrue(s.get(), clusterv1.PausedCondition) })
	s.provisionInfrastructure()
	time.Sleep(300 * time.Millisecond)
	assert.Empty(t, s.machines())
	no := false
	s.cluster.Spec.Paused = &no
	require.NoError(t, env.Client.Update(t.Context(), s.cluster))
	s.eventually("the first machine", func() bool { return len(s.machines()) == 1 })
}

// Conformance: CP-30, CP-33, CP-35
func TestThreeMachinesComeOneAtATimeAndGo(t *testing.T) {
	s := newScene(t, 3)
	s.bringKubeconfig()
	s.provisionInfrastructure()
	s.eventually("the first machine", func() bool { return len(s.machines()) == 1 })
	s.uploadKubeadmConfig()
	first := s.machines()[0]
	s.boot(&first)
	s.eventually("initialized", func() bool {
		flag := s.get().Status.Initialization.ControlPlaneInitialized
		return flag != nil && *flag
	})
	seen := map[string]bool{}
	for count := 2; count <= 3; count++ {
		s.eventually(fmt.Sprintf("machine %d", count), func() bool { return len(s.machines()) == count })
		time.Sleep(300 * time.Millisecond)
		require.Len(t, s.machines(), count, "the next one waits until this one is healthy")
		for _, machine := range s.machines() {
			seen[machine.Spec.FailureDomain] = true
			if machine.Status.NodeRef.Name == "" {
				config := &bootstrapv1.KubeadmConfig{}
				require.NoError(t, env.Client.Get(t.Context(), s.key(machine.Name), config))
				assert.NotNil(t, config.Spec.JoinConfiguration.ControlPlane, "later machines join")
				s.boot(&machine)
			}
		}
	}
	assert.Len(t, seen, 3, "spread over failure domains")
	s.eventually("available", func() bool { return conditions.IsTrue(s.get(), clusterv1.AvailableCondition) })
	for _, machine := range s.machines() {
		s.eventually("member of "+machine.Name, func() bool {
			current := &clusterv1.Machine{}
			return env.Client.Get(t.Context(), client.ObjectKeyFromObject(&machine), current) == nil && conditions.IsTrue(current, etcdMemberHealthy)
		})
		assert.True(t, conditions.IsTrue(&machine, clusterv1.MachineUpToDateCondition), conditions.Message(&machine, clusterv1.MachineUpToDateCondition))
	}
	s.scaleDownAndDelete()
}

func (s *scene) scaleDownAndDelete() {
	t, ctx := s.t, s.t.Context()
	hold := s.machines()
	for i := range hold { // what the core's finalizer does
		require.NoError(t, env.Client.Patch(ctx, &hold[i], client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"finalizers":["machine.cluster.x-k8s.io"]}}`))))
	}
	controlPlane := s.get()
	one := int32(1)
	controlPlane.Spec.Replicas = &one
	require.NoError(t, env.Client.Update(ctx, controlPlane))
	for left := 2; left >= 1; left-- {
		s.eventually("a machine is deleted", func() bool { return s.deleting() == 1 })
		for _, machine := range s.machines() {
			if !machine.DeletionTimestamp.IsZero() {
				s.finishDeletion(machine)
			}
		}
		s.eventually("the machine is gone", func() bool { return len(s.machines()) == left })
	}
	assert.Len(t, s.etcd.gone(), 2)
	assert.Len(t, s.etcd.state().Members, 1)

	require.NoError(t, env.Client.Delete(ctx, s.get()))
	s.eventually("the last machine is released", func() bool {
		list := s.machines()
		_, hooked := list[0].Annotations[machines.CleanupHook]
		return !list[0].DeletionTimestamp.IsZero() && !hooked
	})
	last := s.machines()[0]
	s.dropFinalizer(last)
	s.eventually("the control plane is gone", func() bool {
		return apierrors.IsNotFound(env.Client.Get(ctx, s.key("c1-cp"), &controlplanev1.KubeadmControlPlane{}))
	})
}
