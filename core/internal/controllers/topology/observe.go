package topology

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/slipway-capi/slipway/contract/accessors"
	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/external"
	"github.com/slipway-capi/slipway/contract/labels"
	"github.com/slipway-capi/slipway/core/internal/topology/classref"
	"github.com/slipway-capi/slipway/core/internal/topology/desired"
	"github.com/slipway-capi/slipway/core/internal/topology/upgrade"
)

type classRef = clusterv1.MachineHealthCheckRemediationTemplateReference

// observe reads all that matters for the topology of one Cluster. It writes nothing.
func (c *Controller) observe(ctx context.Context, cluster *clusterv1.Cluster) World {
	w := World{Now: time.Now(), Cluster: cluster, ConsentBeforeDelete: c.ConsentBeforeDelete}
	if !cluster.DeletionTimestamp.IsZero() {
		w.Err = c.beforeDelete(ctx, &w)
		return w
	}
	class := &clusterv1.ClusterClass{}
	if err := c.Client.Get(ctx, classref.Key(cluster), class); err != nil {
		if !apierrors.IsNotFound(err) {
			w.Err = fmt.Errorf("reading ClusterClass %s: %w", classref.Text(cluster), err)
		}
		return w
	}
	w.Class = class
	if class.Status.ObservedGeneration != class.Generation {
		return w
	}
	for _, read := range []func(context.Context, *World) error{c.blueprint, c.variables, c.objects, c.workers, c.templates, c.plan, c.lifecycle, c.compute} {
		if w.Err = read(ctx, &w); w.Err != nil {
			return w
		}
	}
	return w
}

// blueprint reads the templates of the class that this Cluster uses.
func (c *Controller) blueprint(ctx context.Context, w *World) error {
	var errs []error
	get := func(ref classRef) *unstructured.Unstructured {
		if ref.Name == "" {
			return nil
		}
		o, err := c.classTemplate(ctx, ref, w.Class.Namespace)
		errs = append(errs, err)
		return o
	}
	w.Blueprint = blueprint(w.Class, get)
	return errors.Join(errs...)
}

// blueprint is a class with its templates, each as get finds it.
func blueprint(c *clusterv1.ClusterClass, get func(classRef) *unstructured.Unstructured) desired.Blueprint {
	class := c.Spec
	b := desired.Blueprint{Class: c, MachineDeployments: map[string]desired.WorkerTemplates{}, MachinePools: map[string]desired.WorkerTemplates{}}
	b.Infrastructure, b.ControlPlane = get(class.Infrastructure.TemplateRef), get(class.ControlPlane.TemplateRef)
	b.ControlPlaneMachine = get(class.ControlPlane.MachineInfrastructure.TemplateRef)
	for _, k := range class.Workers.MachineDeployments {
		b.MachineDeployments[k.Class] = desired.WorkerTemplates{Bootstrap: get(k.Bootstrap.TemplateRef), Infrastructure: get(k.Infrastructure.TemplateRef)}
	}
	for _, k := range class.Workers.MachinePools {
		b.MachinePools[k.Class] = desired.WorkerTemplates{Bootstrap: get(k.Bootstrap.TemplateRef), Infrastructure: get(k.Infrastructure.TemplateRef)}
	}
	return b
}

func (c *Controller) classTemplate(ctx context.Context, ref classRef, namespace string) (*unstructured.Unstructured, error) {
	o := &unstructured.Unstructured{}
	o.SetGroupVersionKind(schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind))
	if err := c.watch(o.GroupVersionKind()); err != nil {
		return nil, err
	}
	if err := c.Client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: ref.Name}, o); err != nil {
		return nil, fmt.Errorf("reading %s %s of the class: %w", ref.Kind, ref.Name, err)
	}
	return o, nil
}

// watch wakes the topology when objects of a kind change; one who only looks once watches nothing.
func (c *Controller) watch(gvk schema.GroupVersionKind) error {
	if c.watcher == nil {
		return nil
	}
	return c.watcher.Watch(gvk, c.owned)
}

func (c *Controller) variables(ctx context.Context, w *World) error {
	known, err := c.catalogs.Of(w.Class)
	if err != nil {
		return err
	}
	w.Values, w.Overrides, err = values(ctx, w.Cluster.Spec.Topology, known)
	return err
}

