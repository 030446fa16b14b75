package ownership_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/ownership"
)

func ref(version, kind, name, uid string, controller bool) metav1.OwnerReference {
	r := metav1.OwnerReference{APIVersion: "cluster.x-k8s.io/" + version, Kind: kind, Name: name, UID: types.UID(uid)}
	if controller {
		r.Controller = &controller
	}
	return r
}

func owned(refs ...metav1.OwnerReference) *clusterv1.Machine {
	return &clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "m", OwnerReferences: refs}}
}

// Conformance: SH-27
func TestEnsure(t *testing.T) {
	cluster := ref("v1beta2", "Cluster", "c", "1", false)
	for _, c := range []struct {
		name    string
		have    []metav1.OwnerReference
		add     metav1.OwnerReference
		want    []metav1.OwnerReference
		changed bool
	}{
		{"new", nil, cluster, []metav1.OwnerReference{cluster}, true},
		{"there already", []metav1.OwnerReference{cluster}, cluster, []metav1.OwnerReference{cluster}, false},
		{"version and UID are refreshed", []metav1.OwnerReference{ref("v1beta1", "Cluster", "c", "0", false)}, cluster, []metav1.OwnerReference{cluster}, true},
		{"twice becomes once", []metav1.OwnerReference{cluster, ref("v1beta1", "Cluster", "c", "0", false)}, cluster, []metav1.OwnerReference{cluster}, true},
		{"another name is another owner", []metav1.OwnerReference{ref("v1beta2", "Cluster", "d", "2", false)}, cluster, []metav1.OwnerReference{ref("v1beta2", "Cluster", "d", "2", false), cluster}, true},
		{"there is one controller", []metav1.OwnerReference{ref("v1beta2", "MachineSet", "s", "3", true)}, ref("v1beta2", "Machine", "m", "4", true),
			[]metav1.OwnerReference{ref("v1beta2", "MachineSet", "s", "3", false), ref("v1beta2", "Machine", "m", "4", true)}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := owned(c.have...)
			assert.Equal(t, c.changed, ownership.Ensure(m, c.add))
			assert.Equal(t, c.want, m.OwnerReferences)
			assert.True(t, ownership.Has(m, c.add))
			assert.False(t, ownership.Ensure(m, c.add), "the second time nothing changes")
		})
	}
}

func TestTake(t *testing.T) {
	plain, former, mine := ref("v1beta2", "Cluster", "c", "1", false), ref("v1beta2", "MachineSet", "s", "3", true), ref("v1beta2", "Machine", "m", "4", true)
	for name, have := range map[string][]metav1.OwnerReference{
		"nobody": nil, "another controller": {former}, "its former self": {ref("v1beta1", "Machine", "m", "0", true)}, "itself, as a plain owner": {ref("v1beta2", "Machine", "m", "4", false)},
	} {
		t.Run(name, func(t *testing.T) {
			m := owned(append([]metav1.OwnerReference{plain}, have...)...)
			assert.True(t, ownership.Take(m, mine))
			assert.Equal(t, []metav1.OwnerReference{plain, mine}, m.OwnerReferences)
			assert.False(t, ownership.Take(m, mine), "the second time nothing changes")
		})
	}
}

func TestReferences(t *testing.T) {
	cluster := &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: "c", UID: "1"}}
	gvk := clusterv1.GroupVersion.WithKind("Cluster")
	assert.Equal(t, ref("v1beta2", "Cluster", "c", "1", false), ownership.Reference(cluster, gvk))
	m := owned(ownership.ControllerReference(cluster, gvk))
	assert.True(t, ownership.IsControlledBy(m, cluster))
	assert.Equal(t, "c", ownership.ControllerOf(m).Name)
	assert.Equal(t, "c", ownership.Of(m, gvk.GroupKind()).Name)
	assert.Nil(t, ownership.Of(m, schema.GroupKind{Group: "x", Kind: "Cluster"}))
	assert.True(t, ownership.Remove(m, ref("v1", "Cluster", "c", "9", false)))
	assert.False(t, ownership.Remove(m, ref("v1", "Cluster", "c", "9", false)))
	assert.Empty(t, m.OwnerReferences)
}

func TestLookups(t *testing.T) {
	ctx, scheme := context.Background(), runtime.NewScheme()
	require.NoError(t, clusterv1.AddToScheme(scheme))
	cluster := &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "c"}}
	machine := &clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "m"}}
	c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(cluster, machine).Build()

	_, err := ownership.ClusterOf(ctx, c, owned())
	require.ErrorIs(t, err, ownership.ErrNoOwner)
	labelled := owned()
	labelled.Labels = map[string]string{clusterv1.ClusterNameLabel: "c"}
	got, err := ownership.ClusterOf(ctx, c, labelled)
	require.NoError(t, err)
	assert.Equal(t, "c", got.Name)
	got, err = ownership.ClusterOf(ctx, c, owned(ref("v1beta1", "Cluster", "c", "1", false)))
	require.NoError(t, err)
	assert.Equal(t, "c", got.Name)
	labelled.Labels[clusterv1.ClusterNameLabel] = "gone"
	_, err = ownership.ClusterOf(ctx, c, labelled)
	assert.True(t, apierrors.IsNotFound(err), "%v", err)

	_, err = ownership.MachineOf(ctx, c, owned(ref("v1beta2", "MachineSet", "m", "1", true)))
	require.ErrorIs(t, err, ownership.ErrNoOwner)
	m, err := ownership.MachineOf(ctx, c, owned(ref("v1beta2", "Machine", "m", "1", true)))
	require.NoError(t, err)
	assert.Equal(t, "m", m.Name)
	_, err = ownership.MachineOf(ctx, c, owned(ref("v1beta2", "Machine", "gone", "1", true)))
	assert.True(t, apierrors.IsNotFound(err), "%v", err)
}
