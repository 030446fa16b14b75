package machinepool

import (
	"fmt"
	"math/rand"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/conditions"
)

// history is a pool whose world changes at random; what is decided is carried out at once, wholly or up to some action.
type history struct {
	*rand.Rand
	w     World
	nodes map[string]*corev1.Node // by name
	next  int
	now   time.Time
	// deleted are the Nodes that were deleted by decisions.
	deleted []string
}

func newHistory(seed int64, machines bool) *history {
	h := &history{Rand: rand.New(rand.NewSource(seed)), w: world(young), nodes: map[string]*corev1.Node{}, now: now}
	h.w.Bootstrap = world().Bootstrap
	h.w.Infrastructure = infrastructure(0)
	if machines {
		h.w.Members.Kind.Group, h.w.Members.Kind.Kind = infraGroup, "FakeMachine"
	}
	return h
}

func (h *history) ids() []string {
	list, _, _ := unstructured.NestedStringSlice(h.w.Infrastructure.Object.Object, "spec", "providerIDList")
	return list
}

func (h *history) setIDs(ids []string) {
	o := h.w.Infrastructure.Object.Unstructured
	_ = unstructured.SetNestedStringSlice(o.Object, ids, "spec", "providerIDList")
	_ = unstructured.SetNestedField(o.Object, int64(len(ids)), "status", "replicas")
}

// happen lets one thing happen outside.
func (h *history) happen() {
	h.now = h.now.Add(time.Duration(h.Intn(30)) * time.Second)
	ids := h.ids()
	switch h.Intn(6) {
	case 0: // a member comes
		name := fmt.Sprint("m", h.next)
		h.next++
		h.setIDs(append(ids, "id://"+name))
		if h.w.Members.Kind.Kind != "" {
			h.w.Members.Infrastructure = append(h.w.Members.Infrastructure, member(name))
		}
	case 1: // a member goes
		if len(ids) > 0 {
			gone := ids[h.Intn(len(ids))]
			h.setIDs(slices.DeleteFunc(ids, func(id string) bool { return id == gone }))
			h.w.Members.Infrastructure = without(h.w.Members.Infrastructure, gone[len("id://"):])
		}
	case 2: // a Node joins
		if len(ids) > 0 {
			h.join(ids[h.Intn(len(ids))])
		}
	case 3: // a Node is deleted by somebody
		for name := range h.nodes {
			delete(h.nodes, name)
			break
		}
	case 4: // the connection comes or goes
		h.w.Nodes.Connected = !h.w.Nodes.Connected
	case 5: // the user scales
		n := int32(h.Intn(4))
		h.w.Pool.Spec.Replicas = &n
	}
}

func (h *history) join(id string) {
	name := id[len("id://"):]
	if h.nodes[name] == nil {
		n := node(name)
		n.UID, n.Annotations = types.UID(fmt.Sprint(name, "-", h.next)), nil
		h.next++
		h.nodes[name] = n
	}
}

// observe brings the view of the Nodes up to date.
func (h *history) observe() World {
	w := h.w
	w.Now, w.Health.LastProbeSuccess = h.now, h.now
	if w.Nodes.Connected {
		w.Nodes.ByProviderID, w.Nodes.Known = map[string][]*corev1.Node{}, map[string]*corev1.Node{}
		for name, n := range h.nodes {
			w.Nodes.ByProviderID[n.Spec.ProviderID] = append(w.Nodes.ByProviderID[n.Spec.ProviderID], n)
			if slices.Contains(refNames(w.Pool), name) {
				w.Nodes.Known[name] = n
			}
		}
	}
	return w
}

// carryOut does the actions up to one at random, which is where the process ends, or all and stores the pool.
func (h *history) carryOut(d Decision, killed bool) {
	last := len(d.Actions)
	if killed {
		last = h.Intn(len(d.Actions) + 1)
	}
	for _, a := range d.Actions[:last] {
		switch x := a.(type) {
		case ApplyMachine:
			h.applyMachine(x)
		case DeleteMachine:
			h.w.Members.Machines = without(h.w.Members.Machines, x.Machine.Name)
			h.w.Members.Infrastructure = without(h.w.Members.Infrastructure, x.Machine.Name)
		case JudgeMachine:
			conditions.SetAll(x.Machine, x.Conditions...)
		case SyncNode:
			h.nodes[x.After.Name] = x.After
		case DeleteNode:
			if n := h.nodes[x.Name]; n != nil && n.UID == x.UID {
				h.deleted = append(h.deleted, n.Spec.ProviderID)
				delete(h.nodes, x.Name)
			}
		case DeleteObject:
			if x.Object == h.w.Infrastructure.Object {
				h.w.Infrastructure = missing
			} else {
				h.w.Bootstrap = missing
			}
		}
	}
	if !killed {
		h.w.Pool = d.Pool
	}
}

