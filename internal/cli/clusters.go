package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
)

// completionTimeout is how long a shell may wait for names.
const completionTimeout = 2 * time.Second

var (
	clusterResource   = clusterv1.GroupVersion.WithResource("clusters")
	namespaceResource = schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}
)

// mustExist is an error that tells which Clusters there are, unless the one that is asked for is among them.
func mustExist(ctx context.Context, client dynamic.Interface, cluster types.NamespacedName) error {
	_, err := client.Resource(clusterResource).Namespace(cluster.Namespace).Get(ctx, cluster.Name, metav1.GetOptions{})
	if !apierrors.IsNotFound(err) {
		return err
	}
	list, err := client.Resource(clusterResource).List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("there is no Cluster %s, and listing those there are failed: %w", cluster, err)
	}
	var there []types.NamespacedName
	for _, o := range list.Items {
		there = append(there, types.NamespacedName{Namespace: o.GetNamespace(), Name: o.GetName()})
	}
	return unknownCluster(cluster, there)
}

// unknownCluster names the Clusters that there are, at most ten.
func unknownCluster(wanted types.NamespacedName, there []types.NamespacedName) error {
	var names []string
	for _, c := range there {
		name := c.Name
		if c.Namespace != wanted.Namespace {
			name = fmt.Sprintf("%s in namespace %s", c.Name, c.Namespace)
		}
		names = append(names, name)
	}
	slices.Sort(names)
	if more := len(names) - 10; more > 0 {
		names = append(names[:10], fmt.Sprintf("%d more", more))
	}
	if len(names) == 0 {
		return fmt.Errorf("there is no Cluster %s in namespace %s, nor any other", wanted.Name, wanted.Namespace)
	}
	return fmt.Errorf("there is no Cluster %s in namespace %s; there are: %s", wanted.Name, wanted.Namespace, strings.Join(names, ", "))
}

// addNamespace adds the flag of the namespace.
func (o *options) addNamespace(cmd *cobra.Command, namespace *string) {
	cmd.Flags().StringVarP(namespace, "namespace", "n", "", "namespace of the cluster (default the one of the kubeconfig)")
	_ = cmd.RegisterFlagCompletionFunc("namespace", func(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
		return o.names(cmd.Context(), namespaceResource, ""), cobra.ShellCompDirectiveNoFileComp
	})
}

// oneCluster demands the name of a Cluster, and says which there are.
func (o *options) oneCluster(namespace *string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch len(args) {
		case 1:
			return nil
		case 0:
			if names := o.names(cmd.Context(), clusterResource, *namespace); len(names) > 0 {
				return fmt.Errorf("name a cluster: `%s CLUSTER`, where CLUSTER is one of: %s", cmd.CommandPath(), strings.Join(names, ", "))
			}
			return fmt.Errorf("name a cluster: `%s CLUSTER`", cmd.CommandPath())
		}
		return fmt.Errorf("one cluster at a time: `%s CLUSTER`, not %s", cmd.CommandPath(), strings.Join(args, " and "))
	}
}

// completeCluster offers the Clusters of the namespace as the one argument of a command.
func (o *options) completeCluster(namespace *string) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return o.names(cmd.Context(), clusterResource, *namespace), cobra.ShellCompDirectiveNoFileComp
	}
}

// names are those of the objects of a kind, for completion: without a management cluster there are none. A namespace that is not given is
// that of the kubeconfig, for kinds that have one.
func (o *options) names(ctx context.Context, resource schema.GroupVersionResource, namespace string) []string {
	config, current, err := o.connect()
	if err != nil {
		return nil
	}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil
	}
	if ctx == nil {
		ctx = context.Background()
	}
	ctx, cancel := context.WithTimeout(ctx, completionTimeout)
	defer cancel()
	var reader dynamic.ResourceInterface = client.Resource(resource)
	if resource == clusterResource {
		if namespace != "" {
			current = namespace
		}
		reader = client.Resource(resource).Namespace(current)
	}
	list, err := reader.List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil
	}
	var names []string
	for _, o := range list.Items {
		names = append(names, o.GetName())
	}
	return names
}
