package machinedeployment_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/conditions"
)

// pool is one deployment "md" of cluster "c" in a namespace of its own.
type pool struct {
	*testing.T
	namespace string
	md        *clusterv1.MachineDeployment
}

func newPool(t *testing.T, adjust func(*clusterv1.MachineDeployment)) *pool {
	p := &pool{T: t, namespace: env.Namespace(t)}
	cluster := &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: p.namespace, Name: "c"},
		Spec: clusterv1.ClusterSpec{InfrastructureRef: clusterv1.ContractVersionedObjectReference{APIGroup: "infrastructure.cluster.x-k8s.io", Kind: "FakeCluster", Name: "c"}}}
	require.NoError(t, env.Client.Create(ctx, cluster))
	fake(t, machineTemplate, p.namespace, "small")
	fake(t, bootstrapTemplate, p.namespace, "worker")
	three := int32(3)
	p.md = &clusterv1.MachineDeployment{ObjectMeta: metav1.ObjectMeta{Namespace: p.namespace, Name: "md"}}
	p.md.Spec = clusterv1.MachineDeploymentSpec{
		ClusterName: "c", Replicas: &three,
		Selector: metav1.LabelSelector{MatchLabels: map[string]string{clusterv1.MachineDeploymentNameLabel: "md"}},
		Template: clusterv1.MachineTemplateSpec{
			Metadata: clusterv1.ObjectMeta{Labels: map[string]string{"tier": "web", "temporary": "yes"}},
			Spec: clusterv1.MachineSpec{ClusterName: "c", Version: "v1.37.2", InfrastructureRef: templateRef(machineTemplate, "small"),
				Bootstrap: clusterv1.Bootstrap{ConfigRef: templateRef(bootstrapTemplate, "worker")}},
		},
	}
	if adjust != nil {
		adjust(p.md)
	}
	require.NoError(t, env.Client.Create(ctx, p.md))
	return p
}

func (p *pool) machines() []clusterv1.Machine {
	list := &clusterv1.MachineList{}
	require.NoError(p, env.Client.List(ctx, list, client.InNamespace(p.namespace)))
	return list.Items
}

func (p *pool) sets() []clusterv1.MachineSet {
	list := &clusterv1.MachineSetList{}
	require.NoError(p, env.Client.List(ctx, list, client.InNamespace(p.namespace)))
	return list.Items
}

func (p *pool) objects(gvk schema.GroupVersionKind) []unstructured.Unstructured {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(gvk)
	require.NoError(p, env.Client.List(ctx, list, client.InNamespace(p.namespace)))
	return list.Items
}

func (p *pool) load() *clusterv1.MachineDeployment {
	require.NoError(p, env.Client.Get(ctx, client.ObjectKeyFromObject(p.md), p.md))
	return p.md
}

// running waits until the deployment is complete with n Machines of one template.
func (p *pool) running(what string, n int32, template string) {
	p.Helper()
	eventually(p.T, what, func() bool {
		md := p.load()
		if md.Status.ObservedGeneration != md.Generation || md.Status.Phase != clusterv1.MachineDeploymentPhaseRunning {
			return false
		}
		machines := p.machines()
		for _, m := range machines {
			if s := p.setOf(m); s == nil || s.Spec.Template.Spec.InfrastructureRef.Name != template || m.Status.NodeRef.Name == "" {
				return false
			}
		}
		return len(machines) == int(n) && md.Status.AvailableReplicas != nil && *md.Status.AvailableReplicas == n && *md.Status.Replicas == n && len(p.inUse()) == 1
	})
}

// inUse are the sets that have or want Machines.
func (p *pool) inUse() []clusterv1.MachineSet {
	return slices.DeleteFunc(p.sets(), func(s clusterv1.MachineSet) bool { return *s.Spec.Replicas == 0 && *s.Status.Replicas == 0 })
}

func (p *pool) setOf(m clusterv1.Machine) *clusterv1.MachineSet {
	for _, s := range p.sets() {
		if metav1.IsControlledBy(&m, &s) {
			return &s
		}
	}
	return nil
}

