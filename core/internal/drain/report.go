package drain

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/slipway-capi/slipway/core/internal/names"
)

const (
	// maxFailures is how many different problems are told before pods are only counted.
	maxFailures = 5

	lookSoon  = 5 * time.Second
	lookLater = 20 * time.Second
)

// Results say what became of evictions, by the UIDs of the pods. Pods that it was not the turn of are not in it.
type Results map[types.UID]Result

// Result is what became of one eviction.
type Result struct {
	// Requested says that the pod will go; Gone that it has gone.
	Requested, Gone bool
	// Refused says that a disruption budget does not allow it.
	Refused bool
	// Told is why it was not evicted.
	Told string
}

// The causes that can hold a drain up, as people call them.
const (
	CauseBudgets    = "PodDisruptionBudgets"
	CauseLeaving    = "Pods that do not terminate"
	CauseCompleting = "Pods that must complete first"
	CauseFailures   = "Pods that cannot be evicted"
)

// Report is what there is to tell about a drain.
type Report struct {
	// Message names pods and what holds them, and begins with since when.
	Message string
	// Causes are the kinds of things that hold the drain up.
	Causes []string
	// Failed says that the eviction of a pod was refused or failed.
	Failed bool
	// After is when to look again. Pods are not watched: there are too many of them.
	After time.Duration
}

// rank puts the lines of a report in order: what somebody must deal with comes first.
type rank int

const (
	failing rank = iota
	leaving
	completing
	pending
	later
)

type line struct {
	rank
	text  string
	names []string
}

// Report tells how far a drain is that began at a time, which stands still. Results may be empty: then nothing has been
// tried yet, and budgets that can never allow an eviction are told all the same.
func (p Plan) Report(began metav1.Time, results Results) Report {
	lines := map[string]*line{}
	out := Report{After: lookLater}
	causes := map[string]bool{}
	left := false
	for _, pod := range p.Pods {
		result := results[pod.UID]
		if pod.Treatment == Ignored || result.Gone {
			continue
		}
		left = true
		l, cause := p.say(pod, result)
		if cause != "" {
			causes[cause] = true
		}
		out.Failed = out.Failed || result.Told != "" || result.Refused
		if l.rank == leaving && (result.Requested || pod.InGrace) {
			out.After = lookSoon
		}
		key := fmt.Sprint(l.rank, l.text)
		if lines[key] == nil {
			lines[key] = &l
		}
		lines[key].names = append(lines[key].names, pod.Key().String())
	}
	if !left {
		out.After = time.Second
	}
	for _, c := range []string{CauseBudgets, CauseFailures, CauseLeaving, CauseCompleting} {
		if causes[c] {
			out.Causes = append(out.Causes, c)
		}
	}
	out.Message = fmt.Sprintf("Draining Node %s since %s", p.Node, began.UTC().Format(time.RFC3339)) + tell(lines)
	return out
}

// say explains one pod.
func (p Plan) say(pod Pod, result Result) (line, string) {
	switch {
	case pod.Treatment == Leaving || result.Requested:
		return line{rank: leaving, text: "deletion requested, not gone yet"}, CauseLeaving
	case pod.Treatment == Completing:
		return line{rank: completing, text: "must complete by itself " + because(pod.By)}, CauseCompleting
	case pod.Hopeless != "" && !p.Override:
		return line{rank: failing, text: pod.Hopeless}, CauseBudgets
	case result.Refused:
		return line{rank: failing, text: refusal(pod, result.Told)}, CauseBudgets
	case result.Told != "":
		return line{rank: failing, text: result.Told}, CauseFailures
	case pod.Treatment == Later:
		return line{rank: later, text: "evicted after all Pods of a lower order " + because(fmt.Sprintf("order %d", pod.Order), pod.By)}, ""
	}
	return line{rank: pending, text: strings.TrimSpace("to be evicted " + because(pod.By))}, ""
}

// because gives the reasons that there are.
func because(reasons ...string) string {
	if text := strings.Join(slices.DeleteFunc(reasons, func(r string) bool { return r == "" }), ", "); text != "" {
		return "(" + text + ")"
	}
	return ""
}

// tell writes the lines, sorted.
func tell(lines map[string]*line) string {
	var failures, others []*line
	for _, l := range lines {
		if l.rank == failing {
			failures = append(failures, l)
		} else {
			others = append(others, l)
		}
	}
	var out []string
	untold := 0
	for i, l := range sorted(failures) {
		if i < maxFailures {
			out = append(out, l.String())
		} else {
			untold += len(l.names)
		}
	}
	if untold > 0 {
		out = append(out, count(untold)+" with other issues")
	}
	for _, l := range sorted(others) {
		out = append(out, l.String())
	}
	if len(out) == 0 {
		return ""
	}
	return ":\n* " + strings.Join(out, "\n* ")
}

func sorted(lines []*line) []*line {
	slices.SortFunc(lines, func(a, b *line) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.text, b.text))
	})
	return lines
}

// String names the pods and says what holds them.
func (l *line) String() string { return names.Of("Pod", l.names) + ": " + l.text }

func count(n int) string {
	if n == 1 {
		return "1 Pod"
	}
	return fmt.Sprintf("%d Pods", n)
}
