package clusterresourceset

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	addonsv1 "github.com/slipway-capi/slipway/contract/api/addons/v1beta2"
	"github.com/slipway-capi/slipway/core/internal/payload"
)

// trouble is why a delivery is not complete. Its words are the same at each attempt, and hold nothing of a Secret.
type trouble struct {
	message string
	// secretType says that the trouble is the type of the Secret.
	secretType bool
	// retry says that time may help soon; else only an event can, such as a change of the payload.
	retry bool
	// silence says that the cluster gave no answer, so that neither the rest nor a soon attempt is worth while.
	silence bool
}

var errWrongSecretType = errors.New("the Secret must be of type " + addonsv1.ClusterResourceSetSecretType)

func missing() *trouble { return &trouble{message: "it does not exist"} }

func unreached() *trouble {
	return &trouble{message: "the cluster does not answer", silence: true}
}

// disconnected needs no other attempt: the connection, when it comes, is an event.
func disconnected() *trouble { return &trouble{message: "the cluster is not connected"} }

// unread says why a ConfigMap or Secret could not be read.
func unread(err error) *trouble {
	switch {
	case errors.Is(err, errWrongSecretType):
		return &trouble{message: err.Error(), secretType: true}
	case apierrors.IsNotFound(err):
		return missing()
	}
	return &trouble{message: "it could not be read: " + string(reasonOf(err)), retry: true}
}

// malformed tells of a mistake in a payload, which only a change of it can mend.
func malformed(err error, secret bool) *trouble {
	var mistake *payload.Error
	if secret && errors.As(err, &mistake) {
		return &trouble{message: "it is malformed: " + mistake.Place()}
	}
	return &trouble{message: "it is malformed: " + err.Error()}
}

// silent says whether a request has brought no answer.
func silent(err error) bool {
	var network net.Error
	return err != nil && (errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) || errors.As(err, &network))
}

// refusal is an object that the workload cluster did not take.
type refusal struct {
	object *unstructured.Unstructured
	err    error
}

// shown is how many refused objects of a resource, and clusters of a set, are named before the rest is counted.
const shown = 3

// refusals sums up what was refused; nil if nothing was.
func refusals(list []refusal, secret bool) *trouble {
	if len(list) == 0 {
		return nil
	}
	var lines []string
	for _, r := range list[:min(len(list), shown)] {
		lines = append(lines, fmt.Sprintf("%s %s: %s", r.object.GetKind(), r.object.GetName(), explain(r.err, secret)))
	}
	if more := len(list) - shown; more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more objects", more))
	}
	return &trouble{message: strings.Join(lines, "; "), retry: true}
}

// explain gives the words of the API server. They may quote values, so of an object that comes from a Secret only the reason
// and the fields are told.
func explain(err error, secret bool) string {
	if meta.IsNoMatchError(err) {
		return "the cluster does not serve this kind"
	}
	if !secret {
		return err.Error()
	}
	text := string(reasonOf(err))
	if fields := fieldsOf(err); len(fields) > 0 {
		text += " (" + strings.Join(fields, ", ") + ")"
	}
	return text
}

func reasonOf(err error) metav1.StatusReason {
	if silent(err) {
		return "no answer"
	}
	if reason := apierrors.ReasonForError(err); reason != metav1.StatusReasonUnknown {
		return reason
	}
	return "refused"
}

func fieldsOf(err error) []string {
	var status apierrors.APIStatus
	if !errors.As(err, &status) || status.Status().Details == nil {
		return nil
	}
	var out []string
	for _, cause := range status.Status().Details.Causes {
		if cause.Field != "" && !slices.Contains(out, cause.Field) {
			out = append(out, cause.Field)
		}
	}
	slices.Sort(out)
	return out
}
