package coalesce

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

func object(owner, version string) client.Object {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: owner, ResourceVersion: version}}
}

func byName(_ context.Context, o client.Object) []reconcile.Request {
	return []reconcile.Request{{NamespacedName: client.ObjectKeyFromObject(o)}}
}

func TestManyEventsAreOneReconcile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
		defer q.ShutDown()
		h := Handler(byName)
		h.Create(t.Context(), event.CreateEvent{Object: object("a", "1")}, q)
		h.Update(t.Context(), event.UpdateEvent{ObjectOld: object("a", "1"), ObjectNew: object("a", "2")}, q)
		h.Delete(t.Context(), event.DeleteEvent{Object: object("a", "2")}, q)
		h.Generic(t.Context(), event.GenericEvent{Object: object("a", "2")}, q)
		time.Sleep(delay / 2)
		synctest.Wait()
		assert.Zero(t, q.Len(), "not yet")
		time.Sleep(delay)
		synctest.Wait()
		assert.Equal(t, 1, q.Len())
	})
}

// Conformance: MG-17
func TestBothStatesOfAnUpdateCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
		defer q.ShutDown()
		h := Handler(byName)
		h.Update(t.Context(), event.UpdateEvent{ObjectOld: object("c", "1"), ObjectNew: object("c", "1")}, q)
		time.Sleep(2 * delay)
		synctest.Wait()
		assert.Zero(t, q.Len(), "nothing has changed")
		h.Update(t.Context(), event.UpdateEvent{ObjectOld: object("a", "1"), ObjectNew: object("b", "2")}, q)
		time.Sleep(2 * delay)
		synctest.Wait()
		assert.Equal(t, 2, q.Len(), "who has lost it and who has got it")
	})
}
