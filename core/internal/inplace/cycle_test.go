package inplace_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	hooks "github.com/slipway-capi/slipway/contract/api/runtime/hooks/v1alpha1"
	runtimev1 "github.com/slipway-capi/slipway/contract/api/runtime/v1beta2"
	"github.com/slipway-capi/slipway/contract/conditions"
	"github.com/slipway-capi/slipway/contract/extension"
	"github.com/slipway-capi/slipway/contract/extension/extensiontest"
	"github.com/slipway-capi/slipway/contract/extension/hook"
	"github.com/slipway-capi/slipway/contract/inplace"
)

func merge(content string) client.Patch {
	return client.RawPatch(types.MergePatchType, []byte(content))
}

func object(gvk schema.GroupVersionKind, namespace, name string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{}}
	o.SetGroupVersionKind(gvk)
	o.SetNamespace(namespace)
	o.SetName(name)
	return o
}

// story is one deployment "md" of three Machines, and an extension of its own.
type story struct {
	*testing.T
	namespace string
	md        *clusterv1.MachineDeployment

	mu sync.Mutex
	// calls are the answers of the extension to each Machine, in order; then it is done with it.
	said  map[string]int
	order []string
	// updating are the most Machines that were seen in an update at once, unavailable the most that were not available.
	unavailable int
}

func tell(t *testing.T, annotations map[string]string) *story {
	s := &story{T: t, namespace: env.Namespace(t), said: map[string]int{}}
	s.extension()
	cluster := &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "c"},
		Spec: clusterv1.ClusterSpec{InfrastructureRef: clusterv1.ContractVersionedObjectReference{APIGroup: machineKind.Group, Kind: "FakeCluster", Name: "c"}}}
	require.NoError(t, env.Client.Create(t.Context(), cluster))
	require.NoError(t, env.Client.Status().Patch(t.Context(), cluster, merge(`{"status":{"initialization":{"infrastructureProvisioned":true,"controlPlaneInitialized":true}}}`)))
	s.template(machineTemplate, "small", map[string]any{"size": "s", "disk": "old", "zone": "a"})
	s.template(bootstrapTemplate, "worker", map[string]any{"files": []any{"a"}})
	three, one, none := int32(3), intstr.FromInt32(1), intstr.FromInt32(0)
	s.md = &clusterv1.MachineDeployment{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "md", Annotations: annotations}}
	s.md.Spec = clusterv1.MachineDeploymentSpec{ClusterName: "c", Replicas: &three, Selector: metav1.LabelSelector{MatchLabels: map[string]string{clusterv1.MachineDeploymentNameLabel: "md"}}}
	s.md.Spec.Rollout.Strategy = clusterv1.MachineDeploymentRolloutStrategy{Type: clusterv1.RollingUpdateMachineDeploymentStrategyType, RollingUpdate: clusterv1.MachineDeploymentRollingUpdate{MaxUnavailable: &one, MaxSurge: &none}}
	s.md.Spec.Template.Spec = clusterv1.MachineSpec{ClusterName: "c", Version: "v1.37.1",
		InfrastructureRef: clusterv1.ContractVersionedObjectReference{APIGroup: machineTemplate.Group, Kind: machineTemplate.Kind, Name: "small"},
		Bootstrap:         clusterv1.Bootstrap{ConfigRef: clusterv1.ContractVersionedObjectReference{APIGroup: bootstrapTemplate.Group, Kind: bootstrapTemplate.Kind, Name: "worker"}}}
	require.NoError(t, env.Client.Create(t.Context(), s.md))
	s.complete("small")
	return s
}

func (s *story) template(gvk schema.GroupVersionKind, name string, spec map[string]any) {
	o := object(gvk, s.namespace, name)
	o.Object["spec"] = map[string]any{"template": map[string]any{"spec": spec}}
	require.NoError(s, env.Client.Create(s.Context(), o))
}

