package machinedeployment

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/conditions"
)

type moves map[string]int32

// Conformance: MD-20, MD-21, MD-22, MD-23, MD-43, MD-44, MD-45, MD-49
func TestReplicas(t *testing.T) {
	for _, tc := range []struct {
		name  string
		world World
		want  moves
	}{
		{"the first set gets everything at once", rollout(), moves{"+": 3}},
		{"no replicas means one", rollout(func(w *World) { w.Deployment.Spec.Replicas = nil }), moves{"+": 1}},
		{"a new template starts with the surge", rollout(oldSet(3, 3, 3)), moves{"+": 1}},
		{"without surge the new set waits for room", rollout(fencesOf("0", "1"), oldSet(3, 3, 3)), moves{"+": 0}},
		{"scaling up is direct when there is one set", rollout(desired(5), newestSet(3, 3, 3)), moves{"new": 5}},
		{"scaling down too", rollout(desired(1), newestSet(3, 3, 3)), moves{"new": 1}},
		{"to zero", rollout(desired(0), newestSet(3, 3, 3)), moves{"new": 0}},
		{"a new Machine is available, so an old one may go", rollout(oldSet(3, 3, 3), newestSet(1, 1, 1)), moves{"old": 2}},
		{"an old one has gone, so a new one may come", rollout(oldSet(2, 2, 2), newestSet(1, 1, 1)), moves{"new": 2}},
		{"an old one is still going: it counts", rollout(oldSet(2, 3, 3), newestSet(1, 1, 1)), moves{}},
		{"what is still going counts against the budget", rollout(fencesOf("0", "1"), oldSet(2, 3, 3), newestSet(1, 1, 1)), moves{}},
		{"new Machines that are not available count against the budget", rollout(fencesOf("1", "1"), oldSet(2, 2, 2), newestSet(2, 2, 0)), moves{}},
		{"the last step", rollout(oldSet(1, 1, 1), newestSet(3, 3, 3)), moves{"old": 0}},
		{"BC-05: no new Machine became available, so no old one goes", rollout(oldSet(3, 3, 0), newestSet(1, 1, 0)), moves{}},
		{"BC-05: the same without surge", rollout(fencesOf("0", "1"), oldSet(2, 2, 0), newestSet(1, 1, 0)), moves{}},
		{"BC-05: once the new one is available, broken old ones go", rollout(oldSet(3, 3, 0), newestSet(1, 1, 1)), moves{"old": 2}},
		{"broken old Machines go before good ones, oldest set first", rollout(set("x", "x", 2, 2, 2), oldSet(2, 2, 0), newestSet(1, 1, 1)), moves{"old": 0}},
		{"both zero lets one be unavailable", rollout(fencesOf("0", "0"), oldSet(3, 3, 3), newestSet(0, 0, 0)), moves{"old": 2}},
		{"25 % of 3: surge rounds up", rollout(fencesOf("25%", "25%"), oldSet(3, 3, 3), newestSet(0, 0, 0)), moves{"new": 1}},
		{"50 % of 1: unavailable rounds down", rollout(desired(1), fencesOf("0", "50%"), oldSet(1, 1, 1), newestSet(0, 0, 0)), moves{"old": 0}},
		{"50 % of 2: one may go, one may come", rollout(desired(2), fencesOf("50%", "50%"), oldSet(2, 2, 2), newestSet(0, 0, 0)), moves{"old": 1, "new": 1}},
		{"surge above 100 %", rollout(fencesOf("200%", "0"), oldSet(3, 3, 3), newestSet(0, 0, 0)), moves{"new": 3}},
		{"scale up in the middle of a rollout grows the new set only", rollout(desired(5), oldSet(2, 2, 2), newestSet(1, 1, 1)), moves{"new": 4}},
		{"scale down in the middle takes old ones", rollout(desired(2), oldSet(2, 2, 2), newestSet(1, 1, 1)), moves{"old": 1}},
		{"a template that returns reuses its set", rollout(set("first", "b", 1, 1, 1), oldSet(2, 2, 2)), moves{"first": 2}},
		{"empty old sets go when the rollout is complete", rollout(set("x", "x", 0, 0, 0), oldSet(0, 0, 0), newestSet(3, 3, 3)), moves{"-x": 0}},
		{"but not before", rollout(set("x", "x", 0, 0, 0), oldSet(0, 0, 0), newestSet(3, 3, 2)), moves{}},
		{"the last other template stays as the way back", rollout(oldSet(0, 0, 0), newestSet(3, 3, 3)), moves{}},
		{"not one of the same template, as after a restart", rollout(oldSet(0, 0, 0), set("before", "b", 0, 0, 0), newestSet(3, 3, 3)), moves{"-before": 0}},
		{"a topology knows its own way back", rollout(ofTopology, oldSet(0, 0, 0), newestSet(3, 3, 3)), moves{"-old": 0}},
		{"a complete rollout rests", rollout(newestSet(3, 3, 3)), moves{}},
		{"a stale cache stops everything", rollout(func(w *World) { w.Unseen = true }, oldSet(3, 3, 3)), moves{}},
		{"a set that has not acted on its last number yet keeps the others from growing", rollout(unacknowledged, oldSet(2, 2, 2), newestSet(1, 1, 1), unacknowledged), moves{}},
		{"a missing template makes no set", rollout(func(w *World) { w.MissingTemplates = []string{"FakeMachineTemplate b"} }, oldSet(3, 3, 3)), moves{}},
	} {
		t.Run(tc.name, func(t *testing.T) { assert.Equal(t, tc.want, moves(scaledTo(tc.world, Decide(tc.world)))) })
	}
}

