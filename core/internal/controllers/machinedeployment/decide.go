package machinedeployment

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/conditions"
	"github.com/slipway-capi/slipway/contract/decision"
	"github.com/slipway-capi/slipway/contract/labels"
	"github.com/slipway-capi/slipway/contract/ownership"
	"github.com/slipway-capi/slipway/contract/paused"
)

// Decide says what to do about a MachineDeployment, given all that is known about it. It is pure: same world, same decision.
func Decide(w World) Decision {
	d := Decision{Deployment: w.Deployment.DeepCopy()}
	if !w.deleting() && !slices.Contains(d.Deployment.Finalizers, clusterv1.MachineDeploymentFinalizer) {
		d.Deployment.Finalizers = append(d.Deployment.Finalizers, clusterv1.MachineDeploymentFinalizer)
	}
	pause := paused.Condition(w.Cluster, w.Deployment)
	conditions.Set(d.Deployment, pause)
	if pause.Status == metav1.ConditionTrue {
		return d
	}
	if w.deleting() {
		d.delete(w)
	} else {
		d.own(w)
		d.rollout(w)
	}
	d.describe(w)
	if d.Err == nil {
		d.Deployment.Status.ObservedGeneration = d.Deployment.Generation
	}
	return d
}

func (d *Decision) delete(w World) {
	if len(w.Sets) == 0 && !w.Unseen {
		d.Deployment.Finalizers = slices.DeleteFunc(d.Deployment.Finalizers, func(f string) bool { return f == clusterv1.MachineDeploymentFinalizer })
		return
	}
	for _, s := range w.Sets {
		if s.DeletionTimestamp.IsZero() {
			d.Actions = append(d.Actions, Delete{Set: s, Why: decision.Because("DeploymentDeleted", "MachineDeployment %s is being deleted", w.Deployment.Name)})
		}
	}
}

func (d *Decision) own(w World) {
	md := d.Deployment
	if md.Labels == nil {
		md.Labels = map[string]string{}
	}
	md.Labels[clusterv1.ClusterNameLabel] = md.Spec.ClusterName
	if w.Cluster != nil {
		ownership.Ensure(md, ownership.Reference(w.Cluster, clusterv1.GroupVersion.WithKind(clusterv1.ClusterKind)))
	}
}

// rollout decides what each MachineSet should be.
func (d *Decision) rollout(w World) {
	if w.Unseen {
		return // the watch that shows the last writes wakes us
	}
	sets := append(append([]*clusterv1.MachineSet(nil), w.Sets...), w.Orphans...)
	current := newest(w, sets)
	if current == nil && !isTrue(w.Deployment.Spec.Paused) {
		d.createSet(w, sets)
		return
	}
	plan := replicas(w, current, sets)
	revision := revisionOf(current, sets)
	for _, s := range sets {
		if !s.DeletionTimestamp.IsZero() {
			continue
		}
		after := inPlace(w, s, s == current)
		if s == current {
			setAnnotation(after, clusterv1.RevisionAnnotation, strconv.Itoa(revision))
		}
		why := decision.Because("Sync", "fields that change in place")
		if n := plan[s]; n != want(s) {
			after.Spec.Replicas = &n
			why = decision.Because("Scale", "MachineSet %s from %d to %d replicas", s.Name, want(s), n)
			d.Events = append(d.Events, Event{"SuccessfulScale", "Scaled " + why.Because})
		}
		if !equality.Semantic.DeepEqual(s, after) {
			d.Actions = append(d.Actions, Update{Before: s, After: after, Why: why})
		}
	}
	if current != nil {
		setAnnotation(d.Deployment, clusterv1.RevisionAnnotation, strconv.Itoa(revision))
	}
	d.cleanUp(w, current, sets)
}

func (d *Decision) createSet(w World, sets []*clusterv1.MachineSet) {
	if len(w.MissingTemplates) > 0 {
		d.fail(fmt.Errorf("a new MachineSet needs templates that do not exist: %s", strings.Join(w.MissingTemplates, ", ")))
		return
	}
	s := newSet(w)
	n := replicasOfNew(w, nil, sets)
	s.Spec.Replicas = &n
	revision := strconv.Itoa(revisionOf(nil, sets))
	setAnnotation(s, clusterv1.RevisionAnnotation, revision)
	setAnnotation(d.Deployment, clusterv1.RevisionAnnotation, revision)
	why := decision.Because("NewTemplate", "no MachineSet has the wanted template")
	if len(sets) > 0 {
		why.Because += ": " + strings.Join(differences(w, latest(sets)), "; ")
	}
	d.Actions = append(d.Actions, Create{Set: s, Why: why})
}

