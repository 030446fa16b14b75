package apiserver

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/slipway-capi/slipway/providers/infrastructure-docker/internal/inmemory/store"
)

var pdbs = schema.GroupResource{Group: "policy", Resource: "poddisruptionbudgets"}

// defaultWatchTimeout ends watches that ask for none.
const defaultWatchTimeout = 30 * time.Minute

// bookmarkInterval is how often a watch that wants bookmarks is told how far it has come.
const bookmarkInterval = time.Minute

// selection reads the label and field selectors of a request. Fields are paths into the object.
func selection(req *http.Request) (func(*unstructured.Unstructured) bool, error) {
	byLabel, err := labels.Parse(req.URL.Query().Get("labelSelector"))
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	byField, err := fields.ParseSelector(req.URL.Query().Get("fieldSelector"))
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	return func(o *unstructured.Unstructured) bool {
		if !byLabel.Matches(labels.Set(o.GetLabels())) {
			return false
		}
		for _, r := range byField.Requirements() {
			value, _, _ := unstructured.NestedString(o.Object, strings.Split(r.Field, ".")...)
			if (value == r.Value) == (r.Operator == "!=") {
				return false
			}
		}
		return true
	}, nil
}

func (s *Server) list(w http.ResponseWriter, req *http.Request, t target) error {
	match, err := selection(req)
	if err != nil {
		return err
	}
	items, version := s.Store.List(t.resource.group(), t.namespace)
	items = slices.DeleteFunc(items, func(o *unstructured.Unstructured) bool { return !match(o) })
	if wantsTable(req) {
		answer(w, http.StatusOK, tableOf(req, t, strconv.FormatUint(version, 10), items...))
		return nil
	}
	list := []any{}
	for _, o := range items {
		list = append(list, o.Object)
	}
	answer(w, http.StatusOK, listOf(t, list, version))
	return nil
}

func listOf(t target, items []any, version uint64) map[string]any {
	return map[string]any{"apiVersion": t.resource.gv.String(), "kind": t.resource.kind + "List", "items": items,
		"metadata": map[string]any{"resourceVersion": strconv.FormatUint(version, 10)}}
}

// stream writes the events of one watch.
type stream struct {
	w     http.ResponseWriter
	flush http.Flusher
	match func(*unstructured.Unstructured) bool
	gvk   schema.GroupVersionKind
	// shown makes of an object what the client wants to see: the object or its row in a table.
	shown func(*unstructured.Unstructured) any
}

func (s *Server) watch(w http.ResponseWriter, req *http.Request, t target) error {
	q := req.URL.Query()
	match, err := selection(req)
	if err != nil {
		return err
	}
	after, initial := uint64(0), q.Get("sendInitialEvents") == "true"
	if v := q.Get("resourceVersion"); v != "" && v != "0" && !initial {
		if after, err = strconv.ParseUint(v, 10, 64); err != nil {
			return apierrors.NewBadRequest("resourceVersion: " + err.Error())
		}
	}
	if v := q.Get("resourceVersion"); (v == "" || v == "0") && q.Get("sendInitialEvents") == "" {
		initial = true // the old way to begin with everything that exists
	}
	watcher, existing, version, err := s.Store.Watch(t.resource.group(), t.namespace, after)
	if err != nil {
		return translate(err, t)
	}
	defer watcher.Stop()
	flusher, ok := w.(http.Flusher)
	if !ok {
		return apierrors.NewBadRequest("the connection cannot stream")
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusOK)
	out := stream{w: w, flush: flusher, match: match, gvk: t.resource.gvk(), shown: func(o *unstructured.Unstructured) any { return o.Object }}
	if wantsTable(req) {
		out.shown = func(o *unstructured.Unstructured) any { return tableOf(req, t, o.GetResourceVersion(), o) }
	}
	if initial {
		for _, o := range existing {
			if match(o) {
				out.send(watch.Added, out.shown(o))
			}
		}
		if q.Get("sendInitialEvents") == "true" {
			out.bookmark(version, true)
		}
	}
	flusher.Flush()
	out.follow(req, watcher, s.Store, q.Get("allowWatchBookmarks") == "true", timeout(q.Get("timeoutSeconds")))
	return nil
}

func timeout(text string) time.Duration {
	if n, err := strconv.Atoi(text); err == nil && n > 0 {
		return time.Duration(n) * time.Second
	}
	return defaultWatchTimeout
}

func (o stream) follow(req *http.Request, watcher *store.Watch, objects *store.Store, bookmarks bool, limit time.Duration) {
	end := time.NewTimer(limit)
	defer end.Stop()
	tick := time.NewTicker(bookmarkInterval)
	defer tick.Stop()
	for {
		select {
		case <-req.Context().Done():
			return
		case <-end.C:
			return
		case <-tick.C:
			if bookmarks {
				version := objects.Version()
				if len(watcher.Take()) == 0 {
					o.bookmark(version, false)
				}
			}
		case <-watcher.Ready():
			for _, e := range watcher.Take() {
				o.event(e)
			}
		}
		o.flush.Flush()
	}
}

// event sends a change as the selectors see it: an object that comes to match is new, one that ceases to match is gone.
func (o stream) event(e store.Event) {
	was, is := e.Old != nil && o.match(e.Old), o.match(e.Object)
	switch {
	case e.Type == watch.Deleted && (was || is):
		o.send(watch.Deleted, o.shown(e.Object))
	case e.Type == watch.Deleted:
	case is && !was:
		o.send(watch.Added, o.shown(e.Object))
	case is:
		o.send(watch.Modified, o.shown(e.Object))
	case was:
		o.send(watch.Deleted, o.shown(e.Object))
	}
}

func (o stream) bookmark(version uint64, endOfInitial bool) {
	meta := map[string]any{"resourceVersion": strconv.FormatUint(version, 10)}
	if endOfInitial {
		meta["annotations"] = map[string]any{metav1.InitialEventsAnnotationKey: "true"}
	}
	o.send(watch.Bookmark, map[string]any{"apiVersion": o.gvk.GroupVersion().String(), "kind": o.gvk.Kind, "metadata": meta})
}

func (o stream) send(kind watch.EventType, obj any) {
	raw, err := json.Marshal(map[string]any{"type": kind, "object": obj})
	if err != nil {
		return
	}
	_, _ = o.w.Write(append(raw, '\n'))
}

// forbids says whether a disruption budget selects the Pod and allows no disruption.
func forbids(budget, pod *unstructured.Unstructured) bool {
	raw, found, err := unstructured.NestedMap(budget.Object, "spec", "selector")
	if err != nil || !found {
		return false
	}
	var selector metav1.LabelSelector
	data, err := json.Marshal(raw)
	if err != nil || json.Unmarshal(data, &selector) != nil {
		return false
	}
	match, err := metav1.LabelSelectorAsSelector(&selector)
	if err != nil || !match.Matches(labels.Set(pod.GetLabels())) {
		return false
	}
	allowed, found, err := unstructured.NestedInt64(budget.Object, "status", "disruptionsAllowed")
	return err == nil && found && allowed <= 0
}