// Conformance: MD-24, MD-25
func TestOnDelete(t *testing.T) {
	for _, tc := range []struct {
		name  string
		world World
		want  moves
	}{
		{"nothing moves by itself", rollout(onDeleteStrategy, oldSet(3, 3, 3), newestSet(0, 0, 0)), moves{}},
		{"a new template starts empty", rollout(onDeleteStrategy, oldSet(3, 3, 3)), moves{"+": 0}},
		{"the user deleted one: both follow in one pass", rollout(onDeleteStrategy, oldSet(3, 2, 2), newestSet(0, 0, 0)), moves{"old": 2, "new": 1}},
		{"scaling down takes old ones first", rollout(onDeleteStrategy, desired(2), oldSet(2, 2, 2), newestSet(1, 1, 1)), moves{"old": 1}},
		{"scaling down below the new ones", rollout(onDeleteStrategy, desired(1), oldSet(1, 1, 1), newestSet(2, 2, 2)), moves{"old": 0, "new": 1}},
		{"scaling up grows the new set", rollout(onDeleteStrategy, desired(5), oldSet(2, 2, 2), newestSet(1, 1, 1)), moves{"new": 3}},
		{"deletion and scaling at once", rollout(onDeleteStrategy, desired(4), oldSet(3, 2, 2), newestSet(0, 0, 0)), moves{"old": 2, "new": 2}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d := Decide(tc.world)
			assert.Equal(t, tc.want, moves(scaledTo(tc.world, d)))
			for _, a := range d.Actions {
				if u, ok := a.(Update); ok && u.Set.Name == "old" {
					assert.Equal(t, "true", u.Wanted.Annotations[clusterv1.DisableMachineCreateAnnotation])
				}
			}
		})
	}
}

// Conformance: MD-05
func TestPausedDeploymentOnlySpreadsChangesOfReplicas(t *testing.T) {
	spread := func(n int32, opts ...worldOption) World {
		w := rollout(append([]worldOption{pausedRollout}, opts...)...)
		w.Deployment.Spec.Replicas = &n
		return w
	}
	for _, tc := range []struct {
		name  string
		world World
		want  moves
	}{
		{"a pause in the middle keeps the surge", spread(3, oldSet(3, 3, 3), newestSet(1, 1, 1)), moves{}},
		{"no new set", spread(3, oldSet(3, 3, 3)), moves{}},
		{"growth in proportion", spread(8, oldSet(2, 2, 2), newestSet(1, 1, 1)), moves{"old": 6, "new": 3}},
		{"one set takes all of it", spread(5, oldSet(3, 3, 3)), moves{"old": 5}},
		{"shrinking in proportion", spread(1, oldSet(2, 2, 2), newestSet(2, 2, 2)), moves{"old": 1, "new": 1}},
		{"to nothing", spread(0, oldSet(2, 2, 2), newestSet(1, 1, 1)), moves{"old": 0, "new": 0}},
		{"from nothing: the current set", spread(2, set("first", "b", 0, 0, 0), oldSet(0, 0, 0)), moves{"first": 2}},
		{"without one the latest", spread(2, set("x", "x", 0, 0, 0), oldSet(0, 0, 0)), moves{"old": 2}},
	} {
		t.Run(tc.name, func(t *testing.T) { assert.Equal(t, tc.want, moves(scaledTo(tc.world, Decide(tc.world)))) })
	}
}

