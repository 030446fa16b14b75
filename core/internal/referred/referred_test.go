package referred_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/contractversion"
	"github.com/slipway-capi/slipway/contract/external"
	"github.com/slipway-capi/slipway/core/internal/referred"
)

func object(conditions ...any) *external.Object {
	content := map[string]any{"kind": "FakePool", "metadata": map[string]any{"name": "p"}}
	if conditions != nil {
		content["status"] = map[string]any{"conditions": conditions}
	}
	return &external.Object{Unstructured: &unstructured.Unstructured{Object: content}}
}

// Conformance: MP-12, CL-41, SH-32, SH-33
func TestCondition(t *testing.T) {
	noCRD := fmt.Errorf("kind FakePool: %w", contractversion.ErrNoCRD)
	ready := map[string]any{"type": "Ready", "status": "False", "reason": "Quota", "message": "no quota left"}
	for _, tt := range []struct {
		name          string
		object        referred.Object
		was, deleting bool
		status        metav1.ConditionStatus
		reason        string
		message       string
	}{
		{name: "the provider's own word", object: referred.Object{Object: object(ready)}, status: "False", reason: "Quota", message: "no quota left"},
		{name: "no word yet: the flag speaks", object: referred.Object{Object: object()}, status: "False", reason: "NotReady", message: "FakePool status.ready is false"},
		{name: "no word, but the flag was set", object: referred.Object{Object: object()}, was: true, status: "True", reason: "Ready", message: "FakePool status.ready is true"},
		{name: "a malformed word", object: referred.Object{Object: object(map[string]any{"type": "Ready", "status": true})}, status: "Unknown", reason: "InvalidConditionReported",
			message: "The reported condition Ready is invalid: status must be a string"},
		{name: "missing", object: referred.Object{Missing: true}, status: "False", reason: clusterv1.ObjectDoesNotExistReason, message: "FakePool does not exist"},
		{name: "gone", object: referred.Object{Missing: true}, was: true, status: "False", reason: clusterv1.ObjectDeletedReason, message: "FakePool has been deleted while the machine pool still exists"},
		{name: "gone as it should", object: referred.Object{Missing: true}, was: true, deleting: true, status: "False", reason: clusterv1.ObjectDeletedReason, message: "FakePool has been deleted"},
		{name: "kind not installed: the user can do something", object: referred.Object{Err: noCRD}, status: "Unknown", reason: clusterv1.InternalErrorReason, message: noCRD.Error()},
		{name: "unreadable: details only in the log", object: referred.Object{Err: errors.New("10.0.0.1: refused")}, status: "Unknown", reason: clusterv1.InternalErrorReason, message: "Please check the logs of the core manager"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := referred.Condition(tt.object, referred.Mirror{Target: "InfrastructureReady", Source: "Ready", Kind: "FakePool", Flag: "status.ready", Was: tt.was, Owner: "machine pool", Deleting: tt.deleting})
			assert.Equal(t, metav1.Condition{Type: "InfrastructureReady", Status: tt.status, Reason: tt.reason, Message: tt.message}, c)
		})
	}
}

func TestAwaitsProvider(t *testing.T) {
	assert.True(t, referred.AwaitsProvider(fmt.Errorf("x: %w", contractversion.ErrNoCRD)))
	assert.True(t, referred.AwaitsProvider(fmt.Errorf("x: %w", contractversion.ErrNoContract)))
	assert.False(t, referred.AwaitsProvider(errors.New("timeout")))
	assert.False(t, referred.AwaitsProvider(nil))
}

func TestKeys(t *testing.T) {
	ref := clusterv1.ContractVersionedObjectReference{APIGroup: "a.example.org", Kind: "FakePool", Name: "p"}
	keys := referred.Keys(clusterv1.ContractVersionedObjectReference{}, ref)
	assert.Equal(t, []string{referred.Key(schema.GroupKind{Group: "a.example.org", Kind: "FakePool"}, "p"), "fakepools.a.example.org"}, keys)
}
