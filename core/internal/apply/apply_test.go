package apply

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
)

// server counts what is sent and answers with the next resource version.
type server struct {
	client.Client
	sent []string
	err  error
}

func (s *server) Patch(_ context.Context, obj client.Object, p client.Patch, _ ...client.PatchOption) error {
	data, err := p.Data(obj)
	if err != nil {
		return err
	}
	s.sent = append(s.sent, string(data))
	obj.SetResourceVersion("2")
	return s.err
}

func machineOf(labels map[string]string) *clusterv1.Machine {
	m := &clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "m", Labels: labels}}
	m.SetGroupVersionKind(clusterv1.GroupVersion.WithKind("Machine"))
	return m
}

// Conformance: SH-15
func TestApplySendsNothingThatChangesNothing(t *testing.T) {
	parent := types.NamespacedName{Namespace: "ns", Name: "parent"}
	have := machineOf(map[string]string{"a": "1", "users": "own"})
	have.UID, have.ResourceVersion = "uid", "1"
	update := func(covered, surplus bool, labels map[string]string) Update {
		return Update{Parent: parent, Have: have, Want: machineOf(labels), Covered: covered, Surplus: surplus}
	}
	s, m, ctx := &server{}, &Memory{}, context.Background()
	send := func(u Update) bool {
		sent, err := m.Apply(ctx, s, "owner", u)
		require.NoError(t, err)
		return sent
	}
	a := map[string]string{"a": "1"}
	assert.False(t, send(update(true, false, a)), "the child is as wanted")
	assert.True(t, send(update(true, true, a)), "whose the surplus is, only an apply tells")
	assert.Contains(t, s.sent[0], `"uid":"uid"`, "or a child that has gone would come back")
	assert.NotContains(t, s.sent[0], "status")
	assert.False(t, send(update(true, true, a)), "once is enough to know")
	assert.True(t, send(update(true, true, nil)), "less is wanted now: what was applied must go")

	assert.True(t, send(update(false, false, a)))
	have.ResourceVersion = "2"
	assert.False(t, send(update(false, false, a)), "somebody turns it back at once: the same intent on the same object changes nothing")
	have.ResourceVersion = "3"
	assert.True(t, send(update(false, false, a)))

	m.Keep(parent, map[types.UID]bool{})
	assert.Empty(t, m.sent, "what is gone is forgotten")
}

func TestAFailedApplyIsNotRemembered(t *testing.T) {
	have := machineOf(nil)
	have.UID = "uid"
	s, m := &server{err: context.DeadlineExceeded}, &Memory{}
	for range 2 {
		_, err := m.Apply(context.Background(), s, "owner", Update{Have: have, Want: machineOf(nil)})
		require.ErrorIs(t, err, context.DeadlineExceeded)
	}
	assert.Len(t, s.sent, 2)
}

func TestCoversAndOwned(t *testing.T) {
	assert.True(t, Covers(nil, nil))
	assert.True(t, Covers(map[string]string{"a": "", "b": "1"}, map[string]string{"a": ""}))
	assert.False(t, Covers(map[string]string{"b": "1"}, map[string]string{"a": ""}))
	yes := true
	ref := metav1.OwnerReference{APIVersion: "v1", UID: "x", Controller: &yes}
	plain := ref
	plain.Controller = nil
	m := machineOf(nil)
	m.OwnerReferences = []metav1.OwnerReference{plain}
	assert.True(t, Owned(m, []metav1.OwnerReference{plain}))
	assert.False(t, Owned(m, []metav1.OwnerReference{ref}), "an owner that is no controller yet")
}
