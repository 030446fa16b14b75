package apiserver

import (
	"fmt"
	"net/http"
	"strings"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/client-go/applyconfigurations"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/yaml"
)

// apply carries out a server-side apply with the API server's own library: fields that an owner no longer names go, and two
// owners of one field are a conflict unless forced. Whether there is an object is decided by the store, so that of two that
// come at once the second one merges.
func (s *Server) apply(w http.ResponseWriter, req *http.Request, raw []byte, t target) error {
	q := req.URL.Query()
	if q.Get("fieldManager") == "" {
		return apierrors.NewBadRequest("fieldManager is required for apply patch")
	}
	applied := &unstructured.Unstructured{}
	if err := yaml.Unmarshal(raw, &applied.Object); err != nil {
		return apierrors.NewBadRequest(fmt.Sprintf("decoding request: %v", err))
	}
	if applied.Object == nil {
		return apierrors.NewBadRequest("the request holds no object")
	}
	normalize(applied, t)
	merge := func(current *unstructured.Unstructured) (*unstructured.Unstructured, error) {
		return owners(t).apply(current, applied, q.Get("fieldManager"), q.Get("force") == "true")
	}
	_, err := s.Store.Get(t.key())
	if err == nil || t.subresource != "" {
		return s.change(w, req, t, func(current *unstructured.Unstructured) (*unstructured.Unstructured, error) {
			out, err := merge(current)
			if err != nil {
				return nil, err
			}
			return mergeInto(current, out, t.subresource), nil
		})
	}
	empty := &unstructured.Unstructured{Object: map[string]any{}}
	empty.SetGroupVersionKind(t.resource.gvk())
	obj, err := merge(empty)
	if err != nil {
		return err
	}
	if dryRun(req) {
		answer(w, http.StatusCreated, obj)
		return nil
	}
	out, err := s.Store.Create(t.key(), obj)
	if err != nil {
		return err
	}
	answer(w, http.StatusCreated, out)
	return nil
}

// mergeInto is merge for an object whose list of owners is that of the whole object.
func mergeInto(current, obj *unstructured.Unstructured, subresource string) *unstructured.Unstructured {
	out := merge(current, obj, subresource)
	out.SetManagedFields(obj.GetManagedFields())
	return out
}

// disown notes that an owner's fields were changed by somebody who does not apply. Objects that nobody ever applied have no
// list of owners: thousands of simulated Nodes would carry it for nothing.
func disown(current, changed *unstructured.Unstructured, req *http.Request, t target) *unstructured.Unstructured {
	if len(current.GetManagedFields()) == 0 {
		return changed
	}
	manager := req.URL.Query().Get("fieldManager")
	if manager == "" {
		manager, _, _ = strings.Cut(req.UserAgent(), "/")
	}
	out, ok := owners(t).fields.UpdateNoErrors(current, changed, manager).(*unstructured.Unstructured)
	if !ok {
		return changed
	}
	return out
}

// fieldOwners merges objects of one kind by who owns which field.
type fieldOwners struct{ fields *managedfields.FieldManager }

func (f fieldOwners) apply(current, applied *unstructured.Unstructured, manager string, force bool) (*unstructured.Unstructured, error) {
	out, err := f.fields.Apply(current, applied, manager, force)
	if err != nil {
		return nil, err
	}
	u, ok := out.(*unstructured.Unstructured)
	if !ok {
		return nil, fmt.Errorf("applying made a %T", out)
	}
	return u, nil
}

// known holds a fieldOwners for each resource and subresource that somebody has applied.
var known sync.Map

// schemas reads the types of all kinds, which takes a while and happens at the first apply.
var schemas = sync.OnceValue(func() managedfields.TypeConverter { return applyconfigurations.NewTypeConverter(scheme.Scheme) })

func owners(t target) fieldOwners {
	key := t.resource.gv.String() + "/" + t.resource.name + "/" + t.subresource
	if have, ok := known.Load(key); ok {
		return have.(fieldOwners)
	}
	gvk := t.resource.gvk()
	types := managedfields.NewDeducedTypeConverter()
	if scheme.Scheme.Recognizes(gvk) {
		types = schemas()
	}
	fields, err := managedfields.NewDefaultCRDFieldManager(types, plain{}, plain{}, plain{}, gvk, gvk.GroupVersion(), t.subresource, nil)
	if err != nil {
		panic(fmt.Sprintf("the types of %s cannot be read: %v", gvk, err)) // they are compiled in
	}
	have, _ := known.LoadOrStore(key, fieldOwners{fields})
	return have.(fieldOwners)
}

// plain is the conversion of objects that exist in one version only, have no defaults and are made empty.
type plain struct{}

func (plain) Convert(in, out, _ any) error {
	from, fromOK := in.(*unstructured.Unstructured)
	to, toOK := out.(*unstructured.Unstructured)
	if !fromOK || !toOK {
		return fmt.Errorf("cannot convert %T to %T", in, out)
	}
	to.Object = from.DeepCopy().Object
	return nil
}

func (plain) ConvertToVersion(in runtime.Object, _ runtime.GroupVersioner) (runtime.Object, error) {
	return in, nil
}

func (plain) ConvertFieldLabel(_ schema.GroupVersionKind, label, value string) (string, string, error) {
	return label, value, nil
}

func (plain) Default(runtime.Object) {}

func (plain) New(kind schema.GroupVersionKind) (runtime.Object, error) {
	u := &unstructured.Unstructured{Object: map[string]any{}}
	u.SetGroupVersionKind(kind)
	return u, nil
}
