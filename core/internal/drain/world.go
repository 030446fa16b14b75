package drain

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/types"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
)

const (
	// unreachableGrace is how long pods of an unreachable Node get to end, in seconds: nobody is there to end them properly,
	// and nobody confirms that they have ended.
	unreachableGrace = 1
	// unreachablePatience is how long disruption budgets are respected on an unreachable Node. Kubernetes itself deletes the
	// pods of such a Node after this time by default, without asking budgets.
	unreachablePatience = 5 * time.Minute
)

// World is all that is known when the drain of one Node is decided.
type World struct {
	Now     time.Time
	Machine *clusterv1.Machine
	// ClusterLabels are the labels of the Machine's Cluster; rules select by them.
	ClusterLabels map[string]string
	Node          *corev1.Node
	// Pods are all pods of the Node.
	Pods []corev1.Pod
	// Namespaces has the labels of all namespaces; it is read only when a rule asks for them.
	Namespaces map[string]map[string]string
	// DaemonSets are the UIDs of those DaemonSets that pods of the Node name as their controller and that exist.
	DaemonSets map[types.UID]bool
	// Rules are all rules in the namespace of the Machine.
	Rules []clusterv1.MachineDrainRule
	// Budgets are all disruption budgets of the workload cluster.
	Budgets []policyv1.PodDisruptionBudget
}

// Unreachable says whether a Node has stopped reporting.
func Unreachable(n *corev1.Node) bool {
	c := readyOf(n)
	return c != nil && c.Status == corev1.ConditionUnknown
}

func readyOf(n *corev1.Node) *corev1.NodeCondition {
	if n == nil {
		return nil
	}
	for i := range n.Status.Conditions {
		if n.Status.Conditions[i].Type == corev1.NodeReady {
			return &n.Status.Conditions[i]
		}
	}
	return nil
}

// Treatment is what happens to a pod now.
type Treatment string

const (
	// Ignored pods stay and hold nothing up.
	Ignored Treatment = "Ignored"
	// Evicted pods are to be evicted now.
	Evicted Treatment = "Evicted"
	// Later pods are evicted when all of a lower order are gone.
	Later Treatment = "Later"
	// Leaving pods are being deleted already.
	Leaving Treatment = "Leaving"
	// Completing pods are waited for until they end by themselves.
	Completing Treatment = "Completing"
)

// Pod is a pod of the Node and what happens to it.
type Pod struct {
	*corev1.Pod
	Treatment Treatment
	// Order is the group in which it is evicted; lower ones go first.
	Order int32
	// InGrace says that it is being deleted and still has time to end.
	InGrace bool
	// By names what decided its treatment, such as a rule or a label; empty for the default.
	By string
	// Warnings are what the user may not expect of the eviction.
	Warnings []string
	// Guards are the disruption budgets that may refuse its eviction.
	Guards []*policyv1.PodDisruptionBudget
	// Hopeless says why its eviction can never be allowed as things are; empty if it can.
	Hopeless string
}

// Key is the namespace and name.
func (p Pod) Key() types.NamespacedName {
	return types.NamespacedName{Namespace: p.Namespace, Name: p.Name}
}

// Plan is what to do about a Node.
type Plan struct {
	// Node is its name.
	Node string
	// Cordon says that pods may still be scheduled to the Node, which is to be ended first.
	Cordon bool
	// Unreachable says that the Node has stopped reporting: its pods get no time to end.
	Unreachable bool
	// Override says that the Node has been unreachable for so long that budgets are not respected any more.
	Override bool
	// Pods are all pods of the Node, by namespace and name.
	Pods []Pod
}

// Done says whether nothing is left to evict or to wait for.
func (p Plan) Done() bool {
	for _, pod := range p.Pods {
		if pod.Treatment != Ignored {
			return false
		}
	}
	return true
}

// Skipped are the pods that stay on the Node; their volumes stay, too.
func (p Plan) Skipped() []*corev1.Pod {
	var out []*corev1.Pod
	for _, pod := range p.Pods {
		if pod.Treatment == Ignored {
			out = append(out, pod.Pod)
		}
	}
	return out
}
