package docker

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
)

// ErrStranger says that a container of the wanted name belongs to somebody else.
var ErrStranger = errors.New("belongs to another owner")

// Host builds clusters on one container engine.
type Host struct {
	Engine Engine
	// Network is the bridge network all containers are in.
	Network string
	// Proxy are proxy variables (HTTP_PROXY, HTTPS_PROXY, NO_PROXY) that machines inherit.
	Proxy map[string]string
	// Changed is called, with the key of its spec, whenever the progress of a machine has changed.
	Changed func(key string)

	mu    sync.Mutex
	tasks map[string]*task
	// balancing keeps two updates of load balancers from mixing their files.
	balancing sync.Mutex
	// addressing makes choosing an address and taking it one step.
	addressing sync.Mutex
}

// Find returns a container, or nil if there is none.
func (h *Host) Find(ctx context.Context, name string) (*Container, error) {
	c, err := h.Engine.Inspect(ctx, name)
	switch {
	case errors.Is(err, ErrNotFound):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("looking for container %s: %w", name, err)
	}
	return &c, nil
}

// Claim refuses a container that was made for somebody else, by a stable message that says what to do.
func Claim(c Container, cluster, owner string) error {
	switch {
	case c.Labels[ClusterLabel] != cluster:
		return fmt.Errorf("container %s %w: it is not labelled as part of cluster %s; remove it or choose another name", c.Name, ErrStranger, cluster)
	case c.Labels[OwnerLabel] != owner:
		return fmt.Errorf("container %s %w: it was made for another object of the same name; if that is gone, remove it with: docker rm -fv %s", c.Name, ErrStranger, c.Name)
	}
	return nil
}

// imageFor returns the first image that the engine holds, else pulls the last one.
func (h *Host) imageFor(ctx context.Context, images []string) (string, error) {
	for _, image := range images {
		has, err := h.Engine.HasImage(ctx, image)
		if err != nil {
			return "", fmt.Errorf("looking for image %s: %w", image, err)
		}
		if has {
			return image, nil
		}
	}
	image := images[len(images)-1]
	if err := h.Engine.Pull(ctx, image); err != nil {
		return "", fmt.Errorf("none of the images %s is here, and pulling the last failed: %w: %w", strings.Join(images, ", "), errImage, err)
	}
	return image, nil
}

// remove takes a container away if it belongs to the owner, or is known by record (it had been accepted before).
func (h *Host) remove(ctx context.Context, name, cluster, owner string, recorded bool) error {
	c, err := h.Find(ctx, name)
	if c == nil || err != nil {
		return err
	}
	if c.Labels[ClusterLabel] != cluster || (c.Labels[OwnerLabel] != owner && !recorded) {
		return nil // never ours
	}
	if err := h.Engine.Remove(ctx, name); err != nil {
		return fmt.Errorf("removing container %s: %w", name, err)
	}
	return nil
}
