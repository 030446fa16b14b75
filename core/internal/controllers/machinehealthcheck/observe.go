package machinehealthcheck

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/clustercache"
)

// observe reads all that matters for one MachineHealthCheck. It writes nothing.
func (c *Controller) observe(ctx context.Context, check *clusterv1.MachineHealthCheck) (World, error) {
	w := World{Now: time.Now(), Check: check}
	key := client.ObjectKey{Namespace: check.Namespace, Name: check.Spec.ClusterName}
	cluster := &clusterv1.Cluster{}
	switch err := c.Client.Get(ctx, key, cluster); {
	case err == nil:
		w.Cluster = cluster
	case apierrors.IsNotFound(err):
		return w, nil // its event wakes us
	default:
		return w, fmt.Errorf("reading Cluster %s: %w", key, err)
	}
	if err := c.targets(ctx, &w); err != nil {
		return w, err
	}
	if err := c.others(ctx, &w); err != nil {
		return w, err
	}
	w.Err = errors.Join(c.nodes(ctx, key, &w), c.remediation(ctx, &w))
	return w, nil
}

func (c *Controller) targets(ctx context.Context, w *World) error {
	list := &clusterv1.MachineList{}
	if err := c.Client.List(ctx, list, client.InNamespace(w.Check.Namespace), client.MatchingLabels{clusterv1.ClusterNameLabel: w.Check.Spec.ClusterName}); err != nil {
		return fmt.Errorf("listing Machines: %w", err)
	}
	for i := range list.Items {
		if Selects(w.Check, &list.Items[i]) {
			w.Targets = append(w.Targets, Target{Machine: &list.Items[i]})
		}
	}
	return nil
}

func (c *Controller) others(ctx context.Context, w *World) error {
	list := &clusterv1.MachineHealthCheckList{}
	if err := c.Client.List(ctx, list, client.InNamespace(w.Check.Namespace), client.MatchingFields{clusterIndex: w.Check.Spec.ClusterName}); err != nil {
		return fmt.Errorf("listing MachineHealthChecks: %w", err)
	}
	for i := range list.Items {
		if list.Items[i].Name != w.Check.Name {
			w.Others = append(w.Others, &list.Items[i])
		}
	}
	return nil
}

// nodes reads the Nodes of the targets. Without a connection they stay unknown; its coming wakes us.
func (c *Controller) nodes(ctx context.Context, cluster client.ObjectKey, w *World) error {
	reader, err := c.ClusterCache.Reader(ctx, cluster)
	if err == nil {
		err = c.watchNodes(ctx, cluster)
	}
	if errors.Is(err, clustercache.ErrNotConnected) {
		return nil
	}
	if err != nil {
		return err
	}
	for i := range w.Targets {
		t := &w.Targets[i]
		name := t.Machine.Status.NodeRef.Name
		if name == "" {
			continue
		}
		node := &corev1.Node{}
		switch err := reader.Get(ctx, client.ObjectKey{Name: name}, node); {
		case err == nil:
			t.Node = node
		case apierrors.IsNotFound(err):
			t.NodeMissing = true
		default:
			return fmt.Errorf("reading Node %s: %w", name, err)
		}
	}
	w.Connected = true
	return nil
}

// remediation reads the template and the objects that were made from it.
func (c *Controller) remediation(ctx context.Context, w *World) error {
	ref := w.Check.Spec.Remediation.TemplateRef
	if ref.Name == "" {
		return nil
	}
	kind := schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind)
	template, err := c.external(ctx, kind, w.Check.Namespace, ref.Name, c.ofTemplate)
	if err != nil {
		return err
	}
	w.Template = TemplateView{Object: template, Missing: template == nil}
	kind.Kind = strings.TrimSuffix(kind.Kind, "Template")
	for i := range w.Targets {
		m := w.Targets[i].Machine
		if w.Targets[i].Request, err = c.external(ctx, kind, m.Namespace, m.Name, c.ofRequest); err != nil {
			return err
		}
	}
	return nil
}
