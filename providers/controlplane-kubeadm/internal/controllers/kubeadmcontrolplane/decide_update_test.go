package kubeadmcontrolplane

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/conditions"
	"github.com/slipway-capi/slipway/contract/inplace"
)

// withInfra gives every machine an infrastructure machine that was made from the wanted template.
func withInfra(w *World) {
	ref := w.ControlPlane.Spec.MachineTemplate.Spec.InfrastructureRef
	for _, m := range w.Machines {
		m.Spec.InfrastructureRef = clusterv1.ContractVersionedObjectReference{APIGroup: "infra", Kind: "X", Name: m.Name}
		m.Infra = &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: m.Name, Labels: m.Labels, Annotations: map[string]string{
			clusterv1.TemplateClonedFromNameAnnotation: ref.Name, clusterv1.TemplateClonedFromGroupKindAnnotation: "XTemplate.infra",
		}}}
	}
}

// extended worlds have extensions, which cover every difference.
func extended(w *World) {
	withInfra(w)
	w.InPlace = Updates{On: true, Answers: map[string]Update{}}
	for _, m := range w.Machines {
		w.InPlace.Answers[m.Name] = Update{}
	}
}

// answering says what is known about all machines.
func answering(a inplace.Answer) change {
	return func(w *World) {
		for name := range w.InPlace.Answers {
			w.InPlace.Answers[name] = Update{Answer: a}
		}
	}
}

func updatesAre(policy string) change {
	return func(w *World) {
		w.ControlPlane.Annotations = map[string]string{clusterv1.InPlaceUpdatesAnnotation: policy}
	}
}

func off(w *World) { w.InPlace = Updates{} }

// begunUpdate was interrupted before the machine itself was changed.
func begunUpdate(i int) change {
	return func(w *World) {
		inplace.Mark(w.Machines[i])
		if m := w.Machines[i]; m.Infra != nil {
			inplace.Mark(m.Infra)
		}
	}
}

// running is a machine that its extension is working on.
func running(i int) change {
	return func(w *World) {
		m := w.Machines[i]
		inplace.Begin(m)
		inplace.Mark(m.Config)
		if m.Infra != nil {
			inplace.Mark(m.Infra)
		}
	}
}

func ending(i int) change {
	return func(w *World) { inplace.Unmark(w.Machines[i]) }
}

const newer = "v1.37.3"

// rolling is a control plane in the middle of a rollout without surge.
func rolling(changes ...change) World {
	return world(3, append([]change{surgeOf(0), upgradeTo(newer), storedConfig(newer), extended}, changes...)...)
}

