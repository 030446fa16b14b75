package plan

import (
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/external"
	"github.com/slipway-capi/slipway/contract/labels"
	"github.com/slipway-capi/slipway/core/internal/controllers/machinedeployment"
	"github.com/slipway-capi/slipway/core/internal/controllers/machineset"
)

// play carries the decisions of both controllers out in memory, until none is left. New Machines become available at
// once and deleted ones go at once; those that exist stay as they are for as long as that does not stop everything.
type play struct {
	now     time.Time
	cluster *clusterv1.Cluster
	// look reads what matters for a MachineSet, which may have been made in this play.
	look func(*clusterv1.MachineSet) (machineset.World, error)
	// deployment is nil when a MachineSet plays alone.
	deployment *machinedeployment.World
	sets       []*member
	first      []original
	left       []leaver
	after      time.Duration
	created    int
	serial     int
	blocked    []string
	// awaited are Machines that had to become available for anything to move, after so many movements.
	awaited     string
	movedBefore int
}

// member is one MachineSet of the play.
type member struct {
	world machineset.World
	// first is the set as it was at the start.
	first *clusterv1.MachineSet
	// cleared says that what stood in the way has been noted and put aside.
	cleared bool
}

// original is a Machine as it was at the start, and what its set wanted of it then.
type original struct {
	machine, wanted *clusterv1.Machine
	set             *clusterv1.MachineSet
}

// leaver is a Machine that a decision has deleted, and why.
type leaver struct {
	uid     types.UID
	because string
}

func newPlay(now time.Time, cluster *clusterv1.Cluster) *play {
	return &play{now: now, cluster: cluster.DeepCopy()}
}

func (p *play) block(line string) {
	if !slices.Contains(p.blocked, line) {
		p.blocked = append(p.blocked, line)
	}
}

// unpause puts every pause aside, and says so.
func (p *play) unpause(o metav1.Object) {
	if p.cluster != nil && p.cluster.Spec.Paused != nil && *p.cluster.Spec.Paused {
		p.block("Cluster " + p.cluster.Name + " is paused")
		p.cluster.Spec.Paused = nil
	}
	if p.deployment != nil {
		p.deployment.Cluster = p.cluster
	}
	annotations := o.GetAnnotations()
	if _, ok := annotations[clusterv1.PausedAnnotation]; ok {
		p.block(o.GetName() + " has the annotation " + clusterv1.PausedAnnotation)
		delete(annotations, clusterv1.PausedAnnotation)
	}
}

// take lets a set take part.
func (p *play) take(s *clusterv1.MachineSet) error {
	w, err := p.look(s)
	if err != nil {
		return err
	}
	w.Set, w.Cluster = s.DeepCopy(), p.cluster
	p.unpause(w.Set)
	if s.DeletionTimestamp.IsZero() {
		w.Set.Finalizers = []string{clusterv1.MachineSetFinalizer}
	}
	w.Objects, w.Strays = nil, nil // their labels follow those of the Machines
	for _, m := range w.Machines {
		p.first = append(p.first, original{machine: m, wanted: machineset.InPlace(w, m), set: s})
	}
	for _, m := range w.Orphans {
		p.first = append(p.first, original{machine: m, wanted: m})
	}
	p.sets = append(p.sets, &member{world: w, first: s})
	return nil
}

// propose changes the only set of the play.
func (p *play) propose(s *clusterv1.MachineSet) error {
	changed := s.DeepCopy()
	changed.Finalizers = p.sets[0].world.Set.Finalizers
	w, err := p.look(changed)
	if err != nil {
		return err
	}
	p.unpause(changed)
	now := &p.sets[0].world
	now.Set, now.Bootstrap, now.Infrastructure, now.Skip = changed, w.Bootstrap, w.Infrastructure, w.Skip
	return nil
}

func (p *play) templatesInUse() []clusterv1.MachineSpec {
	var all []clusterv1.MachineSpec
	for _, m := range p.sets {
		all = append(all, m.first.Spec.Template.Spec)
	}
	return all
}

// run plays until nothing moves. The bound is far beyond what any rollout needs.
func (p *play) run() error {
	for range 100 + 20*len(p.first) + 20*p.wanted() {
		changed, err := p.round()
		if err != nil {
			return err
		}
		if !changed && !p.recover() && !p.wait() {
			return nil
		}
	}
	return fmt.Errorf("the decisions about %d Machines come to no end", len(p.first))
}

func (p *play) wanted() int {
	if p.deployment != nil {
		return number(p.deployment.Deployment.Spec.Replicas)
	}
	return number(p.sets[0].world.Set.Spec.Replicas)
}