// quiet asserts that nothing is written while nothing changes.
func (p *pool) quiet() {
	p.Helper()
	eventually(p.T, "quiet", func() bool {
		before := writes.Load()
		time.Sleep(300 * time.Millisecond)
		return writes.Load() == before
	})
}

// Conformance: MD-02, MD-04, MD-07, MD-10, MD-18, MS-13, MS-21, SH-16
func TestLifeOfADeployment(t *testing.T) {
	start := writes.Load()
	p := newPool(t, nil)
	p.running("three Machines", 3, "small")
	p.quiet()
	t.Logf("%d writes for three Machines", writes.Load()-start)
	p.createdComplete()
	p.scale()
	p.changeInPlace()
	p.roll()
	p.delete()
}

func (p *pool) createdComplete() {
	for _, m := range p.machines() {
		for _, ref := range []clusterv1.ContractVersionedObjectReference{m.Spec.Bootstrap.ConfigRef, m.Spec.InfrastructureRef} {
			require.Equal(p, m.Name, ref.Name, "one name for all three")
		}
	}
	for _, gvk := range []schema.GroupVersionKind{machineKind, bootstrapKind} {
		objects := p.objects(gvk)
		require.Len(p, objects, 3)
		for _, o := range objects {
			assert.Equal(p, "web", o.GetLabels()["tier"])
			assert.Equal(p, "template", o.GetLabels()["from"])
			assert.Equal(p, "c", o.GetLabels()[clusterv1.ClusterNameLabel])
			assert.Equal(p, int64(1), o.GetGeneration())
			require.Len(p, o.GetOwnerReferences(), 1)
		}
	}
	for _, gvk := range []schema.GroupVersionKind{machineTemplate, bootstrapTemplate} {
		require.Len(p, p.objects(gvk)[0].GetOwnerReferences(), 1, "templates belong to the Cluster")
	}
	md := p.load()
	assert.Equal(p, "1", md.Annotations[clusterv1.RevisionAnnotation])
	for c, status := range map[string]metav1.ConditionStatus{
		clusterv1.AvailableCondition: metav1.ConditionTrue, clusterv1.MachinesReadyCondition: metav1.ConditionTrue, clusterv1.MachinesUpToDateCondition: metav1.ConditionTrue,
		clusterv1.RollingOutCondition: metav1.ConditionFalse, clusterv1.ScalingUpCondition: metav1.ConditionFalse, clusterv1.ScalingDownCondition: metav1.ConditionFalse,
		clusterv1.RemediatingCondition: metav1.ConditionFalse, clusterv1.DeletingCondition: metav1.ConditionFalse, clusterv1.PausedCondition: metav1.ConditionFalse,
	} {
		require.True(p, conditions.Has(md, c), c)
		assert.Equal(p, status, conditions.Get(md, c).Status, c)
	}
}

func (p *pool) scale() {
	marked := p.machines()[1]
	patched(p.T, &marked, map[string]any{"metadata": map[string]any{"annotations": map[string]any{clusterv1.DeleteMachineAnnotation: ""}}})
	patched(p.T, p.md, map[string]any{"spec": map[string]any{"replicas": 1}})
	p.running("one Machine", 1, "small")
	assert.NotEqual(p, marked.Name, p.machines()[0].Name)
	patched(p.T, p.md, map[string]any{"spec": map[string]any{"replicas": 3}})
	p.running("three again", 3, "small")
}

