package machinedeployment_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	memory "sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/conditions"
	"github.com/slipway-capi/slipway/contract/contractversion"
	"github.com/slipway-capi/slipway/core/internal/controllers/machinedeployment"
	"github.com/slipway-capi/slipway/core/internal/controllers/machineset"
)

var errKilled = errors.New("the program has ended")

// mortal is the client of a program that ends at one of its writes, before it is sent or before its answer comes.
type mortal struct {
	client.Client
	left   int
	stored bool
	dead   bool
}

func (m *mortal) write(send func() error) error {
	if m.dead {
		return errKilled
	}
	m.left--
	if m.left != 0 {
		return send()
	}
	m.dead = true
	if m.stored {
		_ = send() // the program never learns how it went
	}
	return errKilled
}

func (m *mortal) Create(ctx context.Context, o client.Object, opts ...client.CreateOption) error {
	return m.write(func() error { return m.Client.Create(ctx, o, opts...) })
}

func (m *mortal) Patch(ctx context.Context, o client.Object, p client.Patch, opts ...client.PatchOption) error {
	return m.write(func() error { return m.Client.Patch(ctx, o, p, opts...) })
}

func (m *mortal) Delete(ctx context.Context, o client.Object, opts ...client.DeleteOption) error {
	return m.write(func() error { return m.Client.Delete(ctx, o, opts...) })
}

func (m *mortal) Status() client.SubResourceWriter { return m.SubResource("status") }

func (m *mortal) SubResource(name string) client.SubResourceClient {
	return mortalStatus{m.Client.SubResource(name), m}
}

type mortalStatus struct {
	client.SubResourceClient
	of *mortal
}

func (m mortalStatus) Patch(ctx context.Context, o client.Object, p client.Patch, opts ...client.SubResourcePatchOption) error {
	return m.of.write(func() error { return m.SubResourceClient.Patch(ctx, o, p, opts...) })
}

// stage is a management cluster in memory, in which both controllers are run by hand.
type stage struct {
	*testing.T
	client.Client
	md *clusterv1.MachineDeployment
	// most and fewest are the numbers of Machines and of available ones that were ever seen.
	most, fewest int
}

func newStage(t *testing.T) *stage {
	scheme := runtime.NewScheme()
	require.NoError(t, clusterv1.AddToScheme(scheme))
	two := int32(2)
	md := &clusterv1.MachineDeployment{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "md", UID: "md"}}
	md.Spec.ClusterName, md.Spec.Replicas = "c", &two
	md.Spec.Selector.MatchLabels = map[string]string{clusterv1.MachineDeploymentNameLabel: "md"}
	md.Spec.Template.Spec = clusterv1.MachineSpec{ClusterName: "c", InfrastructureRef: templateRef(machineTemplate, "small"),
		Bootstrap: clusterv1.Bootstrap{ConfigRef: templateRef(bootstrapTemplate, "worker")}}
	objects := []client.Object{&clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "c", UID: "c"}}, md}
	for _, o := range []struct {
		gvk  schema.GroupVersionKind
		name string
	}{{machineTemplate, "small"}, {machineTemplate, "large"}, {bootstrapTemplate, "worker"}} {
		u := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"template": map[string]any{"spec": map[string]any{"size": o.name}}}}}
		u.SetGroupVersionKind(o.gvk)
		u.SetNamespace("ns")
		u.SetName(o.name)
		objects = append(objects, u)
	}
	c := memory.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).WithReturnManagedFields().
		WithStatusSubresource(&clusterv1.MachineDeployment{}, &clusterv1.MachineSet{}, &clusterv1.Machine{}).
		WithInterceptorFuncs(interceptor.Funcs{Create: createNumbered, Patch: patchNumbered}).Build()
	return &stage{T: t, Client: c, md: md}
}

// createNumbered and patchNumbered give new objects a UID, as an API server does.
func createNumbered(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
	o.SetUID(uuid.NewUUID())
	return c.Create(ctx, o, opts...)
}

func patchNumbered(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
	if err := c.Patch(ctx, o, p, opts...); err != nil || o.GetUID() != "" {
		return err
	}
	o.SetUID(uuid.NewUUID())
	return c.Update(ctx, o)
}

// live runs one life of the program: both controllers and the Machines, until nothing is written any more or it ends.
func (s *stage) live(c client.Client) {
	resolver := contractversion.NewResolver(contractversion.ReaderFunc(func(context.Context, string) (map[string]string, bool, error) {
		return map[string]string{"cluster.x-k8s.io/v1beta2": "v1"}, true, nil
	}))
	recorder := events.NewFakeRecorder(1000)
	deployments := &machinedeployment.Controller{Client: c, Resolver: resolver, Recorder: recorder}
	sets := &machineset.Controller{Client: c, Resolver: resolver, Recorder: recorder}
	for range 60 {
		before := s.versions()
		_, err := deployments.Reconcile(s.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(s.md)})
		s.tolerate(err)
		for _, set := range s.sets() {
			_, err := sets.Reconcile(s.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&set)})
			s.tolerate(err)
		}
		if m, mortal := c.(*mortal); mortal && m.dead {
			return
		}
		s.count()
		s.machinist()
		if before == s.versions() {
			return
		}
	}
	require.Fail(s, "it comes to no end")
}

