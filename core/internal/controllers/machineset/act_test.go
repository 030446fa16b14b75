package machineset

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/event"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/external"
)

// acting is a controller whose client can be made to fail.
func acting(t *testing.T, failures interceptor.Funcs, w World) (*Controller, client.Client, *events.FakeRecorder) {
	t.Helper()
	scheme := runtime.NewScheme()
	require.NoError(t, clusterv1.AddToScheme(scheme))
	objects := []client.Object{w.Set}
	for _, m := range w.Machines {
		stored := m.DeepCopy()
		stored.Finalizers = nil
		objects = append(objects, stored)
	}
	c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).WithStatusSubresource(&clusterv1.MachineSet{}).WithInterceptorFuncs(failures).Build()
	recorder := events.NewFakeRecorder(10)
	return &Controller{Client: c, Recorder: recorder}, c, recorder
}

var errLost = errors.New("connection lost")

// Conformance: MS-29
func TestADeletionThatFailsStopsNoOther(t *testing.T) {
	w := world(0, machine("a"), machine("b"), machine("c"))
	c, stored, recorder := acting(t, interceptor.Funcs{Delete: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.DeleteOption) error {
		if o.GetName() == "b" {
			return errLost
		}
		return c.Delete(ctx, o, opts...)
	}}, w)
	_, err := c.act(t.Context(), w, Decide(w))
	require.ErrorIs(t, err, errLost)
	left := &clusterv1.MachineList{}
	require.NoError(t, stored.List(t.Context(), left))
	require.Len(t, left.Items, 1)
	assert.Equal(t, "b", left.Items[0].Name)
	assert.Contains(t, <-recorder.Events, "SuccessfulDelete")
	assert.Contains(t, <-recorder.Events, "FailedDelete")
}

// What was made for a Machine goes again when a later part is refused. When nobody knows how it went, it stays.
//
// Conformance: MS-21
func TestACreationThatFailsLeavesNothingBehind(t *testing.T) {
	refused := apierrors.NewForbidden(clusterv1.GroupVersion.WithResource("x").GroupResource(), "x", nil)
	for _, tc := range []struct {
		name, kind string
		err        error
		left       int
	}{
		{"bootstrap config refused", "FakeConfig", refused, 0},
		{"infrastructure refused", "FakeMachine", refused, 0},
		{"Machine refused", "Machine", refused, 0},
		{"Machine unknown", "Machine", errLost, 2},
		{"infrastructure unknown", "FakeMachine", errLost, 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := world(2)
			bootstrap := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "bootstrap.cluster.x-k8s.io/v1", "kind": "FakeConfigTemplate"}}
			bootstrap.SetName("x")
			bootstrap.SetNamespace("ns")
			w.Infrastructure.Object.SetNamespace("ns")
			w.Bootstrap = Template{Object: &external.Object{Unstructured: bootstrap, Contract: "v1beta2"}}
			fail := func(o client.Object) error {
				if kind := o.GetObjectKind().GroupVersionKind().Kind; kind == tc.kind {
					return tc.err
				}
				return nil
			}
			c, stored, recorder := acting(t, interceptor.Funcs{
				Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
					if err := fail(o); err != nil {
						return err
					}
					return c.Create(ctx, o, opts...)
				},
				Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
					if err := fail(o); err != nil {
						return err
					}
					return c.Patch(ctx, o, p, opts...)
				},
			}, w)
			_, err := c.act(t.Context(), w, Decide(w))
			require.ErrorIs(t, err, tc.err)
			left := 0
			for _, kind := range [][2]string{{"bootstrap", "FakeConfig"}, {"infrastructure", "FakeMachine"}} {
				list := &unstructured.UnstructuredList{}
				list.SetAPIVersion(kind[0] + ".cluster.x-k8s.io/v1")
				list.SetKind(kind[1] + "List")
				if err := stored.List(t.Context(), list, client.InNamespace("ns")); err == nil {
					left += len(list.Items)
				}
			}
			assert.Equal(t, tc.left, left, "the second Machine is not tried")
			assert.Contains(t, <-recorder.Events, "FailedCreate")
		})
	}
}

// Conformance: MS-65
func TestDeploymentsWakeTheirSetsForRemediation(t *testing.T) {
	before := &clusterv1.MachineDeployment{}
	for name, c := range map[string]struct {
		change func(*clusterv1.MachineDeployment)
		wakes  bool
	}{
		"maxInFlight": {func(md *clusterv1.MachineDeployment) {
			one := intstr.FromInt32(1)
			md.Spec.Remediation.MaxInFlight = &one
		}, true},
		"replicas": {func(md *clusterv1.MachineDeployment) { md.Spec.Replicas = ptr(int32(4)) }, true},
		"revision": {func(md *clusterv1.MachineDeployment) {
			md.Annotations = map[string]string{clusterv1.RevisionAnnotation: "2"}
		}, true},
		"status": {func(md *clusterv1.MachineDeployment) { md.Status.Phase = "Running" }, false},
	} {
		after := before.DeepCopy()
		c.change(after)
		assert.Equal(t, c.wakes, remediationMatters().Update(event.UpdateEvent{ObjectOld: before, ObjectNew: after}), name)
	}
}

// Conformance: MS-65
func TestSetsOfADeployment(t *testing.T) {
	w := world(1)
	c, _, _ := acting(t, interceptor.Funcs{}, w)
	md := &clusterv1.MachineDeployment{}
	md.Namespace, md.Name = "ns", "md"
	require.Len(t, c.ofDeployment(t.Context(), md), 1)
	md.Name = "other"
	assert.Empty(t, c.ofDeployment(t.Context(), md))
}
