package topology

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	runtimev1 "github.com/slipway-capi/slipway/contract/api/runtime/v1beta2"
	"github.com/slipway-capi/slipway/core/internal/topology/desired"
	"github.com/slipway-capi/slipway/core/internal/topology/upgrade"
)

func aTemplate(kind string, spec map[string]any) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"template": map[string]any{"spec": spec}}}}
	o.SetAPIVersion("infrastructure.cluster.x-k8s.io/v1")
	o.SetKind(kind)
	o.SetName("template")
	return o
}

// aWorld is a Cluster of one worker group of which nothing exists.
func aWorld() World {
	w := World{Cluster: &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: "c", Namespace: "ns", UID: "uid"}}}
	w.Cluster.Spec.Topology = clusterv1.Topology{ClassRef: clusterv1.ClusterClassRef{Name: "class"}, Version: "v1.37.2"}
	w.Cluster.Spec.Topology.Workers.MachineDeployments = []clusterv1.MachineDeploymentTopology{{Class: "linux", Name: "md"}}
	w.Class = &clusterv1.ClusterClass{ObjectMeta: metav1.ObjectMeta{Name: "class", Generation: 1}}
	w.Class.Status.ObservedGeneration = 1
	w.Class.Spec.Workers.MachineDeployments = []clusterv1.MachineDeploymentClass{{Class: "linux"}}
	w.Blueprint = desired.Blueprint{Class: w.Class, Infrastructure: aTemplate("InfraTemplate", map[string]any{}),
		ControlPlane: aTemplate("ControlTemplate", map[string]any{}), ControlPlaneMachine: aTemplate("MachineTemplate", map[string]any{"size": int64(1)}),
		MachineDeployments: map[string]desired.WorkerTemplates{"linux": {Bootstrap: aTemplate("BootTemplate", map[string]any{}), Infrastructure: aTemplate("MachineTemplate", map[string]any{"size": int64(2)})}}}
	return w
}

// carriedOut is the world after all applies of a decision.
func carriedOut(t *testing.T, w World, d Decision) World {
	t.Helper()
	w.Current.MachineDeployments = map[string]desired.CurrentDeployment{}
	w.Cluster = w.Cluster.DeepCopy()
	byName := map[string]*unstructured.Unstructured{}
	for _, a := range d.Actions {
		switch a := a.(type) {
		case Apply:
			byName[a.Object.GetKind()+"/"+a.Object.GetName()] = a.Object.DeepCopy()
		case Refer:
			w.Cluster.Spec.InfrastructureRef, w.Cluster.Spec.ControlPlaneRef = a.Infrastructure, a.ControlPlane
		}
	}
	for key, o := range byName {
		switch {
		case o.GetKind() == "Infra":
			w.Current.Infrastructure = o
		case o.GetKind() == "Control":
			w.Current.ControlPlane = o
			name, _, _ := unstructured.NestedString(o.Object, "spec", "machineTemplate", "spec", "infrastructureRef", "name")
			w.Current.ControlPlaneMachine = byName["MachineTemplate/"+name]
		case o.GetKind() == "MachineDeployment":
			md := &clusterv1.MachineDeployment{}
			require.NoError(t, runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, md), key)
			w.Current.MachineDeployments["md"] = desired.CurrentDeployment{Object: md, Bootstrap: byName["BootTemplate/"+md.Spec.Template.Spec.Bootstrap.ConfigRef.Name],
				Infrastructure: byName["MachineTemplate/"+md.Spec.Template.Spec.InfrastructureRef.Name]}
		}
	}
	for _, o := range byName {
		if o.GetKind() == "MachineTemplate" || o.GetKind() == "BootTemplate" {
			w.Templates = append(w.Templates, o)
		}
	}
	w.ControlPlane = &upgrade.ControlPlane{Version: "v1.37.2", Observed: "v1.37.2"}
	return w
}

// decide works out what there should be, as observing does, and decides.
func decide(t *testing.T, w World) Decision {
	t.Helper()
	if w.Err == nil && w.Class != nil && w.Cluster.DeletionTimestamp.IsZero() {
		w.Err = w.compute(t.Context(), nil)
	}
	d := Decide(w)
	assert.Equal(t, d, Decide(w), "the same world, the same decision")
	return d
}

func actions(d Decision) (out []string) {
	for _, a := range d.Actions {
		switch a := a.(type) {
		case Apply:
			out = append(out, "apply "+a.Object.GetKind())
		case Refer:
			out = append(out, "refer")
		case Delete:
			out = append(out, "delete "+a.Object.GetKind())
		case Consent:
			out = append(out, "consent")
		}
	}
	return out
}

// Conformance: TP-01, TP-02, TP-03
func TestAllIsMadeOnceAndInOrder(t *testing.T) {
	w := aWorld()
	first := decide(t, w)
	require.NoError(t, first.Err)
	assert.Equal(t, []string{"apply Infra", "apply MachineTemplate", "apply Control", "refer", "apply BootTemplate", "apply MachineTemplate", "apply MachineDeployment"}, actions(first))
	assert.Equal(t, clusterv1.ClusterTopologyReconciledClusterCreatingReason, first.Condition.Reason)
	assert.Equal(t, first.Actions, decide(t, w).Actions, "who is interrupted makes the same objects again")

	second := decide(t, carriedOut(t, w, first))
	require.NoError(t, second.Err)
	assert.Empty(t, actions(second))
	assert.Equal(t, metav1.ConditionTrue, second.Condition.Status)
}

