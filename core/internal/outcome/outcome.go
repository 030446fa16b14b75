// Package outcome turns what happened while a decision was carried out into the answer of a reconcile.
package outcome

import (
	"errors"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/slipway-capi/slipway/contract/decision"
)

// conflictPause is how long to wait after a conflict if no event comes first.
const conflictPause = 200 * time.Millisecond

// Outcome collects the errors of one reconcile. A conflict is none: someone else wrote, and the event of that brings the
// state to decide on.
type Outcome struct {
	errs     []error
	conflict bool
}

// Note takes an error down; nil is fine.
func (o *Outcome) Note(err error) {
	if apierrors.IsConflict(err) {
		o.conflict = true
		return
	}
	o.errs = append(o.errs, err)
}

// Result is the answer: the errors, or when to look again; zero means when an event comes.
func (o *Outcome) Result(after time.Duration) (reconcile.Result, error) {
	if err := errors.Join(o.errs...); err != nil {
		return reconcile.Result{}, err
	}
	if o.conflict {
		after = decision.Sooner(after, conflictPause)
	}
	return reconcile.Result{RequeueAfter: after}, nil
}