// cleanUp deletes old empty sets once nothing of the rollout is left to do.
func (d *Decision) cleanUp(w World, current *clusterv1.MachineSet, sets []*clusterv1.MachineSet) {
	if current == nil || have(current) != w.wanted() || available(current) != w.wanted() || want(current) != w.wanted() {
		return
	}
	for _, s := range sets {
		if s != current && want(s) == 0 && have(s) == 0 && s.Status.Replicas != nil && s.DeletionTimestamp.IsZero() {
			d.Actions = append(d.Actions, Delete{Set: s, Why: decision.Because("RolloutComplete", "MachineSet %s is empty and of an earlier template", s.Name)})
		}
	}
}

// newest is the set that has the wanted template and, once rollout.after is past, is not older than it; nil if there is none.
func newest(w World, sets []*clusterv1.MachineSet) *clusterv1.MachineSet {
	var match []*clusterv1.MachineSet
	for _, s := range sets {
		if s.DeletionTimestamp.IsZero() && len(differences(w, s)) == 0 {
			match = append(match, s)
		}
	}
	sort.Slice(match, func(i, j int) bool {
		a, b := match[i], match[j]
		switch {
		case want(a) != want(b):
			return want(a) > want(b)
		case !a.CreationTimestamp.Equal(&b.CreationTimestamp):
			return a.CreationTimestamp.Before(&b.CreationTimestamp)
		}
		return a.Name < b.Name
	})
	if len(match) == 0 {
		return nil
	}
	return match[0]
}

// differences says why a set is not of the wanted template; empty if it is. Fields that change in place do not count.
func differences(w World, s *clusterv1.MachineSet) []string {
	var out []string
	a, b := s.Spec.Template.Spec, w.Deployment.Spec.Template.Spec
	differs := func(field, from, to string) {
		if from != to {
			out = append(out, fmt.Sprintf("%s %s, %s required", field, from, to))
		}
	}
	differs("version", a.Version, b.Version)
	differs("failureDomain", a.FailureDomain, b.FailureDomain)
	differs("bootstrap.configRef", text(a.Bootstrap.ConfigRef), text(b.Bootstrap.ConfigRef))
	differs("bootstrap.dataSecretName", deref(a.Bootstrap.DataSecretName), deref(b.Bootstrap.DataSecretName))
	differs("infrastructureRef", text(a.InfrastructureRef), text(b.InfrastructureRef))
	// Times of the API have whole seconds, so a set made in the second of rollout.after is its result (BC-01).
	after := w.Deployment.Spec.Rollout.After
	if !after.IsZero() && !after.After(w.Now) && s.CreationTimestamp.Before(&after) {
		out = append(out, "rollout.after expired")
	}
	return out
}

