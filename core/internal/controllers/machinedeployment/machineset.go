package machinedeployment

import (
	"maps"
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/inplace"
	"github.com/slipway-capi/slipway/contract/labels"
	"github.com/slipway-capi/slipway/contract/ownership"
	"github.com/slipway-capi/slipway/core/internal/apply"
)

// target is what is decided about one MachineSet.
type target struct {
	current  bool
	replicas int32
	revision int
	// later says that the wanted number of the deployment is not followed yet, so it must not be written down either.
	later bool
	// moveTo is the set to which it hands Machines over; receive are the sets that hand Machines over to it, and counted the
	// Machines that have come from there and are among its replicas.
	moveTo           string
	receive, counted []string
}

// newSet is a MachineSet for the present template.
func newSet(w World, t target) *clusterv1.MachineSet {
	md := w.Deployment
	s := &clusterv1.MachineSet{}
	s.Namespace, s.Name = md.Namespace, md.Name+"-"+w.Suffix
	s.Finalizers = []string{clusterv1.MachineSetFinalizer}
	s.Labels = map[string]string{clusterv1.MachineDeploymentUniqueLabel: w.Suffix}
	s.Spec.ClusterName = md.Spec.ClusterName
	s.Spec.Template.Spec = *md.Spec.Template.Spec.DeepCopy()
	s.Spec.Selector = *md.Spec.Selector.DeepCopy()
	if s.Spec.Selector.MatchLabels == nil {
		s.Spec.Selector.MatchLabels = map[string]string{}
	}
	s.Spec.Selector.MatchLabels[clusterv1.MachineDeploymentUniqueLabel] = w.Suffix
	return wantedSet(w, s, t)
}

// wantedSet is the complete intent for a set: what would need new Machines stays as it is, the rest follows the deployment.
func wantedSet(w World, set *clusterv1.MachineSet, t target) *clusterv1.MachineSet {
	md, s := w.Deployment, &clusterv1.MachineSet{Spec: *set.Spec.DeepCopy()}
	hash := set.Labels[clusterv1.MachineDeploymentUniqueLabel]
	s.SetGroupVersionKind(clusterv1.GroupVersion.WithKind("MachineSet"))
	s.Namespace, s.Name = set.Namespace, set.Name
	if slices.Contains(set.Finalizers, clusterv1.MachineSetFinalizer) {
		s.Finalizers = []string{clusterv1.MachineSetFinalizer}
	}
	s.OwnerReferences = []metav1.OwnerReference{ownership.ControllerReference(md, clusterv1.GroupVersion.WithKind("MachineDeployment"))}
	s.Labels = labels.Merge(md.Spec.Template.Metadata.Labels, labels.OfCluster(md.Spec.ClusterName),
		map[string]string{clusterv1.MachineDeploymentNameLabel: labels.Value(md.Name)})
	if hash != "" {
		s.Labels[clusterv1.MachineDeploymentUniqueLabel] = hash
	}
	s.Annotations = annotations(w, set, t)
	from, to := md.Spec.Template, &s.Spec.Template
	to.Metadata.Labels, to.Metadata.Annotations = maps.Clone(s.Labels), maps.Clone(from.Metadata.Annotations)
	to.Spec.Deletion, to.Spec.MinReadySeconds = from.Spec.Deletion, from.Spec.MinReadySeconds
	to.Spec.ReadinessGates, to.Spec.Taints = slices.Clone(from.Spec.ReadinessGates), slices.Clone(from.Spec.Taints)
	s.Spec.Replicas = &t.replicas
	s.Spec.Deletion, s.Spec.MachineNaming = md.Spec.Deletion, md.Spec.MachineNaming
	return s
}

func annotations(w World, set *clusterv1.MachineSet, t target) map[string]string {
	md := w.Deployment
	out := map[string]string{
		clusterv1.DesiredReplicasAnnotation: strconv.Itoa(int(w.wanted())),
		clusterv1.MaxReplicasAnnotation:     strconv.Itoa(int(w.wanted() + surge(w))),
	}
	if t.later {
		for k := range out {
			if v, ok := set.Annotations[k]; ok {
				out[k] = v
			} else {
				delete(out, k)
			}
		}
	}
	for k, v := range md.Annotations {
		if !ownAnnotations[k] {
			out[k] = v
		}
	}
	for key, names := range map[string][]string{clusterv1.MachineSetMoveMachinesToMachineSetAnnotation: {t.moveTo},
		clusterv1.MachineSetReceiveMachinesFromMachineSetsAnnotation: t.receive, clusterv1.AcknowledgedMoveAnnotation: t.counted} {
		if value := inplace.Join(names); value != "" {
			out[key] = value
		}
	}
	if r, ok := set.Annotations[clusterv1.RevisionAnnotation]; ok {
		out[clusterv1.RevisionAnnotation] = r
	}
	if t.current {
		out[clusterv1.RevisionAnnotation] = strconv.Itoa(t.revision)
	} else if md.Spec.Rollout.Strategy.Type == clusterv1.OnDeleteMachineDeploymentStrategyType {
		out[clusterv1.DisableMachineCreateAnnotation] = "true"
	}
	return out
}

// ownAnnotations are not copied from the deployment to its sets.
var ownAnnotations = map[string]bool{
	clusterv1.RevisionAnnotation: true, clusterv1.DesiredReplicasAnnotation: true, clusterv1.MaxReplicasAnnotation: true,
	clusterv1.MachineSetMoveMachinesToMachineSetAnnotation: true, clusterv1.MachineSetReceiveMachinesFromMachineSetsAnnotation: true, clusterv1.AcknowledgedMoveAnnotation: true,
	"kubectl.kubernetes.io/last-applied-configuration": true, "cluster.x-k8s.io/conversion-data": true,
}

// covers says whether a set has everything of an intent already.
func covers(have, want *clusterv1.MachineSet) bool {
	return apply.Covers(have.Labels, want.Labels) && apply.Covers(have.Annotations, want.Annotations) &&
		apply.Owned(have, want.OwnerReferences) && equality.Semantic.DeepEqual(have.Spec, want.Spec)
}

// surplusOf says whether a set has labels or annotations beyond an intent, which an earlier one may have brought.
func surplusOf(have, want *clusterv1.MachineSet) bool {
	return len(have.Labels) > len(want.Labels) || len(have.Annotations) > len(want.Annotations)
}

// keepRevision leaves the deployment's revision as it is stored.
func (d *Decision) keepRevision(w World) {
	if r, ok := w.Deployment.Annotations[clusterv1.RevisionAnnotation]; ok {
		setAnnotation(d.Deployment, clusterv1.RevisionAnnotation, r)
		return
	}
	delete(d.Deployment.Annotations, clusterv1.RevisionAnnotation)
}

func setAnnotation(o metav1.Object, k, v string) {
	a := maps.Clone(o.GetAnnotations())
	if a == nil {
		a = map[string]string{}
	}
	a[k] = v
	o.SetAnnotations(a)
}
