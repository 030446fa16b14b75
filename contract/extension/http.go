package extension

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime/debug"
	"strings"

	hooks "github.com/slipway-capi/slipway/contract/api/runtime/hooks/v1alpha1"
	"github.com/slipway-capi/slipway/contract/extension/hook"
)

// ServeHTTP answers one request. The server can thus be mounted elsewhere, too, or called without network.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	route, ok := s.routes[strings.TrimSuffix(r.URL.Path, "/")]
	switch {
	case !ok:
		http.Error(w, "no handler is served at this path", http.StatusNotFound)
		return
	case r.Method != http.MethodPost:
		w.Header().Set("Allow", http.MethodPost)
		http.Error(w, "hooks are called by POST", http.StatusMethodNotAllowed)
		return
	}
	request, status, err := s.read(w, r, route.hook)
	if err != nil {
		http.Error(w, err.Error(), status)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), route.timeout)
	defer cancel()
	response := s.answer(ctx, route, request)
	content, err := json.Marshal(response)
	if err != nil {
		s.options.Logger.Error("The response cannot be encoded", "hook", route.hook.Name, "handler", route.name, "error", err)
		http.Error(w, "the response cannot be encoded", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	if _, err := w.Write(content); err != nil {
		s.options.Logger.Debug("The caller has gone", "hook", route.hook.Name, "handler", route.name, "error", err)
	}
}

// read decodes a request; the status goes with the error.
func (s *Server) read(w http.ResponseWriter, r *http.Request, d hook.Definition) (hook.Request, int, error) {
	content, err := io.ReadAll(http.MaxBytesReader(w, r.Body, s.options.MaxRequestBytes))
	if tooLarge := new(http.MaxBytesError); errors.As(err, &tooLarge) {
		return nil, http.StatusRequestEntityTooLarge, fmt.Errorf("requests of more than %d bytes are not read", tooLarge.Limit)
	}
	if err != nil {
		return nil, http.StatusBadRequest, errors.New("the request cannot be read")
	}
	request := d.NewRequest()
	want := request.GetObjectKind().GroupVersionKind()
	if err := json.Unmarshal(content, request); err != nil {
		return nil, http.StatusBadRequest, fmt.Errorf("this is no %s: %w", d.RequestKind(), err)
	}
	if got := request.GetObjectKind().GroupVersionKind(); got != want {
		return nil, http.StatusBadRequest, fmt.Errorf("the request is a %s of %s, not a %s of %s", got.Kind, got.GroupVersion(), want.Kind, want.GroupVersion())
	}
	return request, http.StatusOK, nil
}

// answer calls a handler. Whatever happens in it, there is a response.
func (s *Server) answer(ctx context.Context, route route, request hook.Request) hook.Response {
	response := route.hook.NewResponse()
	err := s.call(ctx, route, request, response)
	if err != nil {
		// What an interrupted handler has filled in so far is worth nothing.
		response = route.hook.NewResponse()
		response.SetStatus(hooks.ResponseStatusFailure)
		response.SetMessage(err.Error())
	}
	if response.GetStatus() == "" {
		response.SetStatus(hooks.ResponseStatusSuccess)
	}
	response.GetObjectKind().SetGroupVersionKind(hooks.GroupVersion.WithKind(route.hook.ResponseKind()))
	return response
}

// call makes an error of a panic. The text of the panic goes to the log only: it can hold anything.
func (s *Server) call(ctx context.Context, route route, request hook.Request, response hook.Response) (err error) {
	defer func() {
		if reason := recover(); reason != nil {
			s.options.Logger.Error("A handler panicked", "hook", route.hook.Name, "handler", route.name, "panic", reason, "stack", string(debug.Stack()))
			err = fmt.Errorf("handler %s of %s panicked; its log says more", route.name, route.hook.Name)
		}
	}()
	return route.call(ctx, request, response)
}
