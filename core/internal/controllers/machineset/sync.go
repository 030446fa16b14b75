package machineset

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"sync"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
)

// applied remembers a hash of what was last applied to each Machine, so that a label that left the template leaves the
// Machine too, and an unchanged intent is not sent again.
type applied struct {
	mu     sync.Mutex
	hashes map[types.UID]uint64
}

// due says whether an intent must be sent: it is new here and the Machine does not already have all of it, or it
// changed since it was sent.
func (a *applied) due(uid types.UID, hash uint64, agrees bool) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.hashes == nil {
		a.hashes = map[types.UID]uint64{}
	}
	last, known := a.hashes[uid]
	if agrees && (!known || last == hash) {
		a.hashes[uid] = hash
		return false
	}
	return true
}

func (a *applied) note(uid types.UID, hash uint64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.hashes[uid] = hash
}

// sync applies the fields that the set owns on a Machine, if they differ.
func (c *Controller) sync(ctx context.Context, a Sync) error {
	body, err := applyBody(a.Wanted)
	if err != nil {
		return err
	}
	h := fnv.New64a()
	_, _ = h.Write(body)
	if !c.applied.due(a.Machine.UID, h.Sum64(), agrees(a.Machine, a.Wanted)) {
		return nil
	}
	m := a.Machine.DeepCopy()
	if err := c.Client.Patch(ctx, m, client.RawPatch(types.ApplyPatchType, body), client.FieldOwner(FieldOwnerOfMachines), client.ForceOwnership); err != nil {
		return fmt.Errorf("updating Machine %s in place: %w", m.Name, err)
	}
	c.applied.note(a.Machine.UID, h.Sum64())
	return nil
}

func applyBody(m *clusterv1.Machine) ([]byte, error) {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(m)
	if err != nil {
		return nil, fmt.Errorf("converting Machine %s: %w", m.Name, err)
	}
	delete(content, "status")
	body, err := json.Marshal(content)
	if err != nil {
		return nil, fmt.Errorf("encoding Machine %s: %w", m.Name, err)
	}
	return body, nil
}

// agrees says whether a Machine has everything of an intent already.
func agrees(have, want *clusterv1.Machine) bool {
	return subset(want.Labels, have.Labels) && subset(want.Annotations, have.Annotations) &&
		equality.Semantic.DeepEqual(have.Spec.Deletion, want.Spec.Deletion) &&
		equality.Semantic.DeepEqual(have.Spec.ReadinessGates, want.Spec.ReadinessGates) &&
		equality.Semantic.DeepEqual(have.Spec.Taints, want.Spec.Taints) &&
		equality.Semantic.DeepEqual(have.Spec.MinReadySeconds, want.Spec.MinReadySeconds)
}

func subset(part, whole map[string]string) bool {
	for k, v := range part {
		if x, ok := whole[k]; !ok || x != v {
			return false
		}
	}
	return true
}