func (h *history) applyMachine(x ApplyMachine) {
	m := x.Wanted.DeepCopy()
	m.TypeMeta = metav1.TypeMeta{}
	if x.Have != nil {
		m.Status, m.CreationTimestamp = x.Have.Status, x.Have.CreationTimestamp
	} else {
		m.CreationTimestamp = metav1.NewTime(h.now)
	}
	h.w.Members.Machines = append(without(h.w.Members.Machines, m.Name), m)
}

// TestRandomHistories: whatever happens, and wherever the process ends, no Node of a member is ever deleted, and once
// nothing happens any more the pool comes to rest with exactly the Machines and Nodes of its members.
//
// Conformance: MP-24, MP-33, MP-34
func TestRandomHistories(t *testing.T) {
	for seed := range int64(300) {
		h := newHistory(seed, seed%2 == 0)
		for range 60 {
			h.happen()
			d := Decide(h.observe())
			before := h.ids()
			h.deleted = nil
			h.carryOut(d, h.Intn(3) == 0)
			for _, id := range h.deleted {
				require.NotContains(t, before, id, "seed %d: the Node of a member was deleted", seed)
			}
		}
		h.rest(t, seed)
	}
}

// rest wants a state in which nothing is left to do.
func (h *history) rest(t *testing.T, seed int64) {
	h.w.Nodes.Connected = true
	for _, id := range h.ids() {
		h.join(id)
	}
	for range 5 {
		h.now = h.now.Add(2 * lonely)
		h.carryOut(Decide(h.observe()), false)
	}
	d := Decide(h.observe())
	require.NoError(t, d.Err, "seed %d", seed)
	require.Empty(t, told(d), "seed %d: not at rest", seed)
	require.Empty(t, d.Events, "seed %d", seed)
	require.Equal(t, h.w.Pool, d.Pool, "seed %d: no difference, no write", seed)
	var members []string
	for _, id := range h.ids() {
		members = append(members, id[len("id://"):])
	}
	if len(members) == 0 {
		return // an empty list counts only with an empty pool, which the number of replicas tells
	}
	require.ElementsMatch(t, members, refNames(d.Pool), "seed %d", seed)
	if h.w.Members.Kind.Kind != "" {
		require.Len(t, h.w.Members.Machines, len(h.w.Members.Infrastructure), "seed %d", seed)
	}
}

// TestDeletionAlwaysEnds: whichever objects are missing or cannot be reached, a pool that is deleted goes.
//
// Conformance: MP-30
func TestDeletionAlwaysEnds(t *testing.T) {
	for seed := range int64(200) {
		h := newHistory(seed, seed%2 == 0)
		for range 20 {
			h.happen()
			h.carryOut(Decide(h.observe()), false)
		}
		switch h.Intn(4) {
		case 0:
			h.w.Cluster = nil
		case 1:
			h.w.Infrastructure = missing
		case 2:
			h.w.Bootstrap = missing
		}
		at := metav1.NewTime(h.now)
		h.w.Pool.DeletionTimestamp = &at
		h.w.Members.Infrastructure = nil // not looked at in deletion
		steps := 0
		for ; len(h.w.Pool.Finalizers) > 0; steps++ {
			require.Less(t, steps, 20, "seed %d: %s", seed, conditions.Message(h.w.Pool, clusterv1.DeletingCondition))
			h.now = h.now.Add(5 * time.Second)
			h.carryOut(Decide(h.observe()), h.Intn(4) == 0 && steps < 10)
		}
		assert.Empty(t, h.w.Members.Machines, "seed %d", seed)
	}
}

// TestGarbageFromProvidersNeverPanics puts values of every type at every path that is read.
//
// Conformance: MP-07
func TestGarbageFromProvidersNeverPanics(t *testing.T) {
	values := []any{nil, "", "text", int64(7), -1.5, true, []any{}, []any{int64(1), nil}, map[string]any{}, map[string]any{"x": []any{"y"}}}
	paths := [][]string{{"spec"}, {"spec", "providerIDList"}, {"status"}, {"status", "replicas"}, {"status", "ready"}, {"status", "initialization"}, {"status", "initialization", "provisioned"},
		{"status", "infrastructureMachineKind"}, {"status", "failureReason"}, {"status", "failureMessage"}, {"status", "conditions"}}
	for _, path := range paths {
		for _, value := range values {
			w := world()
			_ = unstructured.SetNestedField(w.Infrastructure.Object.Object, value, path...)
			assert.NotPanics(t, func() {
				p := Decide(w).Pool
				assert.True(t, isTrue(p.Status.Initialization.InfrastructureProvisioned), "%v = %v: the flag sticks", path, value)
			}, "%v = %v", path, value)
			bootstrap := world()
			_ = unstructured.SetNestedField(bootstrap.Bootstrap.Object.Object, value, append([]string{"status"}, path[len(path)-1])...)
			assert.NotPanics(t, func() { Decide(bootstrap) })
		}
	}
}
