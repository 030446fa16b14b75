package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/slipway-capi/slipway/contract/extension/answers"
	"github.com/slipway-capi/slipway/core/internal/topology/upgrade"
)

// life plays a cluster: extensions, the note on the Cluster, and the providers that do what they are told.
type life struct {
	World
	// blocking names the hook whose extensions make the cluster wait.
	blocking string
	broken   string
	calls    []string
	last     Decision
	versions upgrade.Decision
}

func (l *life) ask(_ context.Context, c Call) (answers.Wait, error) {
	text := c.Hook
	if c.From != "" {
		text += " " + c.From
	}
	if c.To != "" {
		text += " " + c.To
	}
	l.calls = append(l.calls, text)
	switch c.Hook {
	case l.broken:
		return answers.Wait{}, errors.New("it is broken")
	case l.blocking:
		return answers.Wait{AfterSeconds: 7, Message: "h: later"}, nil
	}
	return answers.Wait{}, nil
}

// step is one reconcile; interrupted, it ends after the note.
func (l *life) step(t *testing.T, interrupted bool) {
	t.Helper()
	d, err := Settle(t.Context(), l.World, l.ask)
	require.NoError(t, err)
	l.last = d
	l.Pending, l.Step = d.Pending, d.Step
	if interrupted {
		return
	}
	w := l.Upgrade
	w.Hold, w.HoldWorkers = d.Hold, d.HoldWorkers
	l.versions, err = upgrade.Decide(w)
	require.NoError(t, err)
	if l.Upgrade.ControlPlane == nil {
		return
	}
	cp := *l.Upgrade.ControlPlane
	cp.Version = l.versions.ControlPlane
	l.Upgrade.ControlPlane = &cp
	groups := slices.Clone(l.Upgrade.MachineDeployments)
	for i, g := range groups {
		if v := l.versions.MachineDeployments.Versions[g.Name]; v != g.Version {
			groups[i].Version, groups[i].Upgrading = v, true
		}
	}
	l.Upgrade.MachineDeployments = groups
}

// work lets the providers do what they were told.
func (l *life) work() {
	cp := *l.Upgrade.ControlPlane
	cp.Observed = cp.Version
	l.Upgrade.ControlPlane = &cp
	groups := slices.Clone(l.Upgrade.MachineDeployments)
	for i := range groups {
		groups[i].Upgrading = false
	}
	l.Upgrade.MachineDeployments = groups
}

func running(version, wanted string, groups ...upgrade.Workers) *life {
	l := &life{World: World{Created: true, Initialized: true}}
	l.Upgrade = upgrade.World{Wanted: wanted, ControlPlane: &upgrade.ControlPlane{Version: version, Observed: version}}
	for i, g := range groups {
		g.Name = fmt.Sprintf("md%d", i)
		l.Upgrade.MachineDeployments = append(l.Upgrade.MachineDeployments, g)
	}
	return l
}

func group(version string) upgrade.Workers { return upgrade.Workers{Version: version} }

var oneStep = []string{
	"BeforeClusterUpgrade v1.36.0 v1.37.2", "BeforeControlPlaneUpgrade v1.36.0 v1.37.2", "AfterControlPlaneUpgrade v1.37.2",
	"BeforeWorkersUpgrade v1.36.0 v1.37.2", "AfterWorkersUpgrade v1.37.2", "AfterClusterUpgrade v1.37.2",
}

// Conformance: RT-30
func TestAnUpgradeFromEndToEnd(t *testing.T) {
	l := running("v1.36.0", "v1.37.2", group("v1.36.0"), group("v1.36.0"))
	for range 8 {
		l.step(t, false)
		l.step(t, false)
		l.work()
	}
	assert.Equal(t, oneStep, l.calls, "each once, in order")
	assert.Empty(t, l.Pending)
	assert.Empty(t, l.Step)
	assert.Equal(t, "v1.37.2", l.Upgrade.MachineDeployments[1].Version)
}

