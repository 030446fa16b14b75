package plan

import (
	"slices"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
)

// reasons says why the owner of the Machines does what it does.
type reasons interface {
	// outdated lists the fields in which the template of a set differs from the proposed one, and tells them in lines.
	outdated(set *clusterv1.MachineSet, now time.Time) ([]Field, []string)
	// replicas are the wanted numbers, as stored and as proposed.
	replicas() (before, after *int32)
	// staying says why a Machine of an outdated set stays.
	staying() string
	// due says from when on a rollout happens that is not due at a time.
	due(now time.Time) string
}

// tell makes the plan out of what has happened in the play.
func (p *play) tell(start time.Time, r reasons) *Plan {
	plan := &Plan{Blocked: p.blocked}
	if p.awaited != "" && len(p.left)+p.created > p.movedBefore {
		plan.Blocked = append(plan.Blocked, "waiting until available: "+p.awaited)
	}
	p.tellLeaving(plan, start, r)
	plan.Added = max(0, p.created-len(p.left))
	slices.SortStableFunc(p.first, func(a, b original) int {
		if c := a.machine.CreationTimestamp.Compare(b.machine.CreationTimestamp.Time); c != 0 {
			return c
		}
		return strings.Compare(a.machine.Name, b.machine.Name)
	})
	for _, o := range p.first {
		if !slices.ContainsFunc(p.left, func(l leaver) bool { return l.uid == o.machine.UID }) {
			plan.Machines = append(plan.Machines, p.remaining(r, o))
		}
	}
	return plan
}

// tellLeaving tells the fates of those that go. The first ones to go are not replaced if fewer are wanted; an outdated one
// that goes in the middle of a rollout has its replacement already.
func (p *play) tellLeaving(plan *Plan, start time.Time, r reasons) {
	surplus := max(0, len(p.left)-p.created)
	before, after := r.replicas()
	fewer := number(before) - number(after)
	for _, l := range p.left {
		m := p.leaving(start, r, l)
		if surplus > 0 && (fewer > 0 || len(m.Because) == 0) {
			m.Fate, m.Why = Removed, l.because
			if fewer > 0 {
				m.Because = append(m.Because, Field{Path: "spec.replicas", From: count(before), To: count(after)})
			}
			surplus, fewer = surplus-1, fewer-1
		}
		plan.Machines = append(plan.Machines, m)
	}
}

// leaving tells the fate of a Machine that a decision has deleted.
func (p *play) leaving(start time.Time, r reasons, l leaver) Machine {
	o := p.original(l.uid)
	m := Machine{Name: o.machine.Name, Set: setName(o), Fate: Replaced, Why: l.because}
	if o.set != nil {
		fields, lines := r.outdated(o.set, p.now)
		_, before := r.outdated(o.set, start)
		m.Because = fields
		if len(lines) > 0 {
			m.Why = strings.Join(lines, "; ")
		}
		if len(before) == 0 && len(lines) > 0 {
			m.Why = strings.TrimSpace(m.Why + " " + r.due(start))
		}
	}
	return m
}

// remaining tells the fate of a Machine that no decision has deleted.
func (p *play) remaining(r reasons, o original) Machine {
	m := Machine{Name: o.machine.Name, Set: setName(&o), Fate: Untouched}
	if !o.machine.DeletionTimestamp.IsZero() {
		m.Fate, m.Why = Removed, "it is being deleted already"
		return m
	}
	if now := p.present(o); now != nil {
		if o.set != nil && !metav1.IsControlledBy(now, o.set) {
			fields, lines := r.outdated(o.set, p.now)
			m.Fate, m.Because, m.Why = InPlace, fields, "an extension updates it: "+strings.Join(lines, "; ")
			return m
		}
		if m.Because = inPlaceFields(o.machine, now); len(m.Because) > 0 {
			m.Fate = InPlace
		}
	}
	if o.set == nil {
		return m
	}
	if fields, lines := r.outdated(o.set, p.now); len(lines) > 0 {
		m.Why = r.staying()
		m.Because = append(m.Because, fields...)
	}
	return m
}

// present is a Machine as it is at the end.
func (p *play) present(o original) *clusterv1.Machine {
	for _, s := range p.sets {
		for _, m := range s.world.Machines {
			if m.UID == o.machine.UID {
				return m
			}
		}
	}
	return nil
}

func setName(o *original) string {
	if o.set == nil {
		return ""
	}
	return o.set.Name
}

func number(n *int32) int {
	if n == nil {
		return 1
	}
	return int(*n)
}

func count(n *int32) string { return strconv.Itoa(number(n)) }
