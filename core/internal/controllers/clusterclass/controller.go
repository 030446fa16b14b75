package clusterclass

import (
	"context"
	"errors"
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	runtimev1 "github.com/slipway-capi/slipway/contract/api/runtime/v1beta2"
	"github.com/slipway-capi/slipway/contract/contractversion"
	"github.com/slipway-capi/slipway/contract/extension/hookcall"
	"github.com/slipway-capi/slipway/contract/external"
	"github.com/slipway-capi/slipway/contract/ownership"
	"github.com/slipway-capi/slipway/contract/patch"
	"github.com/slipway-capi/slipway/contract/paused"
	"github.com/slipway-capi/slipway/core/internal/topology/variables"
)

// FieldOwner is the name under which this controller writes.
const FieldOwner = "slipway-clusterclass"

// Controller reconciles ClusterClasses.
type Controller struct {
	Client   client.Client
	Resolver *contractversion.Resolver
	// WatchFilter, if set, is the value that the label cluster.x-k8s.io/watch-filter of a class must have to be handled here.
	WatchFilter string
	// Hooks calls extensions; nil where RuntimeSDK is off.
	Hooks *hookcall.Client

	watcher  *external.Watcher
	referred handler.EventHandler
}

// +kubebuilder:rbac:groups=cluster.x-k8s.io,resources=clusterclasses;clusterclasses/status,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=cluster.x-k8s.io,resources=clusterclasses/finalizers,verbs=update

// SetupWithManager registers the controller and its watches.
func (c *Controller) SetupWithManager(ctx context.Context, mgr ctrl.Manager, concurrency int) error {
	if err := mgr.GetFieldIndexer().IndexField(ctx, &clusterv1.ClusterClass{}, templateIndex, byTemplate); err != nil {
		return fmt.Errorf("indexing classes by their templates: %w", err)
	}
	wired := ctrl.NewControllerManagedBy(mgr).Named("clusterclass").For(&clusterv1.ClusterClass{}).
		WatchesMetadata(&apiextensionsv1.CustomResourceDefinition{}, handler.EnqueueRequestsFromMapFunc(c.ofCRD)).
		WithOptions(controller.Options{MaxConcurrentReconciles: concurrency})
	if c.Hooks != nil {
		wired.Watches(&runtimev1.ExtensionConfig{}, handler.EnqueueRequestsFromMapFunc(c.ofExtension), builder.WithPredicates(hookcall.Noticeable()))
	}
	self, err := wired.Build(c)
	if err != nil {
		return fmt.Errorf("building the clusterclass controller: %w", err)
	}
	c.watcher, c.referred = external.NewWatcher(self, mgr.GetCache()), handler.EnqueueRequestsFromMapFunc(c.ofTemplate)
	return nil
}

// Reconcile brings the status of one class up to date.
func (c *Controller) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	class := &clusterv1.ClusterClass{}
	if err := c.Client.Get(ctx, req.NamespacedName, class); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if c.WatchFilter != "" && class.Labels[clusterv1.WatchLabel] != c.WatchFilter || !class.DeletionTimestamp.IsZero() {
		return reconcile.Result{}, nil
	}
	d := Decide(ctx, c.observe(ctx, class))
	if ctx.Err() != nil {
		return reconcile.Result{}, ctx.Err() // what was not finished says nothing about the class
	}
	if err := c.act(ctx, class, d); err != nil || !variables.FromExtensions(class) {
		return reconcile.Result{}, err
	}
	return reconcile.Result{RequeueAfter: discoverAgain}, nil
}

// observe reads the templates of a class and asks its extensions for variables. It writes nothing.
func (c *Controller) observe(ctx context.Context, class *clusterv1.ClusterClass) World {
	w := World{Class: class}
	for _, ref := range Templates(class) {
		gvk := schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind)
		t := Template{Reference: ref}
		newest, _, err := c.Resolver.GVK(ctx, gvk.GroupKind())
		if err == nil {
			t.Newest = newest.GroupVersion().String()
			err = c.watcher.Watch(gvk, c.referred)
		}
		if err == nil {
			t.Object = &unstructured.Unstructured{}
			t.Object.SetGroupVersionKind(gvk)
			err = c.Client.Get(ctx, client.ObjectKey{Namespace: class.Namespace, Name: ref.Name}, t.Object)
		}
		if err != nil {
			t.Object, t.Missing = nil, apierrors.IsNotFound(err)
			t.Err = err
		}
		w.Templates = append(w.Templates, t)
	}
	if !paused.HasAnnotation(class) {
		w.Discoveries = c.discover(ctx, class)
	}
	return w
}

// act writes what was decided.
func (c *Controller) act(ctx context.Context, before *clusterv1.ClusterClass, d Decision) error {
	errs := []error{d.Err}
	for _, o := range d.Adopt {
		after := o.DeepCopy()
		h := patch.Begin(c.Client, FieldOwner, o)
		ownership.Ensure(after, ownership.Reference(before, clusterv1.GroupVersion.WithKind(clusterv1.ClusterClassKind)))
		errs = append(errs, h.Finish(ctx, after))
	}
	owned := patch.Owned(clusterv1.ClusterClassVariablesReadyCondition, clusterv1.ClusterClassRefVersionsUpToDateCondition, clusterv1.PausedCondition)
	errs = append(errs, patch.Begin(c.Client, FieldOwner, before).Finish(ctx, d.Class, owned))
	return errors.Join(errs...)
}