func (p *pool) changeInPlace() {
	names := map[string]bool{}
	first := p.machines()[0]
	patched(p.T, &first, map[string]any{"metadata": map[string]any{"labels": map[string]any{"users": "own"}}})
	for _, m := range p.machines() {
		names[m.Name] = true
	}
	patched(p.T, p.md, map[string]any{"spec": map[string]any{"template": map[string]any{
		"metadata": map[string]any{"labels": map[string]any{"tier": "db", "temporary": nil}},
		"spec":     map[string]any{"minReadySeconds": 1, "deletion": map[string]any{"nodeDrainTimeoutSeconds": 9}},
	}}})
	eventually(p.T, "changes arrive in place", func() bool {
		for _, m := range p.machines() {
			_, temporary := m.Labels["temporary"]
			if temporary || m.Labels["tier"] != "db" || m.Spec.MinReadySeconds == nil || m.Spec.Deletion.NodeDrainTimeoutSeconds == nil || !names[m.Name] {
				return false
			}
		}
		for _, o := range append(p.objects(machineKind), p.objects(bootstrapKind)...) {
			if names[o.GetName()] && o.GetLabels()["tier"] != "db" {
				return false
			}
		}
		return true
	})
	require.NoError(p, env.Client.Get(ctx, client.ObjectKeyFromObject(&first), &first))
	assert.Equal(p, "own", first.Labels["users"], "a user's label stays")
	patched(p.T, p.md, map[string]any{"spec": map[string]any{"template": map[string]any{"spec": map[string]any{"minReadySeconds": nil, "deletion": nil}}}})
	eventually(p.T, "and leave again", func() bool {
		for _, m := range p.machines() {
			if m.Spec.MinReadySeconds != nil || m.Spec.Deletion.NodeDrainTimeoutSeconds != nil {
				return false
			}
		}
		return true
	})
	p.quiet()
}

func (p *pool) roll() {
	patched(p.T, p.md, map[string]any{"spec": map[string]any{"template": map[string]any{"spec": map[string]any{"infrastructureRef": map[string]any{"name": "large"}}}}})
	eventually(p.T, "the missing template is named", func() bool {
		return p.load().Status.ObservedGeneration == p.md.Generation
	})
	require.Len(p, p.sets(), 1, "no set without its template")
	fake(p.T, machineTemplate, p.namespace, "large")
	p.running("all rolled once the template exists", 3, "large")
	assert.Equal(p, "2", p.load().Annotations[clusterv1.RevisionAnnotation])
	p.quiet()
}

func (p *pool) delete() {
	require.NoError(p, env.Client.Delete(ctx, p.md))
	eventually(p.T, "all gone", func() bool {
		return len(p.machines()) == 0 && len(p.sets()) == 0 && client.IgnoreNotFound(env.Client.Get(ctx, client.ObjectKeyFromObject(p.md), p.md)) == nil &&
			env.Client.Get(ctx, client.ObjectKeyFromObject(p.md), p.md) != nil
	})
}

// Conformance: MD-44, MD-45
func TestBC05BrokenTemplateTakesNoMoreThanTheSurge(t *testing.T) {
	p := newPool(t, nil)
	p.running("three Machines", 3, "small")
	fake(t, machineTemplate, p.namespace, "bad")
	patched(t, p.md, map[string]any{"spec": map[string]any{"template": map[string]any{
		"metadata": map[string]any{"annotations": map[string]any{"test.example.org/broken": "yes"}},
		"spec":     map[string]any{"infrastructureRef": map[string]any{"name": "bad"}},
	}}})
	eventually(t, "the surge is used", func() bool { return len(p.machines()) == 4 })
	p.quiet()
	assert.Len(t, p.machines(), 4)
	assert.Equal(t, int32(3), *p.load().Status.AvailableReplicas)
	patched(t, p.md, map[string]any{"spec": map[string]any{"template": map[string]any{
		"metadata": map[string]any{"annotations": nil}, "spec": map[string]any{"infrastructureRef": map[string]any{"name": "small"}},
	}}})
	p.running("and given back", 3, "small")
	assert.Equal(t, "3", p.load().Annotations[clusterv1.RevisionAnnotation])
}

// Conformance: MD-15, MD-46
func TestScheduledRollout(t *testing.T) {
	p := newPool(t, nil)
	p.running("three Machines", 3, "small")
	first := p.sets()[0].Name
	patched(t, p.md, map[string]any{"spec": map[string]any{"rollout": map[string]any{"after": time.Now().Add(2 * time.Second).UTC().Format(time.RFC3339)}}})
	eventually(t, "rolled at the time, without another event", func() bool {
		s := p.sets()
		return len(s) == 1 && s[0].Name != first // the old one has the same template, which is no way back
	})
	p.running("complete", 3, "small")
	time.Sleep(1500 * time.Millisecond)
	assert.Len(t, p.sets(), 1, "BC-01: once")
	assert.Equal(t, "2", p.load().Annotations[clusterv1.RevisionAnnotation])
}
