package lifecycle

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/bootstrapreport"
	"github.com/slipway-capi/slipway/contract/conditions"
)

// TestFailedBoot: a machine whose first boot fails says why, and a health check that acts on it replaces the machine.
func TestFailedBoot(t *testing.T) {
	p := startPlane(t)
	p.slipway(t, "quickstart", "-f", renamed(t, "docs/quickstart/in-memory.yaml"), "--timeout", "90s")
	infrastructure := object("infrastructure.cluster.x-k8s.io", "DevCluster")
	infrastructure.SetName(clusterName)
	infrastructure.SetNamespace("default")
	p.faults(t, infrastructure, `{"failedBoots":[{"machines":"`+clusterName+`-workers-*","output":"error: error execution phase preflight: token id \"abcdef\" is invalid for this cluster or it has expired: abcdef.0123456789abcdef"}]}`)
	workers := &clusterv1.MachineDeployment{ObjectMeta: meta(clusterName + "-workers")}
	require.NoError(t, p.Patch(t.Context(), workers, merge(`{"spec":{"replicas":2}}`)))

	var failed clusterv1.Machine
	require.Eventually(t, func() bool {
		list := &clusterv1.MachineList{}
		require.NoError(t, p.List(t.Context(), list))
		for _, failed = range list.Items {
			if conditions.IsTrue(&failed, bootstrapreport.ConditionType) {
				return true
			}
		}
		return false
	}, 60*time.Second, 200*time.Millisecond, "no Machine tells why it has no Node")
	c := conditions.Get(&failed, bootstrapreport.ConditionType)
	assert.Equal(t, string(bootstrapreport.TokenUnknown), c.Reason)
	assert.NotContains(t, c.Message, "0123456789abcdef")
	assert.True(t, strings.HasSuffix(c.Message, "[redacted]"), c.Message)
	assert.Contains(t, conditions.Message(&failed, clusterv1.MachineNodeHealthyCondition), "kubeadm join failed in phase preflight: token id")

	p.faults(t, infrastructure, "")
	check := &clusterv1.MachineHealthCheck{ObjectMeta: meta("failed-boots")}
	check.Spec.ClusterName = clusterName
	check.Spec.Selector.MatchLabels = map[string]string{clusterv1.MachineDeploymentNameLabel: workers.Name}
	check.Spec.Checks.UnhealthyMachineConditions = []clusterv1.UnhealthyMachineCondition{{Type: bootstrapreport.ConditionType, Status: "True", TimeoutSeconds: 1}}
	require.NoError(t, p.Create(t.Context(), check))
	require.Eventually(t, func() bool {
		return apierrors.IsNotFound(p.Get(t.Context(), client.ObjectKeyFromObject(&failed), &clusterv1.Machine{}))
	}, 60*time.Second, 200*time.Millisecond, "the Machine is not replaced")
	p.waitReady(t, 90*time.Second)
}

// faults makes a simulated cluster follow a plan.
func (p *plane) faults(t *testing.T, infrastructure client.Object, plan string) {
	t.Helper()
	before := infrastructure.DeepCopyObject().(client.Object)
	require.NoError(t, p.Get(t.Context(), client.ObjectKeyFromObject(infrastructure), before))
	after := before.DeepCopyObject().(client.Object)
	annotations := after.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations["inmemorycluster.infrastructure.cluster.x-k8s.io/faults"] = plan
	after.SetAnnotations(annotations)
	require.NoError(t, p.Patch(t.Context(), after, client.MergeFrom(before)))
}
