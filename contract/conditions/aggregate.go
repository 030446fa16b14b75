package conditions

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	// maxMessages is how many different messages an aggregate tells before it only counts.
	maxMessages = 3
	// maxNames is how many objects are named for each message before they are only counted.
	maxNames = 3
)

// Source is one of the objects whose conditions are aggregated.
type Source struct {
	// Getter holds the conditions.
	Getter
	// Kind is how the object is called in the message, for example Machine.
	Kind string
	// Name of the object.
	Name string
	// ControlPlane objects are told first.
	ControlPlane bool
}

// Of makes a source of an object.
func Of(kind string, obj interface {
	Getter
	GetName() string
}) Source {
	return Source{Getter: obj, Kind: kind, Name: obj.GetName()}
}

// AggregateOptions says how the conditions of several objects become one.
type AggregateOptions struct {
	// Negative is set when the condition is an issue while it is True; the result has the same polarity.
	Negative bool
	// Custom replaces the judgement of a condition.
	Custom func(metav1.Condition) Priority
	// SkipAbsent leaves objects without the condition out instead of counting them as Unknown, NotYetReported.
	SkipAbsent bool
	// Reasons of the result. Empty ones become the source type with the prefixes of this API: Ready, NotReady, ReadyUnknown.
	Reasons Reasons
	// None is the result when there is nothing to aggregate. Its zero value gives the good status with the good reason.
	None *Fallback
}

// bucket collects the objects of one kind that say the same.
type bucket struct {
	kind         string
	message      string
	priority     Priority
	controlPlane bool
	names        []string
}

// Aggregate combines one condition of several objects into one, for example Ready of all Machines into MachinesReady. At most three different
// messages are told, each with at most three names; the rest is counted by kind.
func Aggregate(from []Source, sourceType, targetType string, opts AggregateOptions) metav1.Condition {
	buckets, any := collect(from, sourceType, opts)
	if !any && opts.None != nil {
		return withDefaults(metav1.Condition{Type: targetType, Status: opts.None.Status, Reason: opts.None.Reason, Message: opts.None.Message})
	}
	worst := Info
	for _, b := range buckets {
		worst = min(worst, b.priority)
	}
	status, reason := conclude(worst, sourceType, opts.Negative, opts.Reasons)
	return metav1.Condition{Type: targetType, Status: status, Reason: reason, Message: truncate(describe(buckets, worst))}
}

func collect(from []Source, sourceType string, opts AggregateOptions) (buckets []*bucket, any bool) {
	for _, s := range from {
		c := Get(s, sourceType)
		if c == nil {
			if opts.SkipAbsent {
				continue
			}
			c = &metav1.Condition{Type: sourceType, Status: metav1.ConditionUnknown, Reason: NotYetReportedReason, Message: "Condition " + sourceType + " not yet reported"}
		}
		any = true
		priority := Judge(*c, opts.Negative)
		if opts.Custom != nil {
			priority = opts.Custom(*c)
		}
		message := c.Message
		if message == "" && priority != Info {
			message = c.Reason
		}
		buckets = put(buckets, s, priority, message)
	}
	for _, b := range buckets {
		slices.Sort(b.names)
	}
	slices.SortFunc(buckets, compareBuckets)
	return buckets, any
}

func put(buckets []*bucket, s Source, priority Priority, message string) []*bucket {
	for _, b := range buckets {
		if b.kind == s.Kind && b.priority == priority && b.message == message {
			b.names = append(b.names, s.Name)
			b.controlPlane = b.controlPlane || s.ControlPlane
			return buckets
		}
	}
	return append(buckets, &bucket{kind: s.Kind, message: message, priority: priority, controlPlane: s.ControlPlane, names: []string{s.Name}})
}

// compareBuckets puts issues before unknowns before information, control plane machines first among equals, then the message of most objects.
func compareBuckets(a, b *bucket) int {
	if a.controlPlane != b.controlPlane {
		if a.controlPlane {
			return -1
		}
		return 1
	}
	return cmp.Or(
		cmp.Compare(a.priority, b.priority),
		cmp.Compare(len(b.names), len(a.names)),
		strings.Compare(a.names[0], b.names[0]),
		strings.Compare(a.kind, b.kind),
		strings.Compare(a.message, b.message),
	)
}

func describe(buckets []*bucket, worst Priority) string {
	var lines []string
	rest := map[Priority]map[string]int{}
	for _, b := range buckets {
		switch {
		case b.message == "" || (worst != Info && b.priority == Info):
		case len(lines) < maxMessages:
			lines = append(lines, line(b.title(), b.message))
		default:
			if rest[b.priority] == nil {
				rest[b.priority] = map[string]int{}
			}
			rest[b.priority][b.kind] += len(b.names)
		}
	}
	for _, r := range []struct {
		priority Priority
		what     string
	}{{Issue, "with other issues"}, {Unknown, "with status unknown"}, {Info, "with additional info"}} {
		for _, kind := range slices.Sorted(maps.Keys(rest[r.priority])) {
			n := rest[r.priority][kind]
			lines = append(lines, fmt.Sprintf("And %d %s %s", n, plural(kind, n), r.what))
		}
	}
	return strings.Join(lines, "\n")
}

func (b *bucket) title() string {
	title := plural(b.kind, len(b.names)) + " "
	if len(b.names) <= maxNames {
		return title + strings.Join(b.names, ", ")
	}
	return title + strings.Join(b.names[:maxNames], ", ") + fmt.Sprintf(", ... (%d more)", len(b.names)-maxNames)
}

func plural(kind string, n int) string {
	if n == 1 {
		return kind
	}
	return kind + "s"
}

// Sources makes sources of objects of one kind; controlPlane, if given, says which are control plane machines.
func Sources[T interface {
	Getter
	GetName() string
}](kind string, objects []T, controlPlane func(T) bool) []Source {
	sources := make([]Source, 0, len(objects))
	for _, o := range objects {
		sources = append(sources, Source{Getter: o, Kind: kind, Name: o.GetName(), ControlPlane: controlPlane != nil && controlPlane(o)})
	}
	return sources
}
