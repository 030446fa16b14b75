// Package coalesce turns many events of one moment into one reconcile, for objects that sum up many others.
package coalesce

import (
	"context"
	"time"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// delay is how long events are gathered: too short to be noticed, long enough for the writes of one reconcile elsewhere.
const delay = 75 * time.Millisecond

// Handler wakes what a map function names, a moment later. Of an update both states count, so that who has lost a member
// learns of it; an update that changes nothing is dropped.
func Handler(of handler.MapFunc) handler.EventHandler {
	type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]
	add := func(ctx context.Context, q queue, objects ...client.Object) {
		for _, o := range objects {
			for _, request := range of(ctx, o) {
				q.AddAfter(request, delay)
			}
		}
	}
	return handler.Funcs{
		CreateFunc: func(ctx context.Context, e event.CreateEvent, q queue) { add(ctx, q, e.Object) },
		UpdateFunc: func(ctx context.Context, e event.UpdateEvent, q queue) {
			if e.ObjectOld.GetResourceVersion() != e.ObjectNew.GetResourceVersion() {
				add(ctx, q, e.ObjectOld, e.ObjectNew)
			}
		},
		DeleteFunc:  func(ctx context.Context, e event.DeleteEvent, q queue) { add(ctx, q, e.Object) },
		GenericFunc: func(ctx context.Context, e event.GenericEvent, q queue) { add(ctx, q, e.Object) },
	}
}
