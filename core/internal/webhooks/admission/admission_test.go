package admission

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
)

// Conformance: WH-03
func TestJudging(t *testing.T) {
	ctx, now := context.Background(), metav1.Now()
	hook := webhook[*clusterv1.Machine]{rules: Rules[*clusterv1.Machine]{
		Kind: clusterv1.GroupVersion.WithKind("Machine").GroupKind(),
		Validate: func(obj, before *clusterv1.Machine) field.ErrorList {
			return field.ErrorList{field.Invalid(field.NewPath("spec", "version"), before == nil, "always")}
		},
	}}
	old := &clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{Name: "m"}}
	_, err := hook.ValidateCreate(ctx, old)
	require.True(t, apierrors.IsInvalid(err))
	assert.ErrorContains(t, err, "spec.version: Invalid value: true", "a new object has no before")

	for _, c := range []struct {
		name    string
		change  func(*clusterv1.Machine)
		refused bool
	}{
		{"nothing", func(*clusterv1.Machine) {}, false},
		{"status", func(m *clusterv1.Machine) { m.Status.Phase = "Running" }, false},
		{"finalizers and owners", func(m *clusterv1.Machine) {
			m.Finalizers, m.OwnerReferences = []string{"f"}, []metav1.OwnerReference{{Name: "o"}}
		}, false},
		{"labels", func(m *clusterv1.Machine) { m.Labels = map[string]string{"a": "b"} }, true},
		{"annotations", func(m *clusterv1.Machine) { m.Annotations = map[string]string{"a": "b"} }, true},
		{"spec", func(m *clusterv1.Machine) { m.Spec.Version = "v1.37.2" }, true},
		{"spec in deletion", func(m *clusterv1.Machine) { m.Spec.Version, m.DeletionTimestamp = "v1.37.2", &now }, false},
	} {
		after := old.DeepCopy()
		c.change(after)
		_, err := hook.ValidateUpdate(ctx, old, after)
		assert.Equal(t, c.refused, apierrors.IsInvalid(err), c.name)
	}
	_, err = hook.ValidateDelete(ctx, old)
	require.NoError(t, err)
}
