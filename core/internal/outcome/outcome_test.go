package outcome

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// Conformance: MG-15
func TestOutcome(t *testing.T) {
	broken := errors.New("broken")
	conflict := fmt.Errorf("patching: %w", apierrors.NewConflict(schema.GroupResource{Resource: "machines"}, "m", errors.New("changed")))
	for name, test := range map[string]struct {
		errs  []error
		after time.Duration
		want  reconcile.Result
		err   error
	}{
		"nothing":                        {want: reconcile.Result{}},
		"no error":                       {errs: []error{nil}, after: time.Minute, want: reconcile.Result{RequeueAfter: time.Minute}},
		"an error":                       {errs: []error{nil, broken}, after: time.Minute, err: broken},
		"a conflict is looked at soon":   {errs: []error{conflict}, after: time.Minute, want: reconcile.Result{RequeueAfter: conflictPause}},
		"a conflict without other wait":  {errs: []error{conflict}, want: reconcile.Result{RequeueAfter: conflictPause}},
		"an error counts more":           {errs: []error{conflict, broken}, err: broken},
		"an earlier wait than the pause": {errs: []error{conflict}, after: time.Millisecond, want: reconcile.Result{RequeueAfter: time.Millisecond}},
	} {
		var o Outcome
		for _, err := range test.errs {
			o.Note(err)
		}
		got, err := o.Result(test.after)
		assert.Equal(t, test.want, got, name)
		assert.ErrorIs(t, err, test.err, name)
	}
}