// Growth of a paused deployment waits for Machines that leave, and until then the sets do not write the new number down,
// or nobody would know that it is still to be followed.
//
// Conformance: MD-05
func TestPausedGrowthWaitsForWhatLeaves(t *testing.T) {
	for name, wait := range map[string]worldOption{
		"leaving":        set("old", "a", 1, 3, 3),
		"unacknowledged": func(w *World) { oldSet(1, 1, 1)(w); unacknowledged(w) },
		"set in deletion": func(w *World) {
			set("gone", "x", 0, 1, 1)(w)
			going("gone")(w)
			oldSet(1, 1, 1)(w)
		},
	} {
		w := rollout(desired(2), wait, pausedRollout)
		w.Deployment.Spec.Replicas = ptr(int32(5))
		d := Decide(w)
		assert.Empty(t, scaledTo(w, d), name)
		for _, a := range d.Actions {
			assert.Equal(t, "2", a.(Update).Wanted.Annotations[clusterv1.DesiredReplicasAnnotation], name)
		}
	}
	w := rollout(desired(2), oldSet(1, 1, 1), pausedRollout)
	w.Deployment.Spec.Replicas = ptr(int32(5))
	assert.Equal(t, moves{"old": 5}, moves(scaledTo(w, Decide(w))), "and then it comes")
}

// TestBC01RolloutAfter has nine cells: now and the creation of the set are each a second before, at and after T.
//
// Conformance: MD-15, MD-46
func TestBC01RolloutAfter(t *testing.T) {
	for now := -1; now <= 1; now++ {
		for created := -1; created <= 1; created++ {
			t.Run(fmt.Sprintf("now T%+ds, created T%+ds", now, created), func(t *testing.T) {
				w := rollout(newestSet(2, 2, 2), desired(2), rolloutAfter(epoch))
				w.Now = epoch.Add(time.Duration(now)*time.Second + 300*time.Millisecond)
				w.Sets[0].CreationTimestamp = metav1.NewTime(epoch.Add(time.Duration(created) * time.Second))
				d := Decide(w)
				reached := now >= 0
				if reached && created < 0 {
					assert.Equal(t, moves{"+": 1}, moves(scaledTo(w, d)))
				} else {
					assert.Empty(t, scaledTo(w, d))
				}
				if !reached {
					assert.Equal(t, epoch.Sub(w.Now), d.After, "the time is known exactly")
				}
			})
		}
	}
}

// Conformance: MD-15
func TestBC01SetOfTheSameSecondIsTheResult(t *testing.T) {
	w := rollout(set("before", "b", 2, 2, 2), set("at", "b", 1, 1, 1), desired(2), rolloutAfter(epoch))
	w.Now = epoch.Add(time.Minute)
	w.Sets[1].CreationTimestamp = metav1.NewTime(epoch)
	assert.Equal(t, moves{"before": 1}, moves(scaledTo(w, Decide(w))), "the earlier set is old, although its template is the same")
}

