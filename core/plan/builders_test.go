package plan

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/contractversion"
	"github.com/slipway-capi/slipway/core/internal/controllers/machinedeployment"
	"github.com/slipway-capi/slipway/core/internal/controllers/machineset"
	webhooks "github.com/slipway-capi/slipway/core/internal/webhooks/machinedeployment"
)

var epoch = time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)

// management is a management cluster with Cluster "c", two templates of each kind, and MachineDeployment "md" with three
// available Machines md-a-1 to md-a-3, as the controllers themselves make them.
type management struct {
	*testing.T
	client.Client
	md *clusterv1.MachineDeployment
}

func resolver() *contractversion.Resolver {
	return contractversion.NewResolver(contractversion.ReaderFunc(func(context.Context, string) (map[string]string, bool, error) {
		return map[string]string{"cluster.x-k8s.io/v1beta2": "v1"}, true, nil
	}))
}

func reference(group, kind, name string) clusterv1.ContractVersionedObjectReference {
	return clusterv1.ContractVersionedObjectReference{APIGroup: group + ".cluster.x-k8s.io", Kind: kind, Name: name}
}

func infra(name string) clusterv1.ContractVersionedObjectReference {
	return reference("infrastructure", "FakeMachineTemplate", name)
}

func config(name string) clusterv1.ContractVersionedObjectReference {
	return reference("bootstrap", "FakeConfigTemplate", name)
}

func template(ref clusterv1.ContractVersionedObjectReference, spec map[string]any) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"template": map[string]any{"spec": spec}}}}
	u.SetAPIVersion(ref.APIGroup + "/v1")
	u.SetKind(ref.Kind)
	u.SetNamespace("ns")
	u.SetName(ref.Name)
	return u
}

func machineSpec() clusterv1.MachineSpec {
	return clusterv1.MachineSpec{ClusterName: "c", Version: "v1.37.2", InfrastructureRef: infra("small"), Bootstrap: clusterv1.Bootstrap{ConfigRef: config("worker")}}
}

func deployment() *clusterv1.MachineDeployment {
	three := int32(3)
	md := &clusterv1.MachineDeployment{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "md", UID: "md-uid"}}
	md.Spec.ClusterName, md.Spec.Replicas = "c", &three
	md.Spec.Template.Spec = machineSpec()
	webhooks.Default(md, nil)
	return md
}

func newManagement(t *testing.T) *management {
	s := runtime.NewScheme()
	require.NoError(t, clusterv1.AddToScheme(s))
	cluster := &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "c", UID: "c-uid"}}
	m := &management{T: t, md: deployment()}
	m.Client = fake.NewClientBuilder().WithScheme(s).WithObjects(cluster, m.md,
		template(infra("small"), map[string]any{"size": "t3.small", "disk": map[string]any{"gigabytes": int64(20)}}),
		template(infra("large"), map[string]any{"size": "t3.large", "disk": map[string]any{"gigabytes": int64(20)}}),
		template(config("worker"), map[string]any{"files": []any{"secret"}}),
		template(config("other"), map[string]any{"files": []any{"other"}})).Build()
	m.grow("md-a")
	return m
}

// grow plays the stored deployment to its end and stores what came out: a new set gets the given name, its Machines are
// numbered.
func (m *management) grow(set string) {
	world, err := machinedeployment.Look(m.Context(), m.Client, resolver(), nil, m.md, epoch.Add(-time.Hour))
	require.NoError(m, err)
	p := newPlay(epoch.Add(-time.Hour), world.Cluster)
	p.deployment = &world
	p.look = func(s *clusterv1.MachineSet) (machineset.World, error) {
		return machineset.Look(m.Context(), m.Client, resolver(), s, p.now)
	}
	require.NoError(m, p.run())
	for _, member := range p.sets {
		s := member.world.Set
		made := s.Name
		s.Name, s.UID, s.ResourceVersion = set, types.UID(set+"-uid"), ""
		require.NoError(m, m.Create(m.Context(), s))
		for i, machine := range member.world.Machines {
			require.Contains(m, machine.Name, made)
			machine.Name = fmt.Sprintf("%s-%d", set, i+1)
			machine.UID, machine.Labels[clusterv1.MachineSetNameLabel] = types.UID(machine.Name), set
			machine.OwnerReferences[0].Name, machine.OwnerReferences[0].UID = set, s.UID
			require.NoError(m, m.Create(m.Context(), machine))
		}
	}
	m.md.Annotations = p.deployment.Deployment.Annotations
	require.NoError(m, m.Update(m.Context(), m.md))
}

// change stores a change of a Machine.
func (m *management) change(name string, change func(*clusterv1.Machine)) {
	machine := &clusterv1.Machine{}
	require.NoError(m, m.Get(m.Context(), client.ObjectKey{Namespace: "ns", Name: name}, machine))
	change(machine)
	require.NoError(m, m.Update(m.Context(), machine))
}

// changeSet stores a change of the only set.
func (m *management) changeSet(change func(*clusterv1.MachineSet)) {
	sets := &clusterv1.MachineSetList{}
	require.NoError(m, m.List(m.Context(), sets))
	require.Len(m, sets.Items, 1)
	change(&sets.Items[0])
	require.NoError(m, m.Update(m.Context(), &sets.Items[0]))
}

// changeCluster stores a change of the Cluster.
func (m *management) changeCluster(change func(*clusterv1.Cluster)) {
	cluster := &clusterv1.Cluster{}
	require.NoError(m, m.Get(m.Context(), client.ObjectKey{Namespace: "ns", Name: "c"}, cluster))
	change(cluster)
	require.NoError(m, m.Update(m.Context(), cluster))
}

func (m *management) plan(proposed client.Object) *Plan {
	m.Helper()
	plan, err := Make(m.Context(), Request{Reader: m.Client, Resolver: resolver(), Proposed: proposed, Now: epoch})
	require.NoError(m, err)
	return plan
}