// extension covers versions and everything of templates but the zone. To each Machine it first says that it needs time,
// then it fails, then it is done and the kubelet is of the new version.
func (s *story) extension() {
	server := extension.NewServer(extension.Options{})
	extension.Handle(server, hook.CanUpdateMachineSet, "can", func(_ context.Context, q *hooks.CanUpdateMachineSetRequest, r *hooks.CanUpdateMachineSetResponse) error {
		r.MachineSetPatch = hooks.Patch{PatchType: hooks.JSONMergePatchType, Patch: fmt.Appendf(nil, `{"spec":{"template":{"spec":{"version":%q}}}}`, q.Desired.MachineSet.Spec.Template.Spec.Version)}
		desired := &unstructured.Unstructured{}
		if err := json.Unmarshal(q.Desired.InfrastructureMachineTemplate.Raw, desired); err != nil {
			return err
		}
		spec, _, _ := unstructured.NestedMap(desired.Object, "spec", "template", "spec")
		delete(spec, "zone")
		content, err := json.Marshal(map[string]any{"spec": map[string]any{"template": map[string]any{"spec": spec}}})
		if _, disk := spec["disk"]; !disk {
			content = []byte(strings.Replace(string(content), `"size"`, `"disk":null,"size"`, 1))
		}
		r.InfrastructureMachineTemplatePatch = hooks.Patch{PatchType: hooks.JSONMergePatchType, Patch: content}
		return err
	})
	extension.Handle(server, hook.UpdateMachine, "update", func(ctx context.Context, q *hooks.UpdateMachineRequest, r *hooks.UpdateMachineResponse) error {
		m := q.Desired.Machine
		s.mu.Lock()
		defer s.mu.Unlock()
		s.said[m.Name]++
		switch s.said[m.Name] {
		case 1:
			s.order = append(s.order, m.Name)
			r.RetryAfterSeconds, r.Message = 1, "half of it"
			return nil
		case 2:
			return errors.New("the power was off")
		}
		node := &corev1.Node{}
		node.Name = m.Namespace + "-" + m.Name
		return env.Client.Status().Patch(ctx, node, merge(fmt.Sprintf(`{"status":{"nodeInfo":{"kubeletVersion":%q}}}`, m.Spec.Version)))
	})
	e := extensiontest.Start(s.T, server)
	c := &runtimev1.ExtensionConfig{ObjectMeta: metav1.ObjectMeta{Name: "updater-" + s.namespace}}
	c.Spec.ClientConfig.URL, c.Spec.ClientConfig.CABundle = e.URL, e.CABundle
	c.Spec.NamespaceSelector.MatchLabels = map[string]string{"kubernetes.io/metadata.name": s.namespace}
	require.NoError(s, env.Client.Create(s.Context(), c))
	s.Cleanup(func() { _ = env.Client.Delete(context.Background(), c) })
	s.eventually("the extension is known", func() bool {
		return env.Client.Get(s.Context(), client.ObjectKeyFromObject(c), c) == nil && conditions.IsTrue(c, runtimev1.ExtensionConfigDiscoveredCondition)
	})
}

func (s *story) eventually(what string, done func() bool) {
	s.Helper()
	start := time.Now()
	require.Eventually(s, done, 60*time.Second, 20*time.Millisecond, what)
	s.Logf("%s after %d ms", what, time.Since(start).Milliseconds())
}

func (s *story) machines() []clusterv1.Machine {
	list := &clusterv1.MachineList{}
	require.NoError(s, env.Client.List(s.Context(), list, client.InNamespace(s.namespace)))
	unavailable := 0
	for _, m := range list.Items {
		if !conditions.IsTrue(&m, clusterv1.AvailableCondition) || inplace.Updating(&m) {
			unavailable++
		}
	}
	s.unavailable = max(s.unavailable, unavailable)
	return list.Items
}

// complete waits until all Machines are as the deployment wants them, and returns who they are.
func (s *story) complete(template string) (uids []types.UID) {
	s.Helper()
	s.eventually("all are of template "+template, func() bool {
		uids = nil
		require.NoError(s, env.Client.Get(s.Context(), client.ObjectKeyFromObject(s.md), s.md))
		n := s.md.Status.UpToDateReplicas
		machines := s.machines()
		for _, m := range machines {
			o := object(machineKind, s.namespace, m.Name)
			if env.Client.Get(s.Context(), client.ObjectKeyFromObject(o), o) != nil || o.GetAnnotations()[clusterv1.TemplateClonedFromNameAnnotation] != template {
				return false
			}
			uids = append(uids, m.UID)
		}
		return len(machines) == 3 && s.md.Status.ObservedGeneration == s.md.Generation && n != nil && *n == 3 && s.md.Status.AvailableReplicas != nil && *s.md.Status.AvailableReplicas == 3
	})
	return uids
}

