package upgrade

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func at(version string) *ControlPlane { return &ControlPlane{Version: version, Observed: version} }

func workers(name, version string, change ...func(*Workers)) Workers {
	w := Workers{Name: name, Version: version}
	for _, c := range change {
		c(&w)
	}
	return w
}

func upgradingNow(w *Workers) { w.Upgrading = true }
func running(version string) func(*Workers) {
	return func(w *Workers) { w.Running = version }
}
func deferred(w *Workers) { w.Defer = true }
func hold(w *Workers)     { w.Hold = true }

// Conformance: TP-12, TP-13, TP-14, TP-15, TP-16, TP-38
func TestDecide(t *testing.T) {
	type groups = map[string]string
	for _, c := range []struct {
		name                      string
		world                     World
		controlPlane, waits, err  string
		workers                   groups
		pending, deferred, unborn []string
	}{
		{name: "a new cluster", world: World{Wanted: "v1.37.2", MachineDeployments: []Workers{workers("a", "")}}, controlPlane: "v1.37.2", workers: groups{"a": "v1.37.2"}},
		{name: "a control plane that just begins", world: World{Wanted: "v1.37.2", ControlPlane: &ControlPlane{Version: "v1.37.2"}, MachineDeployments: []Workers{workers("a", "")}}, controlPlane: "v1.37.2", workers: groups{"a": "v1.37.2"}},
		{name: "at rest", world: World{Wanted: "v1.37.2", ControlPlane: at("v1.37.2"), MachineDeployments: []Workers{workers("a", "v1.37.2")}}, controlPlane: "v1.37.2", workers: groups{"a": "v1.37.2"}},
		{name: "the control plane goes first", world: World{Wanted: "v1.37.2", ControlPlane: at("v1.36.0"), MachineDeployments: []Workers{workers("a", "v1.36.0")}}, controlPlane: "v1.37.2", workers: groups{"a": "v1.36.0"}, pending: []string{"a"}},
		{name: "workers wait for it", world: World{Wanted: "v1.37.2", ControlPlane: &ControlPlane{Version: "v1.37.2", Observed: "v1.36.0"}, MachineDeployments: []Workers{workers("a", "v1.36.0")}}, controlPlane: "v1.37.2", workers: groups{"a": "v1.36.0"}, pending: []string{"a"}},
		{name: "new workers wait for it", world: World{Wanted: "v1.37.2", ControlPlane: &ControlPlane{Version: "v1.37.2", Observed: "v1.36.0"}, MachineDeployments: []Workers{workers("a", "")}}, controlPlane: "v1.37.2", workers: groups{}, unborn: []string{"a"}},
		{name: "one group after the other", world: World{Wanted: "v1.37.2", ControlPlane: at("v1.37.2"), MachineDeployments: []Workers{workers("a", "v1.36.0"), workers("b", "v1.36.0")}}, controlPlane: "v1.37.2", workers: groups{"a": "v1.37.2", "b": "v1.36.0"}, pending: []string{"b"}},
		{name: "the next one when the first is done", world: World{Wanted: "v1.37.2", ControlPlane: at("v1.37.2"), MachineDeployments: []Workers{workers("a", "v1.37.2"), workers("b", "v1.36.0")}}, controlPlane: "v1.37.2", workers: groups{"a": "v1.37.2", "b": "v1.37.2"}},
		{name: "not while the first is at it", world: World{Wanted: "v1.37.2", ControlPlane: at("v1.37.2"), MachineDeployments: []Workers{workers("a", "v1.37.2", upgradingNow), workers("b", "v1.36.0")}}, controlPlane: "v1.37.2", workers: groups{"a": "v1.37.2", "b": "v1.36.0"}, pending: []string{"b"}},
		{name: "several at once", world: World{Wanted: "v1.37.2", Concurrency: 2, ControlPlane: at("v1.37.2"), MachineDeployments: []Workers{workers("a", "v1.36.0"), workers("b", "v1.36.0"), workers("c", "v1.36.0")}}, controlPlane: "v1.37.2", workers: groups{"a": "v1.37.2", "b": "v1.37.2", "c": "v1.36.0"}, pending: []string{"c"}},
		{name: "one group stays behind", world: World{Wanted: "v1.37.2", ControlPlane: at("v1.37.2"), MachineDeployments: []Workers{workers("a", "v1.36.0", deferred), workers("b", "v1.36.0")}}, controlPlane: "v1.37.2", workers: groups{"a": "v1.36.0", "b": "v1.37.2"}, deferred: []string{"a"}},
		{name: "all from one on stay behind", world: World{Wanted: "v1.37.2", Concurrency: 5, ControlPlane: at("v1.37.2"), MachineDeployments: []Workers{workers("a", "v1.36.0"), workers("b", "v1.36.0", hold), workers("c", "v1.36.0")}}, controlPlane: "v1.37.2", workers: groups{"a": "v1.37.2", "b": "v1.36.0", "c": "v1.36.0"}, pending: []string{"b", "c"}},
		{name: "a version set by hand is taken back, whatever holds", world: World{Wanted: "v1.37.2", HoldWorkers: "x", ControlPlane: at("v1.37.2"), MachineDeployments: []Workers{workers("a", "v1.36.0", upgradingNow, running("v1.37.2"))}}, controlPlane: "v1.37.2", workers: groups{"a": "v1.37.2"}},
		{name: "not while some have it", world: World{Wanted: "v1.37.2", ControlPlane: at("v1.37.2"), MachineDeployments: []Workers{workers("a", "v1.36.0", upgradingNow)}}, controlPlane: "v1.37.2", workers: groups{"a": "v1.36.0"}, pending: []string{"a"}},
		{name: "workers that run what they are told wait", world: World{Wanted: "v1.37.2", ControlPlane: &ControlPlane{Version: "v1.37.2", Observed: "v1.36.0"}, MachineDeployments: []Workers{workers("a", "v1.36.0", running("v1.36.0"))}}, controlPlane: "v1.37.2", workers: groups{"a": "v1.36.0"}, pending: []string{"a"}},
		{name: "the control plane is scaling", world: World{Wanted: "v1.37.2", ControlPlane: &ControlPlane{Version: "v1.36.0", Observed: "v1.36.0", Busy: "it is scaling up"}}, controlPlane: "v1.36.0", waits: "the control plane is not at rest: it is scaling up"},
		{name: "workers of the last upgrade are not done", world: World{Wanted: "v1.37.2", ControlPlane: at("v1.36.0"), MachineDeployments: []Workers{workers("a", "v1.36.0", upgradingNow)}}, controlPlane: "v1.36.0", workers: groups{"a": "v1.36.0"}, waits: "workers a are being upgraded to v1.36.0", pending: []string{"a"}},
		{name: "a hook holds the control plane", world: World{Wanted: "v1.37.2", ControlPlane: at("v1.36.0"), Hold: "hook x blocks"}, controlPlane: "v1.36.0", waits: "hook x blocks"},
		{name: "a hook holds the workers", world: World{Wanted: "v1.37.2", ControlPlane: at("v1.37.2"), HoldWorkers: "x", MachineDeployments: []Workers{workers("a", "v1.36.0")}}, controlPlane: "v1.37.2", workers: groups{"a": "v1.36.0"}, pending: []string{"a"}},
		{name: "through several minors, first step", world: World{Wanted: "v1.37.2", Steps: []string{"v1.35.0", "v1.36.2", "v1.37.2"}, ControlPlane: at("v1.35.0"), MachineDeployments: []Workers{workers("a", "v1.35.0")}}, controlPlane: "v1.36.2", workers: groups{"a": "v1.35.0"}, pending: []string{"a"}},
		{name: "workers skip a minor that they need not have", world: World{Wanted: "v1.37.2", Steps: []string{"v1.36.2", "v1.37.2"}, ControlPlane: at("v1.36.2"), MachineDeployments: []Workers{workers("a", "v1.35.0")}}, controlPlane: "v1.37.2", workers: groups{"a": "v1.35.0"}, pending: []string{"a"}},
		{name: "workers that would get too old go with it", world: World{Wanted: "v1.37.2", Steps: []string{"v1.36.2", "v1.37.2"}, ControlPlane: at("v1.36.2"), MachineDeployments: []Workers{workers("a", "v1.33.0")}}, controlPlane: "v1.36.2", workers: groups{"a": "v1.36.2"}, waits: "workers a with v1.33.0 are too old for a control plane of v1.37.2"},
		{name: "no way", world: World{Wanted: "v1.37.2", ControlPlane: at("v1.35.0")}, err: "there is no way from v1.35.0 to v1.37.2"},
		{name: "a way with a hole", world: World{Wanted: "v1.37.2", Steps: []string{"v1.37.2"}, ControlPlane: at("v1.35.0")}, err: "leaves a minor version out"},
		{name: "no version", world: World{Wanted: "1.x"}, err: `"1.x" is no version`},
		{name: "down is not done", world: World{Wanted: "v1.36.0", ControlPlane: at("v1.37.2")}, controlPlane: "v1.37.2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := Decide(c.world)
			if c.err != "" {
				require.ErrorContains(t, err, c.err)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, c.controlPlane, got.ControlPlane)
			assert.Equal(t, c.waits, got.ControlPlaneWaits)
			if c.workers != nil {
				assert.Equal(t, c.workers, got.MachineDeployments.Versions)
			}
			assert.Equal(t, c.pending, got.MachineDeployments.UpgradePending)
			assert.Equal(t, c.deferred, got.MachineDeployments.UpgradeDeferred)
			assert.Equal(t, c.unborn, got.MachineDeployments.CreationPending)
		})
	}
}