// objects reads the infrastructure and the control plane. One that was made before an interruption, so that the Cluster does not
// refer to it yet, is found again by its name, which is always the same.
func (c *Controller) objects(ctx context.Context, w *World) error {
	var err error
	if w.Current.Infrastructure, _, err = c.referred(ctx, w.Cluster, w.Cluster.Spec.InfrastructureRef); err != nil {
		return err
	}
	var contract string
	if w.Current.ControlPlane, contract, err = c.referred(ctx, w.Cluster, w.Cluster.Spec.ControlPlaneRef); err != nil || w.Current.ControlPlane == nil {
		return err
	}
	if w.ControlPlane, err = stateOf(w.Current.ControlPlane, accessors.ControlPlane(contract)); err != nil {
		return err
	}
	if w.Blueprint.ControlPlaneMachine == nil {
		return nil
	}
	ref := w.Class.Spec.ControlPlane.MachineInfrastructure.TemplateRef
	name, _, err := unstructured.NestedString(w.Current.ControlPlane.Object, "spec", "machineTemplate", "spec", "infrastructureRef", "name")
	if err != nil {
		return fmt.Errorf("control plane %s: spec.machineTemplate.spec.infrastructureRef.name is no text", w.Current.ControlPlane.GetName())
	}
	w.Current.ControlPlaneMachine, err = c.template(ctx, ref, w.Cluster.Namespace, name)
	return err
}

func (c *Controller) referred(ctx context.Context, cluster *clusterv1.Cluster, ref clusterv1.ContractVersionedObjectReference) (*unstructured.Unstructured, string, error) {
	if ref.Name == "" {
		return nil, "", nil
	}
	gvk, contract, err := c.Resolver.GVK(ctx, schema.GroupKind{Group: ref.APIGroup, Kind: ref.Kind})
	if err != nil {
		return nil, "", err
	}
	if err := c.watch(gvk); err != nil {
		return nil, "", err
	}
	obj, err := external.Get(ctx, c.Client, c.Resolver, ref, cluster.Namespace)
	if external.IsNotFound(err) {
		return nil, contract, nil
	}
	if err != nil {
		return nil, contract, err
	}
	return obj.Unstructured, contract, nil
}

// template reads a template that was made for the Cluster; nil if there is none.
func (c *Controller) template(ctx context.Context, ref classRef, namespace, name string) (*unstructured.Unstructured, error) {
	if name == "" {
		return nil, nil
	}
	o := &unstructured.Unstructured{}
	o.SetGroupVersionKind(schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind))
	err := c.Client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, o)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading %s %s: %w", ref.Kind, name, err)
	}
	return o, nil
}

// stateOf is what matters of a control plane for upgrades.
func stateOf(o *unstructured.Unstructured, contract accessors.ControlPlaneContract) (*upgrade.ControlPlane, error) {
	var s upgrade.ControlPlane
	var err error
	if s.Version, err = contract.Version().GetOr(o, ""); err != nil {
		return nil, err
	}
	versions, err := contract.Versions(o)
	if err != nil {
		return nil, err
	}
	if len(versions) > 0 {
		s.Observed = versions[0].Version
	}
	counters, err := contract.Counters(o)
	if err != nil {
		return nil, err
	}
	s.Busy = busy(counters)
	if observed, found, _ := unstructured.NestedInt64(o.Object, "status", "observedGeneration"); found && observed < o.GetGeneration() {
		s.Busy = "its last change is not observed yet"
	}
	return &s, nil
}

func busy(n accessors.Counters) string {
	switch {
	case n.Desired == nil || n.Replicas == nil:
		return ""
	case *n.Replicas < *n.Desired:
		return fmt.Sprintf("it is scaling up from %d to %d", *n.Replicas, *n.Desired)
	case *n.Replicas > *n.Desired:
		return fmt.Sprintf("it is scaling down from %d to %d", *n.Replicas, *n.Desired)
	case n.UpToDate != nil && *n.UpToDate < *n.Desired:
		return fmt.Sprintf("%d of %d machines are up to date", *n.UpToDate, *n.Desired)
	}
	return ""
}

