package registry

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/slipway-capi/slipway/contract/extension/hook"
)

func names(list []Registered) (out []string) {
	for _, r := range list {
		out = append(out, r.Name)
	}
	return out
}

// Conformance: RT-11
func TestHandlersComeInOrder(t *testing.T) {
	r := New()
	create, remove := hook.BeforeClusterCreate.ID(), hook.BeforeClusterDelete.ID()
	r.Set(Extension{Name: "z", Handlers: []Handler{{Name: "a.z", Hook: create}, {Name: "m.z", Hook: create}}})
	r.Set(Extension{Name: "b", Handlers: []Handler{{Name: "k.b", Hook: create}, {Name: "x.b", Hook: remove}}})
	assert.Equal(t, []string{"a.z", "k.b", "m.z"}, names(r.Handlers(create)))
	assert.Equal(t, []string{"x.b"}, names(r.Handlers(remove)))
	assert.Empty(t, r.Handlers(hook.GeneratePatches.ID()))

	found, ok := r.Find("k.b")
	require.True(t, ok)
	assert.Equal(t, "b", found.Extension.Name)
	_, ok = r.Find("k.z")
	assert.False(t, ok)

	r.Set(Extension{Name: "z", Handlers: []Handler{{Name: "n.z", Hook: create}}})
	assert.Equal(t, []string{"k.b", "n.z"}, names(r.Handlers(create)), "what is set takes the place of what was")
	r.Remove("b")
	r.Remove("nobody")
	assert.Equal(t, []string{"n.z"}, names(r.Handlers(create)))
}

func TestWaitEndsWhenTheRegistryIsReady(t *testing.T) {
	r := New()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, r.Wait(ctx), context.Canceled)
	r.SetReady()
	r.SetReady()
	require.NoError(t, r.Wait(t.Context()))
}

func TestManyAtOnce(t *testing.T) {
	r := New()
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			name := fmt.Sprint(i)
			for range 200 {
				r.Set(Extension{Name: name, Handlers: []Handler{{Name: "h." + name, Hook: hook.BeforeClusterCreate.ID()}}})
				assert.NotEmpty(t, r.Handlers(hook.BeforeClusterCreate.ID()))
				r.Remove(name)
				r.Set(Extension{Name: name, Handlers: []Handler{{Name: "h." + name, Hook: hook.BeforeClusterCreate.ID()}}})
			}
		})
	}
	group.Wait()
	assert.Len(t, r.Handlers(hook.BeforeClusterCreate.ID()), 8)
}
