package plane

import (
	"context"
	"fmt"
	"os"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/slipway-capi/slipway/internal/manifests"
)

const (
	fieldOwner = "slipway-plane"
	// componentLabel marks what a plane has installed with the component's name.
	componentLabel = "plane.slipway.dev/component"
)

// installed are the objects of a plane by the time at which they are applied.
type installed struct {
	// access and definitions come first, webhooks once the API server knows the kinds.
	access, definitions, webhooks []*unstructured.Unstructured
}

// collect reads what must be installed for the components that run.
func (p *prepared) collect() (installed, error) {
	var all installed
	all.access = controllerManagerAccess()
	for _, c := range p.config.components() {
		if err := p.collectOne(c, &all); err != nil {
			return all, fmt.Errorf("manifests of %s: %w", c.Name, err)
		}
	}
	return all, nil
}

func (p *prepared) collectOne(c Component, all *installed) error {
	objects, err := manifests.Load(c.Files)
	if err != nil {
		return err
	}
	server := manifests.Server{URL: p.webhooks(c), CA: p.ca.CA(), Prefix: c.Prefix}
	roles := 0
	for _, o := range objects {
		if err := manifests.Redirect(o, server); err != nil {
			return err
		}
		label(o, c.Name)
		switch o.GetKind() {
		case "CustomResourceDefinition":
			all.definitions = append(all.definitions, o)
		case "MutatingWebhookConfiguration", "ValidatingWebhookConfiguration":
			all.webhooks = append(all.webhooks, o)
		case "ClusterRole":
			roles++
			all.access = append(all.access, o, bind(o.GetName(), o.GetName(), c.user(), c.Name))
		default:
			return fmt.Errorf("%s %s is nothing that a plane installs", o.GetKind(), o.GetName())
		}
	}
	if roles == 0 {
		return fmt.Errorf("no ClusterRole, so its manager would be allowed nothing (run `make generate`)")
	}
	return nil
}

// controllerManagerAccess binds the roles that the API server makes for single controllers to the one user of all of them.
func controllerManagerAccess() []*unstructured.Unstructured {
	var bindings []*unstructured.Unstructured
	for _, role := range []string{"generic-garbage-collector", "namespace-controller", "clusterrole-aggregation-controller"} {
		bindings = append(bindings, bind("slipway:"+role, "system:controller:"+role, controllerManagerUser, controllerManager))
	}
	return append(bindings, bind("slipway:discovery", "system:kube-controller-manager", controllerManagerUser, controllerManager))
}

func bind(name, role, user, component string) *unstructured.Unstructured {
	binding := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": rbacv1.SchemeGroupVersion.String(),
		"kind":       "ClusterRoleBinding",
		"metadata":   map[string]any{"name": name},
		"roleRef":    map[string]any{"apiGroup": rbacv1.GroupName, "kind": "ClusterRole", "name": role},
		"subjects":   []any{map[string]any{"apiGroup": rbacv1.GroupName, "kind": "User", "name": user}},
	}}
	label(binding, component)
	return binding
}

func label(o *unstructured.Unstructured, component string) {
	labels := o.GetLabels()
	if labels == nil {
		labels = map[string]string{}
	}
	labels[componentLabel] = component
	o.SetLabels(labels)
}

// install applies everything and returns when the API server serves every kind.
func (all installed) install(ctx context.Context, c client.Client) error {
	applier := manifests.Applier{Client: c, Owner: fieldOwner, Parallel: 8}
	if err := applier.Apply(ctx, append(all.access, all.definitions...)); err != nil {
		return err
	}
	if err := manifests.WaitEstablished(ctx, c, all.definitions); err != nil {
		return err
	}
	return applier.Apply(ctx, all.webhooks)
}

// prune removes the webhooks of managers that no longer run: nobody would answer them, and every write would fail.
func (all installed) prune(ctx context.Context, c client.Client) error {
	wanted := map[string]bool{}
	for _, o := range all.webhooks {
		wanted[o.GetKind()+"/"+o.GetName()] = true
	}
	for _, kind := range []string{"MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"} {
		gvk := schema.GroupVersionKind{Group: "admissionregistration.k8s.io", Version: "v1", Kind: kind}
		keep := func(o *unstructured.Unstructured) bool { return wanted[kind+"/"+o.GetName()] }
		if err := manifests.Prune(ctx, c, gvk, componentLabel, keep); err != nil {
			return err
		}
	}
	return nil
}

// restConfig reads a kubeconfig for a client that the API server alone slows down.
func restConfig(path string) (*rest.Config, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	config, err := clientcmd.RESTConfigFromKubeConfig(content)
	if err != nil {
		return nil, fmt.Errorf("reading kubeconfig %s: %w", path, err)
	}
	config.QPS = -1
	config.UserAgent = fieldOwner
	return config, nil
}

func newClient(config *rest.Config) (client.Client, error) {
	return client.New(config, client.Options{Scheme: runtime.NewScheme()})
}
