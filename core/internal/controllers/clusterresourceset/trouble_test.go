package clusterresourceset

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/slipway-capi/slipway/core/internal/payload"
)

const password = "hunter2"

func refused(name string, err error) refusal {
	o := &unstructured.Unstructured{}
	o.SetKind("Thing")
	o.SetName(name)
	return refusal{object: o, err: err}
}

// Conformance: RS-20
func TestNothingOfASecretIsTold(t *testing.T) {
	path := field.NewPath("spec", "password")
	invalid := apierrors.NewInvalid(schema.GroupKind{Kind: "Thing"}, "t", field.ErrorList{field.Invalid(path, password, "is too weak"), field.Invalid(path, password, "is too short")})
	webhook := &apierrors.StatusError{ErrStatus: metav1.Status{Status: metav1.StatusFailure, Message: "denied: " + password, Reason: metav1.StatusReasonForbidden}}
	for err, want := range map[error]string{
		invalid: "Thing t: Invalid (spec.password)", webhook: "Thing t: Forbidden", errors.New("why not " + password): "Thing t: refused",
		fmt.Errorf("wrapped: %w", invalid): "Thing t: Invalid (spec.password)",
	} {
		secretly := refusals([]refusal{refused("t", err)}, true)
		assert.Equal(t, want, secretly.message)
		assert.True(t, secretly.retry)
		assert.Contains(t, refusals([]refusal{refused("t", err)}, false).message, password, "of a ConfigMap all is told")
	}
	for _, content := range []string{"a: " + password + ": b", password, "*" + password, `{"kind": "` + password} {
		_, err := payload.Data{"k": []byte(content)}.Objects()
		require.Error(t, err)
		assert.Equal(t, "it is malformed: key k, document 1 from line 1", malformed(err, true).message)
		assert.False(t, malformed(err, true).retry, "only a change of the payload can mend it")
	}
}

// Conformance: RS-21
func TestWordsAreTheSameAtEachAttempt(t *testing.T) {
	for _, err := range []error{
		context.DeadlineExceeded, &url.Error{Op: "Post", URL: "https://x", Err: errors.New("read tcp 127.0.0.1:40001->127.0.0.1:6443: connection reset by peer")},
		fmt.Errorf("creating: %w", &net.OpError{Op: "dial", Err: errors.New("refused")}),
	} {
		assert.True(t, silent(err), err)
		assert.Equal(t, "it could not be read: no answer", unread(err).message)
	}
	assert.False(t, silent(nil))
	assert.False(t, silent(apierrors.NewBadRequest("no")), "an answer is an answer")
	assert.Equal(t, "it does not exist", unread(apierrors.NewNotFound(schema.GroupResource{}, "x")).message)
	kind := &meta.NoKindMatchError{GroupKind: schema.GroupKind{Kind: "Thing"}}
	assert.Equal(t, "Thing t: the cluster does not serve this kind", refusals([]refusal{refused("t", kind)}, true).message)
}

func TestManyRefusalsAreCounted(t *testing.T) {
	var list []refusal
	for i := range 9 {
		list = append(list, refused(fmt.Sprint("t", i), errors.New("no")))
	}
	assert.Equal(t, "Thing t0: no; Thing t1: no; Thing t2: no; and 6 more objects", refusals(list, false).message)
	assert.Nil(t, refusals(nil, false))
}

// Conformance: RS-24, MG-21
func TestTrimKeepsNoPayload(t *testing.T) {
	o := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "n", UID: "u", ResourceVersion: "7", Labels: map[string]string{"a": "b"},
		Annotations: map[string]string{"kubectl.kubernetes.io/last-applied-configuration": password}, OwnerReferences: []metav1.OwnerReference{{Name: "s"}}}}
	trimmed, err := trim(o)
	require.NoError(t, err)
	assert.Equal(t, metav1.ObjectMeta{Namespace: "ns", Name: "n", UID: "u", ResourceVersion: "7", OwnerReferences: []metav1.OwnerReference{{Name: "s"}}}, trimmed.(*metav1.PartialObjectMetadata).ObjectMeta)
}
