package drain

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

// evictionTime is how long evictions may be asked for in one go; the rest of the pods has its turn in the next.
const evictionTime = 10 * time.Second

// Evictor carries a plan out.
type Evictor struct {
	// Client writes to the workload cluster.
	Client client.Client
	// Time overrides for how long evictions are asked for in one go; default 10 s.
	Time time.Duration
}

// Cordon ends the scheduling of pods to a Node.
func (e Evictor) Cordon(ctx context.Context, node string) error {
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: node}}
	err := e.Client.Patch(ctx, n, client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"unschedulable":true}}`)))
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("cordoning Node %s: %w", node, err)
	}
	return nil
}

// Evict asks for the eviction of the pods whose turn it is. An error means that the workload cluster did not answer; what
// single pods are held by is in the results.
func (e Evictor) Evict(ctx context.Context, plan Plan) (Results, error) {
	limit := e.Time
	if limit == 0 {
		limit = evictionTime
	}
	calls, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	results := Results{}
	for _, pod := range plan.ToEvict() {
		if calls.Err() != nil {
			return results, ctx.Err()
		}
		err := e.evict(calls, plan, pod)
		if unanswered(err) {
			if calls.Err() != nil {
				return results, ctx.Err()
			}
			return results, fmt.Errorf("evicting pod %s: %w", pod.Key(), err)
		}
		results[pod.UID] = judgeAnswer(pod, err)
		if results[pod.UID].Requested {
			log.FromContext(ctx).Info("Evicting pod", "pod", pod.Key(), "node", plan.Node, "warnings", pod.Warnings)
		}
	}
	return results, nil
}

// evict names the pod by its UID, so that a new pod of the same name elsewhere is not met.
func (e Evictor) evict(ctx context.Context, plan Plan, pod Pod) error {
	options := &metav1.DeleteOptions{Preconditions: metav1.NewUIDPreconditions(string(pod.UID))}
	if plan.Unreachable {
		grace := int64(unreachableGrace)
		options.GracePeriodSeconds = &grace
	}
	target := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name}}
	eviction := &policyv1.Eviction{ObjectMeta: target.ObjectMeta, DeleteOptions: options}
	err := e.Client.SubResource("eviction").Create(ctx, target, eviction)
	if plan.Override && (refused(err) || pod.Hopeless != "" && err != nil) {
		return e.Client.Delete(ctx, target, client.GracePeriodSeconds(unreachableGrace), client.Preconditions{UID: &pod.UID})
	}
	return err
}

// unanswered says that there is no word of the API server about the pod.
func unanswered(err error) bool {
	var status apierrors.APIStatus
	return err != nil && (!errors.As(err, &status) || apierrors.IsTooManyRequests(err) && !refused(err))
}

// refused tells the answer of a disruption budget from that of an API server that is too busy.
func refused(err error) bool {
	return apierrors.IsTooManyRequests(err) && apierrors.HasStatusCause(err, policyv1.DisruptionBudgetCause)
}

// judgeAnswer says what the answer of the API server means for a pod.
func judgeAnswer(pod Pod, err error) Result {
	switch {
	case err == nil:
		return Result{Requested: true}
	case apierrors.IsNotFound(err), apierrors.IsConflict(err):
		return Result{Gone: true} // also if there is another pod of that name now
	case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		return Result{Told: "namespace " + pod.Namespace + " is being deleted, and its Pods with it"}
	case refused(err):
		cause, _ := apierrors.StatusCause(err, policyv1.DisruptionBudgetCause)
		return Result{Refused: true, Told: cause.Message}
	}
	return Result{Told: "eviction failed: " + err.Error()}
}
