package clusterresourceset

import (
	"testing"

	"github.com/stretchr/testify/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	addonsv1 "github.com/slipway-capi/slipway/contract/api/addons/v1beta2"
	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/conditions"
)

var configMap = addonsv1.ResourceReference{Kind: "ConfigMap", Name: "cni"}

func aSet(name, strategy string, change ...func(*addonsv1.ClusterResourceSet)) *addonsv1.ClusterResourceSet {
	s := &addonsv1.ClusterResourceSet{ObjectMeta: metav1.ObjectMeta{Name: name, Finalizers: []string{addonsv1.ClusterResourceSetFinalizer}}}
	s.Spec.ClusterSelector.MatchLabels = map[string]string{"cni": "x"}
	s.Spec.Resources, s.Spec.Strategy = []addonsv1.ResourceReference{configMap}, strategy
	for _, c := range change {
		c(s)
	}
	return s
}

func picksOthers(s *addonsv1.ClusterResourceSet) {
	s.Spec.ClusterSelector.MatchLabels = map[string]string{"cni": "y"}
}

func deleted(s *addonsv1.ClusterResourceSet) { now := metav1.Now(); s.DeletionTimestamp = &now }

func aCluster(name string) *clusterv1.Cluster {
	return &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"cni": "x"}}}
}

func aBinding(set string, applied bool) *addonsv1.ClusterResourceSetBinding {
	b := &addonsv1.ClusterResourceSetBinding{ObjectMeta: metav1.ObjectMeta{Name: "c"}}
	b.Spec.Bindings = []addonsv1.ResourceSetBinding{{ClusterResourceSetName: set, Resources: []addonsv1.ResourceBinding{{Kind: "ConfigMap", Name: "cni", Applied: applied, Hash: "h"}}}}
	return b
}

// Conformance: RS-05, RS-06, RS-09, RS-12, RS-15
func TestDecide(t *testing.T) {
	delivery := Delivery{Set: "s", Resource: configMap}
	exists := map[addonsv1.ResourceReference]string{configMap: "7"}
	for _, c := range []struct {
		name    string
		world   World
		deliver int
		missing int
		forget  []string
	}{
		{name: "for the first time", world: World{Sets: []*addonsv1.ClusterResourceSet{aSet("s", "ApplyOnce")}, Versions: exists}, deliver: 1},
		{name: "once is enough", world: World{Sets: []*addonsv1.ClusterResourceSet{aSet("s", "ApplyOnce")}, Versions: exists, Binding: aBinding("s", true)}},
		{name: "not complete yet", world: World{Sets: []*addonsv1.ClusterResourceSet{aSet("s", "ApplyOnce")}, Versions: exists, Binding: aBinding("s", false)}, deliver: 1},
		{name: "changed since", world: World{Sets: []*addonsv1.ClusterResourceSet{aSet("s", "Reconcile")}, Versions: exists, Binding: aBinding("s", true), Seen: map[Delivery]string{delivery: "6"}}, deliver: 1},
		{name: "not changed since", world: World{Sets: []*addonsv1.ClusterResourceSet{aSet("s", "Reconcile")}, Versions: exists, Binding: aBinding("s", true), Seen: map[Delivery]string{delivery: "7"}}},
		{name: "after a restart the content is compared", world: World{Sets: []*addonsv1.ClusterResourceSet{aSet("s", "Reconcile")}, Versions: exists, Binding: aBinding("s", true)}, deliver: 1},
		{name: "a resource that does not exist", world: World{Sets: []*addonsv1.ClusterResourceSet{aSet("s", "ApplyOnce")}}, missing: 1},
		{name: "it does not pick the Cluster any more", world: World{Sets: []*addonsv1.ClusterResourceSet{aSet("s", "ApplyOnce", picksOthers)}, Versions: exists, Binding: aBinding("s", true)}, forget: []string{"s"}},
		{name: "left to another manager", world: World{WatchFilter: "b", Sets: []*addonsv1.ClusterResourceSet{aSet("s", "ApplyOnce", picksOthers)}, Versions: exists, Binding: aBinding("s", true)}},
		{name: "not ours to deliver", world: World{WatchFilter: "b", Sets: []*addonsv1.ClusterResourceSet{aSet("s", "ApplyOnce")}, Versions: exists}},
		{name: "ours to deliver", world: World{WatchFilter: "b", Sets: []*addonsv1.ClusterResourceSet{aSet("s", "ApplyOnce", func(s *addonsv1.ClusterResourceSet) {
			s.Labels = map[string]string{clusterv1.WatchLabel: "b"}
		})}, Versions: exists}, deliver: 1},
		{name: "a paused set stands still in deletion, too", world: World{Sets: []*addonsv1.ClusterResourceSet{aSet("s", "ApplyOnce", deleted, func(s *addonsv1.ClusterResourceSet) {
			s.Annotations = map[string]string{clusterv1.PausedAnnotation: ""}
		})}, Versions: exists, Binding: aBinding("s", true)}},
		{name: "another selector", world: World{Sets: []*addonsv1.ClusterResourceSet{aSet("s", "ApplyOnce", func(s *addonsv1.ClusterResourceSet) {
			s.Spec.ClusterSelector.MatchLabels = map[string]string{"cni": "y"}
		})}, Versions: exists}},
		{name: "an empty selector matches nothing", world: World{Sets: []*addonsv1.ClusterResourceSet{aSet("s", "ApplyOnce", func(s *addonsv1.ClusterResourceSet) { s.Spec.ClusterSelector = metav1.LabelSelector{} })}, Versions: exists}},
		{name: "a paused set", world: World{Sets: []*addonsv1.ClusterResourceSet{aSet("s", "ApplyOnce", func(s *addonsv1.ClusterResourceSet) {
			s.Annotations = map[string]string{clusterv1.PausedAnnotation: ""}
		})}, Versions: exists}},
		{name: "a set in deletion", world: World{Sets: []*addonsv1.ClusterResourceSet{aSet("s", "ApplyOnce", deleted)}, Versions: exists, Binding: aBinding("s", false)}, forget: []string{"s"}},
		{name: "a set that is gone", world: World{Binding: aBinding("s", true)}, forget: []string{"s"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.world.Cluster = aCluster("c")
			d := Decide(c.world)
			assert.Len(t, d.Deliver, c.deliver)
			assert.Len(t, d.Missing, c.missing)
			assert.Equal(t, c.forget, d.Forget)
			c.world.Cluster.Annotations = map[string]string{clusterv1.PausedAnnotation: ""}
			assert.Empty(t, Decide(c.world).Deliver, "nothing while the Cluster is paused")
		})
	}
}

