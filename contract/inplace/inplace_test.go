package inplace

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	hooks "github.com/slipway-capi/slipway/contract/api/runtime/hooks/v1alpha1"
)

func annotated(pairs ...string) *metav1.ObjectMeta {
	o := &metav1.ObjectMeta{Name: "m"}
	for i := 0; i < len(pairs); i += 2 {
		set(o, pairs[i], pairs[i+1])
	}
	return o
}

func TestPolicyOf(t *testing.T) {
	for value, want := range map[string]Policy{"Require": Require, "Never": Never, "Prefer": Prefer, "": Prefer, "other": Prefer} {
		assert.Equal(t, want, PolicyOf(annotated("slipway.dev/in-place-updates", value)), value)
	}
	assert.Equal(t, Prefer, PolicyOf(annotated()))
}

// TestMarks: the names on the wire, and what they mean from one step of an update to the next.
//
// Conformance: MS-64, MA-46
func TestMarks(t *testing.T) {
	const prefix = "in-place-updates.internal.cluster.x-k8s.io/"
	m := annotated("runtime.cluster.x-k8s.io/pending-hooks", "Other", "own", "yes")
	assert.False(t, Updating(m))
	HandOver(m)
	assert.Equal(t, map[string]string{prefix + "update-in-progress": "", prefix + "pending-acknowledge-move": "", "runtime.cluster.x-k8s.io/pending-hooks": "Other", "own": "yes"}, m.Annotations)
	assert.True(t, Updating(m) && Arriving(m) && !Pending(m))
	Begin(m)
	Begin(m)
	assert.Equal(t, map[string]string{prefix + "update-in-progress": "", "runtime.cluster.x-k8s.io/pending-hooks": "Other,UpdateMachine", "own": "yes"}, m.Annotations)
	assert.True(t, Updating(m) && !Arriving(m) && Pending(m))
	Unmark(m)
	assert.True(t, Updating(m), "until the hook is no longer pending")
	End(m)
	assert.Equal(t, map[string]string{"runtime.cluster.x-k8s.io/pending-hooks": "Other", "own": "yes"}, m.Annotations)
	assert.False(t, Updating(m))
	only := annotated("runtime.cluster.x-k8s.io/pending-hooks", "UpdateMachine")
	End(only)
	assert.Empty(t, only.Annotations)
}

// Conformance: MS-64
func TestBothSidesMustAgree(t *testing.T) {
	const prefix = "in-place-updates.internal.cluster.x-k8s.io/"
	from, to := annotated(prefix+"move-machines-to-machineset", "new"), annotated(prefix+"receive-machines-from-machinesets", "b,a")
	from.Name, to.Name = "a", "new"
	assert.True(t, Agree(from, to))
	other := to.DeepCopy()
	other.Annotations[prefix+"receive-machines-from-machinesets"] = "b"
	assert.False(t, Agree(from, other))
	silent := from.DeepCopy()
	silent.Annotations = nil
	assert.False(t, Agree(silent, to))
	going := to.DeepCopy()
	going.DeletionTimestamp = &metav1.Time{}
	going.DeletionTimestamp.Time = going.DeletionTimestamp.AddDate(2000, 0, 0)
	assert.False(t, Agree(from, going))
	counts := annotated(prefix+"acknowledged-move", "l,m")
	assert.True(t, Awaited(counts, annotated()))
	assert.False(t, Awaited(annotated(), annotated()))
}

func part(current, desired map[string]any, kind hooks.PatchType, patch string) Part {
	wrap := func(spec map[string]any) map[string]any {
		return map[string]any{"metadata": map[string]any{"name": "t"}, "spec": map[string]any{"template": map[string]any{"spec": spec}}}
	}
	return Part{Name: "FakeMachineTemplate", Root: []string{"spec", "template", "spec"}, Current: wrap(current), Desired: wrap(desired), Patch: hooks.Patch{PatchType: kind, Patch: []byte(patch)}}
}

