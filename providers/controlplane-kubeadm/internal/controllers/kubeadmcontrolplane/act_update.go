package kubeadmcontrolplane

import (
	"context"
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/slipway-capi/slipway/contract/accessors"
	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	runtimev1 "github.com/slipway-capi/slipway/contract/api/runtime/v1beta2"
	"github.com/slipway-capi/slipway/contract/inplace"
	"github.com/slipway-capi/slipway/contract/patch"
)

// startUpdate marks the machine, so that an interruption is noticed; then it changes its objects; and last the machine, which
// tells the core that all is ready. Nothing is done if somebody has changed the machine since it was read.
func (r *run) startUpdate(ctx context.Context, a StartUpdate) error {
	m := a.Machine.DeepCopy()
	if !inplace.Marked(m) {
		inplace.Mark(m)
		if err := r.patchMachine(ctx, m, map[string]any{clusterv1.UpdateInProgressAnnotation: ""}, nil); err != nil {
			return err
		}
	}
	infra := a.Infra.After.DeepCopy()
	inplace.Mark(infra)
	if err := patch.Begin(r.Client, fieldOwner, a.Infra.Before).Finish(ctx, infra); err != nil {
		return fmt.Errorf("changing %s: %w", accessors.Describe(infra), err)
	}
	config := a.Machine.Config.DeepCopy()
	config.Spec = *a.Config.DeepCopy()
	inplace.Mark(config)
	if err := patch.Begin(r.Client, fieldOwner, a.Machine.Config).Finish(ctx, config); err != nil {
		return fmt.Errorf("changing KubeadmConfig %s: %w", config.Name, err)
	}
	inplace.Begin(m)
	marks := map[string]any{clusterv1.UpdateInProgressAnnotation: "", runtimev1.PendingHooksAnnotation: m.Annotations[runtimev1.PendingHooksAnnotation]}
	spec := map[string]any{}
	if m.Spec.Version != "" {
		spec["version"] = r.world.ControlPlane.Spec.Version
	}
	return r.patchMachine(ctx, m, marks, spec)
}

// cancelUpdate takes a mark back that nothing has followed.
func (r *run) cancelUpdate(ctx context.Context, a CancelUpdate) error {
	return r.patchMachine(ctx, a.Machine.DeepCopy(), map[string]any{clusterv1.UpdateInProgressAnnotation: nil}, nil)
}

// patchMachine writes annotations and fields of the spec, if the machine is as it was read, and remembers that it did: a
// machine that is updated must not be seen as one that is not. The marks are not applied, since the next apply of what the
// control plane wants would take them away.
func (r *run) patchMachine(ctx context.Context, m *clusterv1.Machine, annotations, spec map[string]any) error {
	content := map[string]any{"metadata": map[string]any{"uid": m.UID, "resourceVersion": m.ResourceVersion, "annotations": annotations}}
	if len(spec) > 0 {
		content["spec"] = spec
	}
	body, err := json.Marshal(content)
	if err != nil {
		return fmt.Errorf("encoding the patch of machine %s: %w", m.Name, err)
	}
	target := &clusterv1.Machine{}
	target.Namespace, target.Name = m.Namespace, m.Name
	if err := r.Client.Patch(ctx, target, client.RawPatch(types.MergePatchType, body), client.FieldOwner(fieldOwner)); err != nil {
		return fmt.Errorf("changing machine %s: %w", m.Name, err)
	}
	m.ResourceVersion = target.ResourceVersion
	r.memory.expect(r.world.ControlPlane, m.Name, expectation{uid: m.UID, version: target.ResourceVersion})
	return nil
}