// Conformance: CP-98, CP-99, CP-100, CP-101, CP-102
func TestUpdatesInPlace(t *testing.T) {
	nothing := []string{}
	replaced := []string{"move leadership from m0 to m2", "delete m0"}
	open := answering(inplace.Answer{Uncovered: []string{"X spec.size"}})
	silent := answering(inplace.Answer{Err: errors.New("no answer")})
	require.Equal(t, newer, rolling().ControlPlane.Spec.Version)
	for _, row := range []struct {
		name   string
		world  World
		want   []string
		blocks string
	}{
		{"all is covered", rolling(), []string{"start update of m0"}, ""},
		{"off", rolling(off), replaced, ""},
		{"never", rolling(updatesAre("Never")), replaced, ""},
		{"not all is covered", rolling(open), replaced, ""},
		{"no answer", rolling(silent), nothing, "machine m0, which stays: it is not known what can be updated in place: no answer"},
		{"the next one", rolling(upgraded(0)), []string{"start update of m1"}, ""},
		{"the surge comes first", rolling(surgeOf(1)), []string{"create init=false "}, ""},
		{"then machines are updated", world(4, wanted(3), upgradeTo(newer), storedConfig(newer), upgraded(3), extended), []string{"start update of m0"}, ""},
		{"the last old one goes when enough are up to date", world(4, wanted(3), upgradeTo(newer), storedConfig(newer), upgraded(1, 2, 3), extended),
			[]string{"move leadership from m0 to m3", "delete m0"}, ""},
		{"marked for deletion", rolling(annotated(0, clusterv1.DeleteMachineAnnotation)), replaced, ""},
		{"marked for remediation", rolling(annotated(0, clusterv1.RemediateMachineAnnotation)), replaced, ""},
		{"its certificates end", rolling(certificatesEndSoon(0)), replaced, ""},
		{"rollout.after", rolling(rolloutAfter), replaced, ""},
		{"a configuration that cannot be read", rolling(func(w *World) { w.Machines[0].Config = nil }), replaced, ""},
		{"the only one that is not well is replaced", rolling(notReady(0, "kube-scheduler")), replaced, ""},
		{"another one is not well", rolling(notReady(2, "kube-scheduler")), []string{"delete m2"}, ""},
		{"two are not well", rolling(notReady(1, "kube-scheduler"), notReady(2, "kube-scheduler")), nothing, "machine m1: SchedulerPodHealthy not true"},
		{"a machine is going", rolling(deleting(2, "DrainingNode")), nothing, ""},
		{"two minors at once", rolling(upgradeTo("v1.39.0"), storedConfig("v1.39.0")), nothing, "cannot be reached in one step"},
		{"kubeadm-config comes first", rolling(storedConfig("v1.37.2")), []string{"kubeadm-config", "start update of m0"}, ""},

		{"required", rolling(updatesAre("Require")), []string{"start update of m0"}, ""},
		{"required: no surge", rolling(surgeOf(1), updatesAre("Require")), []string{"start update of m0"}, ""},
		{"required: one machine", world(1, upgradeTo(newer), storedConfig(newer), extended, updatesAre("Require")), []string{"start update of m0"}, ""},
		{"required, not all is covered", rolling(updatesAre("Require"), open), nothing, "machine m0, which stays: no extension changes these fields in place: X spec.size"},
		{"required, off", rolling(updatesAre("Require"), off), nothing, "switch the feature gates RuntimeSDK and InPlaceUpdates on"},
		{"required, marked for deletion: others go on", rolling(updatesAre("Require"), annotated(0, clusterv1.DeleteMachineAnnotation)), []string{"start update of m1"}, ""},
		{"required, rollout.after", rolling(updatesAre("Require"), rolloutAfter), nothing, "it cannot be updated in place: KubeadmControlPlane spec.rollout.after expired"},
		{"required, its certificates end", rolling(updatesAre("Require"), certificatesEndSoon(0)), replaced, ""},
		{"required, scaled up meanwhile", rolling(updatesAre("Require"), wanted(5)), []string{"create init=false "}, ""},
		{"required, scaled down meanwhile", rolling(updatesAre("Require"), wanted(1), upgraded(2)), []string{"move leadership from m0 to m2", "delete m0"}, ""},

		{"nothing else while one is updated", rolling(upgraded(0), running(0)), nothing, "machine m0 to be updated in place"},
		{"nor while its marks go", rolling(upgraded(0), running(0), ending(0)), nothing, "machine m0 to be updated in place"},
		{"nor while only its objects are marked", rolling(upgraded(0), func(w *World) { inplace.Mark(w.Machines[0].Infra) }), nothing, "machine m0 to be updated in place"},
		{"remediation goes first", rolling(upgraded(0), running(0), sick(1)), []string{"begin remediation of m1 (0)", "delete m1"}, ""},
		{"begun and interrupted before anything was changed", rolling(begunUpdate(0)), []string{"start update of m0"}, ""},
		{"begun and interrupted in the middle", rolling(func(w *World) { w.Machines[0].Spec.Version = newer }, begunUpdate(0)), []string{"start update of m0"}, ""},
		{"begun on another machine than the next", rolling(begunUpdate(1)), []string{"start update of m1"}, ""},
		{"begun, but another one is not well", rolling(begunUpdate(0), notReady(1, "etcd")), nothing, "machine m1: EtcdPodHealthy not true"},
		{"begun, and itself not well", rolling(begunUpdate(0), notReady(0, "etcd")), []string{"start update of m0"}, ""},
		{"marked without reason", rolling(upgraded(0, 1, 2), func(w *World) { inplace.Mark(w.Machines[1]) }), []string{"cancel update of m1"}, ""},
		{"marked, and updates were switched off", rolling(func(w *World) { inplace.Mark(w.Machines[1]) }, off), []string{"cancel update of m1"}, ""},
		{"begun, and updates were switched off", rolling(begunUpdate(1), off), nothing, "or delete it to have it replaced"},
		{"an object lost its mark", rolling(upgraded(0), running(0), func(w *World) { inplace.Unmark(w.Machines[0].Infra) }), []string{"start update of m0"}, ""},

		{"overtaken by another change", rolling(running(0)), []string{"start update of m0"}, ""},
		{"overtaken while it is not well", rolling(running(0), notReady(0, "kube-apiserver")), []string{"start update of m0"}, ""},
		{"overtaken by one that cannot be made in place", rolling(running(0), open), replaced, ""},
		{"overtaken by one that cannot be made in place, required", rolling(running(0), open, updatesAre("Require")), nothing, "X spec.size"},
		{"overtaken, and replaced by wish", rolling(running(0), updatesAre("Never")), replaced, ""},
		{"renewals wait for the end", rolling(upgraded(0), running(0), certificatesEndSoon(0)), nothing, "machine m0 to be updated in place"},
	} {
		t.Run(row.name, func(t *testing.T) {
			d := Decide(row.world)
			assert.Equal(t, row.want, say(d.Actions))
			assert.Nil(t, d.ask)
			assert.Contains(t, conditions.Message(statusHolder{&d.Status}, clusterv1.RollingOutCondition), row.blocks)
		})
	}
}

