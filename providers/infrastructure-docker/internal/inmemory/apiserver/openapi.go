package apiserver

import (
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// openAPI answers as far as kubectl apply asks before it sends anything: whether patches of a kind are validated by the
// server. There are no schemas; objects are stored as they come.
func (s *Server) openAPI(w http.ResponseWriter, path string) {
	if path == "openapi/v3" {
		paths := map[string]any{}
		for _, gv := range groupVersions() {
			paths[root(gv)] = map[string]any{"serverRelativeURL": "/openapi/v3/" + root(gv)}
		}
		answer(w, http.StatusOK, map[string]any{"paths": paths})
		return
	}
	for _, gv := range groupVersions() {
		if path == "openapi/v3/"+root(gv) {
			answer(w, http.StatusOK, document(gv))
			return
		}
	}
	fail(w, apierrors.NewGenericServerResponse(http.StatusNotFound, http.MethodGet, schema.GroupResource{}, "", "no such path", 0, true))
}

// root is where a group and version is served.
func root(gv schema.GroupVersion) string {
	if gv.Group == "" {
		return "api/" + gv.Version
	}
	return "apis/" + gv.String()
}

func document(gv schema.GroupVersion) map[string]any {
	paths := map[string]any{}
	for _, x := range resources {
		if x.gv != gv {
			continue
		}
		path := "/" + root(gv) + "/"
		if x.namespaced {
			path += "namespaces/{namespace}/"
		}
		paths[path+x.name+"/{name}"] = map[string]any{"patch": map[string]any{
			"parameters":                      []any{map[string]any{"name": "fieldValidation", "in": "query", "schema": map[string]any{"type": "string"}}},
			"responses":                       map[string]any{"200": map[string]any{"description": "OK"}},
			"x-kubernetes-group-version-kind": map[string]any{"group": gv.Group, "version": gv.Version, "kind": x.kind},
		}}
	}
	return map[string]any{"openapi": "3.0.0", "info": map[string]any{"title": "simulated", "version": "v1"}, "paths": paths}
}