func TestPlan(t *testing.T) {
	got, err := Plan("v1.34.1", "v1.37.2", []string{"v1.33.0", "v1.34.9", "v1.35.0", "v1.36.2", "v1.37.2", "v1.38.0"})
	require.NoError(t, err)
	assert.Equal(t, []string{"v1.34.9", "v1.35.0", "v1.36.2", "v1.37.2"}, got)
	got, err = Plan("v1.37.2", "v1.37.2", nil)
	require.NoError(t, err)
	assert.Empty(t, got)
}

// Every history of random worlds in which machines do as they are told ends with all at the wanted version, and on the way no
// rule of version skew is broken and no more groups than allowed upgrade at once.
//
// Conformance: TP-12, TP-13, TP-15
func TestEveryUpgradeEnds(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		w := World{Wanted: "v1.37.2", Steps: []string{"v1.34.0", "v1.35.0", "v1.36.0", "v1.37.2"}, ControlPlane: at(fmt.Sprintf("v1.%d.0", 34+r.IntN(3))), Concurrency: r.IntN(4)}
		for i := range r.IntN(5) {
			minor := 34 - r.IntN(2)
			w.MachineDeployments = append(w.MachineDeployments, workers(fmt.Sprint("md", i), fmt.Sprintf("v1.%d.0", minor)))
		}
		for n := 0; ; n++ {
			require.Less(t, n, 300, "seed %d ends: %+v", seed, w)
			d, err := Decide(w)
			require.NoError(t, err)
			carryOut(t, r, &w, d)
			if done(w) {
				break
			}
		}
	}
}