func certificatesEndSoon(i int) change {
	return func(w *World) {
		w.ControlPlane.Spec.Rollout.Before.CertificatesExpiryDays = 30
		w.Machines[i].Status.CertificatesExpiryDate = metav1.NewTime(now.Add(29 * 24 * time.Hour))
	}
}

func rolloutAfter(w *World) {
	w.ControlPlane.Spec.Rollout.After = metav1.NewTime(now.Add(-time.Second))
}

// TestWhoIsAskedAbout: nobody is asked about anything that the decision does not depend on.
//
// Conformance: CP-98
func TestWhoIsAskedAbout(t *testing.T) {
	unasked := func(w *World) { clear(w.InPlace.Answers) }
	for name, row := range map[string]struct {
		world World
		want  string
	}{
		"the next one of a rollout":     {rolling(unasked), "m0"},
		"one that is begun":             {rolling(unasked, begunUpdate(1)), "m1"},
		"nothing to be done":            {rolling(unasked, upgraded(0, 1, 2)), ""},
		"off":                           {rolling(off), ""},
		"never":                         {rolling(unasked, updatesAre("Never")), ""},
		"the surge is first":            {rolling(unasked, surgeOf(1)), ""},
		"enough are up to date":         {world(4, wanted(3), upgradeTo(newer), storedConfig(newer), upgraded(1, 2, 3), extended, unasked), ""},
		"it cannot be updated":          {rolling(unasked, annotated(0, clusterv1.DeleteMachineAnnotation)), ""},
		"others are not well":           {rolling(unasked, notReady(1, "kube-scheduler"), notReady(2, "kube-scheduler")), ""},
		"one is being updated":          {rolling(unasked, upgraded(0), running(0)), ""},
		"one is updated, and overtaken": {rolling(unasked, running(0)), "m0"},
	} {
		t.Run(name, func(t *testing.T) {
			d, asked := Decide(row.world), ""
			if d.ask != nil {
				asked = d.ask.Name
				assert.Empty(t, say(d.Actions))
			}
			assert.Equal(t, row.want, asked)
		})
	}
}

