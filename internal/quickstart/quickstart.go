// Package quickstart applies the manifests of a cluster to a management cluster and stays until its Nodes are ready. What
// a workload cluster needs from the outside, as its pod network, is applied to it as soon as its API server answers.
package quickstart

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/slipway-capi/slipway/contract/kubeconfig"
	"github.com/slipway-capi/slipway/internal/clustertree"
	"github.com/slipway-capi/slipway/internal/manifests"
	"github.com/slipway-capi/slipway/internal/progress"
)

const fieldOwner = "slipway-quickstart"

// retry is the time between attempts to reach a workload cluster that comes to be.
const retry = 300 * time.Millisecond

// Options say what to run.
type Options struct {
	// Config reaches the management cluster.
	Config *rest.Config
	// Namespace is for objects that name none.
	Namespace string
	// Manifests are files for the management cluster, Addons files for the workload cluster.
	Manifests, Addons []string
	Display           *progress.Display
	// Overwrite takes back what others have changed since the manifests were applied before; else Kept, which may be nil, is told.
	Overwrite bool
	Kept      func(Kept)
}

func (o Options) tell(kept []Kept) {
	for _, k := range kept {
		if o.Kept != nil {
			o.Kept(k)
		}
	}
}

// Run applies everything and returns the name of the Cluster and its tree once all Nodes are ready and the add-ons applied.
func Run(ctx context.Context, o Options) (types.NamespacedName, *clustertree.Node, error) {
	objects, err := load(o.Manifests, o.Namespace)
	if err != nil {
		return types.NamespacedName{}, nil, err
	}
	cluster, err := clusterOf(objects)
	if err != nil {
		return cluster, nil, err
	}
	addons, err := load(o.Addons, "")
	if err != nil {
		return cluster, nil, err
	}
	c, err := NewClient(o.Config)
	if err != nil {
		return cluster, nil, err
	}
	kept, err := applier{client: c, overwrite: o.Overwrite}.apply(ctx, objects)
	if err != nil {
		return cluster, nil, err
	}
	o.tell(kept)
	tree, err := follow(ctx, o, c, cluster, addons)
	return cluster, tree, err
}

// follow shows the cluster while the add-ons are applied, and returns when both are done.
func follow(ctx context.Context, o Options, c client.Client, cluster types.NamespacedName, addons []*unstructured.Unstructured) (*clustertree.Node, error) {
	dynamicClient, err := dynamic.NewForConfig(o.Config)
	if err != nil {
		return nil, fmt.Errorf("making a client: %w", err)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	applied := make(chan []Kept, 1)
	go func() {
		kept, err := applyAddons(ctx, c, cluster, addons, o.Overwrite)
		if err != nil {
			cancel(err)
			return
		}
		applied <- kept
	}()
	pending := true
	var last *clustertree.Node
	err = progress.Follow(ctx, dynamicClient, cluster, func(tree *clustertree.Node) (bool, error) {
		if tree == nil {
			return false, errors.New("it was deleted")
		}
		last = tree
		if err := o.Display.Show(tree); err != nil {
			return false, err
		}
		select {
		case kept := <-applied:
			o.tell(kept)
			pending = false
		default:
		}
		return pending || !progress.Of(tree).Done(), nil
	})
	if cause := context.Cause(ctx); cause != nil && errors.Is(err, context.Canceled) {
		err = cause
	}
	if err != nil {
		return last, fmt.Errorf("waiting for cluster %s (%s): %w", cluster, strings.Join(progress.Of(last).Waiting, "; "), err)
	}
	return last, nil
}

// applyAddons waits for the workload cluster and applies the add-ons. It returns only when that is done or the context ends:
// whatever fails while a control plane comes to be is a matter of time.
func applyAddons(ctx context.Context, c client.Client, cluster types.NamespacedName, addons []*unstructured.Unstructured, overwrite bool) ([]Kept, error) {
	if len(addons) == 0 {
		return nil, nil
	}
	for {
		kept, err := tryAddons(ctx, c, cluster, addons, overwrite)
		if err == nil {
			return kept, nil
		}
		if apierrors.IsInvalid(err) || apierrors.IsBadRequest(err) {
			return nil, fmt.Errorf("add-ons of %s: %w", cluster, err)
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("add-ons of %s: %w", cluster, err)
		case <-time.After(retry):
		}
	}
}

func tryAddons(ctx context.Context, c client.Client, cluster types.NamespacedName, addons []*unstructured.Unstructured, overwrite bool) ([]Kept, error) {
	content, err := Kubeconfig(ctx, c, cluster)
	if err != nil {
		return nil, err
	}
	config, err := clientcmd.RESTConfigFromKubeConfig(content)
	if err != nil {
		return nil, err
	}
	config.Timeout = 10 * time.Second
	workload, err := NewClient(config)
	if err != nil {
		return nil, err
	}
	return applier{client: workload, overwrite: overwrite}.apply(ctx, addons)
}

// Kubeconfig reads the kubeconfig of a workload cluster.
func Kubeconfig(ctx context.Context, c client.Reader, cluster types.NamespacedName) ([]byte, error) {
	var secret corev1.Secret
	if err := c.Get(ctx, kubeconfig.SecretKey(cluster), &secret); err != nil {
		return nil, fmt.Errorf("reading the kubeconfig of cluster %s: %w", cluster, err)
	}
	content := secret.Data[kubeconfig.SecretDataKey]
	if len(content) == 0 {
		return nil, fmt.Errorf("secret %s holds no kubeconfig", secret.Name)
	}
	return content, nil
}

func load(files []string, namespace string) ([]*unstructured.Unstructured, error) {
	var objects []*unstructured.Unstructured
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		found, err := manifests.Parse(content)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		objects = append(objects, found...)
	}
	for _, o := range objects {
		if o.GetNamespace() == "" && namespace != "" {
			o.SetNamespace(namespace)
		}
	}
	return objects, nil
}

// clusterOf names the one Cluster among the objects.
func clusterOf(objects []*unstructured.Unstructured) (types.NamespacedName, error) {
	var found []types.NamespacedName
	for _, o := range objects {
		if isCluster(o) {
			found = append(found, client.ObjectKeyFromObject(o))
		}
	}
	if len(found) != 1 {
		return types.NamespacedName{}, fmt.Errorf("the manifests must hold one Cluster, not %d", len(found))
	}
	return found[0], nil
}

// NewClient makes a client that reads Secrets as typed and everything else as untyped objects.
func NewClient(config *rest.Config) (client.Client, error) {
	scheme := runtime.NewScheme()
	if err := corev1.AddToScheme(scheme); err != nil {
		return nil, err
	}
	c, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		return nil, fmt.Errorf("making a client: %w", err)
	}
	return c, nil
}
