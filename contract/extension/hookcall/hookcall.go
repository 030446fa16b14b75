// Package hookcall calls hooks: it finds the handlers, sends them requests and makes one answer of what they say. Controllers use it
// where the life of a cluster meets its extensions.
package hookcall

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/slipway-capi/slipway/contract/extension/answers"
	"github.com/slipway-capi/slipway/contract/extension/hook"
	"github.com/slipway-capi/slipway/contract/extension/memo"
	"github.com/slipway-capi/slipway/contract/extension/registry"
	"github.com/slipway-capi/slipway/contract/extension/wire"
)

// Client calls hooks. It is safe for concurrent use.
type Client struct {
	registry *registry.Registry
	pool     *wire.Pool
	// namespaceLabels reads the labels of a namespace.
	namespaceLabels func(ctx context.Context, namespace string) (map[string]string, error)
	responses       *memo.Memo[digest]
	waits           *memo.Memo[digest]
	now             func() time.Time
}

// Bounds of what is remembered, in bytes.
const (
	responsesBytes = 64 << 20
	waitsBytes     = 4 << 20
)

// New makes a client.
func New(r *registry.Registry, pool *wire.Pool, namespaceLabels func(ctx context.Context, namespace string) (map[string]string, error)) *Client {
	return &Client{
		registry: r, pool: pool, namespaceLabels: namespaceLabels, now: time.Now,
		responses: memo.New[digest](responsesBytes), waits: memo.New[digest](waitsBytes),
	}
}

// Error is what is wrong with a call. Its text is the same for the same mishap each time.
type Error struct {
	Hook, Handler string
	Err           error
}

