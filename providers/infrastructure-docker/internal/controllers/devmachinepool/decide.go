package devmachinepool

import (
	"cmp"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/conditions"
	"github.com/slipway-capi/slipway/contract/decision"
	"github.com/slipway-capi/slipway/contract/labels"
	"github.com/slipway-capi/slipway/contract/ownership"
	"github.com/slipway-capi/slipway/contract/paused"
	infrav1 "github.com/slipway-capi/slipway/providers/infrastructure-docker/api/v1beta2"
)

// Decide says what to do about a DevMachinePool, given all that is known about it. It is pure: same world, same decision.
func Decide(w World) Decision {
	d := Decision{Pool: w.Pool.DeepCopy()}
	if (w.Owner == nil || w.Cluster == nil) && !w.deleting() {
		return d
	}
	pause := paused.Condition(w.Cluster, w.Pool)
	conditions.Set(d.Pool, pause)
	if pause.Status == metav1.ConditionTrue {
		return d
	}
	switch has := slices.Contains(d.Pool.Finalizers, infrav1.MachinePoolFinalizer); {
	case w.deleting() && !has:
	case w.deleting():
		d.delete(w)
	case !has:
		// The finalizer is stored before anything is made; the write wakes us again.
		d.Pool.Finalizers = append(d.Pool.Finalizers, infrav1.MachinePoolFinalizer)
	default:
		d.own(w)
		d.keep(w)
		d.describe(w)
	}
	return d
}

// delete lets all members go and waits for them.
func (d *Decision) delete(w World) {
	for _, m := range w.alive() {
		d.Actions = append(d.Actions, Remove{Member: m, Why: decision.Because("SuccessfulDelete", "the machine pool is being deleted")})
	}
	if len(w.Members) > 0 || w.Unseen {
		d.report(w, 0, clusterv1.DeletingReason, "")
		return
	}
	d.Pool.Finalizers = slices.DeleteFunc(d.Pool.Finalizers, func(f string) bool { return f == infrav1.MachinePoolFinalizer })
}

// own makes the pool an owner of its members again where a restore from a backup or somebody else has taken that away.
func (d *Decision) own(w World) {
	for _, m := range w.alive() {
		after := m.Dev.DeepCopy()
		if ownership.Ensure(after, poolReference(w.Pool)) {
			d.Actions = append(d.Actions, Own{Before: m.Dev, After: after})
		}
	}
}

// poolReference names the pool as an owner of a member. The controller of the member is its Machine.
func poolReference(p *infrav1.DevMachinePool) metav1.OwnerReference {
	ref, yes := ownership.Reference(p, infrav1.GroupVersion.WithKind(poolKind)), true
	ref.BlockOwnerDeletion = &yes
	return ref
}

// waits says what the pool waits for before it makes members, as a reason and a sentence.
func waits(w World) (reason, message string) {
	data := w.Owner.Spec.Template.Spec.Bootstrap.DataSecretName
	switch {
	case !isTrue(w.Cluster.Status.Initialization.InfrastructureProvisioned):
		return clusterv1.WaitingForClusterInfrastructureReadyReason, "Waiting for Cluster status.initialization.infrastructureProvisioned to be true"
	case data == nil || *data == "":
		return clusterv1.WaitingForBootstrapDataReason, "Waiting for the bootstrap provider to set MachinePool spec.template.spec.bootstrap.dataSecretName"
	}
	return "", ""
}

// keep makes members that are missing and lets surplus ones go. Outdated members are replaced one by one: the new one first,
// and the old one only when enough others can be used, so that a version that does not start takes no machine away.
func (d *Decision) keep(w World) {
	if reason, _ := waits(w); reason != "" || w.Unseen {
		return
	}
	alive, want := w.alive(), w.wanted()
	old := slices.DeleteFunc(slices.Clone(alive), func(m Member) bool { return !outdated(w, m) })
	switch {
	case len(alive) < want:
		for _, name := range w.Names[:want-len(alive)] {
			d.Actions = append(d.Actions, Create{Dev: member(w, name), Why: decision.Because("SuccessfulCreate", "%d members wanted, %d exist", want, len(alive))})
		}
	case len(alive) > want:
		d.shrink(w, alive, want)
	case len(old) > 0:
		d.Actions = append(d.Actions, Create{Dev: member(w, w.Names[0]), Why: decision.Because("SuccessfulCreate", "%d of %d members are outdated", len(old), want)})
	}
}

