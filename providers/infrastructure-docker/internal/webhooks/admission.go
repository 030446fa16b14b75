package webhooks

import (
	"context"
	"fmt"
	"reflect"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/manager"
	infrav1 "github.com/slipway-capi/slipway/providers/infrastructure-docker/api/v1beta2"
)

// SetupWithManager registers all webhooks of this provider; it has the signature that manager.Program asks for.
func SetupWithManager(mgr ctrl.Manager, flags *manager.Flags) error {
	for _, err := range []error{
		register(mgr, &infrav1.DevCluster{}, devCluster()),
		register(mgr, &infrav1.DevClusterTemplate{}, devClusterTemplate(flags.Features)),
		register(mgr, &infrav1.DevMachine{}, devMachine()),
		register(mgr, &infrav1.DevMachineTemplate{}, devMachineTemplate()),
		register(mgr, &infrav1.DevMachinePool{}, devMachinePool()),
		register(mgr, &infrav1.DevMachinePoolTemplate{}, devMachinePoolTemplate()),
	} {
		if err != nil {
			return err
		}
	}
	return nil
}

// rules are what is special about a kind. Before is nil when the object is new.
type rules[T client.Object] struct {
	kind string
	// fill puts in what was left out.
	fill func(obj T)
	// judge says what is wrong with an object.
	judge func(obj T, before T) field.ErrorList
	// fixed says what may not differ from before; for templates this is not asked when a topology only tries a change.
	fixed    func(obj T, before T) field.ErrorList
	template bool
	spec     func(obj T) any
}

func register[T client.Object](mgr ctrl.Manager, prototype T, r rules[T]) error {
	if err := ctrl.NewWebhookManagedBy(mgr, prototype).WithDefaulter(r).WithValidator(r).Complete(); err != nil {
		return fmt.Errorf("registering the webhooks of %s: %w", r.kind, err)
	}
	return nil
}

// Default implements the defaulting webhook.
func (r rules[T]) Default(_ context.Context, obj T) error {
	if obj.GetDeletionTimestamp() == nil {
		r.fill(obj)
	}
	return nil
}

// ValidateCreate judges a new object.
func (r rules[T]) ValidateCreate(_ context.Context, obj T) (admission.Warnings, error) {
	var none T
	return nil, r.invalid(obj, r.judge(obj, none))
}

// ValidateUpdate judges a change.
func (r rules[T]) ValidateUpdate(ctx context.Context, before, after T) (admission.Warnings, error) {
	if after.GetDeletionTimestamp() != nil || reflect.DeepEqual(r.spec(before), r.spec(after)) {
		return nil, nil
	}
	problems := r.judge(after, before)
	if r.fixed != nil && (!r.template || !topologyTries(ctx, after)) {
		// An object that was stored before its defaults existed has them now, which is no change by a user.
		old := before.DeepCopyObject().(T)
		r.fill(old)
		problems = append(problems, r.fixed(after, old)...)
	}
	return nil, r.invalid(after, problems)
}

// ValidateDelete allows every deletion.
func (rules[T]) ValidateDelete(context.Context, T) (admission.Warnings, error) { return nil, nil }

func (r rules[T]) invalid(obj T, problems field.ErrorList) error {
	if len(problems) == 0 {
		return nil
	}
	return apierrors.NewInvalid(infrav1.GroupVersion.WithKind(r.kind).GroupKind(), obj.GetName(), problems)
}

// topologyTries says whether the topology controller asks, by a dry run, what a change would make of a template. The
// annotation alone is not enough: a template with it must not be changed for good.
func topologyTries(ctx context.Context, obj client.Object) bool {
	if _, ok := obj.GetAnnotations()[clusterv1.TopologyDryRunAnnotation]; !ok {
		return false
	}
	request, err := admission.RequestFromContext(ctx)
	return err == nil && request.DryRun != nil && *request.DryRun
}

// unchanged demands that the spec of a template stays as it was.
func unchanged(before, after any) field.ErrorList {
	if reflect.DeepEqual(before, after) {
		return nil
	}
	return field.ErrorList{field.Forbidden(field.NewPath("spec", "template", "spec"), "must not change; make a new template and refer to that one")}
}

// exactlyOne demands one backend.
func exactlyOne(docker, inMemory bool, path *field.Path) field.ErrorList {
	switch {
	case docker && inMemory:
		return field.ErrorList{field.Forbidden(path, "only one of docker and inMemory may be set")}
	case !docker && !inMemory:
		return field.ErrorList{field.Required(path, "one of docker and inMemory must be set")}
	}
	return nil
}