// Conformance: RS-17, RS-18
func TestBindingsGoWithTheirClusters(t *testing.T) {
	bound := func(uid types.UID) *addonsv1.ClusterResourceSetBinding {
		b := aBinding("s", true)
		b.OwnerReferences = []metav1.OwnerReference{{APIVersion: clusterv1.GroupVersion.String(), Kind: "Cluster", Name: "c", UID: uid}}
		return b
	}
	w := World{Sets: []*addonsv1.ClusterResourceSet{aSet("s", "ApplyOnce")}, Versions: map[addonsv1.ResourceReference]string{configMap: "7"}, Cluster: aCluster("c"), Binding: bound("new")}
	w.Cluster.UID = "new"
	assert.Equal(t, Decision{}, Decide(w), "all is delivered")
	w.Binding = bound("old")
	assert.Equal(t, Decision{Unbind: true}, Decide(w), "another Cluster of the name has received nothing")
	w.Binding = nil
	assert.Len(t, Decide(w).Deliver, 1)
	w.Binding = aBinding("s", true)
	assert.Empty(t, Decide(w).Deliver, "a binding that names no owner is believed")

	now := metav1.Now()
	w.Cluster.DeletionTimestamp = &now
	assert.Equal(t, Decision{Unbind: true}, Decide(w))
	w.Binding = nil
	assert.Equal(t, Decision{}, Decide(w), "nothing is delivered to a Cluster that leaves")
	w.Gone, w.Binding = true, bound("new")
	assert.Equal(t, Decision{Unbind: true}, Decide(w))
}

// Conformance: RS-19
func TestResourcesThatLeaveTheirSet(t *testing.T) {
	secret := addonsv1.ResourceReference{Kind: "Secret", Name: "cni"}
	w := World{Cluster: aCluster("c"), Binding: aBinding("s", true), Sets: []*addonsv1.ClusterResourceSet{aSet("s", "ApplyOnce", func(s *addonsv1.ClusterResourceSet) {
		s.Spec.Resources = []addonsv1.ResourceReference{secret}
	})}}
	d := Decide(w)
	assert.Equal(t, []Delivery{{"s", configMap}}, d.Drop)
	assert.Equal(t, []Delivery{{"s", secret}}, d.Missing)
}

