package cluster_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/core/internal/topology/variables"
	"github.com/slipway-capi/slipway/core/internal/webhooks/cluster"
)

func classWith(change func(*clusterv1.ClusterClass)) *clusterv1.ClusterClass {
	class := &clusterv1.ClusterClass{}
	class.Name = "class"
	class.Spec.Infrastructure.TemplateRef = clusterv1.MachineHealthCheckRemediationTemplateReference{APIVersion: "i/v1", Kind: "FakeClusterTemplate", Name: "a"}
	class.Spec.Workers.MachineDeployments = []clusterv1.MachineDeploymentClass{{Class: "linux"}}
	if change != nil {
		change(class)
	}
	return class
}

func workers(change func(*clusterv1.MachineDeploymentTopology)) change {
	return func(c *clusterv1.Cluster) {
		g := clusterv1.MachineDeploymentTopology{Name: "workers", Class: "linux"}
		change(&g)
		c.Spec.Topology.Workers.MachineDeployments = append(c.Spec.Topology.Workers.MachineDeployments, g)
	}
}

// Conformance: TP-12, TP-29, WH-15, WH-17
func TestValidateAmong(t *testing.T) {
	yes, timeout := true, int32(60)
	enabled := func(g *clusterv1.MachineDeploymentTopology) { g.HealthCheck.Enabled = &yes }
	versions := func(list ...string) *clusterv1.ClusterClass {
		return classWith(func(c *clusterv1.ClusterClass) { c.Spec.KubernetesVersions = list })
	}
	planned := classWith(func(c *clusterv1.ClusterClass) { c.Spec.Upgrade.External.GenerateUpgradePlanExtension = "plan.x" })
	otherKind := classWith(func(c *clusterv1.ClusterClass) { c.Spec.Infrastructure.TemplateRef.Kind = "OtherClusterTemplate" })
	for _, c := range []struct {
		name          string
		before, after *clusterv1.Cluster
		among         cluster.Among
		want          []string
		warning       string
	}{
		{name: "no topology", after: made(infrastructure)},
		{name: "a class that is not there yet", after: made(topology("v1.37.2")), warning: "ClusterClass class does not exist yet"},
		{name: "a class that is gone", before: made(topology("v1.37.1")), after: made(topology("v1.37.2")), want: []string{"ClusterClass class does not exist"}},
		{name: "good", after: made(topology("v1.37.2"), workers(func(*clusterv1.MachineDeploymentTopology) {})), among: cluster.Among{Class: classWith(nil)}},
		{name: "an unknown worker class", after: made(topology("v1.37.2"), workers(func(g *clusterv1.MachineDeploymentTopology) { g.Class = "mac" })),
			among: cluster.Among{Class: classWith(nil)}, want: []string{"class class has no such worker class; it has linux"}},
		{name: "a health check without checks", after: made(topology("v1.37.2"), workers(enabled)), among: cluster.Among{Class: classWith(nil)},
			want: []string{"spec.topology.workers.machineDeployments[0].healthCheck.checks"}},
		{name: "a health check with the checks of the class", after: made(topology("v1.37.2"), workers(enabled)), among: cluster.Among{Class: classWith(func(c *clusterv1.ClusterClass) {
			c.Spec.Workers.MachineDeployments[0].HealthCheck.Checks.NodeStartupTimeoutSeconds = &timeout
		})}},
		{name: "a move to a class of the same kinds", before: made(topology("v1.37.2")), after: made(topology("v1.37.2")), among: cluster.Among{Class: classWith(nil), ClassBefore: classWith(nil)}},
		{name: "a move to a class of other kinds", before: made(topology("v1.37.2")), after: made(topology("v1.37.2")), among: cluster.Among{Class: otherKind, ClassBefore: classWith(nil)},
			want: []string{"the cluster cannot move to this class: its infrastructure.templateRef must stay of the same group and kind"}},
		{name: "such a move on purpose", before: made(topology("v1.37.2")), after: made(topology("v1.37.2"), annotation(clusterv1.ClusterTopologyUnsafeUpdateClassNameAnnotation, "")),
			among: cluster.Among{Class: otherKind, ClassBefore: classWith(nil)}},
		{name: "one minor up", before: made(topology("v1.36.9")), after: made(topology("v1.37.0")), among: cluster.Among{Class: classWith(nil)}},
		{name: "two minors up", before: made(topology("v1.35.9")), after: made(topology("v1.37.0")), among: cluster.Among{Class: classWith(nil)}, want: []string{"there is no way from v1.35.9 to v1.37.0"}},
		{name: "two minors up with a list", before: made(topology("v1.35.9")), after: made(topology("v1.37.0")), among: cluster.Among{Class: versions("v1.35.9", "v1.36.1", "v1.37.0")}},
		{name: "two minors up with an extension", before: made(topology("v1.35.9")), after: made(topology("v1.37.0")), among: cluster.Among{Class: planned}},
		{name: "a version that is not in the list", after: made(topology("v1.37.1")), among: cluster.Among{Class: versions("v1.37.0")}, want: []string{`spec.topology.version: Unsupported value: "v1.37.1": supported values: "v1.37.0"`}},
		{name: "one that has not been in the list before", before: made(topology("v1.37.1")), after: made(topology("v1.37.1"), pods("10.0.0.0/16")), among: cluster.Among{Class: versions("v1.37.0")}},
		{name: "a change in the middle of an upgrade", before: made(topology("v1.36.0")), after: made(topology("v1.37.0")),
			among: cluster.Among{Class: classWith(nil), Unfinished: "MachineDeployment a is still to be upgraded to v1.36.0"}, want: []string{"must not change now: MachineDeployment a is still"}},
		{name: "such a change on purpose", before: made(topology("v1.36.0")), after: made(topology("v1.38.0"), annotation(clusterv1.ClusterTopologyUnsafeUpdateVersionAnnotation, "")),
			among: cluster.Among{Class: classWith(nil), Unfinished: "something"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.among.Class != nil {
				known, err := variables.NewCatalog(c.among.Class)
				require.NoError(t, err)
				c.among.Variables = known
			}
			warnings, problems := cluster.ValidateAmong(t.Context(), c.after, c.before, c.among)
			require.Len(t, problems, len(c.want), "%v", problems)
			for i, want := range c.want {
				assert.ErrorContains(t, problems[i], want)
			}
			if c.warning == "" {
				assert.Empty(t, warnings)
				return
			}
			require.Len(t, warnings, 1)
			assert.Contains(t, warnings[0], c.warning)
		})
	}
}
