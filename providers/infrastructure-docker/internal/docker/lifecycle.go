package docker

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/slipway-capi/slipway/providers/infrastructure-docker/internal/docker/cloudconfig"
)

const (
	startTimeout   = 60 * time.Second
	preloadTimeout = 5 * time.Minute
	// defaultBootstrapTimeout is the wire default of bootstrapTimeout.
	defaultBootstrapTimeout = 5 * time.Minute
)

func (h *Host) bringUp(ctx context.Context, s MachineSpec, data func(context.Context) ([]byte, error), report func(func(*Progress))) error {
	enter := func(stage Stage) { report(func(p *Progress) { p.Stage = stage }) }
	if err := h.ensureContainer(ctx, s); err != nil {
		return err
	}
	enter(Starting)
	if err := h.awaitContainerd(ctx, s.Container()); err != nil {
		return err
	}
	enter(Preloading)
	if err := h.preload(ctx, s); err != nil {
		return err
	}
	enter(Bootstrapping)
	content, err := data(ctx)
	if err != nil {
		return err
	}
	return h.bootstrap(ctx, s, content, func(ignored []string) { report(func(p *Progress) { p.Ignored = ignored }) })
}

// The loop is inside the container: one request, and the answer comes in the moment it is true.
const containerdAnswers = `until systemctl is-active --quiet containerd && ctr --namespace k8s.io version >/dev/null 2>&1; do sleep 0.1; done`

// awaitContainerd waits until systemd is up and containerd answers: then the cgroups of the container work.
func (h *Host) awaitContainerd(ctx context.Context, container string) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	result, err := h.Engine.Exec(ctx, container, shell(containerdAnswers))
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("containerd in container %s did not answer within %s", container, startTimeout)
	case err != nil:
		return fmt.Errorf("waiting for containerd in container %s: %w", container, err)
	case result.Status != 0:
		return fmt.Errorf("waiting for containerd in container %s ended with status %d", container, result.Status)
	}
	return nil
}

func (h *Host) preload(ctx context.Context, s MachineSpec) error {
	ctx, cancel := context.WithTimeout(ctx, preloadTimeout)
	defer cancel()
	for _, image := range s.PreloadImages {
		if err := h.preloadOne(ctx, s.Container(), image); err != nil {
			return fmt.Errorf("loading image %s into container %s: %w", image, s.Container(), err)
		}
	}
	return nil
}

func (h *Host) preloadOne(ctx context.Context, container, image string) error {
	has, err := h.Engine.HasImage(ctx, image)
	if err == nil && !has {
		err = h.Engine.Pull(ctx, image)
	}
	if err != nil {
		return err
	}
	archive, err := h.Engine.Save(ctx, image)
	if err != nil {
		return err
	}
	defer archive.Close()
	result, err := h.Engine.Exec(ctx, container, Command{Args: []string{"ctr", "--namespace", "k8s.io", "images", "import", "-"}, Stdin: archive})
	if err == nil && result.Status != 0 {
		err = fmt.Errorf("ctr ended with status %d: %s", result.Status, lastLines(result.Stderr, 3))
	}
	return err
}

// The states a bootstrap can be in, as the script below prints them.
const (
	bootstrapNew       = "new"
	bootstrapLost      = "lost"
	bootstrapCompleted = "completed"
)

const unit = "slipway-bootstrap"

// bootstrapState waits while the bootstrap runs, then prints its state. The process is looked for more than once, for it
// may be just about to start.
const bootstrapState = `
n=0
while :; do
  if [ -e ` + cloudconfig.ResultFile + ` ]; then cat ` + cloudconfig.ResultFile + `; exit; fi
  if systemctl is-active --quiet ` + unit + `; then n=0
  elif [ -e ` + cloudconfig.Sentinel + ` ]; then echo ` + bootstrapCompleted + `; exit
  elif [ ! -e ` + cloudconfig.StartedFile + ` ] && [ ! -e ` + cloudconfig.StartSentinel + ` ]; then echo ` + bootstrapNew + `; exit
  elif [ $n -ge 20 ]; then echo ` + bootstrapLost + `; exit
  else n=$((n+1)); fi
  sleep 0.1
done`

