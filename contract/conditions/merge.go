package conditions

import (
	"fmt"
	"sort"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Weight says how much a condition matters in a summary: issues beat unknowns, unknowns beat information.
type Weight int

// The weights, the gravest first.
const (
	Issue Weight = iota
	UnknownState
	Info
)

// SummaryOptions say how [Summary] combines the conditions of one object.
type SummaryOptions struct {
	// For lists the types to combine, in the order of the message.
	For []string
	// Optional types are left out while they are absent; an absent type that is not optional counts as unknown.
	Optional []string
	// Negative types are good when False (such as Deleting).
	Negative []string
	// Weigh overrides the weight of single conditions; ok false leaves the default.
	Weigh func(c metav1.Condition) (w Weight, ok bool)
	// Override replaces the condition of an object before it is combined, by type.
	Override map[string]metav1.Condition
}

// Summary combines conditions of one object into one of type targetType: False with reason Not<Type> if there is an
// issue, Unknown with <Type>Unknown if a state is unknown, else True with reason <Type>. The message has a line for
// each contributor, "* Type: message".
func Summary(from Getter, targetType string, opts SummaryOptions) metav1.Condition {
	var lines [3][]string
	for _, t := range opts.For {
		c, ok := contributor(from, t, opts)
		if !ok {
			continue
		}
		w := weigh(c, contains(opts.Negative, t), opts.Weigh)
		if w == Info && c.Message == "" {
			continue
		}
		lines[w] = append(lines[w], line(t, c))
	}
	switch {
	case len(lines[Issue]) > 0:
		return result(targetType, metav1.ConditionFalse, append(lines[Issue], lines[UnknownState]...))
	case len(lines[UnknownState]) > 0:
		return result(targetType, metav1.ConditionUnknown, lines[UnknownState])
	default:
		return result(targetType, metav1.ConditionTrue, lines[Info])
	}
}

func contributor(from Getter, t string, opts SummaryOptions) (metav1.Condition, bool) {
	if c, ok := opts.Override[t]; ok {
		return c, true
	}
	if c := Get(from, t); c != nil {
		return *c, true
	}
	if contains(opts.Optional, t) {
		return metav1.Condition{}, false
	}
	return metav1.Condition{Type: t, Status: metav1.ConditionUnknown, Reason: ReasonNotYetReported, Message: "Condition " + t + " not yet reported"}, true
}

func weigh(c metav1.Condition, negative bool, override func(metav1.Condition) (Weight, bool)) Weight {
	if override != nil {
		if w, ok := override(c); ok {
			return w
		}
	}
	switch {
	case c.Status == metav1.ConditionUnknown:
		return UnknownState
	case (c.Status == metav1.ConditionTrue) == negative:
		return Issue
	default:
		return Info
	}
}

func line(t string, c metav1.Condition) string {
	text := c.Message
	if text == "" {
		text = c.Reason
	}
	if strings.Contains(text, "\n") {
		return "* " + t + ":\n  " + strings.ReplaceAll(text, "\n", "\n  ")
	}
	return "* " + t + ": " + text
}

func result(targetType string, status metav1.ConditionStatus, lines []string) metav1.Condition {
	reason := targetType
	switch status {
	case metav1.ConditionFalse:
		reason = "Not" + targetType
	case metav1.ConditionUnknown:
		reason = targetType + "Unknown"
	}
	return metav1.Condition{Type: targetType, Status: status, Reason: reason, Message: strings.Join(lines, "\n")}
}

// Named is an object with conditions and a name.
type Named interface {
	Getter
	GetName() string
}

// AggregateOptions say how [Aggregate] combines one condition of many objects.
type AggregateOptions struct {
	// Kind is what the objects are called in the message, such as "Machine".
	Kind string
	// Negative says that the source condition is good when False; the target then is True if any source is True.
	Negative bool
	// First orders objects that are to be named first, such as control plane machines.
	First func(Named) bool
	// TrueReason, FalseReason and UnknownReason are the target's reasons; empty ones are built from its type.
	TrueReason, FalseReason, UnknownReason string
	// SkipAbsent leaves out objects that do not have the condition instead of counting them as unknown.
	SkipAbsent bool
}

// most is how many distinct messages an aggregate shows, and how many names each of them has.
const most = 3

type messageGroup struct {
	weight  Weight
	first   bool
	names   []string
	message string
}

// Aggregate combines the condition sourceType of many objects into one of type targetType. Equal messages are shown
// once with the names of their objects; at most three messages with three names each, so that the text stays short.
func Aggregate[T Named](from []T, sourceType, targetType string, opts AggregateOptions) metav1.Condition {
	groups := collect(from, sourceType, opts)
	worst := Info
	for _, g := range groups {
		worst = min(worst, g.weight)
	}
	status := map[Weight]metav1.ConditionStatus{Issue: metav1.ConditionFalse, UnknownState: metav1.ConditionUnknown, Info: metav1.ConditionTrue}[worst]
	if opts.Negative {
		status = map[Weight]metav1.ConditionStatus{Issue: metav1.ConditionTrue, UnknownState: metav1.ConditionUnknown, Info: metav1.ConditionFalse}[worst]
	}
	c := metav1.Condition{Type: targetType, Status: status, Message: render(groups, worst, opts.Kind)}
	c.Reason = pick(status, targetType, opts)
	return c
}

func pick(status metav1.ConditionStatus, targetType string, opts AggregateOptions) string {
	given := map[metav1.ConditionStatus]string{metav1.ConditionTrue: opts.TrueReason, metav1.ConditionFalse: opts.FalseReason, metav1.ConditionUnknown: opts.UnknownReason}[status]
	if given != "" {
		return given
	}
	return result(targetType, status, nil).Reason
}

func collect[T Named](from []T, sourceType string, opts AggregateOptions) []*messageGroup {
	byText := map[string]*messageGroup{}
	for _, obj := range from {
		c := Get(obj, sourceType)
		if c == nil {
			if opts.SkipAbsent {
				continue
			}
			c = &metav1.Condition{Status: metav1.ConditionUnknown, Message: "Condition " + sourceType + " not yet reported"}
		}
		w := weigh(*c, opts.Negative, nil)
		text := c.Message
		if text == "" && w != Info {
			text = c.Reason
		}
		key := fmt.Sprint(w, text)
		g := byText[key]
		if g == nil {
			g = &messageGroup{weight: w, message: text}
			byText[key] = g
		}
		g.names = append(g.names, obj.GetName())
		g.first = g.first || (opts.First != nil && opts.First(obj))
	}
	return sortGroups(byText)
}

func sortGroups(byText map[string]*messageGroup) []*messageGroup {
	groups := make([]*messageGroup, 0, len(byText))
	for _, g := range byText {
		sort.Strings(g.names)
		groups = append(groups, g)
	}
	sort.Slice(groups, func(i, j int) bool {
		a, b := groups[i], groups[j]
		switch {
		case a.weight != b.weight:
			return a.weight < b.weight
		case a.first != b.first:
			return a.first
		case len(a.names) != len(b.names):
			return len(a.names) > len(b.names)
		}
		return a.names[0] < b.names[0]
	})
	return groups
}

func render(groups []*messageGroup, worst Weight, kind string) string {
	var lines []string
	rest := map[Weight]int{}
	for _, g := range groups {
		switch {
		case g.message == "" || (g.weight == Info && worst != Info):
		case len(lines) < most:
			lines = append(lines, line(names(kind, g.names), metav1.Condition{Message: g.message}))
		default:
			rest[g.weight] += len(g.names)
		}
	}
	for w, what := range []string{"with other issues", "with status unknown", "with additional info"} {
		if n := rest[Weight(w)]; n > 0 {
			lines = append(lines, fmt.Sprintf("And %d %s %s", n, plural(kind, n), what))
		}
	}
	return strings.Join(lines, "\n")
}

func names(kind string, list []string) string {
	if len(list) <= most {
		return plural(kind, len(list)) + " " + strings.Join(list, ", ")
	}
	return fmt.Sprintf("%s %s, ... (%d more)", plural(kind, len(list)), strings.Join(list[:most], ", "), len(list)-most)
}

func plural(kind string, n int) string {
	if n == 1 {
		return kind
	}
	return kind + "s"
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}
