package machinehealthcheck

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/intstr"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/conditions"
)

var now = time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)

// ago is a time before now.
func ago(d time.Duration) metav1.Time { return metav1.NewTime(now.Add(-d)) }

// world is a ready cluster, a check for the label pool=blue that minds nodes not ready for 5 minutes, and some targets.
func world(targets ...Target) World {
	cluster := &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "c", UID: "c"}}
	for _, t := range []string{clusterv1.InfrastructureReadyCondition, clusterv1.ClusterControlPlaneInitializedCondition} {
		conditions.Set(cluster, metav1.Condition{Type: t, Status: metav1.ConditionTrue, Reason: "Test", LastTransitionTime: ago(24 * time.Hour)})
	}
	return World{Now: now, Check: check("mhc"), Cluster: cluster, Connected: true, Targets: targets}
}

func check(name string) *clusterv1.MachineHealthCheck {
	c := &clusterv1.MachineHealthCheck{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, UID: "mhc", Generation: 3}}
	c.Spec.ClusterName = "c"
	c.Spec.Selector = metav1.LabelSelector{MatchLabels: map[string]string{"pool": "blue"}}
	c.Spec.Checks.UnhealthyNodeConditions = []clusterv1.UnhealthyNodeCondition{
		{Type: "Ready", Status: "False", TimeoutSeconds: 300}, {Type: "Ready", Status: "Unknown", TimeoutSeconds: 300},
	}
	return c
}

// change makes one thing about a target special.
type change func(*Target)

// target is a worker of an hour's age with a Node that is ready.
func target(name string, changes ...change) Target {
	m := &clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, UID: "m", Labels: map[string]string{"pool": "blue"}, CreationTimestamp: ago(time.Hour)}}
	m.Spec.ClusterName = "c"
	m.Status.NodeRef.Name = name
	conditions.Set(m, metav1.Condition{Type: clusterv1.InfrastructureReadyCondition, Status: metav1.ConditionTrue, Reason: "Test", LastTransitionTime: ago(time.Hour)})
	t := Target{Machine: m, Node: &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, CreationTimestamp: ago(time.Hour)}}}
	nodeIs("Ready", "True", time.Hour)(&t)
	for _, c := range changes {
		c(&t)
	}
	return t
}

// nodeIs sets a condition of the Node that has lasted for a time.
func nodeIs(kind, status string, since time.Duration) change {
	return func(t *Target) {
		c := corev1.NodeCondition{Type: corev1.NodeConditionType(kind), Status: corev1.ConditionStatus(status), LastTransitionTime: ago(since)}
		for i, have := range t.Node.Status.Conditions {
			if have.Type == c.Type {
				t.Node.Status.Conditions[i] = c
				return
			}
		}
		t.Node.Status.Conditions = append(t.Node.Status.Conditions, c)
	}
}

// machineIs sets a condition of the Machine that has lasted for a time.
func machineIs(kind, status string, since time.Duration) change {
	return func(t *Target) {
		conditions.Delete(t.Machine, kind)
		conditions.Set(t.Machine, metav1.Condition{Type: kind, Status: metav1.ConditionStatus(status), Reason: "Test", LastTransitionTime: ago(since)})
	}
}

func said(kind, status, reason string) change {
	return func(t *Target) {
		conditions.Set(t.Machine, metav1.Condition{Type: kind, Status: metav1.ConditionStatus(status), Reason: reason})
	}
}

func annotated(key string) change {
	return func(t *Target) { t.Machine.Annotations = map[string]string{key: ""} }
}

func deleting(t *Target) { at := ago(time.Minute); t.Machine.DeletionTimestamp = &at }

func nodeGone(t *Target) { t.Node, t.NodeMissing = nil, true }

func nodeUnseen(t *Target) { t.Node = nil }

// starting has had no Node since it was made.
func starting(age time.Duration) change {
	return func(t *Target) {
		t.Node, t.Machine.Status.NodeRef.Name, t.Machine.CreationTimestamp = nil, "", ago(age)
		machineIs(clusterv1.InfrastructureReadyCondition, "True", age)(t)
	}
}

func controlPlane(t *Target) { t.Machine.Labels[clusterv1.MachineControlPlaneLabel] = "" }

func asIs(*Target) {}

func sick(t *Target) { nodeIs("Ready", "False", time.Hour)(t) }

func requested(t *Target) { t.Request = remediationObject("FakeRemediation", t.Machine.Name) }

func remediationObject(kind, name string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"template": map[string]any{"spec": map[string]any{"strategy": "reboot"}}}}}
	o.SetAPIVersion("infrastructure.cluster.x-k8s.io/v1")
	o.SetKind(kind)
	o.SetNamespace("ns")
	o.SetName(name)
	return o
}

func handedOut(w *World) {
	w.Check.Spec.Remediation.TemplateRef = clusterv1.MachineHealthCheckRemediationTemplateReference{
		APIVersion: "infrastructure.cluster.x-k8s.io/v1", Kind: "FakeRemediationTemplate", Name: "reboot",
	}
	w.Template = TemplateView{Object: remediationObject("FakeRemediationTemplate", "reboot")}
}

func atMost(v intstr.IntOrString) clusterv1.MachineHealthCheckRemediationTriggerIf {
	return clusterv1.MachineHealthCheckRemediationTriggerIf{UnhealthyLessThanOrEqualTo: &v}
}

func within(r string) clusterv1.MachineHealthCheckRemediationTriggerIf {
	return clusterv1.MachineHealthCheckRemediationTriggerIf{UnhealthyInRange: r}
}

// marks are the marks of a decision by Machine.
func marks(d Decision) map[string]Mark {
	out := map[string]Mark{}
	for _, a := range d.Actions {
		if m, ok := a.(Mark); ok {
			out[m.Before.Name] = m
		}
	}
	return out
}

// store gives the world after a decision has been carried out.
func store(w World, d Decision) World {
	w.Check = d.Check
	byName := marks(d)
	for i, t := range w.Targets {
		if m, ok := byName[t.Machine.Name]; ok {
			w.Targets[i].Machine = m.After
			if m.Request != nil {
				w.Targets[i].Request = m.Request
			}
		}
	}
	for _, a := range d.Actions {
		for i, t := range w.Targets {
			if x, ok := a.(Withdraw); ok && t.Request == x.Request {
				w.Targets[i].Request = nil
			}
		}
	}
	return w
}
