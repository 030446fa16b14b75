package topology_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/external"
	"github.com/slipway-capi/slipway/contract/ownership"
	"github.com/slipway-capi/slipway/core/plan"
)

// complete plays the other controllers until the topology is complete, with the Machines of the worker group.
func (s *story) complete() {
	s.Helper()
	s.created()
	s.controlPlaneAt("v1.36.0")
	s.workersAt("v1.36.0")
	s.until("the topology is complete", func() bool { return s.reason() == clusterv1.ClusterTopologyReconcileSucceededReason })
	md := s.deployments()[0]
	set := &clusterv1.MachineSet{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: md.Name + "-1", Labels: md.Spec.Template.Metadata.Labels,
		OwnerReferences: []metav1.OwnerReference{ownership.ControllerReference(&md, clusterv1.GroupVersion.WithKind("MachineDeployment"))}}}
	set.Spec = clusterv1.MachineSetSpec{ClusterName: "c", Replicas: md.Spec.Replicas, Selector: md.Spec.Selector, Template: md.Spec.Template}
	require.NoError(s, env.Client.Create(s.Context(), set))
	for _, name := range []string{"-a", "-b"} {
		machine := &clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: set.Name + name, Labels: set.Labels,
			OwnerReferences: []metav1.OwnerReference{ownership.ControllerReference(set, clusterv1.GroupVersion.WithKind("MachineSet"))}}, Spec: md.Spec.Template.Spec}
		require.NoError(s, env.Client.Create(s.Context(), machine))
	}
}

// workersFollow plays the MachineDeployment controller: all groups have the version that they are told to have.
func (s *story) workersFollow() {
	s.Helper()
	for _, md := range s.deployments() {
		md.Status.ObservedGeneration, md.Status.Versions = md.Generation, []clusterv1.StatusVersion{{Version: md.Spec.Template.Spec.Version}}
		require.NoError(s, client.IgnoreNotFound(env.Client.Status().Update(s.Context(), &md)))
	}
}

func (s *story) plan(proposed ...client.Object) (plan.TopologyPlan, error) {
	s.Helper()
	plans, err := plan.MakeForTopologies(s.Context(), plan.TopologyRequest{Reader: env.Client, Resolver: external.NewResolver(env.Client), Scheme: env.Client.Scheme(), Proposed: proposed})
	if err != nil {
		return plan.TopologyPlan{}, err
	}
	i := slices.IndexFunc(plans, func(p plan.TopologyPlan) bool { return p.Cluster.Namespace == s.namespace })
	require.GreaterOrEqual(s, i, 0)
	return plans[i], nil
}

// told lists the changes of a plan without the random parts of names.
func told(p plan.TopologyPlan) (out []string) {
	for _, o := range p.Objects {
		line := string(o.Change) + " " + o.Kind
		for _, f := range o.Because {
			line += fmt.Sprintf(", %s: %s -> %s", f.Path, f.From, f.To)
		}
		out = append(out, line)
	}
	return out
}

// TestThePlanOfATopologyComesTrue: what a plan says of a change happens, object by object and value by value, and nothing else does.
//
// Conformance: TP-40
func TestThePlanOfATopologyComesTrue(t *testing.T) {
	s := tell(t, nil)
	s.complete()
	nothing, err := s.plan(s.cluster)
	require.NoError(t, err)
	assert.Empty(t, nothing.Objects)
	assert.Empty(t, nothing.ControlPlane)
	assert.Empty(t, nothing.Stays)

	change := func(tp *clusterv1.Topology) {
		tp.Version = "v1.37.2"
		tp.ControlPlane.Metadata.Labels = map[string]string{"x": "y"}
		tp.Variables = []clusterv1.ClusterVariable{{Name: "cpus", Value: clusterv1.JSON{Raw: []byte("16")}}}
		second := *tp.Workers.MachineDeployments[0].DeepCopy()
		second.Name = "second"
		tp.Workers.MachineDeployments = append(tp.Workers.MachineDeployments, second)
	}
	proposed := s.cluster.DeepCopy()
	change(&proposed.Spec.Topology)
	p, err := s.plan(proposed)
	require.NoError(t, err)
	assert.Equal(t, []string{"v1.37.2"}, p.ControlPlane)
	assert.Equal(t, []string{"v1.37.2"}, p.Workers)
	require.Len(t, p.Groups, 1)
	require.Len(t, p.Groups[0].Machines, 2)
	machine := p.Groups[0].Machines[0]
	assert.Equal(t, plan.Replaced, machine.Fate)
	var fields []string
	for _, f := range machine.Because {
		fields = append(fields, f.Path+" "+f.To)
	}
	assert.Contains(t, fields, "FakeMachineTemplate spec.template.spec.cpus 16", "of a template that does not exist yet")
	assert.Contains(t, fields, "spec.template.spec.version v1.37.2")
	require.NotNil(t, p.ProposedControlPlane)
	assert.Equal(t, "v1.37.2", field(p.ProposedControlPlane, "spec", "version"))
	lines := strings.Join(told(p), "\n")
	assert.Contains(t, lines, `changed FakeControlPlane, metadata.labels.x:  -> "y"`)
	assert.Contains(t, lines, "spec.version: \"v1.36.0\" -> \"v1.37.2\"")
	assert.Contains(t, lines, "created MachineDeployment")

	s.edit(change)
	s.until("the control plane is told", func() bool { return field(s.object(s.cluster.Spec.ControlPlaneRef), "spec", "version") == "v1.37.2" })
	s.controlPlaneAt("v1.37.2")
	s.until("all is told", func() bool {
		s.workersFollow()
		all := s.deployments()
		return len(all) == 2 && !slices.ContainsFunc(all, func(md clusterv1.MachineDeployment) bool { return md.Spec.Template.Spec.Version != "v1.37.2" })
	})
	for _, o := range p.Objects {
		stored := s.find(o.Kind, o.Name)
		for _, f := range o.Because {
			if f.To != plan.Hidden {
				value, _ := json.Marshal(at(stored.Object, f.Path))
				assert.Equal(t, f.To, string(value), "%s %s %s", o.Kind, o.Name, f.Path)
			}
		}
	}
	after, err := s.plan(s.cluster)
	require.NoError(t, err)
	assert.Empty(t, told(after), "nothing else is left to be done")
}