// Conformance: MD-16, MD-17
func TestNewSet(t *testing.T) {
	w := rollout(oldSet(3, 3, 3))
	md := w.Deployment
	md.Annotations = map[string]string{"note": "x", "kubectl.kubernetes.io/last-applied-configuration": "{}", clusterv1.RevisionAnnotation: "4"}
	md.Spec.Template.Metadata.Labels = map[string]string{"tier": "web"}
	md.Spec.Template.Metadata.Annotations = map[string]string{"for": "machines"}
	d := Decide(w)
	created, ok := d.Actions[0].(Create)
	require.True(t, ok)
	s := created.Set
	assert.Equal(t, "md-abcde", s.Name)
	assert.Equal(t, map[string]string{"note": "x", clusterv1.RevisionAnnotation: "5", clusterv1.DesiredReplicasAnnotation: "3", clusterv1.MaxReplicasAnnotation: "4"}, s.Annotations)
	want := map[string]string{"tier": "web", clusterv1.ClusterNameLabel: "c", clusterv1.MachineDeploymentNameLabel: "md", clusterv1.MachineDeploymentUniqueLabel: "abcde"}
	assert.Equal(t, want, s.Labels)
	assert.Equal(t, want, s.Spec.Template.Metadata.Labels)
	assert.Equal(t, map[string]string{"for": "machines"}, s.Spec.Template.Metadata.Annotations)
	assert.Equal(t, map[string]string{clusterv1.MachineDeploymentNameLabel: "md", clusterv1.MachineDeploymentUniqueLabel: "abcde"}, s.Spec.Selector.MatchLabels)
	assert.True(t, metav1.IsControlledBy(s, md))
	assert.Equal(t, []string{clusterv1.MachineSetFinalizer}, s.Finalizers, "complete, so that no second write follows")
	assert.Equal(t, "5", d.Deployment.Annotations[clusterv1.RevisionAnnotation])
	assert.Contains(t, created.Why.Because, "FakeMachineTemplate a, b required")
}

// Conformance: MD-10
func TestChangesInPlaceReachEverySetAndRollNothing(t *testing.T) {
	w := rollout(oldSet(3, 3, 3), newestSet(1, 1, 0))
	spec := &w.Deployment.Spec
	spec.Template.Metadata.Labels = map[string]string{"tier": "web"}
	spec.Template.Spec.MinReadySeconds = ptr(int32(9))
	spec.Template.Spec.Deletion.NodeDrainTimeoutSeconds = ptr(int32(60))
	spec.Template.Spec.Taints = []clusterv1.MachineTaint{{Key: "k", Effect: "NoSchedule"}}
	spec.Template.Spec.ReadinessGates = []clusterv1.MachineReadinessGate{{ConditionType: "Gate"}}
	spec.Deletion.Order, spec.MachineNaming.Template = clusterv1.OldestMachineSetDeletionOrder, "x-{{ .random }}"
	d := Decide(w)
	assert.Empty(t, scaledTo(w, d))
	require.Len(t, d.Actions, 2)
	for _, a := range d.Actions {
		u := a.(Update)
		got := u.Wanted.Spec
		assert.Equal(t, u.Set.Spec.Template.Spec.InfrastructureRef, got.Template.Spec.InfrastructureRef)
		assert.Equal(t, "web", got.Template.Metadata.Labels["tier"])
		assert.Equal(t, spec.Template.Spec.MinReadySeconds, got.Template.Spec.MinReadySeconds)
		assert.Equal(t, spec.Template.Spec.Deletion, got.Template.Spec.Deletion)
		assert.Equal(t, spec.Template.Spec.Taints, got.Template.Spec.Taints)
		assert.Equal(t, spec.Template.Spec.ReadinessGates, got.Template.Spec.ReadinessGates)
		assert.Equal(t, spec.Deletion, got.Deletion)
		assert.Equal(t, spec.MachineNaming, got.MachineNaming)
	}
}

// Conformance: MD-10
func TestAbsentEqualsZeroInTemplates(t *testing.T) {
	w := rollout(newestSet(3, 3, 3))
	w.Deployment.Spec.Template.Spec.Bootstrap.DataSecretName = ptr("")
	assert.Empty(t, Decide(w).Actions)
}

// Conformance: MD-11, MD-12
func TestRevisions(t *testing.T) {
	revision := func(w World, set string) string {
		for _, a := range Decide(w).Actions {
			if u, ok := a.(Update); ok && u.Set.Name == set {
				return u.Wanted.Annotations[clusterv1.RevisionAnnotation]
			}
		}
		return "unchanged"
	}
	assert.Equal(t, "unchanged", revision(rollout(remembers("2"), oldSet(3, 3, 3), newestSet(1, 1, 0)), "new"))
	assert.Equal(t, "3", revision(rollout(remembers("2"), set("first", "b", 1, 1, 0), oldSet(3, 3, 3)), "first"), "a set that is reused becomes the latest")
	assert.Equal(t, "6", revision(rollout(remembers("5"), newestSet(1, 1, 0)), "new"), "the number of a set that is gone does not return")
	assert.Equal(t, "unchanged", revision(rollout(oldSet(3, 3, 3), newestSet(1, 1, 0)), "new"), "the deployment lost its annotation")
}

