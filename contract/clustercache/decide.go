package clustercache

import (
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// view is all that matters for the next step of one cluster's connection.
type view struct {
	Now         time.Time
	Exists      bool
	Provisioned bool
	UID         types.UID
	Kubeconfig  string // fingerprint; empty while there is no kubeconfig

	Connected     bool
	ConnectionUID types.UID
	ConnectedWith string // fingerprint of the kubeconfig in use
	TriedWith     string // fingerprint of the last failed attempt
	NextAttempt   time.Time
	NextProbe     time.Time
	Failures      int
}

// suspect says that a cluster did not answer the last few times: it will likely keep a worker for the whole of a timeout.
func (v view) suspect() bool { return v.Failures >= suspectAfter }

// suspectAfter is how many failures in a row make a cluster suspect.
const suspectAfter = 2

// crowded is how long a suspect cluster waits for a worker, at most.
const crowded = 200 * time.Millisecond

// step is what to do next about one cluster's connection.
type step string

const (
	stepForget  step = "Forget"  // the Cluster is gone
	stepDrop    step = "Drop"    // the connection belongs to a dead Cluster of the same name
	stepRenew   step = "Renew"   // other kubeconfig than the one in use
	stepConnect step = "Connect" // try now
	stepProbe   step = "Probe"
	stepWait    step = "Wait"
)

// decide chooses the next step and, for stepWait, how long to wait; zero means until an event comes.
func decide(v view) (step, time.Duration) {
	switch {
	case !v.Exists:
		return stepForget, 0
	case v.Connected && v.ConnectionUID != v.UID:
		return stepDrop, 0
	case v.Connected && v.Kubeconfig != "" && v.Kubeconfig != v.ConnectedWith:
		return stepRenew, 0
	case v.Connected && !v.NextProbe.After(v.Now):
		return stepProbe, 0
	case v.Connected:
		return stepWait, v.NextProbe.Sub(v.Now)
	case !v.Provisioned:
		return stepWait, 0
	case v.Kubeconfig == "":
		return stepWait, unlabelledInterval
	case v.Kubeconfig == v.TriedWith && v.NextAttempt.After(v.Now):
		return stepWait, v.NextAttempt.Sub(v.Now)
	}
	return stepConnect, 0
}

// delay is the pause after the given number of failed attempts.
func (o ReconnectOptions) delay(attempts int, everConnected bool) time.Duration {
	grow := func(d time.Duration) time.Duration { return d + d/8 }
	if everConnected {
		grow = func(d time.Duration) time.Duration { return 2 * d }
	}
	delay := o.First
	for range attempts - 1 {
		if delay = grow(delay); delay >= o.Max {
			return o.Max
		}
	}
	return min(delay, o.Max)
}