// Conformance: MD-26
func TestUncovered(t *testing.T) {
	small, large := map[string]any{"size": "s", "disk": map[string]any{"gb": int64(1)}}, map[string]any{"size": "l", "disk": map[string]any{"gb": int64(2), "kind": "ssd"}}
	const root = "FakeMachineTemplate spec.template.spec."
	for _, c := range []struct {
		name string
		part Part
		want []string
		err  string
	}{
		{"no difference and no patch", part(small, small, "", ""), nil, ""},
		{"no patch", part(small, large, "", ""), []string{root + "disk.gb", root + "disk.kind", root + "size"}, ""},
		{"half of it", part(small, large, hooks.JSONMergePatchType, `{"spec":{"template":{"spec":{"size":"l","disk":{"gb":2}}}}}`), []string{root + "disk.kind"}, ""},
		{"all of it", part(small, large, hooks.JSONMergePatchType, `{"spec":{"template":{"spec":{"size":"l","disk":{"gb":2,"kind":"ssd"}}}}}`), nil, ""},
		{"all of it, as a JSON patch", part(small, large, hooks.JSONPatchType, `[{"op":"replace","path":"/spec/template/spec","value":{"size":"l","disk":{"gb":2,"kind":"ssd"}}}]`), nil, ""},
		{"more than was asked", part(small, small, hooks.JSONMergePatchType, `{"spec":{"template":{"spec":{"size":"xl"}}}}`), []string{root + "size"}, ""},
		{"elsewhere", part(small, small, hooks.JSONMergePatchType, `{"metadata":{"name":"other"}}`), nil, ""},
		{"empty is the same as absent", part(map[string]any{"a": map[string]any{}, "l": []any{}}, map[string]any{"n": nil}, "", ""), nil, ""},
		{"zero is not", part(map[string]any{"a": int64(0)}, map[string]any{}, "", ""), []string{root + "a"}, ""},
		{"type unknown", part(small, large, "Text", `{}`), nil, `the patch of FakeMachineTemplate: its type "Text" is unknown`},
		{"no JSON", part(small, large, hooks.JSONMergePatchType, `{`), nil, "the patch of FakeMachineTemplate"},
		{"no object left", part(small, large, hooks.JSONPatchType, `[{"op":"replace","path":"/spec","value":"x"}]`), nil, "the result is no object"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := Uncovered([]Part{c.part})
			if c.err != "" {
				require.ErrorContains(t, err, c.err)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, c.want, got)
		})
	}
}

func TestRebase(t *testing.T) {
	have := map[string]any{"size": "s", "providerID": "id", "gone": true, "net": map[string]any{"a": "1", "added": "2"}, "same": "changed since"}
	from := map[string]any{"size": "s", "gone": true, "net": map[string]any{"a": "1"}, "same": "x"}
	to := map[string]any{"size": "l", "net": map[string]any{"b": []any{"3"}}, "same": "x"}
	want := map[string]any{"size": "l", "providerID": "id", "net": map[string]any{"b": []any{"3"}, "added": "2"}, "same": "changed since"}
	before := runtime.DeepCopyJSON(have)
	got := Rebase(have, from, to)
	assert.Equal(t, want, got)
	assert.Equal(t, before, have, "what was read is not changed")
	assert.Equal(t, want, Rebase(got, to, to), "twice is the same as once")
	assert.Equal(t, to, Rebase(nil, nil, to))
}

// TestRebaseGivesTheNewTemplate: whatever the templates are, an untouched object ends as the new template, with what was added.
func TestRebaseGivesTheNewTemplate(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var tree func(depth int) map[string]any
	tree = func(depth int) map[string]any {
		out := map[string]any{}
		for range rng.IntN(4) {
			key := fmt.Sprint("k", rng.IntN(4))
			if depth > 0 && rng.IntN(2) == 0 {
				out[key] = tree(depth - 1)
			} else {
				out[key] = int64(rng.IntN(3))
			}
		}
		return out
	}
	for range 500 {
		from, to := tree(2), tree(2)
		have := runtime.DeepCopyJSON(from)
		have["added"] = "by a provider"
		got := Rebase(have, from, to)
		require.Equal(t, "by a provider", got["added"])
		delete(got, "added")
		require.Empty(t, differing("", got, to), "%v %v", from, to)
	}
}

func TestNames(t *testing.T) {
	assert.Equal(t, "a,b", Join([]string{"b", "a", "b"}))
	assert.Equal(t, clusterv1.InPlaceUpdatesAnnotation, "slipway.dev/in-place-updates")
}
