// Package admission turns pure functions that default and judge an object into webhooks of a manager. What it adds is what must hold for every
// kind: errors of reason Invalid with field paths, and updates that change nothing a rule looks at, or that belong to a deletion, always pass.
package admission

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	admissionv1 "k8s.io/api/admission/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// Rules are what is special about a kind.
type Rules[T client.Object] struct {
	// Kind names the kind in errors.
	Kind schema.GroupKind
	// Default fills in what was left out; before is the zero value when the object is new.
	Default func(obj, before T)
	// Validate judges an object; before is the zero value when it is new.
	Validate func(obj, before T) field.ErrorList
	// DefaultAmong and ValidateAmong, if set, come after the two above: they know other objects, too. Warnings are shown to the user. An
	// error says that the others could not be read, so that nothing can be said about this one.
	DefaultAmong  func(ctx context.Context, obj, before T) error
	ValidateAmong func(ctx context.Context, obj, before T) (warnings []string, problems field.ErrorList, err error)
	// Keep, if set, says why an object must not be deleted; empty if it may go. The marker of the webhook must name the verb delete.
	Keep func(ctx context.Context, obj T) (string, error)
}

// Register adds the defaulting and validating webhooks of a kind to the manager; prototype is an empty object of the kind.
func Register[T client.Object](mgr ctrl.Manager, prototype T, rules Rules[T]) error {
	hook := webhook[T]{rules: rules, kind: reflect.TypeOf(prototype).Elem()}
	builder := ctrl.NewWebhookManagedBy(mgr, prototype)
	if rules.Default != nil || rules.DefaultAmong != nil {
		builder = builder.WithDefaulter(hook)
	}
	if err := builder.WithValidator(hook).Complete(); err != nil {
		return fmt.Errorf("registering the webhooks of %s: %w", rules.Kind.Kind, err)
	}
	return nil
}

type webhook[T client.Object] struct {
	rules Rules[T]
	kind  reflect.Type
}

// Default implements the defaulting webhook.
func (w webhook[T]) Default(ctx context.Context, obj T) error {
	if obj.GetDeletionTimestamp() != nil {
		return nil
	}
	before, err := w.before(ctx)
	if err != nil {
		return err
	}
	if w.rules.Default != nil {
		w.rules.Default(obj, before)
	}
	if w.rules.DefaultAmong != nil {
		return w.rules.DefaultAmong(ctx, obj, before)
	}
	return nil
}

// before reads the stored object from an update request.
func (w webhook[T]) before(ctx context.Context) (T, error) {
	var none T
	request, err := admission.RequestFromContext(ctx)
	if err != nil || request.Operation != admissionv1.Update || len(request.OldObject.Raw) == 0 {
		return none, nil // a call without request comes from a test
	}
	before := reflect.New(w.kind).Interface().(T)
	if err := json.Unmarshal(request.OldObject.Raw, before); err != nil {
		return none, apierrors.NewBadRequest(fmt.Sprintf("reading the stored %s: %v", w.rules.Kind.Kind, err))
	}
	return before, nil
}

// ValidateCreate judges a new object.
func (w webhook[T]) ValidateCreate(ctx context.Context, obj T) (admission.Warnings, error) {
	var none T
	return w.judge(ctx, obj, none)
}

// ValidateUpdate judges a change.
func (w webhook[T]) ValidateUpdate(ctx context.Context, before, after T) (admission.Warnings, error) {
	if after.GetDeletionTimestamp() != nil || !changed(before, after) {
		return nil, nil
	}
	return w.judge(ctx, after, before)
}

// ValidateDelete allows every deletion that nothing forbids.
func (w webhook[T]) ValidateDelete(ctx context.Context, obj T) (admission.Warnings, error) {
	if w.rules.Keep == nil {
		return nil, nil
	}
	reason, err := w.rules.Keep(ctx, obj)
	if err != nil {
		return nil, err
	}
	if reason != "" {
		resource := schema.GroupResource{Group: w.rules.Kind.Group, Resource: w.rules.Kind.Kind}
		return nil, apierrors.NewForbidden(resource, obj.GetName(), errors.New(reason))
	}
	return nil, nil
}

func (w webhook[T]) judge(ctx context.Context, obj, before T) (admission.Warnings, error) {
	problems := w.rules.Validate(obj, before)
	var warnings []string
	if w.rules.ValidateAmong != nil {
		found, more, err := w.rules.ValidateAmong(ctx, obj, before)
		if err != nil {
			return nil, err
		}
		warnings, problems = found, append(problems, more...)
	}
	if len(problems) > 0 {
		return warnings, apierrors.NewInvalid(w.rules.Kind, obj.GetName(), problems)
	}
	return warnings, nil
}

// changed says whether anything differs that a rule may look at: spec, labels or annotations. An object that was stored before a rule existed
// must still be able to get owners and lose finalizers.
func changed(before, after client.Object) bool {
	return !reflect.DeepEqual(before.GetLabels(), after.GetLabels()) ||
		!reflect.DeepEqual(before.GetAnnotations(), after.GetAnnotations()) ||
		!reflect.DeepEqual(spec(before), spec(after))
}

func spec(obj client.Object) any {
	v := reflect.ValueOf(obj).Elem().FieldByName("Spec")
	if !v.IsValid() {
		return nil
	}
	return v.Interface()
}
