// Package quorum judges whether an etcd cluster survives losing or gaining a member. Everything is a pure function over
// the member list that would result.
package quorum

import (
	"fmt"
	"slices"
	"strings"
)

// Member is one etcd member as it is known now.
type Member struct {
	// Name is the node's name; empty while the member has never started.
	Name string
	// Learner members do not vote yet.
	Learner bool
	// Healthy is what its Machine's condition says.
	Healthy bool
	// Orphan members have no Machine: nothing is known of them but their alarm.
	Orphan bool
	// Alarm is set while the member reports that it is out of space or corrupt.
	Alarm bool
}

func (m Member) bad() bool {
	if m.Orphan {
		return m.Alarm
	}
	return !m.Healthy
}

// Verdict says whether a change is allowed and, if not, why.
type Verdict struct {
	Allowed bool
	Because string
}

// Remove judges the removal of a member, by name.
func Remove(members []Member, victim string) Verdict {
	rest := make([]Member, 0, len(members))
	for _, m := range members {
		if m.Name != victim || m.Name == "" {
			rest = append(rest, m)
		}
	}
	return judge(rest)
}

// RemoveAt judges the removal of the member at an index; for members that have no name.
func RemoveAt(members []Member, index int) Verdict {
	rest := append(append([]Member{}, members[:index]...), members[index+1:]...)
	return judge(rest)
}

// RemoveUnstarted judges the removal of a member that has never started. It does not vote for anything, so other
// members that are starting do not matter; those that run must have a majority.
func RemoveUnstarted(members []Member, index int) Verdict {
	running := make([]Member, 0, len(members))
	for i, m := range members {
		if i != index && m.Name != "" && !m.Learner {
			running = append(running, m)
		}
	}
	return judge(running)
}

// Add judges the joining of one more member. It counts as failing until it has proven itself, except next to at most
// one member: a cluster of two cannot miss either, so nothing is gained by waiting.
func Add(members []Member) Verdict {
	return judge(append(append([]Member{}, members...), Member{Name: "(new)", Healthy: len(members) <= 1}))
}

func judge(members []Member) Verdict {
	voting := 0
	var bad []string
	for _, m := range members {
		switch {
		case m.Name == "":
			return Verdict{Because: "an etcd member has not started yet"}
		case m.Learner:
			return Verdict{Because: fmt.Sprintf("etcd member %s is a learner", m.Name)}
		}
		voting++
		if m.bad() {
			bad = append(bad, m.Name)
		}
	}
	if need := voting/2 + 1; voting-len(bad) < need {
		return Verdict{Because: fmt.Sprintf("etcd would have %d healthy of %d voting members, %d are needed; failing: %s",
			voting-len(bad), voting, need, strings.Join(slices.Sorted(slices.Values(bad)), ", "))}
	}
	return Verdict{Allowed: true}
}
