package quorum

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
)

func members(total, failing int) []Member {
	var list []Member
	for i := range total {
		list = append(list, Member{Name: fmt.Sprintf("m%d", i), Healthy: i >= failing})
	}
	return list
}

// The rows are the table of CP-61: with so many members, so many other failures are allowed; -1 means never.
//
// Conformance: CP-61
func TestFailuresAllowed(t *testing.T) {
	for _, row := range []struct{ members, remove, add int }{
		{1, -1, 0}, {2, 0, 0}, {3, 0, 0}, {4, 1, 1}, {5, 1, 1}, {7, 2, 2},
	} {
		for failing := range row.members {
			t.Run(fmt.Sprintf("%d members, %d failing", row.members, failing), func(t *testing.T) {
				list := members(row.members, failing)
				healthyVictim := list[len(list)-1].Name
				assert.Equal(t, failing <= row.remove, Remove(list, healthyVictim).Allowed, "removing a healthy one")
				assert.Equal(t, failing <= row.add, Add(list).Allowed, "adding one")
			})
		}
	}
	assert.True(t, Add(nil).Allowed, "the first member may always come")
}

// Conformance: CP-61
func TestNothingMovesWhileAMemberIsStarting(t *testing.T) {
	learner := append(members(3, 0), Member{Name: "l", Learner: true, Healthy: true})
	assert.False(t, Add(learner).Allowed)
	assert.False(t, Remove(learner, "m0").Allowed)
	assert.True(t, Remove(learner, "l").Allowed)

	nameless := append(members(3, 0), Member{Orphan: true})
	assert.False(t, Remove(nameless, "m0").Allowed)
	assert.False(t, Remove(nameless, "").Allowed, "an empty name names nobody")
	assert.True(t, RemoveAt(nameless, 3).Allowed)
}

func TestOrphansCountOnlyWithAnAlarm(t *testing.T) {
	list := append(members(3, 0), Member{Name: "orphan", Orphan: true})
	assert.True(t, Remove(list, "m0").Allowed)
	list[3].Alarm = true
	list[0].Healthy = false
	assert.False(t, Remove(list, "m1").Allowed)
}

// Whatever the members are: an allowed change leaves a majority of healthy voters.
//
// Conformance: CP-61
func TestAllowedChangesKeepAMajority(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 20000 {
		var list []Member
		for i := range random.IntN(9) {
			m := Member{
				Name: fmt.Sprintf("m%d", i), Healthy: random.IntN(3) > 0, Learner: random.IntN(8) == 0,
				Orphan: random.IntN(6) == 0, Alarm: random.IntN(6) == 0,
			}
			if random.IntN(10) == 0 {
				m.Name = ""
			}
			list = append(list, m)
		}
		for i := range list {
			if !RemoveAt(list, i).Allowed {
				continue
			}
			healthy, voting := 0, 0
			for j, m := range list {
				if j != i {
					assert.False(t, m.Learner || m.Name == "")
					voting++
					if !m.bad() {
						healthy++
					}
				}
			}
			assert.Greater(t, 2*healthy, voting, "%v without %d", list, i)
		}
		if Add(list).Allowed {
			bad := 0
			for _, m := range list {
				if m.bad() {
					bad++
				}
			}
			assert.Greater(t, 2*(len(list)+1-bad), len(list)+1)
		}
	}
}
