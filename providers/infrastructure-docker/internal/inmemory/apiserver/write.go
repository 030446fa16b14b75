package apiserver

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	utilrand "k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/yaml"

	"github.com/slipway-capi/slipway/providers/infrastructure-docker/internal/inmemory/store"
)

// maxBody is the largest request that is read, as in a real API server.
const maxBody = 3 << 20

func body(req *http.Request) ([]byte, error) {
	raw, err := io.ReadAll(io.LimitReader(req.Body, maxBody))
	if err != nil {
		return nil, fmt.Errorf("reading request: %w", err)
	}
	return raw, nil
}

// decode reads an object in JSON, YAML or protobuf.
func decode(req *http.Request, t target) (*unstructured.Unstructured, error) {
	raw, err := body(req)
	if err != nil {
		return nil, err
	}
	obj := &unstructured.Unstructured{Object: map[string]any{}}
	if strings.Contains(req.Header.Get("Content-Type"), "protobuf") {
		typed, _, err := scheme.Codecs.UniversalDeserializer().Decode(raw, nil, nil)
		if err != nil {
			return nil, apierrors.NewBadRequest(fmt.Sprintf("decoding request: %v", err))
		}
		if obj.Object, err = runtime.DefaultUnstructuredConverter.ToUnstructured(typed); err != nil {
			return nil, apierrors.NewBadRequest(err.Error())
		}
	} else if err := yaml.Unmarshal(raw, &obj.Object); err != nil {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("decoding request: %v", err))
	}
	normalize(obj, t)
	return obj, nil
}

// normalize sets the kind that the path says, and makes all numbers those that unstructured objects copy.
func normalize(obj *unstructured.Unstructured, t target) {
	if raw, err := obj.MarshalJSON(); err == nil && obj.GetKind() != "" {
		_ = obj.UnmarshalJSON(raw)
	}
	obj.SetGroupVersionKind(t.resource.gvk())
	if raw, err := json.Marshal(obj.Object); err == nil {
		fresh := &unstructured.Unstructured{}
		if fresh.UnmarshalJSON(raw) == nil {
			obj.Object = fresh.Object
		}
	}
}

func (s *Server) create(w http.ResponseWriter, req *http.Request, t target) error {
	obj, err := decode(req, t)
	if err != nil {
		return err
	}
	if obj.GetName() == "" && obj.GetGenerateName() != "" {
		obj.SetName(obj.GetGenerateName() + utilrand.String(5))
	}
	t.name = obj.GetName()
	if t.resource.namespaced && t.namespace == "" {
		t.namespace = obj.GetNamespace()
	}
	if t.name == "" {
		return apierrors.NewBadRequest("metadata.name is required")
	}
	if dryRun(req) {
		answer(w, http.StatusCreated, obj)
		return nil
	}
	out, err := s.Store.Create(t.key(), obj)
	if err != nil {
		return translate(err, t)
	}
	answer(w, http.StatusCreated, out)
	return nil
}

func dryRun(req *http.Request) bool { return req.URL.Query().Get("dryRun") == "All" }

func (s *Server) update(w http.ResponseWriter, req *http.Request, t target) error {
	obj, err := decode(req, t)
	if err != nil {
		return err
	}
	return s.change(w, req, t, func(current *unstructured.Unstructured) (*unstructured.Unstructured, error) {
		return disown(current, merge(current, obj, t.subresource), req, t), nil
	})
}

// merge takes from the new object what the endpoint may change: the status, or all but the status.
func merge(current, obj *unstructured.Unstructured, subresource string) *unstructured.Unstructured {
	if subresource == "status" {
		out := current.DeepCopy()
		out.Object["status"] = obj.Object["status"]
		out.SetResourceVersion(obj.GetResourceVersion())
		return out
	}
	if status, ok := current.Object["status"]; ok {
		obj.Object["status"] = status
	}
	return obj
}

func (s *Server) change(w http.ResponseWriter, req *http.Request, t target, change func(*unstructured.Unstructured) (*unstructured.Unstructured, error)) error {
	if dryRun(req) {
		current, err := s.Store.Get(t.key())
		if err != nil {
			return err
		}
		out, err := change(current.DeepCopy())
		if err != nil {
			return err
		}
		answer(w, http.StatusOK, out)
		return nil
	}
	out, err := s.Store.Update(t.key(), change)
	if err != nil {
		return err
	}
	answer(w, http.StatusOK, out)
	return nil
}

func (s *Server) patch(w http.ResponseWriter, req *http.Request, t target) error {
	raw, err := body(req)
	if err != nil {
		return err
	}
	kind := types.PatchType(strings.TrimSpace(strings.Split(req.Header.Get("Content-Type"), ";")[0]))
	if kind == types.ApplyPatchType {
		return s.apply(w, req, raw, t)
	}
	return s.change(w, req, t, func(current *unstructured.Unstructured) (*unstructured.Unstructured, error) {
		obj, err := patched(current, raw, kind, t)
		if err != nil {
			return nil, err
		}
		return disown(current, merge(current, obj, t.subresource), req, t), nil
	})
}

