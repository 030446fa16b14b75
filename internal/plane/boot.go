package plane

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/rest"

	"github.com/slipway-capi/slipway/internal/ports"
	"github.com/slipway-capi/slipway/internal/supervise"
)

// startTimeout is long enough for a machine that builds something else at the same time.
const startTimeout = 3 * time.Minute

// boot starts everything and returns when it is ready. What has been started runs on when it fails: the caller stops it.
func boot(ctx context.Context, p *prepared, s *supervise.Supervisor, report func(Step)) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	steps := []struct {
		name string
		do   func(context.Context, *prepared, *supervise.Supervisor) error
	}{
		{"etcd and kube-apiserver", startServers},
		{"CRDs, access and webhooks", installObjects},
		{"managers", startManagers},
	}
	for _, step := range steps {
		begin := time.Now()
		report(Step{Name: step.name})
		if err := step.do(ctx, p, s); err != nil {
			return fmt.Errorf("%s: %w", step.name, err)
		}
		report(Step{Name: step.name, Done: true, Took: time.Since(begin)})
	}
	return nil
}

func startServers(ctx context.Context, p *prepared, s *supervise.Supervisor) error {
	// The API server waits for etcd by itself, so both start at once.
	for _, process := range []supervise.Process{p.etcdProcess(), p.apiServerProcess()} {
		if err := s.Start(process); err != nil {
			return err
		}
	}
	config, err := restConfig(p.folder.Kubeconfig())
	if err != nil {
		return err
	}
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return err
	}
	return answers(ctx, client, config.Host+"/readyz", s, p.ports, etcd, apiServer)
}

func installObjects(ctx context.Context, p *prepared, _ *supervise.Supervisor) error {
	objects, err := p.collect()
	if err != nil {
		return err
	}
	config, err := restConfig(p.folder.Kubeconfig())
	if err != nil {
		return err
	}
	c, err := newClient(config)
	if err != nil {
		return err
	}
	if err := objects.prune(ctx, c); err != nil {
		return err
	}
	return objects.install(ctx, c)
}

// startManagers starts the controllers of Kubernetes too: they look for the kinds of the API server when they start.
func startManagers(ctx context.Context, p *prepared, s *supervise.Supervisor) error {
	if err := s.Start(p.controllerManagerProcess()); err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	for _, c := range p.config.components() {
		if err := s.Start(p.managerProcess(c)); err != nil {
			return err
		}
		group.Go(func() error {
			return answers(ctx, http.DefaultClient, "http://"+p.ports.Address(c.healthPort())+"/readyz", s, p.ports, c.process())
		})
	}
	return group.Wait()
}

// answers returns when the URL answers OK. It gives up when a process that is needed for that keeps dying, and says what
// that process said last.
func answers(ctx context.Context, c *http.Client, url string, s *supervise.Supervisor, all ports.Set, needs ...string) error {
	const pause, deaths = 25 * time.Millisecond, 3
	last := "no answer yet"
	for {
		if last = ask(ctx, c, url); last == "" {
			return nil
		}
		for _, name := range needs {
			if state, _ := s.Get(name); state.Restarts >= deaths {
				said := supervise.Tail(state.Log, 5)
				return fmt.Errorf("%s died %d times (%s); its log %s ends in:\n%s%s",
					name, state.Restarts, state.LastExit, state.Log, said, takenHint(said, name, all))
			}
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s: %s: %w", url, last, ctx.Err())
		case <-time.After(pause):
		}
	}
}

// ask returns what is wrong with the answer, or nothing.
func ask(ctx context.Context, c *http.Client, url string) string {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err.Error()
	}
	response, err := c.Do(request)
	if err != nil {
		return err.Error()
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return response.Status
	}
	return ""
}