func text(r clusterv1.ContractVersionedObjectReference) string {
	if r.Name == "" {
		return ""
	}
	return r.Kind + "." + r.APIGroup + "/" + r.Name
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// newSet is the MachineSet for the present template, without replicas.
func newSet(w World) *clusterv1.MachineSet {
	md := w.Deployment
	hash := w.Suffix
	s := &clusterv1.MachineSet{}
	s.SetGroupVersionKind(clusterv1.GroupVersion.WithKind("MachineSet"))
	s.Namespace, s.Name = md.Namespace, md.Name+"-"+w.Suffix
	s.Finalizers = []string{clusterv1.MachineSetFinalizer}
	s.OwnerReferences = []metav1.OwnerReference{ownership.ControllerReference(md, clusterv1.GroupVersion.WithKind("MachineDeployment"))}
	s.Labels = map[string]string{clusterv1.MachineDeploymentUniqueLabel: hash}
	s.Spec.ClusterName = md.Spec.ClusterName
	s.Spec.Template.Spec = *md.Spec.Template.Spec.DeepCopy()
	s.Spec.Selector = *md.Spec.Selector.DeepCopy()
	if s.Spec.Selector.MatchLabels == nil {
		s.Spec.Selector.MatchLabels = map[string]string{}
	}
	s.Spec.Selector.MatchLabels[clusterv1.MachineDeploymentUniqueLabel] = hash
	return inPlace(w, s, true)
}

// inPlace is the set with everything that may change without new Machines; replicas are decided elsewhere.
func inPlace(w World, set *clusterv1.MachineSet, current bool) *clusterv1.MachineSet {
	md, s := w.Deployment, set.DeepCopy()
	hash := s.Labels[clusterv1.MachineDeploymentUniqueLabel]
	ownership.Ensure(s, ownership.ControllerReference(md, clusterv1.GroupVersion.WithKind("MachineDeployment")))
	s.Labels = labels.Merge(s.Labels, md.Spec.Template.Metadata.Labels, labels.OfCluster(md.Spec.ClusterName),
		map[string]string{clusterv1.MachineDeploymentNameLabel: labels.Value(md.Name), clusterv1.MachineDeploymentUniqueLabel: hash})
	for k, v := range md.Annotations {
		if !ownAnnotations[k] {
			setAnnotation(s, k, v)
		}
	}
	setAnnotation(s, clusterv1.DesiredReplicasAnnotation, strconv.Itoa(int(w.wanted())))
	setAnnotation(s, clusterv1.MaxReplicasAnnotation, strconv.Itoa(int(w.wanted()+surge(w))))
	delete(s.Annotations, clusterv1.DisableMachineCreateAnnotation)
	if !current && md.Spec.Rollout.Strategy.Type == clusterv1.OnDeleteMachineDeploymentStrategyType {
		setAnnotation(s, clusterv1.DisableMachineCreateAnnotation, "true")
	}
	from, to := md.Spec.Template, &s.Spec.Template
	to.Metadata.Labels = labels.Merge(from.Metadata.Labels, labels.OfCluster(md.Spec.ClusterName),
		map[string]string{clusterv1.MachineDeploymentNameLabel: labels.Value(md.Name), clusterv1.MachineDeploymentUniqueLabel: hash})
	to.Metadata.Annotations = maps.Clone(from.Metadata.Annotations)
	to.Spec.Deletion, to.Spec.MinReadySeconds = from.Spec.Deletion, from.Spec.MinReadySeconds
	to.Spec.ReadinessGates, to.Spec.Taints = slices.Clone(from.Spec.ReadinessGates), slices.Clone(from.Spec.Taints)
	s.Spec.Deletion, s.Spec.MachineNaming = md.Spec.Deletion, md.Spec.MachineNaming
	return s
}

// ownAnnotations are not copied from the deployment to its sets.
var ownAnnotations = map[string]bool{
	clusterv1.RevisionAnnotation: true, clusterv1.DesiredReplicasAnnotation: true, clusterv1.MaxReplicasAnnotation: true,
	"kubectl.kubernetes.io/last-applied-configuration": true,
}

// revisionOf is the revision of the current set: one more than any other, and never less than it already has.
func revisionOf(current *clusterv1.MachineSet, sets []*clusterv1.MachineSet) int {
	highest, own := 0, 0
	for _, s := range sets {
		n, _ := strconv.Atoi(s.Annotations[clusterv1.RevisionAnnotation])
		if s == current {
			own = n
		} else {
			highest = max(highest, n)
		}
	}
	return max(own, highest+1)
}

func latest(sets []*clusterv1.MachineSet) *clusterv1.MachineSet {
	return slices.MaxFunc(sets, func(a, b *clusterv1.MachineSet) int { return a.CreationTimestamp.Compare(b.CreationTimestamp.Time) })
}

func setAnnotation(o metav1.Object, k, v string) {
	a := maps.Clone(o.GetAnnotations())
	if a == nil {
		a = map[string]string{}
	}
	a[k] = v
	o.SetAnnotations(a)
}

func (d *Decision) fail(err error) {
	if err != nil {
		d.Err = errors.Join(d.Err, err)
	}
}

func isTrue(b *bool) bool { return b != nil && *b }
