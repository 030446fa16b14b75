package paused_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/paused"
)

// Conformance: SH-02
func TestPaused(t *testing.T) {
	yes, no := true, false
	byCluster := &clusterv1.Cluster{Spec: clusterv1.ClusterSpec{Paused: &yes}}
	running := &clusterv1.Cluster{Spec: clusterv1.ClusterSpec{Paused: &no}}
	annotated := &clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{Generation: 4, Annotations: map[string]string{clusterv1.PausedAnnotation: "false"}}}
	plain := &clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{Generation: 4}}
	for _, c := range []struct {
		name    string
		cluster *clusterv1.Cluster
		obj     *clusterv1.Machine
		want    bool
		message string
	}{
		{"no cluster known", nil, plain, false, ""},
		{"nothing set", &clusterv1.Cluster{}, plain, false, ""},
		{"set to false", running, plain, false, ""},
		{"by the cluster", byCluster, plain, true, "Cluster spec.paused is set to true"},
		{"by annotation, whatever its value", running, annotated, true, "the object has the annotation cluster.x-k8s.io/paused"},
		{"by both", byCluster, annotated, true, "Cluster spec.paused is set to true, the object has the annotation cluster.x-k8s.io/paused"},
	} {
		t.Run(c.name, func(t *testing.T) {
			is, message := paused.Reason(c.cluster, c.obj)
			assert.Equal(t, c.want, is)
			assert.Equal(t, c.want, paused.Is(c.cluster, c.obj))
			assert.Equal(t, c.message, message)
			got := paused.Condition(c.cluster, c.obj)
			want := metav1.Condition{Type: "Paused", Status: metav1.ConditionFalse, Reason: "NotPaused", Message: c.message, ObservedGeneration: 4}
			if c.want {
				want.Status, want.Reason = metav1.ConditionTrue, "Paused"
			}
			assert.Equal(t, want, got)
		})
	}
}