// TestThePlanOfAClass: a change of a class is planned for the Clusters that use it, and so is one of its templates.
//
// Conformance: TP-40
func TestThePlanOfAClass(t *testing.T) {
	s := tell(t, nil)
	s.complete()
	require.NoError(t, env.Client.Get(t.Context(), client.ObjectKeyFromObject(s.class), s.class))
	class := s.class.DeepCopy()
	class.Spec.Variables[0].Schema.OpenAPIV3Schema.Default.Raw = []byte("32")
	p, err := s.plan(class)
	require.NoError(t, err)
	assert.Equal(t, 2, replaced(p))
	assert.Nil(t, p.ProposedControlPlane)
	assert.Len(t, p.Objects, 2, "a new template and a MachineDeployment that refers to it: %v", told(p))

	boot := s.find("FakeConfigTemplate", "boot")
	require.NoError(t, unstructured.SetNestedField(boot.Object, "password", "spec", "template", "spec", "secret"))
	p, err = s.plan(boot)
	require.NoError(t, err)
	require.Len(t, p.Groups, 1)
	assert.NotContains(t, fmt.Sprintf("%+v", p.Objects)+fmt.Sprintf("%+v", p.Groups[0].Plan), "password")

	infra := s.find("FakeClusterTemplate", "infra")
	require.NoError(t, unstructured.SetNestedField(infra.Object, "west", "spec", "template", "spec", "region"))
	p, err = s.plan(infra)
	require.NoError(t, err)
	assert.Equal(t, []string{`changed FakeCluster, spec.region:  -> "west"`}, told(p))
	assert.Zero(t, replaced(p))
}

// TestWhatCannotBePlanned: errors say what is in the way, and what stays behind is told.
//
// Conformance: TP-40
func TestWhatCannotBePlanned(t *testing.T) {
	s := tell(t, nil)
	s.complete()
	proposed := s.cluster.DeepCopy()
	proposed.Spec.Topology.Version = "v1.39.0"
	_, err := s.plan(proposed)
	require.ErrorContains(t, err, "there is no way from v1.36.0 to v1.39.0")
	proposed.Spec.Topology.ClassRef.Name = "other"
	_, err = s.plan(proposed)
	require.ErrorContains(t, err, "ClusterClass other does not exist")
	proposed.Spec.Topology = clusterv1.Topology{}
	_, err = s.plan(proposed)
	require.ErrorIs(t, err, plan.ErrNoTopology)

	proposed = s.cluster.DeepCopy()
	proposed.Spec.Topology.Version = "v1.37.2"
	proposed.Spec.Topology.Workers.MachineDeployments[0].Metadata.Annotations = map[string]string{clusterv1.ClusterTopologyDeferUpgradeAnnotation: ""}
	p, err := s.plan(proposed)
	require.NoError(t, err)
	assert.Equal(t, "MachineDeployments md stay behind until their annotation to defer the upgrade is removed", p.Stays)
	assert.Zero(t, replaced(p), "their Machines are left alone")

	proposed.Spec.Topology.Workers.MachineDeployments = nil
	p, err = s.plan(proposed)
	require.NoError(t, err)
	assert.Contains(t, told(p), "deleted MachineDeployment")
}

// replaced counts the Machines that a plan replaces.
func replaced(p plan.TopologyPlan) (n int) {
	for _, g := range p.Groups {
		for _, m := range g.Machines {
			if m.Fate == plan.Replaced {
				n++
			}
		}
	}
	return n
}

// find reads an object by the name of its kind.
func (s *story) find(kind, name string) *unstructured.Unstructured {
	s.Helper()
	o := &unstructured.Unstructured{}
	o.SetGroupVersionKind(clusterv1.GroupVersion.WithKind(kind))
	switch {
	case strings.HasPrefix(kind, "FakeConfig"):
		o.SetGroupVersionKind(schema.GroupVersionKind{Group: "bootstrap.cluster.x-k8s.io", Version: "v1", Kind: kind})
	case strings.HasPrefix(kind, "FakeControl"):
		o.SetGroupVersionKind(schema.GroupVersionKind{Group: "controlplane.cluster.x-k8s.io", Version: "v1", Kind: kind})
	case strings.HasPrefix(kind, "Fake"):
		o.SetGroupVersionKind(schema.GroupVersionKind{Group: "infrastructure.cluster.x-k8s.io", Version: "v1", Kind: kind})
	}
	require.NoError(s, env.Client.Get(s.Context(), client.ObjectKey{Namespace: s.namespace, Name: name}, o), "%s %s", kind, name)
	return o
}

// at is the value at a path whose names may hold dots.
func at(value any, path string) any {
	fields, ok := value.(map[string]any)
	if !ok || path == "" {
		return value
	}
	for name, inner := range fields {
		if rest, found := strings.CutPrefix(path, name); found && (rest == "" || rest[0] == '.') {
			return at(inner, strings.TrimPrefix(rest, "."))
		}
	}
	return nil
}