// patched carries out a patch of any kind but a server-side apply.
func patched(current *unstructured.Unstructured, raw []byte, kind types.PatchType, t target) (*unstructured.Unstructured, error) {
	before, err := current.MarshalJSON()
	if err != nil {
		return nil, fmt.Errorf("encoding object: %w", err)
	}
	var after []byte
	switch kind {
	case types.JSONPatchType:
		p, err := jsonpatch.DecodePatch(raw)
		if err != nil {
			return nil, apierrors.NewBadRequest(err.Error())
		}
		if after, err = p.Apply(before); err != nil {
			return nil, apierrors.NewGenericServerResponse(http.StatusUnprocessableEntity, "patch", t.resource.group(), t.name, err.Error(), 0, true)
		}
	case types.MergePatchType:
		after, err = jsonpatch.MergePatch(before, raw)
	case types.StrategicMergePatchType:
		after, err = strategic(before, raw, t)
	default:
		return nil, apierrors.NewGenericServerResponse(http.StatusUnsupportedMediaType, "patch", t.resource.group(), t.name, "unknown patch type "+string(kind), 0, true)
	}
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	out := &unstructured.Unstructured{}
	if err := out.UnmarshalJSON(after); err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	return out, nil
}

func strategic(before, raw []byte, t target) ([]byte, error) {
	raw, err := yaml.YAMLToJSON(raw)
	if err != nil {
		return nil, err
	}
	typed, err := scheme.Scheme.New(t.resource.gvk())
	if err != nil {
		return jsonpatch.MergePatch(before, raw)
	}
	return strategicpatch.StrategicMergePatch(before, raw, typed)
}

func (s *Server) delete(w http.ResponseWriter, req *http.Request, t target) error {
	opts, err := deleteOptions(req)
	if err != nil {
		return err
	}
	if dryRun(req) {
		answer(w, http.StatusOK, metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusSuccess})
		return nil
	}
	out, err := s.Store.Delete(t.key(), opts)
	if err != nil {
		return err
	}
	answer(w, http.StatusOK, out)
	return nil
}

func deleteOptions(req *http.Request) (metav1.DeleteOptions, error) {
	var opts metav1.DeleteOptions
	raw, err := body(req)
	if err != nil || len(raw) == 0 {
		return opts, err
	}
	if _, _, err := scheme.Codecs.UniversalDeserializer().Decode(raw, nil, &opts); err == nil {
		return opts, nil
	}
	if err := json.Unmarshal(raw, &opts); err != nil {
		return opts, apierrors.NewBadRequest(err.Error())
	}
	return opts, nil
}

func (s *Server) deleteAll(w http.ResponseWriter, req *http.Request, t target) error {
	match, err := selection(req)
	if err != nil {
		return err
	}
	items, version := s.Store.List(t.resource.group(), t.namespace)
	list := []any{}
	for _, o := range items {
		if !match(o) {
			continue
		}
		key := store.Key{Resource: t.resource.group(), Namespace: o.GetNamespace(), Name: o.GetName()}
		if _, err := s.Store.Delete(key, metav1.DeleteOptions{}); err == nil {
			list = append(list, o.Object)
		}
	}
	answer(w, http.StatusOK, listOf(t, list, version))
	return nil
}

// evict deletes a Pod unless a disruption budget that selects it allows no disruption.
func (s *Server) evict(w http.ResponseWriter, _ *http.Request, t target) error {
	pod, err := s.Store.Get(t.key())
	if err != nil {
		return err
	}
	budgets, _ := s.Store.List(pdbs, t.namespace)
	for _, b := range budgets {
		if forbids(b, pod) {
			return refusal(b.GetName())
		}
	}
	if _, err := s.Store.Delete(t.key(), metav1.DeleteOptions{}); err != nil {
		return err
	}
	answer(w, http.StatusCreated, metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusSuccess})
	return nil
}

// refusal is the answer to an eviction that a disruption budget does not allow, with the cause by which clients tell it from
// that of a server that is too busy.
func refusal(budget string) error {
	const retrySeconds = 10
	err := apierrors.NewTooManyRequests("Cannot evict pod as it would violate the pod's disruption budget.", retrySeconds)
	err.ErrStatus.Details.Causes = append(err.ErrStatus.Details.Causes, metav1.StatusCause{
		Type: policyv1.DisruptionBudgetCause, Message: fmt.Sprintf("The disruption budget %s allows no disruption now", budget),
	})
	return err
}
