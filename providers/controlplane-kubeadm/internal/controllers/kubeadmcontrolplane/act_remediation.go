package kubeadmcontrolplane

import (
	"context"
	"encoding/json"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/patch"
	controlplanev1 "github.com/slipway-capi/slipway/providers/controlplane-kubeadm/api/v1beta2"
)

// recordRemediation writes the record of the remediation that is going on; an empty text removes it. The replacement
// may be asked for only after this has succeeded: so a crash in between loses nothing.
func (r *run) recordRemediation(ctx context.Context, text string) error {
	helper := patch.Begin(r.Client, fieldOwner, r.world.ControlPlane)
	annotations := r.world.ControlPlane.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	if annotations[controlplanev1.RemediationInProgressAnnotation] = text; text == "" {
		delete(annotations, controlplanev1.RemediationInProgressAnnotation)
	}
	r.world.ControlPlane.SetAnnotations(annotations)
	if err := helper.Finish(ctx, r.world.ControlPlane); err != nil {
		return fmt.Errorf("recording the remediation: %w", err)
	}
	return nil
}

// forgetVerdict removes one condition, whoever wrote it, if the list is still as it was seen.
func (r *run) forgetVerdict(ctx context.Context, m *Machine) error {
	current := &clusterv1.Machine{}
	if err := r.Live.Get(ctx, client.ObjectKeyFromObject(m), current); err != nil {
		return client.IgnoreNotFound(err)
	}
	for i, c := range current.Status.Conditions {
		if c.Type != ownerRemediated {
			continue
		}
		at := fmt.Sprintf("/status/conditions/%d", i)
		body, err := json.Marshal([]map[string]any{
			{"op": "test", "path": at + "/type", "value": ownerRemediated},
			{"op": "remove", "path": at},
		})
		if err != nil {
			return fmt.Errorf("encoding the patch of machine %s: %w", m.Name, err)
		}
		err = r.Client.Status().Patch(ctx, current, client.RawPatch(types.JSONPatchType, body), client.FieldOwner(fieldOwner))
		if err != nil && !apierrors.IsNotFound(err) {
			return fmt.Errorf("taking back the mark of machine %s: %w", m.Name, err)
		}
		return nil
	}
	return nil
}

// remediationFailed replaces the verdict of a machine whose replacement could not be begun.
func remediationFailed(d Decision, failed Action) {
	for _, action := range d.Actions {
		a, ok := action.(DeleteMachine)
		if !ok || !a.Remediates {
			continue
		}
		verdict := negative(ownerRemediated, clusterv1.InternalErrorReason, "the machine could not be deleted; it is tried again")
		if _, leads := failed.(MoveLeadership); leads {
			verdict.Reason, verdict.Message = impossible, "the leadership of etcd could not be moved to another machine"
		}
		list := d.MachineConditions[a.Machine.Name]
		for i := range list {
			if list[i].Type == ownerRemediated {
				verdict.LastTransitionTime = list[i].LastTransitionTime
				list[i] = verdict
			}
		}
	}
}