// A revision counts once its set has it: an action that failed leaves the number as it is stored.
//
// Conformance: MD-12
func TestFailuresCountNoRevision(t *testing.T) {
	for _, stored := range []string{"", "4"} {
		w := rollout(remembers(stored), oldSet(3, 3, 3))
		d := Decide(w)
		assert.NotEqual(t, stored, d.Deployment.Annotations[clusterv1.RevisionAnnotation])
		d.keepRevision(w)
		assert.Equal(t, w.Deployment.Annotations, d.Deployment.Annotations)
	}
}

// Conformance: MD-03, MD-36
func TestOrphansAreAdopted(t *testing.T) {
	w := rollout(newestSet(3, 3, 3))
	w.Sets[0].OwnerReferences = nil
	w.Orphans, w.Sets = w.Sets, nil
	d := Decide(w)
	require.Len(t, d.Actions, 1, "no second set is made")
	assert.True(t, metav1.IsControlledBy(d.Actions[0].(Update).Wanted, w.Deployment))
	assert.True(t, d.Actions[0].(Update).Adopts)
	assert.Contains(t, d.Events, Event{"SuccessfulAdopt", "Adopted MachineSet new"})
}

// Conformance: MD-02
func TestDeletion(t *testing.T) {
	w := rollout(oldSet(1, 1, 1), newestSet(2, 2, 2))
	now := metav1.NewTime(epoch)
	w.Deployment.DeletionTimestamp = &now
	assert.Equal(t, moves{"-old": 0, "-new": 0}, moves(scaledTo(w, Decide(w))))
	w.Sets[0].DeletionTimestamp, w.Sets[1].DeletionTimestamp = &now, &now
	d := Decide(w)
	assert.Empty(t, d.Actions, "children are deleted once")
	assert.NotEmpty(t, d.Deployment.Finalizers)
	w.Sets, w.Unseen = nil, true
	assert.NotEmpty(t, Decide(w).Deployment.Finalizers, "a set that the cache does not show yet may exist")
	w.Unseen = false
	w.Deployment.Finalizers = append(w.Deployment.Finalizers, clusterv1.MachineDeploymentTopologyFinalizer)
	assert.Empty(t, Decide(w).Deployment.Finalizers, "that of a manager before ours would never go")
}

// Who deletes a deployment with --cascade=orphan keeps the sets.
//
// Conformance: MD-02
func TestOrphaningDeletionKeepsTheSets(t *testing.T) {
	w := rollout(newestSet(2, 2, 2))
	w.Deployment.DeletionTimestamp = &metav1.Time{Time: epoch}
	w.Deployment.Finalizers = append(w.Deployment.Finalizers, metav1.FinalizerOrphanDependents)
	d := Decide(w)
	assert.Empty(t, d.Actions)
	assert.Contains(t, d.Deployment.Finalizers, clusterv1.MachineDeploymentFinalizer, "not before they are let go of")
}

// Conformance: MD-01, SH-01
func TestFinalizerComesFirst(t *testing.T) {
	w := rollout()
	w.Deployment.Finalizers = nil
	d := Decide(w)
	assert.Equal(t, []string{clusterv1.MachineDeploymentFinalizer}, d.Deployment.Finalizers)
	assert.Empty(t, d.Actions)
}

// Conformance: MD-01, SH-03
func TestPausedClusterStopsEverything(t *testing.T) {
	w := rollout(oldSet(3, 3, 3))
	w.Cluster.Spec.Paused = ptr(true)
	d := Decide(w)
	assert.Empty(t, d.Actions)
	assert.True(t, conditions.IsTrue(d.Deployment, clusterv1.PausedCondition))
}

// Conformance: MD-06
func TestDecideIsStable(t *testing.T) {
	w := rollout(newestSet(3, 3, 3))
	w.Deployment = Decide(w).Deployment
	d := Decide(w)
	assert.Empty(t, d.Actions)
	assert.Equal(t, w.Deployment, d.Deployment, "nothing to write the second time")
}
