package apiserver

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"

	"github.com/slipway-capi/slipway/providers/infrastructure-docker/internal/inmemory/store"
)

// Server answers for one workload cluster. It is an http.Handler.
type Server struct {
	Store *store.Store
	// Version is the Kubernetes version that the server claims to be.
	Version func() string
	// Forward connects a port-forward to a port of a Pod; the connection is the Pod's side.
	Forward func(namespace, pod string, port int) (net.Conn, error)
}

// target is what a request is about.
type target struct {
	resource        resource
	namespace, name string
	subresource     string
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	path := strings.Trim(req.URL.Path, "/")
	switch {
	case path == "":
		answer(w, http.StatusOK, metav1.RootPaths{Paths: []string{"/api", "/apis", "/healthz", "/version"}})
	case path == "healthz", path == "livez", path == "readyz":
		_, _ = w.Write([]byte("ok"))
	case path == "version":
		s.version(w)
	case path == "api":
		answer(w, http.StatusOK, metav1.APIVersions{TypeMeta: metav1.TypeMeta{Kind: "APIVersions"}, Versions: []string{"v1"}})
	case path == "apis":
		answer(w, http.StatusOK, groupList())
	case strings.HasPrefix(path, "openapi/v3"):
		s.openAPI(w, path)
	default:
		s.resource(w, req, strings.Split(path, "/"))
	}
}

func (s *Server) version(w http.ResponseWriter) {
	v := s.Version()
	info := version.Info{GitVersion: v, Platform: "linux/amd64", Compiler: "gc"}
	if parts := strings.SplitN(strings.TrimPrefix(v, "v"), ".", 3); len(parts) == 3 {
		info.Major, info.Minor = parts[0], parts[1]
	}
	answer(w, http.StatusOK, info)
}

// resource answers below /api/v1 and /apis/<group>/<version>.
func (s *Server) resource(w http.ResponseWriter, req *http.Request, parts []string) {
	var gv schema.GroupVersion
	switch {
	case parts[0] == "api" && len(parts) >= 2:
		gv, parts = schema.GroupVersion{Version: parts[1]}, parts[2:]
	case parts[0] == "apis" && len(parts) >= 3:
		gv, parts = schema.GroupVersion{Group: parts[1], Version: parts[2]}, parts[3:]
	default:
		fail(w, apierrors.NewGenericServerResponse(http.StatusNotFound, req.Method, schema.GroupResource{}, "", "no such path", 0, true))
		return
	}
	if len(parts) == 0 {
		list := resourceList(gv)
		if len(list.APIResources) == 0 {
			fail(w, apierrors.NewGenericServerResponse(http.StatusNotFound, req.Method, schema.GroupResource{Group: gv.Group}, "", "no such group", 0, true))
			return
		}
		answer(w, http.StatusOK, list)
		return
	}
	t, ok := parse(gv, parts)
	if !ok {
		fail(w, apierrors.NewNotFound(schema.GroupResource{Group: gv.Group, Resource: parts[0]}, ""))
		return
	}
	if err := s.handle(w, req, t); err != nil {
		fail(w, translate(err, t))
	}
}

func parse(gv schema.GroupVersion, parts []string) (target, bool) {
	var t target
	if len(parts) > 2 && parts[0] == "namespaces" && parts[2] != "status" && parts[2] != "finalize" {
		t.namespace, parts = parts[1], parts[2:]
	}
	var ok bool
	if t.resource, ok = find(gv, parts[0]); !ok || len(parts) > 3 {
		return t, false
	}
	if len(parts) > 1 {
		t.name = parts[1]
	}
	if len(parts) > 2 {
		t.subresource = parts[2]
	}
	return t, true
}

func (t target) key() store.Key {
	return store.Key{Resource: t.resource.group(), Namespace: t.namespace, Name: t.name}
}

func (s *Server) handle(w http.ResponseWriter, req *http.Request, t target) error {
	switch {
	case t.subresource == "eviction" && req.Method == http.MethodPost:
		return s.evict(w, req, t)
	case t.subresource == "portforward":
		return s.portForward(w, req, t)
	case t.name == "" && req.Method == http.MethodGet && req.URL.Query().Get("watch") != "" && req.URL.Query().Get("watch") != "false":
		return s.watch(w, req, t)
	case t.name == "" && req.Method == http.MethodGet:
		return s.list(w, req, t)
	case t.name == "" && req.Method == http.MethodPost:
		return s.create(w, req, t)
	case t.name == "" && req.Method == http.MethodDelete:
		return s.deleteAll(w, req, t)
	case t.name != "" && req.Method == http.MethodGet:
		obj, err := s.Store.Get(t.key())
		if err != nil {
			return err
		}
		if wantsTable(req) {
			answer(w, http.StatusOK, tableOf(req, t, obj.GetResourceVersion(), obj))
			return nil
		}
		answer(w, http.StatusOK, obj)
		return nil
	case t.name != "" && req.Method == http.MethodPut:
		return s.update(w, req, t)
	case t.name != "" && req.Method == http.MethodPatch:
		return s.patch(w, req, t)
	case t.name != "" && req.Method == http.MethodDelete:
		return s.delete(w, req, t)
	}
	return apierrors.NewMethodNotSupported(t.resource.group(), req.Method)
}

// translate turns the store's errors into the API's.
func translate(err error, t target) error {
	switch {
	case errors.Is(err, store.ErrNotFound):
		return apierrors.NewNotFound(t.resource.group(), t.name)
	case errors.Is(err, store.ErrExists):
		return apierrors.NewAlreadyExists(t.resource.group(), t.name)
	case errors.Is(err, store.ErrConflict):
		return apierrors.NewConflict(t.resource.group(), t.name, err)
	case errors.Is(err, store.ErrExpired):
		return apierrors.NewResourceExpired(err.Error())
	}
	return err
}

func fail(w http.ResponseWriter, err error) {
	var status apierrors.APIStatus
	if errors.As(err, &status) {
		st := status.Status()
		st.TypeMeta = metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}
		answer(w, int(st.Code), st)
		return
	}
	st := apierrors.NewBadRequest(err.Error()).Status()
	st.TypeMeta = metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}
	answer(w, int(st.Code), st)
}

func answer(w http.ResponseWriter, code int, body any) {
	raw, err := json.Marshal(body)
	if err != nil {
		http.Error(w, fmt.Sprintf("encoding answer: %v", err), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_, _ = w.Write(raw)
}
