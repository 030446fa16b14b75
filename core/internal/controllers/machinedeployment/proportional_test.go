package machinedeployment

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
)

// TestProportionalSpread: over random sizes, a change of a paused deployment's replicas gives the allowed total exactly,
// moves every set in the same direction and by its share, and is done in one go.
//
// Conformance: MD-05, MD-51
func TestProportionalSpread(t *testing.T) {
	for seed := range uint64(500) {
		rng := rand.New(rand.NewPCG(seed, 11))
		opts := []worldOption{pausedRollout, fencesOf(strconv.Itoa(rng.IntN(4)), "1")}
		total, active := int32(0), 0
		for i := range 1 + rng.IntN(4) {
			n := int32(rng.IntN(8))
			total, active = total+n, active+int(min(1, n))
			opts = append(opts, set(fmt.Sprintf("s%d", i), []string{"a", "b", "c"}[rng.IntN(3)], n, n, n))
		}
		w := rollout(opts...)
		replicas := int32(rng.IntN(20))
		w.Deployment.Spec.Replicas = &replicas
		for _, s := range w.Sets {
			s.Annotations[clusterv1.DesiredReplicasAnnotation] = "-" // some other number than now
		}
		plan := replicasOf(w)
		allowed := replicas
		if active > 1 && replicas > 0 {
			allowed += surge(w)
		}
		sum := int32(0)
		for _, s := range w.Sets {
			sum += plan[s]
			require.GreaterOrEqual(t, plan[s], int32(0), "seed %d", seed)
			if total > 0 {
				exact := float64(allowed) * float64(want(s)) / float64(total)
				require.InDelta(t, exact, float64(plan[s]), float64(len(w.Sets)), "seed %d: the share of %s", seed, s.Name)
				if allowed >= total {
					require.GreaterOrEqual(t, plan[s], want(s), "seed %d: growth takes from nobody", seed)
				} else {
					require.LessOrEqual(t, plan[s], want(s), "seed %d: shrinking gives to nobody", seed)
				}
			}
		}
		require.Equal(t, allowed, sum, "seed %d", seed)

		for _, s := range w.Sets {
			s.Spec.Replicas, s.Annotations[clusterv1.DesiredReplicasAnnotation] = ptr(plan[s]), strconv.Itoa(int(replicas))
		}
		require.Equal(t, plan, replicasOf(w), "seed %d: once is enough", seed)
	}
}

func replicasOf(w World) map[*clusterv1.MachineSet]int32 {
	return replicas(w, newest(w, w.Sets), w.Sets).of
}