// Conformance: RT-30
func TestAnUpgradeThroughSeveralMinors(t *testing.T) {
	l := running("v1.33.0", "v1.37.2", group("v1.33.0"))
	l.Upgrade.Steps = []string{"v1.34.0", "v1.35.0", "v1.36.0", "v1.37.2"}
	var steps []string
	for range 12 {
		l.step(t, false)
		if !slices.Contains(steps, l.Step) {
			steps = append(steps, l.Step)
		}
		l.work()
	}
	assert.Equal(t, []string{
		"BeforeClusterUpgrade v1.33.0 v1.37.2",
		"BeforeControlPlaneUpgrade v1.33.0 v1.34.0", "AfterControlPlaneUpgrade v1.34.0",
		"BeforeControlPlaneUpgrade v1.34.0 v1.35.0", "AfterControlPlaneUpgrade v1.35.0",
		"BeforeControlPlaneUpgrade v1.35.0 v1.36.0", "AfterControlPlaneUpgrade v1.36.0",
		"BeforeWorkersUpgrade v1.33.0 v1.36.0", "AfterWorkersUpgrade v1.36.0",
		"BeforeControlPlaneUpgrade v1.36.0 v1.37.2", "AfterControlPlaneUpgrade v1.37.2",
		"BeforeWorkersUpgrade v1.36.0 v1.37.2", "AfterWorkersUpgrade v1.37.2", "AfterClusterUpgrade v1.37.2",
	}, l.calls)
	assert.Equal(t, []string{"v1.34.0", "v1.35.0", "v1.36.0", "v1.37.2", ""}, steps, "the control plane may act at each of them")
}

// Conformance: RT-31
func TestWhoeverWaitsHoldsWhatComesNext(t *testing.T) {
	done := map[string]func(*life) bool{
		"BeforeClusterUpgrade":      func(l *life) bool { return l.Upgrade.ControlPlane.Version == "v1.36.0" && len(l.Pending) == 0 },
		"BeforeControlPlaneUpgrade": func(l *life) bool { return l.Upgrade.ControlPlane.Version == "v1.36.0" },
		"AfterControlPlaneUpgrade":  func(l *life) bool { return l.Upgrade.MachineDeployments[0].Version == "v1.36.0" },
		"BeforeWorkersUpgrade":      func(l *life) bool { return l.Upgrade.MachineDeployments[0].Version == "v1.36.0" },
		"AfterWorkersUpgrade":       func(l *life) bool { return slices.Contains(l.Pending, "AfterClusterUpgrade") },
		"AfterClusterUpgrade":       func(l *life) bool { return slices.Equal(l.Pending, []string{"AfterClusterUpgrade"}) },
	}
	for name, held := range done {
		t.Run(name, func(t *testing.T) {
			l := running("v1.36.0", "v1.37.2", group("v1.36.0"))
			l.blocking = name
			for range 8 {
				l.step(t, false)
				l.work()
			}
			assert.True(t, held(l), "%+v", l.World)
			assert.Equal(t, []Wait{{name, "h: later"}}, l.last.Waits)
			assert.EqualValues(t, 7, l.last.AfterSeconds)
			assert.Equal(t, "Hook "+name+" makes the cluster wait (h: later)", l.last.Waits[0].String())
			l.blocking = ""
			for range 8 {
				l.step(t, false)
				l.work()
			}
			assert.Empty(t, l.Pending)
			assert.Equal(t, "v1.37.2", l.Upgrade.MachineDeployments[0].Version)
			l.broken = name
			l = running("v1.36.0", "v1.37.2", group("v1.36.0"))
			l.broken = name
			var err error
			for range 8 {
				if _, err = Settle(t.Context(), l.World, l.ask); err != nil {
					break
				}
				l.step(t, false)
				l.work()
			}
			require.EqualError(t, err, "it is broken")
		})
	}
}

// Conformance: RT-32
func TestNothingIsLostByInterruptions(t *testing.T) {
	for seed := range uint64(300) {
		random := rand.New(rand.NewPCG(seed, 1))
		l := running("v1.36.0", "v1.37.2", group("v1.36.0"), group("v1.36.0"))
		for range 60 {
			l.step(t, random.IntN(2) == 0)
			if random.IntN(3) == 0 {
				l.work()
			}
		}
		require.Empty(t, l.Pending, "seed %d", seed)
		var once []string
		for _, c := range l.calls {
			if len(once) == 0 || once[len(once)-1] != c {
				once = append(once, c)
			}
		}
		require.Equal(t, oneStep, once, "seed %d: all, in order; what was asked twice was asked in a row", seed)
	}
}

