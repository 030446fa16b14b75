package clustercache

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
)

// BenchmarkMemoryPerCluster measures what a connected cluster costs whose Nodes are watched, as every cluster's are: heap and
// stacks, with Nodes of ordinary size. docs/benchmarks.md holds the numbers.
func BenchmarkMemoryPerCluster(b *testing.B) {
	// Conformance: CC-17
	made := 0
	for _, nodes := range []int{0, 10, 100} {
		for ; made < nodes; made++ {
			require.NoError(b, env.Client.Create(b.Context(), ordinaryNode(fmt.Sprintf("bench-%03d", made))))
		}
		b.Run(fmt.Sprintf("nodes=%d", nodes), func(b *testing.B) { measureConnections(b, nodes) })
	}
	b.Cleanup(func() { _ = env.Client.DeleteAllOf(context.Background(), &corev1.Node{}) })
}

func measureConnections(b *testing.B, nodes int) {
	const clusters = 20
	var perCluster, goroutines float64
	for range b.N {
		var objects []client.Object
		for i := range clusters {
			objects = append(objects, provisioned(fmt.Sprintf("c%d", i), env.KubeConfig)...)
		}
		r, _ := bench(b, Options{}, objects...)
		before, running := memory(), runtime.NumGoroutine()
		for i := range clusters {
			request := requestFor(fmt.Sprintf("c%d", i))
			_, err := r.Reconcile(b.Context(), request)
			require.NoError(b, err)
			require.NoError(b, r.Watch(b.Context(), request.NamespacedName, WatchSpec{Name: "nodes", Object: &corev1.Node{}, Watcher: watcher, Handler: handler.Funcs{}}))
			reader, err := r.Reader(b.Context(), request.NamespacedName)
			require.NoError(b, err)
			list := &corev1.NodeList{}
			require.NoError(b, reader.List(b.Context(), list))
			require.Len(b, list.Items, nodes)
		}
		perCluster += float64(memory()-before) / clusters
		goroutines += float64(runtime.NumGoroutine()-running) / clusters
		r.stop()
	}
	b.ReportMetric(perCluster/float64(b.N)/1024, "KiB/cluster")
	b.ReportMetric(goroutines/float64(b.N), "goroutines/cluster")
}

// memory is what lives now.
func memory() uint64 {
	var stats runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc + stats.StackInuse
}

// ordinaryNode is as big as the Nodes of real clusters: conditions, addresses, labels, and 50 images that no controller reads.
func ordinaryNode(name string) *corev1.Node {
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{}, Annotations: map[string]string{}}, Spec: corev1.NodeSpec{ProviderID: "bench:///" + name}}
	for i := range 15 {
		n.Labels[fmt.Sprintf("example.org/label-%d", i)], n.Annotations[fmt.Sprintf("example.org/annotation-%d", i)] = "value", strings.Repeat("x", 40)
	}
	for i := range 5 {
		n.Status.Conditions = append(n.Status.Conditions, corev1.NodeCondition{Type: corev1.NodeConditionType(fmt.Sprintf("Condition%d", i)), Status: corev1.ConditionFalse, Reason: "Reason", Message: strings.Repeat("m", 60)})
	}
	for i := range 50 {
		n.Status.Images = append(n.Status.Images, corev1.ContainerImage{Names: []string{fmt.Sprintf("registry.example.org/some/image-%d@sha256:%s", i, strings.Repeat("a", 64))}})
	}
	return n
}