// TestUpdatesInPlaceEnd: rollouts with extensions end, never touch two machines at a time, and keep all machines but those
// that the surge replaces.
//
// Conformance: CP-98, CP-101
func TestUpdatesInPlaceEnd(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 1))
	for range 60 {
		replicas, surge := 1+2*random.IntN(3), int32(1)
		changes := []change{upgradeTo(newer), extended}
		required := random.IntN(2) == 0
		switch {
		case required:
			changes = append(changes, updatesAre("Require"))
		case replicas >= 3:
			surge = int32(random.IntN(2))
		}
		w := world(replicas, append(changes, surgeOf(surge))...)
		made, updates := 0, map[string]bool{}
		for step := 0; len(w.outdatedMachines()) > 0 || len(w.Machines) != replicas || slices.ContainsFunc(w.Machines, updating); step++ {
			require.Less(t, step, 100, "%d machines, surge %d", replicas, surge)
			for _, action := range Decide(w).Actions {
				simulate(&w, action, &made)
				if a, ok := action.(StartUpdate); ok {
					require.False(t, slices.ContainsFunc(w.Machines, func(m *Machine) bool { return updating(m) && m.Name != a.Machine.Name }), "one at a time")
					updates[a.Machine.Name] = true
					advance(&w, a.Machine.Name, random)
				}
			}
			finishUpdates(&w, random)
		}
		if required {
			surge = 0
		}
		assert.Equal(t, int(surge), made)
		assert.Len(t, updates, replicas-int(surge))
	}
}

// advance carries an update out, or a part of it, as if the manager had been stopped.
func advance(w *World, name string, random *rand.Rand) {
	m := w.machineNamed(name)
	inplace.Mark(m)
	if random.IntN(3) == 0 {
		return
	}
	inplace.Mark(m.Infra)
	if random.IntN(3) == 0 {
		return
	}
	inplace.Mark(m.Config)
	m.Spec.Version = w.ControlPlane.Spec.Version
	inplace.Begin(m)
}

// finishUpdates plays the core and its extension.
func finishUpdates(w *World, random *rand.Rand) {
	for _, m := range w.Machines {
		if !inplace.Pending(m) || random.IntN(2) == 0 {
			continue
		}
		if inplace.Marked(m) {
			inplace.Unmark(m)
			continue
		}
		inplace.Unmark(m.Infra)
		inplace.Unmark(m.Config)
		inplace.End(m)
	}
}

// TestForeseeUpdatesInPlace: a plan tells the same.
//
// Conformance: CP-80, CP-98
func TestForeseeUpdatesInPlace(t *testing.T) {
	why := " spec.version v1.37.2→v1.37.3"
	w := world(3, surgeOf(0), extended)
	assert.Equal(t, []string{"m0 in place" + why, "m1 in place" + why, "m2 in place" + why}, tell(Foresee(w, propose(w, version(newer)))))
	w = world(3, surgeOf(1), extended)
	assert.Equal(t, []string{"m0 in place" + why, "m1 in place" + why, "m2 replaced" + why}, tell(Foresee(w, propose(w, version(newer)))))
	w = world(2, wanted(1), extended)
	assert.Equal(t, []string{"m0 in place" + why, "m1 removed" + why + " spec.replicas 1→1"}, tell(Foresee(w, propose(w, version(newer)))))
	w = world(2, surgeOf(0), extended, annotated(1, clusterv1.DeleteMachineAnnotation))
	assert.Equal(t, []string{"m1 replaced" + why + " metadata.annotations.cluster.x-k8s.io/delete-machine →", "m0 in place" + why}, tell(Foresee(w, propose(w, version(newer)))))
	w = assessed(world(2, extended, answering(inplace.Answer{Uncovered: []string{"X spec.size"}}), updatesAre("Require")))
	p := Foresee(w, propose(w, version(newer)))
	assert.Equal(t, []string{"m0 untouched", "m1 untouched"}, tell(p))
	assert.Equal(t, []string{"machine m0, which stays: no extension changes these fields in place: X spec.size", "machine m1, which stays: no extension changes these fields in place: X spec.size"}, p.Blocked)
	w = assessed(world(1, extended, running(0)))
	assert.Equal(t, []string{"machine m0 to be updated in place"}, Foresee(w, propose(w, version(newer))).Blocked)
}
