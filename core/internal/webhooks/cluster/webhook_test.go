package cluster_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/manager"
	"github.com/slipway-capi/slipway/core/internal/webhooks/cluster"
)

var on = manager.Features{manager.FeatureClusterTopology: true}

type change func(*clusterv1.Cluster)

func made(changes ...change) *clusterv1.Cluster {
	c := &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: "c", Annotations: map[string]string{}}}
	for _, f := range changes {
		f(c)
	}
	return c
}

func infrastructure(c *clusterv1.Cluster) {
	c.Spec.InfrastructureRef = clusterv1.ContractVersionedObjectReference{APIGroup: "g", Kind: "K", Name: "i"}
}

func controlPlane(c *clusterv1.Cluster) {
	c.Spec.ControlPlaneRef = clusterv1.ContractVersionedObjectReference{APIGroup: "g", Kind: "K", Name: "p"}
}

func topology(version string) change {
	return func(c *clusterv1.Cluster) {
		c.Spec.Topology = clusterv1.Topology{ClassRef: clusterv1.ClusterClassRef{Name: "class"}, Version: version}
	}
}

func pods(blocks ...string) change {
	return func(c *clusterv1.Cluster) { c.Spec.ClusterNetwork.Pods.CIDRBlocks = blocks }
}

func services(blocks ...string) change {
	return func(c *clusterv1.Cluster) { c.Spec.ClusterNetwork.Services.CIDRBlocks = blocks }
}

func annotation(key, value string) change {
	return func(c *clusterv1.Cluster) { c.Annotations[key] = value }
}

func autoscaledDeployment(replicas *int32) change {
	return func(c *clusterv1.Cluster) {
		c.Spec.Topology.Workers.MachineDeployments = []clusterv1.MachineDeploymentTopology{{
			Name: "md", Class: "workers", Replicas: replicas,
			Metadata: clusterv1.ObjectMeta{Annotations: map[string]string{clusterv1.AutoscalerMinSizeAnnotation: "1", clusterv1.AutoscalerMaxSizeAnnotation: "3"}},
		}}
	}
}

// Conformance: WH-02, WH-10, WH-11, WH-12, WH-13, WH-14, WH-15, WH-16
func TestValidate(t *testing.T) {
	three := int32(3)
	for _, c := range []struct {
		name          string
		before, after *clusterv1.Cluster
		off           bool
		want          []string
	}{
		{name: "infrastructure alone", after: made(infrastructure)},
		{name: "control plane alone", after: made(controlPlane)},
		{name: "topology alone", after: made(topology("v1.37.2"))},
		{name: "nothing", after: made(pods("10.0.0.0/8")), want: []string{"spec: Required value"}},
		{name: "name too long", after: made(infrastructure, func(c *clusterv1.Cluster) { c.Name = strings.Repeat("a", 64) }), want: []string{"metadata.name"}},
		{name: "name that is no label", after: made(infrastructure, func(c *clusterv1.Cluster) { c.Name = "-a" }), want: []string{"metadata.name"}},
		{name: "ranges of both families", after: made(infrastructure, pods("10.0.0.0/16", "fd00::/64"), services("10.1.0.0/16"))},
		{name: "several bad ranges at once", after: made(infrastructure, pods("10.0.0.0/33", "10.0.0.0"), services("ten")),
			want: []string{"spec.clusterNetwork.pods.cidrBlocks[0]", "spec.clusterNetwork.pods.cidrBlocks[1]", "spec.clusterNetwork.services.cidrBlocks[0]"}},
		{name: "control plane added later", before: made(infrastructure), after: made(infrastructure, controlPlane)},
		{name: "references changed", before: made(infrastructure), after: made(infrastructure, func(c *clusterv1.Cluster) { c.Spec.InfrastructureRef.Name = "other" })},
		{name: "references removed", before: made(infrastructure, controlPlane, topology("v1.37.2")), after: made(topology("v1.37.2")), want: []string{"spec.infrastructureRef", "spec.controlPlaneRef"}},
		{name: "upgrade concurrency", after: made(infrastructure, annotation(clusterv1.ClusterTopologyUpgradeConcurrencyAnnotation, "2"))},
		{name: "upgrade concurrency of none", after: made(infrastructure, annotation(clusterv1.ClusterTopologyUpgradeConcurrencyAnnotation, "0")), want: []string{"at least 1"}},
		{name: "upgrade concurrency in words", after: made(infrastructure, annotation(clusterv1.ClusterTopologyUpgradeConcurrencyAnnotation, "two")), want: []string{"at least 1"}},
		{name: "topology without its feature", after: made(topology("v1.37.2")), off: true, want: []string{"feature gate ClusterTopology"}},
		{name: "topology with a version that is none", after: made(topology("v1.37")), want: []string{"spec.topology.version"}},
		{name: "topology added", before: made(infrastructure), after: made(infrastructure, topology("v1.37.2")), want: []string{"must not be added"}},
		{name: "topology added on purpose", before: made(infrastructure), after: made(infrastructure, topology("v1.37.2"), annotation(clusterv1.ClusterTopologyUnsafeUpdateClassNameAnnotation, ""))},
		{name: "topology removed", before: made(infrastructure, topology("v1.37.2")), after: made(infrastructure), want: []string{"spec.topology"}},
		{name: "patch version up", before: made(topology("v1.37.1")), after: made(topology("v1.37.2"))},
		{name: "minor version up", before: made(topology("v1.36.9")), after: made(topology("v1.37.0"))},
		{name: "version down", before: made(topology("v1.37.2")), after: made(topology("v1.37.1")), want: []string{"must not be lower than v1.37.2"}},
		{name: "version down on purpose", before: made(topology("v1.37.2")), after: made(topology("v1.37.1"), annotation(clusterv1.ClusterTopologyUnsafeUpdateVersionAnnotation, ""))},
		{name: "replicas left to the autoscaler", after: made(topology("v1.37.2"), autoscaledDeployment(nil))},
		{name: "negative replicas", after: made(topology("v1.37.2"), func(c *clusterv1.Cluster) {
			less := int32(-2)
			c.Spec.Topology.ControlPlane.Replicas = &less
			c.Spec.Topology.Workers.MachineDeployments = []clusterv1.MachineDeploymentTopology{{Name: "md", Class: "workers", Replicas: &less}}
			c.Spec.Topology.Workers.MachinePools = []clusterv1.MachinePoolTopology{{Name: "mp", Class: "workers", Replicas: &less}}
		}), want: []string{"spec.topology.controlPlane.replicas", "spec.topology.workers.machineDeployments[0].replicas", "spec.topology.workers.machinePools[0].replicas"}},
		{name: "replicas against the autoscaler", after: made(topology("v1.37.2"), autoscaledDeployment(&three)), want: []string{"spec.topology.workers.machineDeployments[0].replicas"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			features := on
			if c.off {
				features = nil
			}
			problems := cluster.Validate(c.after, c.before, features)
			if assert.Len(t, problems, len(c.want), "%v", problems) {
				for i, text := range c.want {
					assert.ErrorContains(t, problems[i], text)
				}
			}
		})
	}
}

// Conformance: WH-04
func TestDefault(t *testing.T) {
	c := made(topology("1.37.2"))
	cluster.Default(c)
	assert.Equal(t, "v1.37.2", c.Spec.Topology.Version)
}