// TestUpdateInPlace: a new version and a new template reach the Machines that exist, one after the other, although the
// extension takes its time and fails in between; nothing of the update is left on any object.
//
// Conformance: MD-26, MS-64, MA-46
func TestUpdateInPlace(t *testing.T) {
	t.Parallel()
	s := tell(t, nil)
	before := s.complete("small")
	s.unavailable = 0
	s.template(machineTemplate, "large", map[string]any{"size": "l", "new": true, "zone": "a"})
	require.NoError(t, env.Client.Patch(t.Context(), s.md, merge(`{"spec":{"template":{"spec":{"version":"v1.37.2","infrastructureRef":{"name":"large"}}}}}`)))
	var told []string
	s.eventually("the failure is told", func() bool {
		for _, m := range s.machines() {
			c := conditions.Get(&m, clusterv1.MachineUpdatingCondition)
			if c != nil && c.Status == metav1.ConditionTrue {
				told = append(told, c.Reason+": "+c.Message)
			}
			if c != nil && c.Reason == clusterv1.MachineInPlaceUpdateFailedReason {
				assert.Equal(t, clusterv1.MachinePhaseUpdating, m.Status.Phase)
				return true
			}
		}
		return false
	})
	name := "update.updater-" + s.namespace
	assert.Contains(t, told, "InPlaceUpdating: "+name+": half of it")
	assert.Contains(t, told, "InPlaceUpdateFailed: hook UpdateMachine, handler "+name+": it reports a failure: the power was off")

	assert.ElementsMatch(t, before, s.complete("large"), "the same Machines as before")
	assert.LessOrEqual(t, s.unavailable, 1, "one after the other")
	assert.Len(t, s.order, 3)
	for _, m := range s.machines() {
		s.finished(m)
	}
	sets := &clusterv1.MachineSetList{}
	require.NoError(t, env.Client.List(t.Context(), sets, client.InNamespace(s.namespace)))
	for _, set := range sets.Items {
		for key := range set.Annotations {
			assert.NotContains(t, key, "in-place-updates.internal", set.Name)
		}
	}
}

// finished asserts that a Machine and its objects are of the new template and carry no marks.
func (s *story) finished(m clusterv1.Machine) {
	assert.Equal(s, "v1.37.2", m.Spec.Version)
	assert.Equal(s, "v1.37.2", m.Status.NodeInfo.KubeletVersion)
	assert.Equal(s, clusterv1.MachinePhaseRunning, m.Status.Phase)
	assert.True(s, conditions.IsFalse(&m, clusterv1.MachineUpdatingCondition))
	infrastructure, bootstrap := object(machineKind, s.namespace, m.Name), object(bootstrapKind, s.namespace, m.Name)
	for _, o := range []client.Object{infrastructure, bootstrap, &m} {
		require.NoError(s, env.Client.Get(s.Context(), client.ObjectKeyFromObject(o), o))
		assert.False(s, inplace.Updating(o), "%s %v", o.GetName(), o.GetAnnotations())
		assert.Equal(s, m.Labels[clusterv1.MachineSetNameLabel], o.GetLabels()[clusterv1.MachineSetNameLabel])
	}
	assert.Equal(s, map[string]any{"size": "l", "new": true, "zone": "a", "providerID": m.Spec.ProviderID}, infrastructure.Object["spec"])
}

// TestRequiredUpdateInPlace: a field that nobody changes in place holds all Machines, and it is told which field it is; who
// only prefers updates in place gets other Machines.
//
// Conformance: MD-26
func TestRequiredUpdateInPlace(t *testing.T) {
	t.Parallel()
	s := tell(t, map[string]string{clusterv1.InPlaceUpdatesAnnotation: clusterv1.InPlaceUpdatesRequire})
	before := s.complete("small")
	s.template(machineTemplate, "elsewhere", map[string]any{"size": "s", "disk": "old", "zone": "b"})
	require.NoError(t, env.Client.Patch(t.Context(), s.md, merge(`{"spec":{"template":{"spec":{"infrastructureRef":{"name":"elsewhere"}}}}}`)))
	s.eventually("it is told", func() bool {
		require.NoError(t, env.Client.Get(t.Context(), client.ObjectKeyFromObject(s.md), s.md))
		return strings.Contains(conditions.Message(s.md, clusterv1.RollingOutCondition), "stay: no extension changes these fields in place: FakeMachineTemplate spec.template.spec.zone")
	})
	time.Sleep(time.Second)
	var now []types.UID
	for _, m := range s.machines() {
		now = append(now, m.UID)
		assert.True(t, m.DeletionTimestamp.IsZero())
	}
	assert.ElementsMatch(t, before, now)
	require.NoError(t, env.Client.Patch(t.Context(), s.md, merge(`{"metadata":{"annotations":{"slipway.dev/in-place-updates":"Prefer"}}}`)))
	for _, uid := range s.complete("elsewhere") {
		assert.NotContains(t, before, uid)
	}
	assert.Empty(t, s.order, "nobody was updated in place")
}