// Conformance: TP-04, TP-05
func TestTemplatesAreReplacedAndSwept(t *testing.T) {
	w := aWorld()
	w = carriedOut(t, w, decide(t, w))
	old := w.Current.MachineDeployments["md"].Infrastructure
	w.Blueprint.MachineDeployments["linux"] = desired.WorkerTemplates{Bootstrap: w.Blueprint.MachineDeployments["linux"].Bootstrap, Infrastructure: aTemplate("MachineTemplate", map[string]any{"size": int64(3)})}
	d := decide(t, w)
	require.Equal(t, []string{"apply MachineTemplate", "apply MachineDeployment"}, actions(d), "the old template goes only when nothing refers to it")
	made := d.Actions[0].(Apply).Object
	assert.NotEqual(t, old.GetName(), made.GetName())

	templates := append(w.Templates, made)
	md := w.Current.MachineDeployments["md"]
	md.Object = md.Object.DeepCopy()
	md.Object.Spec.Template.Spec.InfrastructureRef.Name, md.Infrastructure = made.GetName(), made
	w.Current.MachineDeployments["md"], w.Templates = md, templates
	w.Sets = []*clusterv1.MachineSet{{}}
	w.Sets[0].Spec.Template.Spec.InfrastructureRef = clusterv1.ContractVersionedObjectReference{Kind: "MachineTemplate", Name: old.GetName()}
	assert.Empty(t, actions(decide(t, w)), "an older MachineSet still needs it")
	w.Sets = nil
	d = decide(t, w)
	require.Equal(t, []string{"delete MachineTemplate"}, actions(d))
	assert.Equal(t, old.GetName(), d.Actions[0].(Delete).Object.GetName())

	w.Blueprint.MachineDeployments["linux"] = desired.WorkerTemplates{Bootstrap: w.Blueprint.MachineDeployments["linux"].Bootstrap, Infrastructure: aTemplate("MachineTemplate", map[string]any{"size": int64(3), "more": "x"})}
	again := decide(t, w).Actions[0].(Apply).Object
	w.Blueprint.MachineDeployments["linux"] = desired.WorkerTemplates{Bootstrap: w.Blueprint.MachineDeployments["linux"].Bootstrap, Infrastructure: aTemplate("MachineTemplate", map[string]any{"size": int64(4)})}
	assert.NotEqual(t, again.GetName(), decide(t, w).Actions[0].(Apply).Object.GetName(), "other content, another name")
}

// Conformance: TP-06, TP-07, TP-08
func TestWhatIsLeftAlone(t *testing.T) {
	now := metav1.Now()
	for _, c := range []struct {
		name    string
		change  func(*World)
		actions []string
		reason  string
		err     string
	}{
		{name: "a class that does not exist", change: func(w *World) { w.Class = nil }, reason: clusterv1.ClusterTopologyReconciledClusterClassNotReconciledReason},
		{name: "a class that is not reconciled", change: func(w *World) { w.Class.Generation = 2 }, reason: clusterv1.ClusterTopologyReconciledClusterClassNotReconciledReason},
		{name: "something that cannot be read", change: func(w *World) { w.Err = errors.New("no answer") }, reason: clusterv1.ClusterTopologyReconciledFailedReason, err: "no answer"},
		{name: "a version that is none", change: func(w *World) { w.Cluster.Spec.Topology.Version = "x" }, reason: clusterv1.ClusterTopologyReconciledFailedReason, err: "is no version"},
		{name: "a Cluster in deletion", change: func(w *World) { w.Cluster.DeletionTimestamp = &now }},
		{name: "a Cluster in deletion that waits for consent", change: func(w *World) { w.Cluster.DeletionTimestamp = &now; w.ConsentBeforeDelete = true }, actions: []string{"consent"}},
		{name: "a Cluster in deletion that has it", change: func(w *World) {
			w.Cluster.DeletionTimestamp, w.ConsentBeforeDelete = &now, true
			w.Cluster.Annotations = map[string]string{runtimev1.OkToDeleteAnnotation: ""}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := aWorld()
			c.change(&w)
			d := decide(t, w)
			assert.Equal(t, c.actions, actions(d))
			if c.reason != "" {
				assert.Equal(t, c.reason, d.Condition.Reason)
			}
			if c.err != "" {
				require.ErrorContains(t, d.Err, c.err)
			}
		})
	}
}

// Conformance: TP-09
func TestGroupsThatAreTakenOutGo(t *testing.T) {
	w := aWorld()
	w = carriedOut(t, w, decide(t, w))
	w.HealthChecks = []*clusterv1.MachineHealthCheck{{TypeMeta: metav1.TypeMeta{Kind: "MachineHealthCheck"}, ObjectMeta: metav1.ObjectMeta{Name: "old"}}}
	w.Cluster.Spec.Topology.Workers.MachineDeployments = nil
	assert.Equal(t, []string{"delete MachineDeployment", "delete MachineHealthCheck"}, actions(decide(t, w)))
}

func TestSuffixesDifferAndStay(t *testing.T) {
	seen := map[string]bool{}
	for _, uid := range []types.UID{"a", "b"} {
		c := &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{UID: uid}}
		for _, purpose := range []string{"x", "y", "z"} {
			s := suffix(c, purpose)
			assert.Len(t, s, suffixLength)
			assert.Equal(t, s, suffix(c, purpose))
			assert.False(t, seen[s])
			seen[s] = true
		}
	}
}
