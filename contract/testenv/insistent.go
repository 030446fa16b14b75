package testenv

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// attempts is how often a test's update is sent while controllers change the same object.
const attempts = 20

// insistent is a client whose updates do not fail because somebody else has changed the object meanwhile: what a test sets is what it wants to
// see, and controllers that run in the environment may write at any time. They write again what such an update has taken back.
func insistent(c client.WithWatch) client.WithWatch {
	return interceptor.NewClient(c, interceptor.Funcs{
		Update: func(ctx context.Context, to client.WithWatch, obj client.Object, opts ...client.UpdateOption) error {
			return insist(ctx, to, obj, func() error { return to.Update(ctx, obj, opts...) })
		},
		SubResourceUpdate: func(ctx context.Context, to client.Client, sub string, obj client.Object, opts ...client.SubResourceUpdateOption) error {
			return insist(ctx, to, obj, func() error { return to.SubResource(sub).Update(ctx, obj, opts...) })
		},
	})
}

func insist(ctx context.Context, reader client.Reader, obj client.Object, write func() error) error {
	err := write()
	for range attempts {
		if !apierrors.IsConflict(err) {
			return err
		}
		stored := obj.DeepCopyObject().(client.Object)
		if err := reader.Get(ctx, client.ObjectKeyFromObject(obj), stored); err != nil {
			return err
		}
		obj.SetResourceVersion(stored.GetResourceVersion())
		err = write()
	}
	return err
}