func carryOut(t *testing.T, r *rand.Rand, w *World, d Decision) {
	t.Helper()
	cp, err := parse(d.ControlPlane)
	require.NoError(t, err)
	before, err := parse(w.ControlPlane.Version)
	require.NoError(t, err)
	require.LessOrEqual(t, cp.Minor, before.Minor+1)
	w.ControlPlane.Version = d.ControlPlane
	busy := 0
	for i := range w.MachineDeployments {
		g := &w.MachineDeployments[i]
		next := d.MachineDeployments.Versions[g.Name]
		v, err := parse(next)
		require.NoError(t, err)
		require.LessOrEqual(t, v.Minor, cp.Minor, "no kubelet is newer than the API server")
		require.LessOrEqual(t, cp.Minor-v.Minor, uint64(skew), "no kubelet is too old")
		if next != g.Version {
			require.Equal(t, w.ControlPlane.Observed, w.ControlPlane.Version, "the control plane was done")
			g.Version, g.Upgrading = next, true
		}
		if g.Upgrading {
			busy++
		}
	}
	require.LessOrEqual(t, busy, max(w.Concurrency, 1))
	// Machines do as they are told, some day.
	if r.IntN(2) == 0 {
		w.ControlPlane.Observed = w.ControlPlane.Version
	}
	for i := range w.MachineDeployments {
		if r.IntN(2) == 0 {
			w.MachineDeployments[i].Upgrading = false
		}
	}
}