func (e *Error) Error() string {
	return fmt.Sprintf("hook %s, handler %s: %s", e.Hook, e.Handler, e.Err)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// One calls the handler of a name for something in a namespace. Where the handler cannot be reached and its failure policy is Ignore, the
// response is an empty success.
func One[Q, R any](ctx context.Context, c *Client, h hook.Hook[Q, R], handler, namespace string, request *Q) (*R, error) {
	if err := c.registry.Wait(ctx); err != nil {
		return nil, err
	}
	r, err := c.find(ctx, h.Definition, handler, namespace)
	if err != nil {
		return nil, &Error{Hook: h.Name, Handler: handler, Err: err}
	}
	response, err := c.call(ctx, h.Definition, r, shallow(request))
	if err != nil {
		return nil, err
	}
	return response.(any).(*R), nil
}

// All calls all handlers of a hook for a cluster in a namespace, one after the other in the order of their names. Each is called
// even if one before has failed or makes the caller wait. About says what the call is about: while the handlers make the caller wait
// with it, they are not asked about the same again. An empty text asks each time.
func All[Q, R any](ctx context.Context, c *Client, h hook.Hook[Q, R], namespace, about string, request *Q) (answers.Wait, error) {
	if err := c.registry.Wait(ctx); err != nil {
		return answers.Wait{}, err
	}
	handlers, err := c.matching(ctx, h.Definition, namespace)
	if err != nil || len(handlers) == 0 {
		return answers.Wait{}, err
	}
	key := asked(h.Name, about, handlers)
	if wait, ok := c.waiting(key, about); ok {
		return wait, nil
	}
	var responses []answers.Named
	var errs []error
	for _, r := range handlers {
		response, err := c.call(ctx, h.Definition, r, shallow(request))
		if err != nil {
			errs = append(errs, err)
			continue
		}
		responses = append(responses, answers.Named{Handler: r.Name, Response: response})
	}
	if err := errors.Join(errs...); err != nil {
		return answers.Wait{}, err
	}
	wait := answers.Together(responses)
	c.remember(key, about, wait)
	return wait, nil
}

// ErrNobody says that no handler of a hook works for a namespace.
var ErrNobody = errors.New("no extension has a handler of this hook for the namespace")

// Sole calls the only handler of a hook for something in a namespace and says which one it is. With none the error is
// [ErrNobody]; several are an error as well, since no answer of theirs could be told from the others.
func Sole[Q, R any](ctx context.Context, c *Client, h hook.Hook[Q, R], namespace string, request *Q) (response *R, handler string, err error) {
	if err := c.registry.Wait(ctx); err != nil {
		return nil, "", err
	}
	handlers, err := c.matching(ctx, h.Definition, namespace)
	switch {
	case err != nil:
		return nil, "", err
	case len(handlers) == 0:
		return nil, "", ErrNobody
	case len(handlers) > 1:
		names := make([]string, 0, len(handlers))
		for _, r := range handlers {
			names = append(names, r.Name)
		}
		return nil, "", fmt.Errorf("hook %s: only one extension may have a handler, and these have: %s", h.Name, strings.Join(names, ", "))
	}
	r := handlers[0]
	r.IgnoreFailure = r.IgnoreFailure && !indispensable[h.Name]
	answer, err := c.call(ctx, h.Definition, r, shallow(request))
	if err != nil {
		return nil, r.Name, err
	}
	return answer.(any).(*R), r.Name, nil
}

// indispensable are hooks for which the lack of a response is never taken for a success, since that would mean that the work is done.
var indispensable = map[string]bool{hook.UpdateMachine.Name: true}

// Serves says whether any handler of a hook works for a namespace.
func (c *Client) Serves(ctx context.Context, d hook.Definition, namespace string) (bool, error) {
	if err := c.registry.Wait(ctx); err != nil {
		return false, err
	}
	handlers, err := c.matching(ctx, d, namespace)
	return len(handlers) > 0, err
}

// shallow copies a request, so that each handler gets its own settings.
func shallow[Q any](request *Q) hook.Request {
	q := *request
	return any(&q).(hook.Request)
}

func (c *Client) find(ctx context.Context, d hook.Definition, handler, namespace string) (registry.Registered, error) {
	r, ok := c.registry.Find(handler)
	switch {
	case !ok:
		return r, errors.New("no ExtensionConfig that was discovered has a handler of this name")
	case r.Hook != d.ID():
		return r, fmt.Errorf("it serves the hook %s", r.Hook.Hook)
	}
	matches, err := c.matches(ctx, r, namespace)
	if err == nil && !matches {
		err = fmt.Errorf("the namespaceSelector of ExtensionConfig %s leaves namespace %s out", r.Extension.Name, namespace)
	}
	return r, err
}

func (c *Client) matching(ctx context.Context, d hook.Definition, namespace string) ([]registry.Registered, error) {
	var out []registry.Registered
	for _, r := range c.registry.Handlers(d.ID()) {
		matches, err := c.matches(ctx, r, namespace)
		if err != nil {
			return nil, err
		}
		if matches {
			out = append(out, r)
		}
	}
	return out, nil
}

func (c *Client) matches(ctx context.Context, r registry.Registered, namespace string) (bool, error) {
	selector := r.Extension.Namespaces
	if selector == nil || selector.Empty() {
		return true, nil
	}
	found, err := c.namespaceLabels(ctx, namespace)
	if err != nil {
		return false, fmt.Errorf("reading namespace %s: %w", namespace, err)
	}
	return selector.Matches(labels.Set(found)), nil
}

// call sends one request to one handler. The response is a success.
func (c *Client) call(ctx context.Context, d hook.Definition, r registry.Registered, request hook.Request) (hook.Response, error) {
	response, err := c.exchange(ctx, d, r, request)
	var unanswered *wire.Error
	switch {
	case err == nil:
		err = answers.Judge(response)
	case errors.As(err, &unanswered):
		log.FromContext(ctx).Info("An extension gives no response", "hook", d.Name, "handler", r.Name, "because", err.Error(), "cause", fmt.Sprint(errors.Unwrap(err)), "ignored", r.IgnoreFailure)
		if r.IgnoreFailure {
			return d.NewResponse(), nil
		}
	case ctx.Err() != nil:
		return nil, err
	}
	if err != nil {
		return nil, &Error{Hook: d.Name, Handler: r.Name, Err: err}
	}
	return response, nil
}

// exchange sends a request, or remembers what was answered to it.
func (c *Client) exchange(ctx context.Context, d hook.Definition, r registry.Registered, request hook.Request) (hook.Response, error) {
	request.GetObjectKind().SetGroupVersionKind(d.NewRequest().GetObjectKind().GroupVersionKind())
	if configurable, ok := request.(hook.Configurable); ok {
		configurable.SetSettings(answers.Settings(r.Extension.Settings, configurable.GetSettings()))
	}
	content, err := json.Marshal(request)
	if err != nil {
		return nil, fmt.Errorf("encoding the request: %w", err)
	}
	key, remembered := digest{}, memorable[d.Name]
	if remembered > 0 {
		key = same(r, request, content)
		if answer, ok := c.responses.Get(key, c.now()); ok {
			return wire.Decode(d, answer)
		}
	}
	client, err := c.pool.For(r.Extension.Name, r.Extension.Endpoint)
	if err != nil {
		return nil, err
	}
	response, answer, err := client.Call(ctx, d, r.ShortName, r.Timeout, content)
	if err == nil && remembered > 0 && answers.Judge(response) == nil {
		c.responses.Put(key, answer, c.now().Add(remembered))
	}
	return response, err
}