// shrink lets the surplus go: outdated members first, those that cannot be used before all, then those that are marked, then those that cannot be used.
func (d *Decision) shrink(w World, alive []Member, want int) {
	usable := 0
	for _, m := range alive {
		if m.usable() {
			usable++
		}
	}
	victims := slices.Clone(alive)
	slices.SortFunc(victims, func(a, b Member) int {
		return cmp.Or(cmp.Compare(rank(w, a), rank(w, b)), a.Dev.CreationTimestamp.Compare(b.Dev.CreationTimestamp.Time), cmp.Compare(a.Dev.Name, b.Dev.Name))
	})
	for _, m := range victims[:len(alive)-want] {
		if m.usable() && !m.marked() && usable <= want {
			return // the one that takes its place cannot be used yet
		}
		if m.usable() {
			usable--
		}
		d.Actions = append(d.Actions, Remove{Member: m, Why: decision.Because("SuccessfulDelete", "%d members wanted, %d exist", want, len(alive))})
	}
}

func rank(w World, m Member) int {
	switch {
	case outdated(w, m) && !m.usable():
		return -1
	case outdated(w, m):
		return 0
	case m.marked():
		return 1
	case !m.usable():
		return 2
	}
	return 3
}

// outdated says whether a member has another image than a new one would get: the custom one, else that of the version.
func outdated(w World, m Member) bool {
	image, have := customImage(w.Pool), ""
	if m.Dev.Spec.Backend.Docker != nil {
		have = m.Dev.Spec.Backend.Docker.CustomImage
	}
	if image != "" || have != "" {
		return image != have
	}
	return m.Dev.Annotations[infrav1.DevMachineVersionAnnotation] != w.Owner.Spec.Template.Spec.Version
}

func customImage(p *infrav1.DevMachinePool) string {
	if p.Spec.Backend == nil || p.Spec.Backend.Docker == nil {
		return ""
	}
	return p.Spec.Backend.Docker.CustomImage
}

// member is a new DevMachine of the pool. The core finds it by its labels.
func member(w World, name string) *infrav1.DevMachine {
	template := w.Owner.Spec.Template
	m := &infrav1.DevMachine{ObjectMeta: metav1.ObjectMeta{
		Namespace: w.Pool.Namespace, Name: name,
		Labels: labels.Merge(template.Metadata.Labels, labels.OfCluster(w.Cluster.Name), map[string]string{
			clusterv1.MachinePoolNameLabel: labels.Value(w.Owner.Name), infrav1.DevMachinePoolNameLabel: labels.Value(w.Pool.Name),
		}),
		Annotations:     labels.Merge(template.Metadata.Annotations, map[string]string{infrav1.DevMachineVersionAnnotation: template.Spec.Version}),
		OwnerReferences: []metav1.OwnerReference{poolReference(w.Pool)},
	}}
	if w.inMemory() {
		common := w.Pool.Spec.Backend.InMemory.DeepCopy()
		m.Spec.Backend.InMemory = &infrav1.InMemoryMachineBackend{VM: common.VM, Node: common.Node}
		return m
	}
	m.Spec.Backend.Docker = &infrav1.DockerMachineBackend{}
	if w.Pool.Spec.Backend != nil && w.Pool.Spec.Backend.Docker != nil {
		common := w.Pool.Spec.Backend.Docker.DeepCopy()
		m.Spec.Backend.Docker = &infrav1.DockerMachineBackend{CustomImage: common.CustomImage, ExtraMounts: common.ExtraMounts, PreLoadImages: common.PreLoadImages}
	}
	return m
}

const poolKind = "DevMachinePool"
