package topology

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/contractversion"
	"github.com/slipway-capi/slipway/core/internal/topology/classref"
	"github.com/slipway-capi/slipway/core/internal/topology/intent"
	"github.com/slipway-capi/slipway/core/internal/topology/patches"
	"github.com/slipway-capi/slipway/core/internal/topology/upgrade"
)

// Foresight is what the topology of a Cluster comes to when nothing holds it.
type Foresight struct {
	// Actions lead from the objects as they are to those in the end.
	Actions []Action
	// Plans are the versions on the way.
	Plans Plans
	// Stays says what does not follow by itself, such as groups of workers that defer their upgrade; empty if all does.
	Stays string
}

// reading is a client that can only read.
type reading struct {
	client.Client
	reader client.Reader
}

func (r reading) Get(ctx context.Context, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
	return r.reader.Get(ctx, key, o, opts...)
}

func (r reading) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	return r.reader.List(ctx, list, opts...)
}

// Look reads all that matters for the topology of a Cluster, without asking an extension.
func Look(ctx context.Context, reader client.Reader, resolver *contractversion.Resolver, cluster *clusterv1.Cluster, now time.Time) (World, error) {
	w, class := World{Now: now, Cluster: cluster}, &clusterv1.ClusterClass{}
	err := reader.Get(ctx, classref.Key(cluster), class)
	switch {
	case apierrors.IsNotFound(err):
		return w, fmt.Errorf("ClusterClass %s does not exist", classref.Text(cluster))
	case err != nil:
		return w, fmt.Errorf("reading ClusterClass %s: %w", classref.Text(cluster), err)
	}
	w.Class, w.Steps = class, class.Spec.KubernetesVersions
	c := &Controller{Client: reading{reader: reader}, Resolver: resolver}
	for _, read := range []func(context.Context, *World) error{c.blueprint, c.variables, c.objects, c.workers, c.templates} {
		if err := read(ctx, &w); err != nil {
			return w, err
		}
	}
	return w, nil
}

// Foresee says what a topology comes to in the end: the control plane has the wanted version, and so have all workers that may.
// It compares, computes and words as the controller does.
func Foresee(ctx context.Context, w World, extensions patches.Extensions) (Foresight, error) {
	f := Foresight{Plans: *plansOf(w)}
	if cp := w.ControlPlane; cp != nil {
		steps, err := upgrade.Plan(cp.Version, w.Cluster.Spec.Topology.Version, w.Steps)
		if err != nil {
			return f, err
		}
		last := append([]string{cp.Version}, steps...)[len(steps)]
		w.ControlPlane = &upgrade.ControlPlane{Version: last, Observed: last}
	}
	if err := w.computeAt(ctx, settled(w.versions()), extensions); err != nil {
		return f, err
	}
	topology, d := w.Topology.Copy(), Decision{}
	if err := d.compare(w, topology); err != nil {
		return f, err
	}
	d.sweep(w, topology)
	f.Actions = d.Actions
	if c := describe(w, w.Versions); w.ControlPlane != nil && c.Status != metav1.ConditionTrue {
		f.Stays = c.Message
	}
	return f, nil
}

// settled is a world of versions in which nobody waits for anybody.
func settled(w upgrade.World) upgrade.World {
	w.Concurrency = len(w.MachineDeployments) + len(w.MachinePools) + 1
	w.Hold, w.HoldWorkers = "", ""
	for _, groups := range [][]upgrade.Workers{w.MachineDeployments, w.MachinePools} {
		for i := range groups {
			groups[i].Upgrading = false
		}
	}
	return w
}

// After is an object of the topology as it would be after an apply.
func (w World) After(a Apply) *unstructured.Unstructured {
	for _, have := range w.existing() {
		if have != nil && have.GetKind() == a.Object.GetKind() && have.GetName() == a.Object.GetName() {
			return intent.Merged(have, a.Object, FieldOwner)
		}
	}
	return a.Object
}

// existing are the objects of the topology that there are.
func (w World) existing() []*unstructured.Unstructured {
	out := append([]*unstructured.Unstructured{w.Current.Infrastructure, w.Current.ControlPlane, w.Current.ControlPlaneMachine}, w.Templates...)
	for _, g := range w.Current.MachineDeployments {
		out = append(out, toUnstructured(g.Object, g.Object == nil))
	}
	for _, g := range w.Current.MachinePools {
		out = append(out, toUnstructured(g.Object, g.Object == nil), g.Bootstrap, g.Infrastructure)
	}
	for _, h := range w.HealthChecks {
		out = append(out, toUnstructured(h, false))
	}
	return out
}

// IsBootstrap says whether an object is of a kind that the class takes bootstrap configs of machines from.
func (w World) IsBootstrap(o *unstructured.Unstructured) bool {
	workers := w.Class.Spec.Workers
	return slices.ContainsFunc(workers.MachineDeployments, func(c clusterv1.MachineDeploymentClass) bool {
		return c.Bootstrap.TemplateRef.Kind == o.GetKind()
	}) || slices.ContainsFunc(workers.MachinePools, func(c clusterv1.MachinePoolClass) bool {
		return strings.TrimSuffix(c.Bootstrap.TemplateRef.Kind, "Template") == o.GetKind()
	})
}

// RefersTo says whether a class refers to a template.
func RefersTo(class *clusterv1.ClusterClass, template client.Object) bool {
	gvk, found := template.GetObjectKind().GroupVersionKind(), false
	blueprint(class, func(ref classRef) *unstructured.Unstructured {
		known := schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind)
		found = found || known.GroupKind() == gvk.GroupKind() && ref.Name == template.GetName() && class.Namespace == template.GetNamespace()
		return nil
	})
	return found
}