func (s *stage) tolerate(err error) {
	if err != nil {
		require.ErrorIs(s, err, errKilled)
	}
}

func (s *stage) sets() []clusterv1.MachineSet {
	list := &clusterv1.MachineSetList{}
	require.NoError(s, s.List(s.Context(), list))
	return list.Items
}

func (s *stage) machines() []clusterv1.Machine {
	list := &clusterv1.MachineList{}
	require.NoError(s, s.List(s.Context(), list))
	return list.Items
}

func (s *stage) objects(gvk schema.GroupVersionKind) map[string]bool {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(gvk)
	require.NoError(s, s.List(s.Context(), list))
	out := map[string]bool{}
	for _, o := range list.Items {
		out[o.GetName()] = true
	}
	return out
}

// versions tells the state of all that the controllers write.
func (s *stage) versions() string {
	out := ""
	for _, o := range s.sets() {
		out += o.Name + o.ResourceVersion + " "
	}
	for _, o := range s.machines() {
		out += o.Name + o.ResourceVersion + " "
	}
	require.NoError(s, s.Get(s.Context(), client.ObjectKeyFromObject(s.md), s.md))
	return out + s.md.ResourceVersion + fmt.Sprint(s.objects(machineKind), s.objects(bootstrapKind))
}

func (s *stage) count() {
	available, all := 0, s.machines()
	for _, m := range all {
		if conditions.IsTrue(&m, clusterv1.AvailableCondition) && m.DeletionTimestamp.IsZero() {
			available++
		}
	}
	s.most, s.fewest = max(s.most, len(all)), min(s.fewest, available)
}

// machinist makes every Machine available and lets deleted ones go, with their objects.
func (s *stage) machinist() {
	for _, m := range s.machines() {
		if !m.DeletionTimestamp.IsZero() {
			for _, gvk := range []schema.GroupVersionKind{machineKind, bootstrapKind} {
				u := &unstructured.Unstructured{}
				u.SetGroupVersionKind(gvk)
				u.SetNamespace("ns")
				u.SetName(m.Name)
				require.NoError(s, client.IgnoreNotFound(s.Delete(s.Context(), u)))
			}
			m.Finalizers = nil
			require.NoError(s, client.IgnoreNotFound(s.Update(s.Context(), &m)))
			continue
		}
		if m.Status.NodeRef.Name == "" {
			m.Status.NodeRef.Name = m.Name
			for _, t := range []string{clusterv1.ReadyCondition, clusterv1.AvailableCondition} {
				conditions.Set(&m, metav1.Condition{Type: t, Status: metav1.ConditionTrue, Reason: "Test"})
			}
			require.NoError(s, s.Status().Update(s.Context(), &m))
		}
	}
}

// TestKilledAtAnyWrite: the program ends at each of its writes in turn, and the next one finishes what it began: all
// Machines are of the new template, none is without its objects, no object without its Machine, and on the way there
// were never too many Machines or too few available ones.
//
// Conformance: MD-50, MS-50
func TestKilledAtAnyWrite(t *testing.T) {
	for _, stored := range []bool{false, true} {
		t.Run(fmt.Sprintf("stored %t", stored), func(t *testing.T) {
			t.Parallel()
			n := 1
			for killedAt(t, n, stored) {
				n++
			}
			require.Greater(t, n, 20, "the rollout needs many writes")
		})
	}
}

// killedAt plays a rollout in which the program ends at its nth write, and says whether it got that far.
func killedAt(t *testing.T, n int, stored bool) bool {
	s := newStage(t)
	s.live(s.Client)
	require.Len(t, s.machines(), 2)
	s.md.Spec.Template.Spec.InfrastructureRef.Name = "large"
	require.NoError(t, s.Update(t.Context(), s.md))
	s.most, s.fewest = 0, 2
	first := &mortal{Client: s.Client, left: n, stored: stored}
	s.live(first)
	s.live(s.Client)
	s.complete(fmt.Sprintf("killed at write %d", n))
	return first.dead
}

func (s *stage) complete(what string) {
	s.Helper()
	names := map[string]bool{}
	for _, m := range s.machines() {
		names[m.Name] = true
	}
	require.Len(s, names, 2, what)
	require.Equal(s, names, s.objects(machineKind), what)
	require.Equal(s, names, s.objects(bootstrapKind), what)
	require.LessOrEqual(s, s.most, 3, what)
	require.GreaterOrEqual(s, s.fewest, 2, what)
	for _, set := range s.sets() {
		wanted := int32(0)
		if set.Spec.Template.Spec.InfrastructureRef.Name == "large" {
			wanted = 2
		}
		require.Equal(s, wanted, *set.Status.Replicas, what)
	}
	require.Len(s, s.sets(), 2, what)
}
