package machine

import (
	"context"
	"errors"
	"fmt"
	lock "sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/log"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	hooksv1 "github.com/slipway-capi/slipway/contract/api/runtime/hooks/v1alpha1"
	"github.com/slipway-capi/slipway/contract/extension/answers"
	"github.com/slipway-capi/slipway/contract/extension/hook"
	"github.com/slipway-capi/slipway/contract/extension/hookcall"
)

// How long a failed update is left alone: twice as long after each failure.
const (
	firstRetry = 2 * time.Second
	lastRetry  = 2 * time.Minute
)

// askExtension calls the extension that updates a Machine in place, unless it has said something about the same state that
// still holds.
func (c *Controller) askExtension(ctx context.Context, w World) (UpdateView, error) {
	key := wantedState(w)
	if view, ok := c.attempts.recall(w.Machine.UID, key, w.Now); ok {
		return view, nil
	}
	view := c.callExtension(ctx, w)
	if ctx.Err() != nil {
		return UpdateView{}, ctx.Err() // what was not finished says nothing about the Machine
	}
	return c.attempts.note(w.Machine.UID, key, view, w.Now), nil
}

func (c *Controller) callExtension(ctx context.Context, w World) UpdateView {
	view := UpdateView{Asked: true}
	if c.Hooks == nil {
		view.Err = errors.New("updates in place are off: switch the feature gates RuntimeSDK and InPlaceUpdates on, or delete the Machine to have it replaced")
		return view
	}
	response, handler, err := hookcall.Sole(ctx, c.Hooks, hook.UpdateMachine, w.Machine.Namespace, updateRequest(w))
	if err != nil {
		view.Err = err
		log.FromContext(ctx).Info("An update in place fails", "because", err.Error())
		return view
	}
	view.Wait = time.Duration(response.RetryAfterSeconds) * time.Second
	view.Message = handler
	if text := answers.Text(response.Message); text != "" {
		view.Message = handler + ": " + text
	}
	return view
}

// updateRequest is the Machine with its objects as they should be.
func updateRequest(w World) *hooksv1.UpdateMachineRequest {
	request := &hooksv1.UpdateMachineRequest{}
	m := w.Machine.DeepCopy()
	m.SetGroupVersionKind(clusterv1.GroupVersion.WithKind("Machine"))
	m.ManagedFields = nil
	delete(m.Annotations, corev1.LastAppliedConfigAnnotation)
	request.Desired.Machine = *m
	for into, r := range map[*runtime.RawExtension]Referred{&request.Desired.InfrastructureMachine: w.Infrastructure, &request.Desired.BootstrapConfig: w.Bootstrap} {
		if r.Object != nil {
			o := r.Object.DeepCopy()
			unstructured.RemoveNestedField(o.Object, "metadata", "managedFields")
			unstructured.RemoveNestedField(o.Object, "metadata", "annotations", corev1.LastAppliedConfigAnnotation)
			into.Object = o
		}
	}
	return request
}

// wantedState tells the states apart that a Machine may be brought to.
func wantedState(w World) string {
	key := fmt.Sprint(w.Machine.Spec.Version, w.Machine.Spec.FailureDomain)
	for _, r := range []Referred{w.Infrastructure, w.Bootstrap} {
		if r.Object != nil {
			key += fmt.Sprintf("/%s/%d", r.Object.GetUID(), r.Object.GetGeneration())
		}
	}
	return key
}

// attempts remember what extensions have said about Machines, so that each is called again when it wants to be, or later and
// later if it fails, however often the Machine is looked at. That need not survive a restart: then all are called again.
type attempts struct {
	mu   lock.Mutex
	made map[types.UID]attempt
}

type attempt struct {
	key      string
	view     UpdateView
	until    time.Time
	failures int
}

// recall is what was said about a state, if it still holds.
func (a *attempts) recall(uid types.UID, key string, now time.Time) (UpdateView, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	last, ok := a.made[uid]
	if !ok || last.key != key || !now.Before(last.until) {
		return UpdateView{}, false
	}
	last.view.Wait = last.until.Sub(now)
	return last.view, true
}

// note remembers what was said, and sets the time to wait after a failure.
func (a *attempts) note(uid types.UID, key string, view UpdateView, now time.Time) UpdateView {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.made == nil {
		a.made = map[types.UID]attempt{}
	}
	if view.done() {
		delete(a.made, uid)
		return view
	}
	next := attempt{key: key, view: view}
	if view.Err != nil {
		if last := a.made[uid]; last.key == key {
			next.failures = last.failures
		}
		view.Wait = min(firstRetry<<min(next.failures, 16), lastRetry)
		next.failures++
	}
	next.until = now.Add(view.Wait)
	a.made[uid] = next
	return view
}

// forget drops what was said about a Machine that is no longer updated.
func (a *attempts) forget(uid types.UID) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.made, uid)
}
