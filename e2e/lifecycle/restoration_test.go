//go:build e2e

package lifecycle

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
)

// bonds is what ties an object to others: who it is, its owners and its finalizers.
type bonds struct{ UID, Owners, Finalizers string }

// TestInMemoryRestoration takes all owner references and finalizers from all objects of three clusters, as a restore from a backup
// does. They come back by themselves, and after a pause; nobody is replaced, and before and after it everything is quiet.
//
// Conformance: SH-42
func TestInMemoryRestoration(t *testing.T) {
	const patience = 90 * time.Second
	p := startPlane(t)
	kinds := p.kinds(t)
	for name, manifest := range map[string]string{
		"plain": "docs/quickstart/in-memory.yaml", "classy": "docs/quickstart/in-memory-clusterclass.yaml", "pool": "e2e/lifecycle/testdata/machinepool.yaml",
	} {
		p.slipway(t, "quickstart", "-f", named(t, manifest, name), "--timeout", patience.String())
	}
	p.slipway(t, "quickstart", "-f", "e2e/lifecycle/testdata/restoration.yaml", "-f", named(t, "docs/quickstart/in-memory.yaml", "plain"), "--timeout", patience.String())
	cluster := &clusterv1.Cluster{ObjectMeta: meta("plain")}
	require.NoError(t, p.Patch(t.Context(), cluster, merge(`{"metadata":{"labels":{"settings":"plain"}}}`)))
	require.Eventually(t, func() bool {
		return slices.Contains(slices.Collect(maps.Keys(p.bonds(t, kinds))), "ClusterResourceSetBinding/plain")
	},
		patience, 100*time.Millisecond, "the resources are applied")
	before := p.settled(t, kinds)
	require.NotEmpty(t, before)

	for _, paused := range []bool{false, true} {
		t.Run(fmt.Sprintf("paused %t", paused), func(t *testing.T) {
			p.pause(t, paused)
			p.strip(t, kinds)
			p.pause(t, false)
			var now map[string]bonds
			if !assert.Eventually(t, func() bool { now = p.bonds(t, kinds); return maps.Equal(before, now) }, patience, 200*time.Millisecond, "all is as it was") {
				for name := range before {
					assert.Equal(t, before[name], now[name], name)
				}
			}
			assert.Len(t, p.settled(t, kinds), len(before))
		})
	}
}

// kinds are those of all objects that a cluster is made of.
func (p *plane) kinds(t *testing.T) []schema.GroupVersionKind {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", p.kubeconfig)
	require.NoError(t, err)
	d, err := discovery.NewDiscoveryClientForConfig(config)
	require.NoError(t, err)
	lists, err := d.ServerPreferredNamespacedResources()
	require.NoError(t, err)
	out := []schema.GroupVersionKind{{Version: "v1", Kind: "Secret"}, {Version: "v1", Kind: "ConfigMap"}}
	for _, list := range lists {
		version, err := schema.ParseGroupVersion(list.GroupVersion)
		require.NoError(t, err)
		for _, r := range list.APIResources {
			if strings.HasSuffix(version.Group, "cluster.x-k8s.io") && slices.Contains(r.Verbs, "patch") {
				out = append(out, version.WithKind(r.Kind))
			}
		}
	}
	require.Greater(t, len(out), 20)
	return out
}

func (p *plane) each(t *testing.T, kinds []schema.GroupVersionKind, do func(unstructured.Unstructured)) {
	t.Helper()
	for _, kind := range kinds {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(kind)
		list.SetKind(kind.Kind + "List")
		require.NoError(t, p.List(t.Context(), list, client.InNamespace("default")), kind)
		for _, o := range list.Items {
			do(o)
		}
	}
}

func (p *plane) bonds(t *testing.T, kinds []schema.GroupVersionKind) map[string]bonds {
	t.Helper()
	out := map[string]bonds{}
	p.each(t, kinds, func(o unstructured.Unstructured) {
		var owners []string
		for _, r := range o.GetOwnerReferences() {
			owners = append(owners, fmt.Sprintf("%s %s %s %s controller=%t blocks=%t", r.APIVersion, r.Kind, r.Name, r.UID,
				r.Controller != nil && *r.Controller, r.BlockOwnerDeletion != nil && *r.BlockOwnerDeletion))
		}
		finalizers := o.GetFinalizers()
		slices.Sort(owners)
		slices.Sort(finalizers)
		out[o.GetKind()+"/"+o.GetName()] = bonds{UID: string(o.GetUID()), Owners: strings.Join(owners, ", "), Finalizers: strings.Join(finalizers, ", ")}
	})
	return out
}

// settled waits until no object has changed for a while.
func (p *plane) settled(t *testing.T, kinds []schema.GroupVersionKind) map[string]bonds {
	t.Helper()
	const quiet = 10 * time.Second
	last, since := map[string]string{}, time.Now()
	require.Eventually(t, func() bool {
		now := map[string]string{}
		p.each(t, kinds, func(o unstructured.Unstructured) { now[o.GetKind()+"/"+o.GetName()] = o.GetResourceVersion() })
		if !maps.Equal(last, now) {
			last, since = now, time.Now()
		}
		return time.Since(since) > quiet
	}, 90*time.Second, 200*time.Millisecond, "no object changes any more")
	return p.bonds(t, kinds)
}

func (p *plane) pause(t *testing.T, paused bool) {
	t.Helper()
	var list clusterv1.ClusterList
	require.NoError(t, p.List(t.Context(), &list))
	for _, cluster := range list.Items {
		require.NoError(t, p.Patch(t.Context(), &cluster, merge(fmt.Sprintf(`{"spec":{"paused":%t}}`, paused))))
	}
}

func (p *plane) strip(t *testing.T, kinds []schema.GroupVersionKind) {
	t.Helper()
	p.each(t, kinds, func(o unstructured.Unstructured) {
		o.SetManagedFields(nil)
		require.NoError(t, p.Patch(t.Context(), &o, merge(`{"metadata":{"ownerReferences":null,"finalizers":null}}`)), "%s %s", o.GetKind(), o.GetName())
	})
}
