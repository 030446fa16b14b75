package conditions

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Priority is how much a contributing condition matters for the result: issues beat unknowns, unknowns beat information.
type Priority int

const (
	// Issue is something that must be dealt with.
	Issue Priority = iota
	// Unknown is something that may be an issue.
	Unknown
	// Info is a condition that is as it should be.
	Info
)

// Reasons are the three reasons that a combined condition can have.
type Reasons struct {
	// True is the reason when the result is True.
	True string
	// False is the reason when the result is False.
	False string
	// Unknown is the reason when the result is Unknown.
	Unknown string
}

// SummaryOptions says which conditions of an object make up a summary of it.
type SummaryOptions struct {
	// For lists the types that contribute, in the order in which the message names them.
	For []string
	// Optional lists those of For whose absence means nothing; the absence of any other counts as Unknown, NotYetReported.
	Optional []string
	// Negative lists those of For that are an issue when they are True, such as Deleting.
	Negative []string
	// Custom replaces the judgement of single types, for conditions where only some reasons are issues.
	Custom map[string]func(metav1.Condition) Priority
	// Override replaces conditions of the object, for a message that says more here than there.
	Override []metav1.Condition
	// Groups merge types whose messages are equal into one line.
	Groups []Group
	// NegativeTarget is set when the resulting condition is itself negative: True means an issue.
	NegativeTarget bool
	// Reasons of the result. Empty ones become the target type with the prefixes of this API: Ready, NotReady, ReadyUnknown.
	Reasons Reasons
}

// Group is a set of types that is shown as one line when all that need a line have the same message.
type Group struct {
	// Name is shown instead of the types.
	Name string
	// Types are the members.
	Types []string
}

type contribution struct {
	condition metav1.Condition
	priority  Priority
}

// Summary combines several conditions of one object into one, for example Ready of a Machine. Its message has one line for each condition
// that explains the result: the issues and unknowns, or, when all is well, what there is to know.
func Summary(from Getter, targetType string, opts SummaryOptions) metav1.Condition {
	var parts []contribution
	for _, t := range opts.For {
		c := opts.find(from, t)
		if c == nil {
			if slices.Contains(opts.Optional, t) {
				continue
			}
			c = &metav1.Condition{Type: t, Status: metav1.ConditionUnknown, Reason: NotYetReportedReason, Message: "Condition " + t + " not yet reported"}
		}
		parts = append(parts, contribution{*c, opts.priority(*c)})
	}
	worst := Info
	for _, p := range parts {
		worst = min(worst, p.priority)
	}
	status, reason := conclude(worst, targetType, opts.NegativeTarget, opts.Reasons)
	return metav1.Condition{Type: targetType, Status: status, Reason: reason, Message: truncate(strings.Join(opts.lines(parts, worst), "\n"))}
}

func (o SummaryOptions) find(from Getter, conditionType string) *metav1.Condition {
	for _, c := range o.Override {
		if c.Type == conditionType {
			return &c
		}
	}
	return Get(from, conditionType)
}

func (o SummaryOptions) priority(c metav1.Condition) Priority {
	if judge, ok := o.Custom[c.Type]; ok {
		return judge(c)
	}
	return Judge(c, slices.Contains(o.Negative, c.Type))
}

// Judge gives the usual priority of a condition: False is an issue, or True when the condition is negative.
func Judge(c metav1.Condition, negative bool) Priority {
	switch {
	case c.Status != metav1.ConditionTrue && c.Status != metav1.ConditionFalse:
		return Unknown
	case (c.Status == metav1.ConditionTrue) == negative:
		return Issue
	default:
		return Info
	}
}

func conclude(worst Priority, targetType string, negative bool, r Reasons) (metav1.ConditionStatus, string) {
	status := metav1.ConditionUnknown
	switch {
	case worst == Issue && !negative, worst == Info && negative:
		status = metav1.ConditionFalse
	case worst == Info, worst == Issue:
		status = metav1.ConditionTrue
	}
	return status, r.pick(status, targetType)
}

func (r Reasons) pick(status metav1.ConditionStatus, targetType string) string {
	switch status {
	case metav1.ConditionTrue:
		return first(r.True, targetType)
	case metav1.ConditionFalse:
		return first(r.False, "Not"+targetType)
	default:
		return first(r.Unknown, targetType+"Unknown")
	}
}

func first(values ...string) string {
	for _, v := range values {
		if v != "" {
			return v
		}
	}
	return ""
}

// lines writes the contributors that explain the result. Information is told only when it has a message and the result is good.
func (o SummaryOptions) lines(parts []contribution, worst Priority) []string {
	var lines []string
	done := map[string]bool{}
	for _, p := range parts {
		if done[p.condition.Type] || (worst == Info && p.condition.Message == "") || (worst != Info && p.priority == Info) {
			continue
		}
		name := p.condition.Type
		if group := o.group(parts, p); group != nil {
			name = group.Name
			for _, t := range group.Types {
				done[t] = true
			}
		}
		lines = append(lines, line(name, first(p.condition.Message, p.condition.Reason)))
	}
	return lines
}

// group returns the group of a contributor if at least two of its members would be told with the same message and none with another.
func (o SummaryOptions) group(parts []contribution, p contribution) *Group {
	for i, g := range o.Groups {
		if !slices.Contains(g.Types, p.condition.Type) {
			continue
		}
		equal := 0
		for _, q := range parts {
			if !slices.Contains(g.Types, q.condition.Type) {
				continue
			}
			if q.priority != p.priority || q.condition.Message != p.condition.Message || q.condition.Reason != p.condition.Reason {
				return nil
			}
			equal++
		}
		if equal > 1 {
			return &o.Groups[i]
		}
	}
	return nil
}

// line writes "* name: message"; a message of several lines, or one that is a list itself, goes below the name, indented.
func line(name, message string) string {
	if !strings.Contains(message, "\n") && !strings.HasPrefix(message, "* ") {
		return "* " + name + ": " + message
	}
	var b strings.Builder
	b.WriteString("* " + name + ":")
	for l := range strings.SplitSeq(message, "\n") {
		b.WriteString("\n")
		if l != "" {
			b.WriteString("  " + l)
		}
	}
	return b.String()
}