func done(w World) bool {
	all := w.ControlPlane.Version == w.Wanted && w.ControlPlane.Observed == w.Wanted
	for _, g := range w.MachineDeployments {
		all = all && g.Version == w.Wanted && !g.Upgrading
	}
	return all
}

func TestWorkersPlan(t *testing.T) {
	long := []string{"v1.34.0", "v1.35.0", "v1.36.0", "v1.37.2"}
	for _, c := range []struct {
		name         string
		have         string
		controlPlane []string
		workerSteps  []string
		want         []string
	}{
		{"no workers", "", long, nil, nil},
		{"done", "v1.37.2", nil, nil, nil},
		{"one step", "v1.36.0", []string{"v1.37.2"}, nil, []string{"v1.37.2"}},
		{"the control plane is done", "v1.36.0", nil, nil, []string{"v1.37.2"}},
		{"what they need not have is left out", "v1.34.0", []string{"v1.35.0", "v1.36.0", "v1.37.2"}, nil, []string{"v1.37.2"}},
		{"what they need is not", "v1.33.0", long, nil, []string{"v1.36.0", "v1.37.2"}},
		{"as an extension says", "v1.33.0", long, []string{"v1.35.0", "v1.37.2"}, []string{"v1.35.0", "v1.37.2"}},
	} {
		w := World{Wanted: "v1.37.2", WorkerSteps: c.workerSteps, MachineDeployments: []Workers{workers("a", c.have)}}
		assert.Equal(t, c.want, WorkersPlan(w, c.controlPlane), c.name)
	}
	assert.Equal(t, "v1.9.0", Lowest([]Workers{workers("a", "v1.10.0"), workers("b", ""), workers("c", "v1.9.0")}))
}

func TestStepsOfWorkers(t *testing.T) {
	w := World{Wanted: "v1.37.2", Steps: []string{"v1.35.0", "v1.36.0", "v1.37.2"}, WorkerSteps: []string{"v1.36.0", "v1.37.2"}, ControlPlane: at("v1.35.0"), MachineDeployments: []Workers{workers("a", "v1.34.0")}}
	d, err := Decide(w)
	require.NoError(t, err)
	assert.Equal(t, "v1.36.0", d.ControlPlane, "not a step of the workers")
	w.ControlPlane = at("v1.36.0")
	d, err = Decide(w)
	require.NoError(t, err)
	assert.Equal(t, "v1.36.0", d.ControlPlane)
	assert.Equal(t, "workers a are to be upgraded to v1.36.0 first", d.ControlPlaneWaits)
	assert.Equal(t, "v1.36.0", d.MachineDeployments.Versions["a"])
	w.MachineDeployments[0].Version = "v1.36.0"
	d, err = Decide(w)
	require.NoError(t, err)
	assert.Equal(t, "v1.37.2", d.ControlPlane)
}