// round lets each controller act once and says whether anything changed.
func (p *play) round() (bool, error) {
	changed := false
	if p.deployment != nil {
		c, err := p.decideDeployment()
		if err != nil {
			return false, err
		}
		changed = c
	}
	for _, m := range p.sets {
		c, err := p.decideSet(m)
		if err != nil {
			return false, err
		}
		gone := m.vanish()
		changed = changed || c || gone
	}
	return changed, nil
}

func (p *play) decideDeployment() (bool, error) {
	w := *p.deployment
	p.serial++
	w.Now, w.Suffix, w.Sets, w.Orphans, w.Machines = p.now, fmt.Sprintf("new%d", p.serial), nil, nil, nil
	for _, m := range p.sets {
		if s := m.world.Set.DeepCopy(); metav1.IsControlledBy(s, w.Deployment) {
			w.Sets = append(w.Sets, s)
		} else {
			w.Orphans = append(w.Orphans, s)
		}
		w.Machines = append(w.Machines, m.world.Machines...)
	}
	w.Deployment = w.Deployment.DeepCopy()
	w.Deployment.Finalizers = []string{clusterv1.MachineDeploymentFinalizer}
	w.CountMachines()
	d := machinedeployment.Decide(w)
	p.deployment.Deployment, p.after = d.Deployment, d.After
	for _, line := range d.Kept {
		p.block(line)
		p.after = 0 // to ask again changes nothing in a play
	}
	changed := false
	for _, a := range d.Actions {
		c, err := p.onSet(a)
		if err != nil {
			return false, err
		}
		changed = changed || c
	}
	return changed, nil
}

// onSet carries out what has been decided about a set.
func (p *play) onSet(action machinedeployment.Action) (bool, error) {
	switch a := action.(type) {
	case machinedeployment.Create:
		s := a.Set
		s.UID, s.CreationTimestamp = types.UID(s.Name), metav1.NewTime(p.now.Truncate(time.Second))
		return true, p.take(s)
	case machinedeployment.Update:
		i := p.find(a.Set.UID)
		s := p.sets[i].world.Set
		before := s.DeepCopy()
		s.Spec, s.Annotations = a.Wanted.Spec, a.Wanted.Annotations
		s.Labels, s.OwnerReferences = labels.Merge(s.Labels, a.Wanted.Labels), a.Wanted.OwnerReferences
		return !equality.Semantic.DeepEqual(before, s), nil
	case machinedeployment.Delete:
		i := p.find(a.Set.UID)
		p.sets = slices.Delete(p.sets, i, i+1)
		return true, nil
	}
	return false, fmt.Errorf("unknown action %T", action)
}

func (p *play) find(uid types.UID) int {
	return slices.IndexFunc(p.sets, func(m *member) bool { return m.world.Set.UID == uid })
}

// decideSet lets one set act. What keeps it from making Machines is noted, once, and then put aside.
func (p *play) decideSet(m *member) (bool, error) {
	begun := m.begin()
	d := machineset.Decide(p.see(m))
	if !m.cleared && (d.Err != nil || len(d.Blocked) > 0) {
		for _, line := range d.Blocked {
			p.block(line)
		}
		if d.Err != nil {
			p.block(d.Err.Error())
		}
		there := machineset.Template{Object: &external.Object{Unstructured: &unstructured.Unstructured{Object: map[string]any{}}}}
		m.cleared, m.world.ControlPlane, m.world.Bootstrap, m.world.Infrastructure = true, nil, there, there
		d = machineset.Decide(p.see(m))
	}
	if d.Err != nil {
		return false, d.Err
	}
	changed := begun || !equality.Semantic.DeepEqual(m.world.Set.Status, d.Set.Status)
	m.world.Set.Status = d.Set.Status
	for _, a := range d.Actions {
		changed = p.onMachine(m, a) || changed
	}
	return changed, nil
}

// see is the world of a set as it is now.
func (p *play) see(m *member) machineset.World {
	w := m.world
	w.Now, w.Set, w.Suffixes = p.now, w.Set.DeepCopy(), nil
	w.Machines, w.Receiver = slices.Clone(w.Machines), p.receiver(w.Set)
	for range number(w.Set.Spec.Replicas) {
		p.serial++
		w.Suffixes = append(w.Suffixes, fmt.Sprintf("new%d", p.serial))
	}
	return w
}

// wait lets the time pass until a rollout that was asked for later.
func (p *play) wait() bool {
	if p.after <= 0 {
		return false
	}
	p.now, p.after = p.now.Add(p.after), 0
	return true
}
