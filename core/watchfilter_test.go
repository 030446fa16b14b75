package main

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/core/internal/controllers/cluster"
	"github.com/slipway-capi/slipway/core/internal/controllers/clusterclass"
	"github.com/slipway-capi/slipway/core/internal/controllers/machine"
	"github.com/slipway-capi/slipway/core/internal/controllers/machinedeployment"
	"github.com/slipway-capi/slipway/core/internal/controllers/machinehealthcheck"
	"github.com/slipway-capi/slipway/core/internal/controllers/machinepool"
	"github.com/slipway-capi/slipway/core/internal/controllers/machineset"
	"github.com/slipway-capi/slipway/core/internal/controllers/topology"
)

// An object of another instance is read, and that is all: these controllers have nothing but a client and would fail with anything else.
//
// Conformance: MG-13
func TestObjectsOfAnotherInstanceAreLeftAlone(t *testing.T) {
	meta := metav1.ObjectMeta{Namespace: "ns", Name: "x", Labels: map[string]string{clusterv1.WatchLabel: "blue"}}
	ofClass := &clusterv1.Cluster{ObjectMeta: meta}
	ofClass.Spec.Topology.ClassRef.Name = "class"
	for name, test := range map[string]struct {
		object     client.Object
		controller func(client.Client) reconcile.Reconciler
	}{
		"cluster": {&clusterv1.Cluster{ObjectMeta: meta}, func(c client.Client) reconcile.Reconciler {
			return &cluster.Controller{Client: c, WatchFilter: "green"}
		}},
		"topology": {ofClass, func(c client.Client) reconcile.Reconciler {
			return &topology.Controller{Client: c, WatchFilter: "green"}
		}},
		"clusterclass": {&clusterv1.ClusterClass{ObjectMeta: meta}, func(c client.Client) reconcile.Reconciler {
			return &clusterclass.Controller{Client: c, WatchFilter: "green"}
		}},
		"machine": {&clusterv1.Machine{ObjectMeta: meta}, func(c client.Client) reconcile.Reconciler {
			return &machine.Controller{Client: c, WatchFilter: "green"}
		}},
		"machineset": {&clusterv1.MachineSet{ObjectMeta: meta}, func(c client.Client) reconcile.Reconciler {
			return &machineset.Controller{Client: c, WatchFilter: "green"}
		}},
		"machinedeployment": {&clusterv1.MachineDeployment{ObjectMeta: meta}, func(c client.Client) reconcile.Reconciler {
			return &machinedeployment.Controller{Client: c, WatchFilter: "green"}
		}},
		"machinepool": {&clusterv1.MachinePool{ObjectMeta: meta}, func(c client.Client) reconcile.Reconciler {
			return &machinepool.Controller{Client: c, WatchFilter: "green"}
		}},
		"machinehealthcheck": {&clusterv1.MachineHealthCheck{ObjectMeta: meta}, func(c client.Client) reconcile.Reconciler {
			return &machinehealthcheck.Controller{Client: c, WatchFilter: "green"}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			reads := 0
			c := fake.NewClientBuilder().WithScheme(env.Scheme).WithObjects(test.object).WithInterceptorFuncs(interceptor.Funcs{
				Get: func(ctx context.Context, to client.WithWatch, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
					reads++
					return to.Get(ctx, key, obj, opts...)
				},
			}).Build()
			_, err := test.controller(c).Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKey{Namespace: "ns", Name: "x"}})
			require.NoError(t, err)
			assert.Equal(t, 1, reads)
			after := test.object.DeepCopyObject().(client.Object)
			require.NoError(t, c.Get(t.Context(), client.ObjectKeyFromObject(after), after))
			assert.Empty(t, after.GetFinalizers())
		})
	}
}
