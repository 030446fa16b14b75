package plan

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/util/intstr"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	hooks "github.com/slipway-capi/slipway/contract/api/runtime/hooks/v1alpha1"
)

// TestUpdatesInPlace: an extension that covers a change lets the Machines live, and who requires that reads what is in the way.
//
// Conformance: MD-26, MD-60
func TestUpdatesInPlace(t *testing.T) {
	type ask = func(context.Context, string, *hooks.CanUpdateMachineSetRequest) (*hooks.CanUpdateMachineSetResponse, error)
	able := func(context.Context, string, *hooks.CanUpdateMachineSetRequest) (*hooks.CanUpdateMachineSetResponse, error) {
		r := &hooks.CanUpdateMachineSetResponse{}
		r.MachineSetPatch = hooks.Patch{PatchType: hooks.JSONMergePatchType, Patch: []byte(`{"spec":{"template":{"spec":{"version":"v1.38.0"}}}}`)}
		return r, nil
	}
	missing := func(unavailable int32) func(*spec) {
		return func(s *spec) {
			newVersion(s)
			s.Rollout.Strategy.RollingUpdate.MaxSurge, s.Rollout.Strategy.RollingUpdate.MaxUnavailable = ptr(intstr.FromInt32(1)), ptr(intstr.FromInt32(unavailable))
		}
	}
	updated := Plan{Machines: all(InPlace, "an extension updates it: "+versionWhy, versionField)}
	kept := func(why string) Plan {
		return Plan{Machines: all(Untouched, "", versionField), Blocked: []string{"Machines of MachineSet md-a stay: " + why}}
	}
	for _, c := range []struct {
		name   string
		ask    ask
		policy string
		change func(*spec)
		want   Plan
	}{
		{"covered", able, "", missing(1), updated},
		{"covered and required", able, "Require", missing(2), updated},
		{"covered, but never", able, "Never", missing(1), Plan{Machines: all(Replaced, versionWhy, versionField)}},
		{"nobody to ask", func(context.Context, string, *hooks.CanUpdateMachineSetRequest) (*hooks.CanUpdateMachineSetResponse, error) {
			return nil, ErrNobody
		}, "", missing(1), Plan{Machines: all(Replaced, versionWhy, versionField)}},
		{"required, and nobody to ask", nil, "Require", missing(1), kept("no extension changes these fields in place: spec.template.spec.version")},
		{"not known", func(context.Context, string, *hooks.CanUpdateMachineSetRequest) (*hooks.CanUpdateMachineSetResponse, error) {
			return nil, errors.New("it sleeps")
		}, "", missing(1), kept("it is not known what can be updated in place: it sleeps")},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := newManagement(t)
			c.change(&m.md.Spec)
			if c.policy != "" {
				m.md.Annotations = map[string]string{clusterv1.InPlaceUpdatesAnnotation: c.policy}
			}
			plan, err := Make(m.Context(), Request{Reader: m.Client, Resolver: resolver(), Proposed: m.md, Now: epoch, CanUpdate: c.ask})
			require.NoError(t, err)
			assert.Equal(t, &c.want, plan)
		})
	}
	m := newManagement(t)
	missing(0)(&m.md.Spec)
	plan, err := Make(m.Context(), Request{Reader: m.Client, Resolver: resolver(), Proposed: m.md, Now: epoch, CanUpdate: able})
	require.NoError(t, err)
	counted := map[Fate]int{}
	for _, machine := range plan.Machines {
		counted[machine.Fate]++
	}
	assert.Equal(t, map[Fate]int{InPlace: 2, Replaced: 1}, counted, "one new Machine comes first, so that none is missing")
}
