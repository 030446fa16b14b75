package machinedeployment

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
)

// TestPercentages compares the limits of small deployments with the arithmetic of the fact sheet, for every percentage.
//
// Conformance: MD-20, MD-47, MD-49
func TestPercentages(t *testing.T) {
	for replicas := int32(1); replicas <= 3; replicas++ {
		for surge := 0; surge <= 100; surge++ {
			for _, unavailable := range []int{0, 1, 33, 34, 49, 50, 51, 66, 67, 99, 100} {
				up := int32(math.Ceil(float64(surge*int(replicas)) / 100))
				down := int32(math.Floor(float64(unavailable*int(replicas)) / 100))
				if up == 0 && down == 0 {
					down = 1
				}
				s, u := fences(rollout(desired(replicas), fencesOf(fmt.Sprintf("%d%%", surge), fmt.Sprintf("%d%%", unavailable))))
				require.Equal(t, []int32{up, down}, []int32{s, u}, "%d %%, %d %% of %d", surge, unavailable, replicas)
			}
		}
	}
	s, u := fences(rollout())
	assert.Equal(t, []int32{1, 0}, []int32{s, u}, "the defaults")
	for _, huge := range []string{"900000000000%", "2147483647"} {
		s, _ := fences(rollout(desired(10), fencesOf(huge, "0")))
		assert.Equal(t, int32(math.MaxInt32-10), s, huge)
	}
}

// TestNoStandstill goes through all small states in which the sets have what they want and all new Machines are available
// while an old one is not: something moves in each.
//
// Conformance: MD-23
func TestNoStandstill(t *testing.T) {
	states := 0
	for _, rule := range rules {
		for wanted := range int32(5) {
			for old := int32(1); old <= 5; old++ {
				for available := range old {
					for current := range int32(5) {
						w := rollout(desired(wanted), fencesOf(rule[0], rule[1]), oldSet(old, old, available), newestSet(current, current, current))
						require.NotEmpty(t, scaledTo(w, Decide(w)), "%v of %d: old %d with %d available, new %d", rule, wanted, old, available, current)
						states++
					}
				}
			}
		}
	}
	assert.Equal(t, len(rules)*5*15*5, states)
}

// Conformance: MD-14
func TestOfSeveralSetsOneIsCurrent(t *testing.T) {
	for name, c := range map[string]struct {
		world World
		want  string
	}{
		"the most replicas": {rollout(set("z", "b", 1, 1, 1), set("a", "b", 2, 2, 2)), "a"},
		"then the oldest":   {rollout(set("z", "b", 1, 1, 1), set("a", "b", 1, 1, 1)), "z"},
		"then by name":      {rollout(set("z", "b", 1, 1, 1), set("a", "b", 1, 1, 1), sameAge), "a"},
		"none in deletion":  {rollout(set("z", "b", 1, 1, 1), set("a", "b", 2, 2, 2), going("a")), "z"},
	} {
		assert.Equal(t, c.want, newest(c.world, c.world.Sets).Name, name)
	}
}

func sameAge(w *World) {
	for _, s := range w.Sets {
		s.CreationTimestamp = metav1.NewTime(epoch.Add(-time.Hour))
	}
}

func going(name string) worldOption {
	return func(w *World) {
		for _, s := range w.Sets {
			if s.Name == name {
				s.DeletionTimestamp = &metav1.Time{Time: epoch}
			}
		}
	}
}

// Conformance: MD-17
func TestAnnotationsThatAreNotCopied(t *testing.T) {
	w := rollout(newestSet(3, 3, 3))
	w.Deployment.Annotations = map[string]string{"note": "x", "cluster.x-k8s.io/conversion-data": "{}", clusterv1.RevisionAnnotation: "2"}
	for _, a := range Decide(w).Actions {
		assert.Equal(t, "x", a.(Update).Wanted.Annotations["note"])
		assert.NotContains(t, a.(Update).Wanted.Annotations, "cluster.x-k8s.io/conversion-data")
	}
}
