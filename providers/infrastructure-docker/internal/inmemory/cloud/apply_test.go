package cloud

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	corev1apply "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/slipway-capi/slipway/contract/certificates"
)

func TestServerSideApplyKnowsOwners(t *testing.T) {
	ctx := t.Context()
	maps := start(t, certificates.ECDSAP256).client.CoreV1().ConfigMaps("default")
	apply := func(owner string, force bool, data map[string]string) (*corev1.ConfigMap, error) {
		return maps.Apply(ctx, corev1apply.ConfigMap("cm", "default").WithData(data), metav1.ApplyOptions{FieldManager: owner, Force: force})
	}
	first, err := apply("a", false, map[string]string{"x": "1", "y": "1"})
	require.NoError(t, err)
	again, err := apply("a", false, map[string]string{"x": "1", "y": "1"})
	require.NoError(t, err)
	assert.Equal(t, first.ResourceVersion, again.ResourceVersion, "the same again writes nothing")

	_, err = apply("b", false, map[string]string{"y": "2"})
	require.True(t, apierrors.IsConflict(err), "%v", err)
	forced, err := apply("b", true, map[string]string{"y": "2"})
	require.NoError(t, err)
	assert.Equal(t, map[string]string{"x": "1", "y": "2"}, forced.Data)

	less, err := apply("a", false, map[string]string{"z": "3"})
	require.NoError(t, err)
	assert.Equal(t, map[string]string{"y": "2", "z": "3"}, less.Data, "x went with its only owner, y belongs to b")

	_, err = apply("b", false, map[string]string{"y": "2", "z": "3"})
	require.NoError(t, err)
	shared, err := apply("a", false, map[string]string{})
	require.NoError(t, err)
	assert.Equal(t, map[string]string{"y": "2", "z": "3"}, shared.Data, "z has another owner")

	_, err = maps.Patch(ctx, "cm", types.MergePatchType, []byte(`{"data":{"y":"4"}}`), metav1.PatchOptions{FieldManager: "editor"})
	require.NoError(t, err)
	_, err = apply("b", false, map[string]string{"y": "2", "z": "3"})
	require.True(t, apierrors.IsConflict(err), "somebody edited a field of b: %v", err)
}

func TestServerSideApplyMergesListsByTheirKeys(t *testing.T) {
	ctx := t.Context()
	r := start(t, certificates.ECDSAP256)
	pods := r.client.CoreV1().Pods("default")
	apply := func(owner string, containers ...string) *corev1.Pod {
		spec := corev1apply.PodSpec()
		for _, name := range containers {
			spec.WithContainers(corev1apply.Container().WithName(name).WithImage(owner))
		}
		pod, err := pods.Apply(ctx, corev1apply.Pod("p", "default").WithSpec(spec), metav1.ApplyOptions{FieldManager: owner})
		require.NoError(t, err)
		return pod
	}
	names := func(pod *corev1.Pod) (out []string) {
		for _, c := range pod.Spec.Containers {
			out = append(out, c.Name)
		}
		return out
	}
	apply("a", "one", "two")
	assert.Equal(t, []string{"one", "two", "three"}, names(apply("b", "three")))
	assert.Equal(t, []string{"two", "three"}, names(apply("a", "two")))

	status := corev1apply.PodStatus().WithPhase(corev1.PodRunning)
	pod, err := pods.ApplyStatus(ctx, corev1apply.Pod("p", "default").WithStatus(status), metav1.ApplyOptions{FieldManager: "kubelet"})
	require.NoError(t, err)
	assert.Equal(t, corev1.PodRunning, pod.Status.Phase)
	assert.Equal(t, []string{"two", "three"}, names(pod))
	assert.Equal(t, corev1.PodRunning, apply("a", "two").Status.Phase)
}

func TestUpdatesDoNotLoseOwners(t *testing.T) {
	ctx := t.Context()
	maps := start(t, certificates.ECDSAP256).client.CoreV1().ConfigMaps("default")
	made, err := maps.Apply(ctx, corev1apply.ConfigMap("cm", "default").WithData(map[string]string{"x": "1"}), metav1.ApplyOptions{FieldManager: "a"})
	require.NoError(t, err)
	made.ManagedFields = nil
	made.Data["y"] = "2"
	updated, err := maps.Update(ctx, made, metav1.UpdateOptions{FieldManager: "editor"})
	require.NoError(t, err)
	assert.Len(t, updated.ManagedFields, 2)
	plain, err := maps.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "never-applied"}}, metav1.CreateOptions{})
	require.NoError(t, err)
	assert.Empty(t, plain.ManagedFields)
}