// startBootstrap runs the script as a unit of systemd: it goes on when the manager restarts.
const startBootstrap = `mkdir -p ` + cloudconfig.StateFolder + ` && chmod 700 ` + cloudconfig.StateFolder + ` && cat >` + cloudconfig.ScriptFile + ` &&
mkdir -p ` + "/run/cluster-api" + ` && touch ` + cloudconfig.StartedFile + ` ` + cloudconfig.StartSentinel + ` &&
systemd-run --quiet --unit=` + unit + ` --setenv=HOME=/root /bin/bash ` + cloudconfig.ScriptFile

// foreignKubelet says by its status whether the image leaves the settings a kubelet needs in a container to the bootstrap.
const foreignKubelet = `[ ! -e /etc/slipway/node ]`

// bootstrap carries the data out, or follows what an earlier manager has begun.
func (h *Host) bootstrap(ctx context.Context, s MachineSpec, data []byte, ignored func([]string)) error {
	limit := s.Timeout
	if limit == 0 {
		limit = defaultBootstrapTimeout
	}
	within, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	err := h.carryOut(within, s, data, limit, ignored)
	if err != nil && errors.Is(err, ErrBootstrap) && ctx.Err() == nil {
		return h.blackBox(ctx, s, data, err)
	}
	return err
}

func (h *Host) carryOut(ctx context.Context, s MachineSpec, data []byte, limit time.Duration, ignored func([]string)) error {
	state, err := h.state(ctx, s, limit)
	if err != nil {
		return err
	}
	if state == bootstrapNew {
		script, keys, err := h.script(ctx, s, data)
		if err != nil {
			return err
		}
		ignored(keys)
		result, err := h.Engine.Exec(ctx, s.Container(), Command{Args: []string{"/bin/sh", "-c", startBootstrap}, Stdin: bytes.NewBufferString(script)})
		if err == nil && result.Status != 0 {
			err = fmt.Errorf("status %d: %s", result.Status, lastLines(result.Stderr, 3))
		}
		if err != nil {
			return fmt.Errorf("starting the bootstrap of container %s: %w", s.Container(), err)
		}
		if state, err = h.state(ctx, s, limit); err != nil {
			return err
		}
	}
	return verdict(s.Container(), state)
}

func (h *Host) state(ctx context.Context, s MachineSpec, limit time.Duration) (string, error) {
	result, err := h.Engine.Exec(ctx, s.Container(), shell(bootstrapState))
	if ctx.Err() == context.DeadlineExceeded {
		return "", fmt.Errorf("%w: it did not end within %s", errTime, limit)
	}
	if err != nil {
		return "", fmt.Errorf("following the bootstrap of container %s: %w", s.Container(), err)
	}
	return strings.TrimSpace(result.Stdout), nil
}

// verdict says why a bootstrap has failed. What is known of its steps says more than the result alone.
func verdict(container, state string) error {
	first, rest, _ := strings.Cut(state, "\n")
	switch first {
	case bootstrapCompleted:
		return nil
	case bootstrapLost:
		return fmt.Errorf("%w: it began and neither runs nor has a result; the container may have restarted meanwhile", errLost)
	case bootstrapNew:
		return fmt.Errorf("the bootstrap of container %s did not start", container)
	}
	cause, _, _ := strings.Cut(rest, "\n")
	return fmt.Errorf("%w: %s", ErrBootstrap, cause)
}

func (h *Host) script(ctx context.Context, s MachineSpec, data []byte) (script string, ignored []string, err error) {
	name := s.Container()
	document, err := cloudconfig.Parse(data, variables(s))
	if err != nil {
		return "", nil, fmt.Errorf("%w: %w", errData, err)
	}
	container := cloudconfig.Container{ProviderID: ProviderID(name)}
	result, err := h.Engine.Exec(ctx, name, shell(foreignKubelet))
	if err != nil {
		return "", nil, fmt.Errorf("looking into container %s: %w", name, err)
	}
	if result.Status == 0 {
		container.KubeletArguments = cloudconfig.ForeignKubelet()
	}
	return cloudconfig.Script(cloudconfig.Adapt(document, container)), document.Ignored, nil
}

// variables fill the templates of a document.
func variables(s MachineSpec) map[string]string {
	name := s.Container()
	return map[string]string{
		"local_hostname": name, "hostname": name, "instance_id": name, "provider_id": ProviderID(name), "cloud_name": "docker",
		"availability_zone": s.FailureDomain,
	}
}
