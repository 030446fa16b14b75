package topology

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	hooks "github.com/slipway-capi/slipway/contract/api/runtime/hooks/v1alpha1"
	runtimev1 "github.com/slipway-capi/slipway/contract/api/runtime/v1beta2"
	"github.com/slipway-capi/slipway/core/internal/runtime/lifecycle"
)

// Conformance: RT-37
func TestPlansThatAreRefused(t *testing.T) {
	for _, c := range []struct {
		name                  string
		controlPlane, workers []string
		want                  string
	}{
		{name: "good", controlPlane: []string{"v1.36.1", "v1.36.4", "v1.37.2"}, workers: []string{"v1.36.4", "v1.37.2"}},
		{name: "nothing"},
		{name: "workers begin where the control plane is", controlPlane: []string{"v1.36.0", "v1.37.2"}, workers: []string{"v1.35.0", "v1.37.2"}},
		{name: "elsewhere", controlPlane: []string{"v1.36.0"}, want: "controlPlaneUpgrades ends with v1.36.0 instead of v1.37.2"},
		{name: "a hole", controlPlane: []string{"v1.37.2"}, want: "controlPlaneUpgrades leaves a minor version out between 1.35.0 and 1.37.2"},
		{name: "down", controlPlane: []string{"v1.36.4", "v1.36.0", "v1.37.2"}, want: "controlPlaneUpgrades does not go up from 1.36.4 to 1.36.0"},
		{name: "nonsense", controlPlane: []string{"late"}, want: `controlPlaneUpgrades has "late", which is no version`},
		{name: "workers elsewhere", controlPlane: []string{"v1.36.0", "v1.37.2"}, workers: []string{"v1.36.0"}, want: "workersUpgrades ends with v1.36.0 instead of v1.37.2"},
		{name: "workers alone", controlPlane: []string{"v1.36.0", "v1.37.2"}, workers: []string{"v1.36.9", "v1.37.2"}, want: "workersUpgrades has v1.36.9, which the control plane does not take"},
	} {
		t.Run(c.name, func(t *testing.T) {
			plan := &hooks.GenerateUpgradePlanResponse{}
			for _, v := range c.controlPlane {
				plan.ControlPlaneUpgrades = append(plan.ControlPlaneUpgrades, hooks.UpgradeStep{Version: v})
			}
			for _, v := range c.workers {
				plan.WorkersUpgrades = append(plan.WorkersUpgrades, hooks.UpgradeStep{Version: v})
			}
			controlPlane, workers, err := planned(aWorld().Cluster, "v1.35.0", plan)
			if c.want != "" {
				require.EqualError(t, err, c.want)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, c.controlPlane, controlPlane)
			assert.Equal(t, c.workers, workers)
		})
	}
}

// Conformance: RT-31, RT-35
func TestWhatHooksHold(t *testing.T) {
	waits := lifecycle.Decision{Waits: []lifecycle.Wait{{Hook: "H", Message: "a: no"}, {Hook: "I", Message: "b: no"}}, AfterSeconds: 5}

	w := aWorld()
	w.Lifecycle = waits
	w.Lifecycle.HoldCreation = true
	d := decide(t, w)
	assert.Empty(t, d.Actions, "nothing is made")
	assert.Equal(t, clusterv1.ClusterTopologyReconciledHookBlockingReason, d.Condition.Reason)
	assert.Equal(t, "Hook H makes the cluster wait (a: no)\nHook I makes the cluster wait (b: no)", d.Condition.Message)
	assert.Equal(t, 5*time.Second, d.After)

	w.Lifecycle = lifecycle.Decision{Pending: []string{"A", "B"}, Step: "v1.37.2"}
	d = decide(t, w)
	assert.Equal(t, Note{Pending: "A,B", Step: "v1.37.2"}, d.Actions[0], "what must not be forgotten is noted first")
	w.Cluster.Annotations = map[string]string{runtimev1.PendingHooksAnnotation: "B,A", clusterv1.ClusterTopologyUpgradeStepAnnotation: "v1.37.2"}
	d = decide(t, w)
	assert.NotEqual(t, Note{Pending: "A,B", Step: "v1.37.2"}, d.Actions[0], "once")

	w = aWorld()
	w.Cluster.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)}
	w.ConsentBeforeDelete, w.Lifecycle = true, waits
	d = decide(t, w)
	assert.Empty(t, d.Actions)
	assert.Equal(t, 5*time.Second, d.After)
	w.Err = errors.New("it is broken")
	d = decide(t, w)
	assert.Empty(t, d.Actions, "who cannot be asked does not agree")
	require.EqualError(t, d.Err, "it is broken")
	w.Err, w.Lifecycle = nil, lifecycle.Decision{}
	assert.Equal(t, []string{"consent"}, actions(decide(t, w)))
}