// Conformance: RS-07
func TestOwnersOfABinding(t *testing.T) {
	w := World{Cluster: aCluster("c"), Sets: []*addonsv1.ClusterResourceSet{aSet("s", "ApplyOnce"), aSet("idle", "ApplyOnce")}, Binding: aBinding("s", true)}
	w.Binding.OwnerReferences = []metav1.OwnerReference{{APIVersion: addonsv1.GroupVersion.String(), Kind: "ClusterResourceSet", Name: "gone"}, {APIVersion: "v1", Kind: "ConfigMap", Name: "a user's"}}
	var owners []string
	for _, r := range recorded(w, Decision{}, nil).OwnerReferences {
		owners = append(owners, r.Kind+" "+r.Name)
	}
	assert.Equal(t, []string{"ConfigMap a user's", "Cluster c", "ClusterResourceSet s"}, owners)
}

// Conformance: RS-07, RS-10
func TestRecord(t *testing.T) {
	b := aBinding("one", true)
	first := b.DeepCopy()
	record(b, Decision{}, []Result{{Delivery: Delivery{"two", configMap}, Binding: addonsv1.ResourceBinding{Kind: "ConfigMap", Name: "cni", Hash: "x"}, Trouble: unreached()}})
	assert.Equal(t, first.Spec.Bindings[0], b.Spec.Bindings[0], "the other set is left alone")
	assert.False(t, b.Spec.Bindings[1].Resources[0].Applied)
	again := b.DeepCopy()
	record(again, Decision{}, []Result{{Delivery: Delivery{"one", configMap}, Binding: addonsv1.ResourceBinding{Kind: "ConfigMap", Name: "cni", Applied: true, Hash: "h", LastAppliedTime: metav1.Now()}}})
	assert.Equal(t, b, again, "a delivery that changed nothing is not written down")
	record(again, Decision{Forget: []string{"one"}}, nil)
	assert.Len(t, again.Spec.Bindings, 1)
	assert.Len(t, b.Spec.Bindings, 2, "the original is not touched")
	record(again, Decision{Drop: []Delivery{{"two", configMap}}}, nil)
	assert.Empty(t, again.Spec.Bindings[0].Resources, "a resource that has left its set")
}

// Conformance: RS-08, RS-09, RS-11, RS-12, RS-13
func TestDecideSet(t *testing.T) {
	two := []*clusterv1.Cluster{aCluster("c"), aCluster("d")}
	owned := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: "cni"}}
	for _, c := range []struct {
		name            string
		world           SetWorld
		reason, message string
	}{
		{name: "no clusters", world: SetWorld{}, reason: "Applied"},
		{name: "delivered", world: SetWorld{Clusters: two[:1], Bindings: []*addonsv1.ClusterResourceSetBinding{aBinding("s", true)}}, reason: "Applied"},
		{name: "not yet", world: SetWorld{Clusters: two, Bindings: []*addonsv1.ClusterResourceSetBinding{aBinding("s", true)}}, reason: "NotApplied", message: "* Cluster d: ConfigMap cni: not delivered yet"},
		{name: "refused", world: SetWorld{Clusters: two[:1], Bindings: []*addonsv1.ClusterResourceSetBinding{aBinding("s", false)}, Troubles: map[string]map[addonsv1.ResourceReference]trouble{"c": {configMap: {message: "DaemonSet x: no"}}}}, reason: "NotApplied", message: "* Cluster c: ConfigMap cni: DaemonSet x: no"},
		{name: "of the wrong type", world: SetWorld{Clusters: two[:1], Troubles: map[string]map[addonsv1.ResourceReference]trouble{"c": {configMap: {message: "m", secretType: true}}}}, reason: "WrongSecretType", message: "* Cluster c: ConfigMap cni: m"},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.world.Set, c.world.Resources = aSet("s", "ApplyOnce"), []*metav1.PartialObjectMetadata{owned}
			d := DecideSet(c.world)
			assert.Equal(t, c.reason, conditions.Reason(d.Set, addonsv1.ClusterResourceSetResourcesAppliedCondition))
			assert.Equal(t, c.message, conditions.Message(d.Set, addonsv1.ClusterResourceSetResourcesAppliedCondition))
			assert.Equal(t, []*metav1.PartialObjectMetadata{owned}, d.Adopt)
		})
	}
	assert.NotEmpty(t, DecideSet(SetWorld{Set: aSet("s", "ApplyOnce", func(s *addonsv1.ClusterResourceSet) { s.Finalizers = nil })}).Set.Finalizers)
	assert.NotEmpty(t, DecideSet(SetWorld{Set: aSet("s", "ApplyOnce", deleted), Bindings: []*addonsv1.ClusterResourceSetBinding{aBinding("s", true)}}).Set.Finalizers)
	assert.Empty(t, DecideSet(SetWorld{Set: aSet("s", "ApplyOnce", deleted), Bindings: []*addonsv1.ClusterResourceSetBinding{aBinding("other", true)}}).Set.Finalizers)
}
