// Package referred reads the provider objects that an object of the core refers to, wakes that object when they change,
// and tells in a condition what they report. It is for every controller that has a bootstrap config, an infrastructure
// object or a control plane; what follows from a missing object is for them to decide.
package referred

import (
	"context"
	"errors"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/conditions"
	"github.com/slipway-capi/slipway/contract/contractversion"
	"github.com/slipway-capi/slipway/contract/external"
)

// Object is a provider object as it was found.
type Object struct {
	// Object is nil if there is no reference, if it is missing, or if it could not be read.
	Object *external.Object
	// Missing says that the object is known not to exist; an unreadable one is not missing.
	Missing bool
	Err     error
}

// Reader reads what references name.
type Reader struct {
	Client   client.Reader
	Resolver *contractversion.Resolver
	Watcher  *external.Watcher
	// Handler is told of every change of an object of the kinds that were read.
	Handler handler.EventHandler
}

// Read reads one object. Its kind is watched from then on, also if the object is missing: it wakes us when it appears.
func (r Reader) Read(ctx context.Context, ref clusterv1.ContractVersionedObjectReference, namespace string) Object {
	if ref.Name == "" {
		return Object{}
	}
	if _, err := r.Watch(ctx, schema.GroupKind{Group: ref.APIGroup, Kind: ref.Kind}); err != nil {
		return Object{Err: err}
	}
	obj, err := external.Get(ctx, r.Client, r.Resolver, ref, namespace)
	switch {
	case err == nil:
		return Object{Object: obj}
	case external.IsNotFound(err):
		return Object{Missing: true}
	}
	return Object{Err: err}
}

// Watch starts the watch on a kind, unless there is one, and returns the version that the core reads.
func (r Reader) Watch(ctx context.Context, kind schema.GroupKind) (schema.GroupVersionKind, error) {
	gvk, _, err := r.Resolver.GVK(ctx, kind)
	if err != nil {
		return gvk, err
	}
	return gvk, r.Watcher.Watch(gvk, r.Handler)
}

// AwaitsProvider says that a kind is not installed, or not as the contract wants it. That is no state to try again: a
// watch on CustomResourceDefinitions tells when it changes.
func AwaitsProvider(err error) bool {
	return errors.Is(err, contractversion.ErrNoCRD) || errors.Is(err, contractversion.ErrNoContract)
}

// Keys are what an index of references holds for an object: its references, and the CustomResourceDefinitions of their kinds.
func Keys(refs ...clusterv1.ContractVersionedObjectReference) []string {
	var keys []string
	for _, ref := range refs {
		if ref.Name != "" {
			gk := schema.GroupKind{Group: ref.APIGroup, Kind: ref.Kind}
			keys = append(keys, Key(gk, ref.Name), contractversion.CRDName(gk))
		}
	}
	return keys
}

// Key is the key of one reference in such an index.
func Key(kind schema.GroupKind, name string) string { return kind.Group + "/" + kind.Kind + "/" + name }

// Mirror says which condition of a provider object is shown, and as what.
type Mirror struct {
	// Target is the type on the object of the core, Source the one on the provider's.
	Target, Source string
	// Kind is that of the reference, Flag the path that says that the object has come into being.
	Kind, Flag string
	// Was says that the flag has been seen set.
	Was bool
	// Owner is what the object of the core is called in messages, for example machine; Deleting says that it goes.
	Owner    string
	Deleting bool
}

// Condition shows a condition of a provider object, or why there is none.
func Condition(o Object, m Mirror) metav1.Condition {
	c := metav1.Condition{Type: m.Target, Status: metav1.ConditionFalse}
	switch {
	case AwaitsProvider(o.Err):
		c.Status, c.Reason, c.Message = metav1.ConditionUnknown, clusterv1.InternalErrorReason, o.Err.Error()
	case o.Err != nil:
		c.Status, c.Reason, c.Message = metav1.ConditionUnknown, clusterv1.InternalErrorReason, "Please check the logs of the core manager"
	case o.Object == nil && m.Was && m.Deleting:
		c.Reason, c.Message = clusterv1.ObjectDeletedReason, m.Kind+" has been deleted"
	case o.Object == nil && m.Was:
		c.Reason, c.Message = clusterv1.ObjectDeletedReason, m.Kind+" has been deleted while the "+m.Owner+" still exists"
	case o.Object == nil:
		c.Reason, c.Message = clusterv1.ObjectDoesNotExistReason, m.Kind+" does not exist"
	default:
		source := conditions.FromUnstructuredOne(o.Object.Unstructured, m.Source)
		return conditions.Mirror(source, m.Target, conditions.FlagFallback(m.Kind, m.Flag, m.Was))
	}
	return c
}