// workers reads the worker groups with their templates, their MachineSets and the health checks.
func (c *Controller) workers(ctx context.Context, w *World) error {
	selected := []client.ListOption{client.InNamespace(w.Cluster.Namespace), client.MatchingLabels(labels.OfCluster(w.Cluster.Name)), client.HasLabels{clusterv1.ClusterTopologyOwnedLabel}}
	deployments, pools := &clusterv1.MachineDeploymentList{}, &clusterv1.MachinePoolList{}
	sets, checks := &clusterv1.MachineSetList{}, &clusterv1.MachineHealthCheckList{}
	for _, list := range []client.ObjectList{deployments, pools, sets, checks} {
		if err := c.Client.List(ctx, list, selected...); err != nil {
			return fmt.Errorf("listing the objects of the topology: %w", err)
		}
	}
	w.Current.MachineDeployments, w.Current.MachinePools = map[string]desired.CurrentDeployment{}, map[string]desired.CurrentPool{}
	var errs []error
	for i := range deployments.Items {
		md := withKind(&deployments.Items[i], "MachineDeployment")
		spec := md.Spec.Template.Spec
		current := desired.CurrentDeployment{Object: md}
		var err error
		current.Bootstrap, err = c.ownTemplate(ctx, w, spec.Bootstrap.ConfigRef)
		errs = append(errs, err)
		current.Infrastructure, err = c.ownTemplate(ctx, w, spec.InfrastructureRef)
		errs = append(errs, err)
		w.Current.MachineDeployments[md.Labels[clusterv1.ClusterTopologyMachineDeploymentNameLabel]] = current
	}
	for i := range pools.Items {
		mp := withKind(&pools.Items[i], "MachinePool")
		current := desired.CurrentPool{Object: mp}
		var err error
		current.Bootstrap, _, err = c.referred(ctx, w.Cluster, mp.Spec.Template.Spec.Bootstrap.ConfigRef)
		errs = append(errs, err)
		current.Infrastructure, _, err = c.referred(ctx, w.Cluster, mp.Spec.Template.Spec.InfrastructureRef)
		errs = append(errs, err)
		w.Current.MachinePools[mp.Labels[clusterv1.ClusterTopologyMachinePoolNameLabel]] = current
	}
	for i := range sets.Items {
		w.Sets = append(w.Sets, &sets.Items[i])
	}
	for i := range checks.Items {
		w.HealthChecks = append(w.HealthChecks, withKind(&checks.Items[i], "MachineHealthCheck"))
	}
	return errors.Join(errs...)
}

// withKind adds the kind, which typed objects from the cache do not carry.
func withKind[T client.Object](o T, kind string) T {
	o.GetObjectKind().SetGroupVersionKind(clusterv1.GroupVersion.WithKind(kind))
	return o
}

// ownTemplate reads a template that a MachineDeployment refers to, in the version that the class names.
func (c *Controller) ownTemplate(ctx context.Context, w *World, ref clusterv1.ContractVersionedObjectReference) (*unstructured.Unstructured, error) {
	for _, known := range templateKinds(w.Class) {
		if gv := schema.FromAPIVersionAndKind(known.APIVersion, known.Kind); gv.Group == ref.APIGroup && gv.Kind == ref.Kind {
			return c.template(ctx, known, w.Cluster.Namespace, ref.Name)
		}
	}
	return nil, nil // a kind that the class no longer has: another one takes its place
}

// templateKinds are the kinds of templates that machines of the class are made from, each once.
func templateKinds(class *clusterv1.ClusterClass) []classRef {
	var out []classRef
	seen := map[string]bool{}
	add := func(ref classRef) {
		key := ref.APIVersion + "/" + ref.Kind
		if ref.Name != "" && !seen[key] {
			seen[key] = true
			out = append(out, ref)
		}
	}
	add(class.Spec.ControlPlane.MachineInfrastructure.TemplateRef)
	for _, k := range class.Spec.Workers.MachineDeployments {
		add(k.Bootstrap.TemplateRef)
		add(k.Infrastructure.TemplateRef)
	}
	return out
}

// templates lists those that were made for the Cluster.
func (c *Controller) templates(ctx context.Context, w *World) error {
	for _, ref := range templateKinds(w.Class) {
		list := &unstructured.UnstructuredList{}
		gvk := schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind)
		list.SetGroupVersionKind(gvk.GroupVersion().WithKind(gvk.Kind + "List"))
		err := c.Client.List(ctx, list, client.InNamespace(w.Cluster.Namespace), client.MatchingLabels(labels.OfCluster(w.Cluster.Name)), client.HasLabels{clusterv1.ClusterTopologyOwnedLabel})
		if err != nil {
			return fmt.Errorf("listing %s: %w", strings.ToLower(gvk.Kind), err)
		}
		for i := range list.Items {
			w.Templates = append(w.Templates, &list.Items[i])
		}
	}
	return nil
}
