package drain_test

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/core/internal/drain"
)

var (
	now = time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	yes = true
)

type change func(*drain.World)

// world is a healthy Node of the Machine m with nothing on it; changes make the case.
func world(changes ...change) drain.World {
	w := drain.World{
		Now:           now,
		Machine:       &clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{Namespace: "fleet", Name: "m", Labels: map[string]string{"pool": "blue"}}},
		ClusterLabels: map[string]string{"stage": "test"},
		Node:          &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}},
		Namespaces:    map[string]map[string]string{"apps": {"team": "a"}},
		DaemonSets:    map[types.UID]bool{},
	}
	ready(corev1.ConditionTrue, time.Hour)(&w)
	for _, c := range changes {
		c(&w)
	}
	return w
}

func ready(status corev1.ConditionStatus, since time.Duration) change {
	return func(w *drain.World) {
		w.Node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: status, LastTransitionTime: metav1.NewTime(now.Add(-since))}}
	}
}

func with(pods ...*corev1.Pod) change {
	return func(w *drain.World) {
		for _, p := range pods {
			w.Pods = append(w.Pods, *p)
		}
	}
}

type podChange func(*corev1.Pod)

// pod runs in the namespace apps under a controller; changes make the case.
func pod(name string, changes ...podChange) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "apps", Name: name, UID: types.UID(name), Labels: map[string]string{},
		OwnerReferences: []metav1.OwnerReference{{Kind: "ReplicaSet", Name: "r", UID: "r", Controller: &yes}}}}
	p.Status.Phase = corev1.PodRunning
	p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	for _, c := range changes {
		c(p)
	}
	return p
}

func label(key, value string) podChange { return func(p *corev1.Pod) { p.Labels[key] = value } }

func phase(phase corev1.PodPhase) podChange { return func(p *corev1.Pod) { p.Status.Phase = phase } }

func namespace(name string) podChange { return func(p *corev1.Pod) { p.Namespace = name } }

func notReady(p *corev1.Pod) { p.Status.Conditions = nil }

func owner(kind, uid string) podChange {
	return func(p *corev1.Pod) {
		p.OwnerReferences = []metav1.OwnerReference{{Kind: kind, Name: uid, UID: types.UID(uid), Controller: &yes}}
	}
}

func mirror(p *corev1.Pod) {
	p.Annotations = map[string]string{corev1.MirrorPodAnnotationKey: "hash"}
}

// ending is a pod whose time to end is over at the given distance from now; negative means that it was over before.
func ending(in time.Duration) podChange {
	return func(p *corev1.Pod) { at := metav1.NewTime(now.Add(in)); p.DeletionTimestamp = &at }
}

func daemonSet(uid string) change {
	return func(w *drain.World) { w.DaemonSets[types.UID(uid)] = true }
}

type ruleChange func(*clusterv1.MachineDrainRule)

func rule(name, behavior string, changes ...ruleChange) change {
	r := clusterv1.MachineDrainRule{ObjectMeta: metav1.ObjectMeta{Namespace: "fleet", Name: name}}
	r.Spec.Drain.Behavior = behavior
	for _, c := range changes {
		c(&r)
	}
	return func(w *drain.World) { w.Rules = append(w.Rules, r) }
}

func order(n int32) ruleChange {
	return func(r *clusterv1.MachineDrainRule) { r.Spec.Drain.Order = &n }
}

func forPods(pod, namespace map[string]string) ruleChange {
	return func(r *clusterv1.MachineDrainRule) {
		r.Spec.Pods = append(r.Spec.Pods, clusterv1.MachineDrainRulePod{Selector: matching(pod), NamespaceSelector: matching(namespace)})
	}
}

func forMachines(machine, cluster map[string]string) ruleChange {
	return func(r *clusterv1.MachineDrainRule) {
		r.Spec.Machines = append(r.Spec.Machines, clusterv1.MachineDrainRuleMachine{Selector: matching(machine), ClusterSelector: matching(cluster)})
	}
}

func matching(labels map[string]string) metav1.LabelSelector {
	return metav1.LabelSelector{MatchLabels: labels}
}

// budget needs so many of so many pods with app=name to be healthy, as many as are healthy now.
func budget(name string, needed, expected, healthy int32, changes ...func(*policyv1.PodDisruptionBudget)) change {
	s := matching(map[string]string{"app": name})
	b := policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: "apps", Name: name, Generation: 1}, Spec: policyv1.PodDisruptionBudgetSpec{Selector: &s}}
	b.Status = policyv1.PodDisruptionBudgetStatus{ObservedGeneration: 1, DesiredHealthy: needed, ExpectedPods: expected, CurrentHealthy: healthy, DisruptionsAllowed: max(0, healthy-needed)}
	for _, c := range changes {
		c(&b)
	}
	return func(w *drain.World) { w.Budgets = append(w.Budgets, b) }
}
