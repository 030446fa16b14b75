package topology

import (
	"context"

	"k8s.io/apimachinery/pkg/util/validation/field"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/core/internal/topology/desired"
	"github.com/slipway-capi/slipway/core/internal/topology/patches"
	"github.com/slipway-capi/slipway/core/internal/topology/variables"
)

// values are those of a Cluster and of its groups, with the defaults of its class. Admission has judged them, but by the class as it
// was then.
func values(ctx context.Context, topology clusterv1.Topology, known *variables.Catalog) (patches.Values, map[desired.Group]patches.Values, error) {
	complete := topology.DeepCopy()
	known.Default(complete)
	if err := known.Validate(ctx, complete, nil, field.NewPath("spec", "topology")).ToAggregate(); err != nil {
		return nil, nil, err
	}
	overrides := map[desired.Group]patches.Values{}
	add := func(group desired.Group, o clusterv1.VariableOverrides) {
		if len(o.Overrides) == 0 {
			return
		}
		overrides[group] = patches.Values{}
		for _, v := range o.Overrides {
			overrides[group][v.Name] = v.Value
		}
	}
	add(desired.Group{Kind: desired.ControlPlaneGroup}, complete.ControlPlane.Variables)
	for _, g := range complete.Workers.MachineDeployments {
		add(desired.Group{Kind: desired.MachineDeploymentGroup, Name: g.Name}, g.Variables)
	}
	for _, g := range complete.Workers.MachinePools {
		add(desired.Group{Kind: desired.MachinePoolGroup, Name: g.Name}, g.Variables)
	}
	own := patches.Values{}
	for _, v := range complete.Variables {
		own[v.Name] = v.Value
	}
	return own, overrides, nil
}
