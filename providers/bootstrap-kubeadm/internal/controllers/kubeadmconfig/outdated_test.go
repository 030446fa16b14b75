package kubeadmconfig

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/slipway-capi/slipway/contract/conditions"
	bootstrapv1 "github.com/slipway-capi/slipway/providers/bootstrap-kubeadm/api/v1beta2"
	"github.com/slipway-capi/slipway/providers/bootstrap-kubeadm/internal/initlock"
)

func lockOf(t *testing.T, c client.Client, w World) bool {
	t.Helper()
	err := c.Get(t.Context(), initlock.Key(client.ObjectKeyFromObject(w.Cluster)), &corev1.ConfigMap{})
	require.NoError(t, client.IgnoreNotFound(err))
	return err == nil
}

// A run on an old picture must not take the lock away from the machine that runs kubeadm init: another would run it too.
//
// Conformance: KB-35
func TestAnOutdatedRunKeepsTheLock(t *testing.T) {
	w := world(notInitialized, controlPlaneMachine)
	c := fakeClient(t, w.Config, w.Machine, w.Cluster)
	controller := &Controller{Client: c, Live: c, Secrets: c, TokenTTL: ttl}
	require.NoError(t, c.Get(t.Context(), client.ObjectKeyFromObject(w.Config), w.Config))
	old := w
	old.Config = w.Config.DeepCopy()
	_, err := controller.act(t.Context(), w, Decide(w))
	require.NoError(t, err)
	require.True(t, lockOf(t, c, w))

	_, err = controller.act(t.Context(), old, Decide(old))
	require.NoError(t, err)
	assert.True(t, lockOf(t, c, w), "this machine initializes the cluster")
	got := &bootstrapv1.KubeadmConfig{}
	require.NoError(t, c.Get(t.Context(), client.ObjectKeyFromObject(w.Config), got))
	assert.True(t, conditions.IsTrue(got, bootstrapv1.KubeadmConfigDataSecretAvailableCondition), "what was reported stays")
}

// Conformance: KB-21, KB-35
func TestErrorsAfterTheLock(t *testing.T) {
	for _, row := range []struct {
		name string
		// fails breaks the creation of the data Secret, conflicts the change of the spec.
		fails, conflicts bool
		locked           bool
	}{
		{"the data Secret is refused: another machine may try", true, false, false},
		{"another has changed the config meanwhile: the next run goes on", false, true, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			w := world(notInitialized, controlPlaneMachine)
			resource := schema.GroupResource{Resource: "x"}
			c := interceptor.NewClient(fakeClient(t, w.Config, w.Machine, w.Cluster), interceptor.Funcs{
				Create: func(ctx context.Context, c client.WithWatch, obj client.Object, opts ...client.CreateOption) error {
					if _, ok := obj.(*corev1.Secret); ok && row.fails {
						return apierrors.NewForbidden(resource, obj.GetName(), nil)
					}
					return c.Create(ctx, obj, opts...)
				},
				Patch: func(ctx context.Context, c client.WithWatch, obj client.Object, p client.Patch, opts ...client.PatchOption) error {
					if row.conflicts {
						return apierrors.NewConflict(resource, obj.GetName(), nil)
					}
					return c.Patch(ctx, obj, p, opts...)
				},
			})
			require.NoError(t, c.Get(t.Context(), client.ObjectKeyFromObject(w.Config), w.Config))
			_, err := (&Controller{Client: c, Live: c, Secrets: c, TokenTTL: ttl}).act(t.Context(), w, Decide(w))
			assert.Equal(t, row.fails, err != nil)
			assert.Equal(t, row.locked, lockOf(t, c, w))
			secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "m"}}
			assert.True(t, apierrors.IsNotFound(c.Get(t.Context(), client.ObjectKeyFromObject(secret), secret)), "no data without all that comes before")
			got := &bootstrapv1.KubeadmConfig{}
			require.NoError(t, c.Get(t.Context(), client.ObjectKeyFromObject(w.Config), got))
			assert.Nil(t, got.Status.Initialization.DataSecretCreated)
			assert.Equal(t, row.fails, len(got.Status.Conditions) > 0, "conditions are written although the run failed")
		})
	}
}
