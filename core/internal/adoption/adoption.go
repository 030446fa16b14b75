// Package adoption guards the moment in which a controller takes over an object that nobody controls. An owner that has
// gone or is going, while the cache does not show it yet, would pull what it adopts down with it. It needs controller-runtime.
package adoption

import (
	"context"
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Confirm asks the API server whether the owner is still exactly what the cache shows. It writes nothing; the answer to
// an owner that has changed is a conflict.
func Confirm(ctx context.Context, c client.Client, owner client.Object) error {
	body, err := json.Marshal(map[string]any{"metadata": map[string]any{"uid": owner.GetUID(), "resourceVersion": owner.GetResourceVersion()}})
	if err != nil {
		return fmt.Errorf("encoding the precondition of %s: %w", owner.GetName(), err)
	}
	seen := owner.DeepCopyObject().(client.Object)
	if err := c.Patch(ctx, seen, client.RawPatch(types.MergePatchType, body), client.DryRunAll); err != nil {
		return fmt.Errorf("making sure that %s still exists unchanged before it adopts: %w", owner.GetName(), err)
	}
	return nil
}
