package machine

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
)

// Conformance: MA-52
func TestWhatOfARevisionMatters(t *testing.T) {
	four := int32(4)
	for _, c := range []struct {
		name          string
		before, after client.Object
		wakes         bool
	}{
		{"deployment: version", &clusterv1.MachineDeployment{}, changed(func(md *clusterv1.MachineDeployment) { md.Spec.Template.Spec.Version = "v1.38.0" }), true},
		{"deployment: rollout.after", &clusterv1.MachineDeployment{}, changed(func(md *clusterv1.MachineDeployment) { md.Spec.Rollout.After = metav1.NewTime(time.Unix(9, 0)) }), true},
		{"deployment: replicas", &clusterv1.MachineDeployment{}, changed(func(md *clusterv1.MachineDeployment) { md.Spec.Replicas, md.Generation = &four, 2 }), false},
		{"deployment: what changes in place", &clusterv1.MachineDeployment{}, changed(func(md *clusterv1.MachineDeployment) { md.Spec.Template.Spec.MinReadySeconds = &four }), false},
		{"set: failure domain", &clusterv1.MachineSet{}, changed(func(s *clusterv1.MachineSet) { s.Spec.Template.Spec.FailureDomain = "a" }), true},
		{"set: replicas", &clusterv1.MachineSet{}, changed(func(s *clusterv1.MachineSet) { s.Spec.Replicas = &four }), false},
	} {
		assert.Equal(t, c.wakes, revisionMatters().Update(event.UpdateEvent{ObjectOld: c.before, ObjectNew: c.after}), c.name)
	}
}

func changed[T any](change func(*T)) *T {
	o := new(T)
	change(o)
	return o
}
