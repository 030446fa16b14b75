package extension

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	hooks "github.com/slipway-capi/slipway/contract/api/runtime/hooks/v1alpha1"
	"github.com/slipway-capi/slipway/contract/extension/hook"
)

// Server serves the handlers of an extension. Handlers are added before it starts.
type Server struct {
	options  Options
	handlers []hooks.ExtensionHandler
	routes   map[string]route
}

// route is a handler without its types.
type route struct {
	hook    hook.Definition
	name    string
	timeout time.Duration
	call    func(ctx context.Context, request hook.Request, response hook.Response) error
}

// NewServer makes a server without handlers.
func NewServer(options Options) *Server {
	s := &Server{options: options.withDefaults(), routes: map[string]route{}}
	s.routes[hook.Discovery.Path("")] = route{hook: hook.Discovery.Definition, timeout: DefaultTimeout, call: s.discover}
	return s
}

// Handler answers the requests of one hook by filling the response in. The response is a success unless an error is returned
// or the status is set otherwise.
type Handler[Q, R any] func(ctx context.Context, request *Q, response *R) error

// Handle adds a handler to a server. Its name, a DNS label, is unique among the handlers of a hook. It panics if the name is not, since
// that is a mistake in the program.
func Handle[Q, R any](s *Server, h hook.Hook[Q, R], name string, handler Handler[Q, R], options ...HandlerOption) {
	if problems := hook.HandlerNameProblems(name); len(problems) > 0 {
		panic(fmt.Sprintf("extension: %q cannot be the name of a handler: %s", name, strings.Join(problems, "; ")))
	}
	// Managers know handlers by their names alone, whatever the hook.
	if slices.ContainsFunc(s.handlers, func(have hooks.ExtensionHandler) bool { return have.Name == name }) {
		panic(fmt.Sprintf("extension: there are two handlers of the name %q", name))
	}
	described := hooks.ExtensionHandler{Name: name, RequestHook: h.ID()}
	for _, option := range options {
		option(&described)
	}
	timeout := DefaultTimeout
	if described.TimeoutSeconds != nil {
		timeout = time.Duration(*described.TimeoutSeconds) * time.Second
	}
	s.handlers = append(s.handlers, described)
	slices.SortFunc(s.handlers, func(a, b hooks.ExtensionHandler) int { return cmp.Compare(a.Name, b.Name) })
	s.routes[h.Path(name)] = route{
		hook: h.Definition, name: name, timeout: timeout,
		call: func(ctx context.Context, request hook.Request, response hook.Response) error {
			return handler(ctx, any(request).(*Q), any(response).(*R))
		},
	}
}

// Handlers lists what the server serves, as it answers when it is asked, by name.
func (s *Server) Handlers() []hooks.ExtensionHandler { return slices.Clone(s.handlers) }

func (s *Server) discover(_ context.Context, _ hook.Request, response hook.Response) error {
	response.(*hooks.DiscoveryResponse).Handlers = s.Handlers()
	return nil
}

// shutdownTimeout is how long calls may go on after the server is told to stop: as long as any may take.
const shutdownTimeout = MaxTimeout

// Start serves until the context ends and the calls that are under way are answered.
func (s *Server) Start(ctx context.Context) error {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", s.options.Address)
	if err != nil {
		return fmt.Errorf("listening on %s: %w", s.options.Address, err)
	}
	return s.Serve(ctx, listener)
}

// Serve is like [Server.Start] on a listener of the caller, which it closes.
func (s *Server) Serve(ctx context.Context, listener net.Listener) error {
	config, err := s.tlsConfig()
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	server := &http.Server{
		Handler: s, TLSConfig: config, BaseContext: func(net.Listener) context.Context { return context.WithoutCancel(ctx) },
		ReadHeaderTimeout: 10 * time.Second, ReadTimeout: MaxTimeout, WriteTimeout: 2 * MaxTimeout, IdleTimeout: 90 * time.Second,
		MaxHeaderBytes: 1 << 16,
	}
	ended := make(chan error, 1)
	go func() { ended <- server.ServeTLS(listener, "", "") }()
	select {
	case err := <-ended:
		return fmt.Errorf("serving: %w", err)
	case <-ctx.Done():
	}
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTimeout)
	defer cancel()
	if err := server.Shutdown(grace); err != nil {
		return fmt.Errorf("stopping: %w", err)
	}
	return nil
}
