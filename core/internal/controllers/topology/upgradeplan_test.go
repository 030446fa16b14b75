package topology

import (
	"testing"

	"github.com/stretchr/testify/assert"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/core/internal/topology/desired"
	"github.com/slipway-capi/slipway/core/internal/topology/upgrade"
)

// TestUpgradePlans: what lies ahead is told while an upgrade goes on, with what is being rolled out in front, and nothing is told
// otherwise.
//
// Conformance: TP-39
func TestUpgradePlans(t *testing.T) {
	const a, b, c = "v1.35.4", "v1.36.3", "v1.37.2"
	for _, row := range []struct {
		name                  string
		told, observed        string
		workers, runs         string
		controlPlane, updated []string
	}{
		{"nothing to do", c, c, c, c, nil, nil},
		{"not created yet", c, "", "", "", nil, nil},
		{"about to begin", a, a, a, a, []string{b, c}, []string{c}},
		{"the first step", b, a, a, a, []string{b, c}, []string{c}},
		{"between the steps", b, b, a, a, []string{c}, []string{c}},
		{"the last step", c, b, a, a, []string{c}, []string{c}},
		{"the workers' turn", c, c, a, a, nil, []string{c}},
		{"the workers are on it", c, c, c, a, nil, []string{c}},
		{"workers far behind", a, a, "v1.33.0", "v1.33.0", []string{b, c}, []string{b, c}},
		{"no way", "v1.34.0", "v1.34.0", "", "", nil, nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			w := aWorld()
			w.Steps = []string{a, b, c}
			if row.name == "no way" {
				w.Steps = nil
			}
			w.ControlPlane = &upgrade.ControlPlane{Version: row.told, Observed: row.observed}
			if row.workers != "" {
				md := &clusterv1.MachineDeployment{}
				md.Spec.Template.Spec.Version = row.workers
				md.Status.Versions = []clusterv1.StatusVersion{{Version: row.runs, Replicas: 2}}
				w.Current.MachineDeployments = map[string]desired.CurrentDeployment{"md": {Object: md}}
			}
			plans := plansOf(w)
			assert.Equal(t, row.controlPlane, plans.ControlPlane)
			assert.Equal(t, row.updated, plans.Workers)

			status := clusterv1.ClusterStatus{Workers: &clusterv1.WorkersStatus{UpgradePlan: []clusterv1.UpgradeStep{{Version: "old"}}}}
			plans.tell(&status)
			assert.Equal(t, row.updated, versionsOf(status.Workers.UpgradePlan))
			if assert.Equal(t, len(row.controlPlane) > 0, status.ControlPlane != nil); status.ControlPlane != nil {
				assert.Equal(t, row.controlPlane, versionsOf(status.ControlPlane.UpgradePlan))
			}
		})
	}
}

func versionsOf(steps []clusterv1.UpgradeStep) (out []string) {
	for _, s := range steps {
		out = append(out, s.Version)
	}
	return out
}