// Conformance: RT-33
func TestBeforeAndAfterTheBirth(t *testing.T) {
	l := &life{blocking: "BeforeClusterCreate"}
	l.Upgrade.Wanted = "v1.37.2"
	l.step(t, false)
	assert.True(t, l.last.HoldCreation)
	assert.Empty(t, l.Pending)
	l.blocking = ""
	l.step(t, false)
	assert.False(t, l.last.HoldCreation)
	assert.Equal(t, []string{"AfterControlPlaneInitialized"}, l.Pending)
	l.Created = true
	l.Upgrade.ControlPlane = &upgrade.ControlPlane{Version: "v1.37.2"}
	l.step(t, false)
	assert.Len(t, l.calls, 2)
	l.Initialized = true
	l.step(t, false)
	l.step(t, false)
	assert.Equal(t, []string{"BeforeClusterCreate", "BeforeClusterCreate", "AfterControlPlaneInitialized"}, l.calls)
	assert.Empty(t, l.Pending)
}

func TestUpgradesCanBeHeldByHand(t *testing.T) {
	l := running("v1.35.0", "v1.37.2")
	l.Upgrade.Steps = []string{"v1.36.0", "v1.37.2"}
	l.Held = "it is held"
	l.step(t, false)
	assert.Equal(t, "it is held", l.last.Hold)
	assert.Empty(t, l.calls)
	for _, off := range []bool{true, false} {
		l.Off, l.Held = off, ""
		l.step(t, false)
		l.work()
		l.Held = "too late"
		l.step(t, false)
		assert.Empty(t, l.last.Hold, "an upgrade that has begun goes on")
		l = running("v1.35.0", "v1.37.2")
		l.Upgrade.Steps = []string{"v1.36.0", "v1.37.2"}
	}
}

// Conformance: RT-34
func TestWithoutExtensionsOnlyStepsAreNoted(t *testing.T) {
	l := running("v1.35.0", "v1.37.2", group("v1.35.0"))
	l.Upgrade.Steps = []string{"v1.36.0", "v1.37.2"}
	l.Off = true
	l.step(t, false)
	assert.Equal(t, "v1.36.0", l.Step, "a step on the way is one that the control plane may take")
	l.work()
	l.step(t, false)
	assert.Equal(t, "v1.37.2", l.Upgrade.ControlPlane.Version)
	assert.Empty(t, l.Step)
	assert.Empty(t, l.Pending)
	assert.Empty(t, l.calls)

	l = running("v1.36.0", "v1.37.2")
	l.Off = true
	l.step(t, false)
	assert.Empty(t, l.Step, "one step needs no note")
}

func TestPlansOfCalls(t *testing.T) {
	l := running("v1.33.0", "v1.37.2", group("v1.33.0"))
	l.Upgrade.Steps = []string{"v1.34.0", "v1.35.0", "v1.36.0", "v1.37.2"}
	var seen []Call
	_, err := Settle(t.Context(), l.World, func(_ context.Context, c Call) (answers.Wait, error) {
		seen = append(seen, c)
		return answers.Wait{}, nil
	})
	require.NoError(t, err)
	assert.Equal(t, Call{Hook: "BeforeClusterUpgrade", From: "v1.33.0", To: "v1.37.2", ControlPlane: l.Upgrade.Steps, Workers: []string{"v1.36.0", "v1.37.2"}}, seen[0])
}

// Conformance: RT-39
func TestTheNextUpgradeWaitsForTheEndOfTheLast(t *testing.T) {
	l := running("v1.35.0", "v1.36.0", group("v1.35.0"))
	l.blocking = "AfterClusterUpgrade"
	for range 8 {
		l.step(t, false)
		l.work()
	}
	l.Upgrade.Wanted = "v1.37.2"
	l.calls = nil
	l.step(t, false)
	l.work()
	assert.Equal(t, []string{"AfterClusterUpgrade v1.36.0"}, l.calls)
	assert.Equal(t, "v1.36.0", l.Upgrade.ControlPlane.Version)
	l.blocking = "BeforeControlPlaneUpgrade"
	l.calls = nil
	for range 3 {
		l.step(t, false)
		l.work()
	}
	assert.Equal(t, []string{
		"AfterClusterUpgrade v1.36.0", "BeforeClusterUpgrade v1.36.0 v1.37.2", "BeforeControlPlaneUpgrade v1.36.0 v1.37.2",
		"BeforeControlPlaneUpgrade v1.36.0 v1.37.2", "BeforeControlPlaneUpgrade v1.36.0 v1.37.2",
	}, l.calls, "one that has begun is not taken for one that is done")
	l.blocking = ""
	for range 8 {
		l.step(t, false)
		l.work()
	}
	assert.Empty(t, l.Pending)
	assert.Equal(t, "v1.37.2", l.Upgrade.MachineDeployments[0].Version)
}
