package machineset

import (
	"math"
	"sort"
	"time"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/conditions"
)

// The ranks of Machines that should go, the highest first. Age moves a Machine between 0 and mostByAge.
const (
	rankLeaving   = 100.0
	rankMarked    = 80.0
	rankUpdating  = 75.0
	rankUnhealthy = 50.0
	rankRandom    = 20.0
	mostByAge     = 49.0
)

// ageScale is the age at which about two thirds of the range of the age ranks are used.
const ageScale = 10 * 24 * time.Hour

// surplus picks the n Machines to go. Those already leaving come first, so that a repeated decision deletes no more.
func surplus(machines []*clusterv1.Machine, n int, order string, now time.Time) []*clusterv1.Machine {
	list := append([]*clusterv1.Machine(nil), machines...)
	sort.SliceStable(list, func(i, j int) bool {
		a, b := rank(list[i], order, now), rank(list[j], order, now)
		if a != b {
			return a > b
		}
		return list[i].Name < list[j].Name
	})
	return list[:min(n, len(list))]
}

func rank(m *clusterv1.Machine, order string, now time.Time) float64 {
	_, marked := m.Annotations[clusterv1.DeleteMachineAnnotation]
	_, updating := m.Annotations[clusterv1.UpdateInProgressAnnotation]
	switch {
	case !m.DeletionTimestamp.IsZero():
		return rankLeaving
	case marked:
		return rankMarked
	case updating:
		return rankUpdating
	case unhealthy(m):
		return rankUnhealthy
	}
	age := 1 - math.Exp(-float64(now.Sub(m.CreationTimestamp.Time))/float64(ageScale))
	switch order {
	case clusterv1.OldestMachineSetDeletionOrder:
		return mostByAge * age
	case clusterv1.NewestMachineSetDeletionOrder:
		return mostByAge * (1 - age)
	}
	return rankRandom
}

// unhealthy Machines have no Node, a sick one, or failed their health check.
func unhealthy(m *clusterv1.Machine) bool {
	return m.Status.NodeRef.Name == "" || conditions.IsFalse(m, clusterv1.MachineNodeHealthyCondition) ||
		conditions.IsFalse(m, clusterv1.MachineHealthCheckSucceededCondition)
}
