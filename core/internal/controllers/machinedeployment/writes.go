package machinedeployment

import (
	"strconv"
	"sync"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// forgetAfter is when a write that the cache never showed is given up, for instance because someone undid it at once.
const forgetAfter = 30 * time.Second

// writes remembers the resource versions of MachineSets as this controller wrote them last, so that a stale cache leads
// to no second MachineSet and no wrong number of replicas.
type writes struct {
	mu   sync.Mutex
	byMD map[client.ObjectKey]map[string]write
}

type write struct {
	version string
	at      time.Time
}

func (w *writes) note(md client.ObjectKey, set, version string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.byMD == nil {
		w.byMD = map[client.ObjectKey]map[string]write{}
	}
	if w.byMD[md] == nil {
		w.byMD[md] = map[string]write{}
	}
	w.byMD[md][set] = write{version: version, at: time.Now()}
}

// settled forgets the writes that the cache shows and says whether none is left. seen holds the versions in the cache.
func (w *writes) settled(md client.ObjectKey, seen map[string]string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for set, x := range w.byMD[md] {
		if have, ok := seen[set]; (ok && !older(have, x.version)) || time.Since(x.at) > forgetAfter {
			delete(w.byMD[md], set)
		}
	}
	if len(w.byMD[md]) == 0 {
		delete(w.byMD, md)
		return true
	}
	return false
}

// older compares resource versions, which the API defines to be comparable numbers since Kubernetes 1.35.
func older(a, b string) bool {
	x, errX := strconv.ParseUint(a, 10, 64)
	y, errY := strconv.ParseUint(b, 10, 64)
	return errX == nil && errY == nil && x < y
}
