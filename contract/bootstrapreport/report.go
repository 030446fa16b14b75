package bootstrapreport

import (
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/slipway-capi/slipway/contract/conditions"
)

// ConditionType is the optional condition by which an InfraMachine tells of a failed first boot, and under which the
// Machine shows it. It is there only while there is something to tell:
//
//   - True: the boot has failed for good, only a new machine helps. A MachineHealthCheck may act on it.
//   - False: a step fails and is tried again.
//
// The reason is a [Cause], the first line of the message says what failed, the rest tells more.
const ConditionType = "BootstrapFailed"

const (
	// MaxMessage is how long a message may be, in bytes: conditions are copied from object to object.
	MaxMessage = 4096
	maxLines   = 12
	maxLine    = 320
	maxStep    = 80
	maxDetail  = 250
)

// Report says why the first boot of a machine failed. Nothing in it is secret.
type Report struct {
	// Step is what failed, in words: "kubeadm join", "preKubeadmCommands[1]", "the image of the machine".
	Step string
	// Phase is the phase of kubeadm, empty for other steps.
	Phase string
	// Status is the exit status of a command; 0 if it has none.
	Status int
	// Cause is the class of what went wrong.
	Cause Cause
	// Detail is the line of the output that says most.
	Detail string
	// Output are the last lines of the output.
	Output string
	// Then are headlines of steps that failed after this one; often for its sake.
	Then []string
	// Retried says that the step is tried again.
	Retried bool
}

// Headline says in one line what failed.
func (r Report) Headline() string {
	line := r.Step + " failed"
	if r.Status != 0 {
		line += fmt.Sprintf(" with status %d", r.Status)
	}
	if r.Phase != "" {
		line += " in phase " + r.Phase
	}
	if r.Detail != "" {
		line += ": " + r.Detail
	}
	return shorten(line, maxLine)
}

// Message is the whole report as text of several lines, the headline first.
func (r Report) Message() string {
	var b strings.Builder
	b.WriteString(r.Headline())
	if next := r.Cause.Advice(); next != "" {
		b.WriteString("\nNext: " + next)
	}
	if r.Retried {
		b.WriteString("\nIt is tried again.")
	}
	for _, line := range r.Then {
		b.WriteString("\nThen " + line)
	}
	if r.Output != "" {
		b.WriteString("\nThe output ended with:")
		for line := range strings.SplitSeq(r.Output, "\n") {
			b.WriteString("\n  " + line)
		}
	}
	return limit(b.String())
}

// Condition is the report as an InfraMachine carries it.
func (r Report) Condition() metav1.Condition {
	c := metav1.Condition{Type: ConditionType, Status: metav1.ConditionTrue, Reason: string(r.Cause), Message: r.Message()}
	if r.Retried {
		c.Status = metav1.ConditionFalse
	}
	if c.Reason == "" {
		c.Reason = string(Unknown)
	}
	return c
}

// Of reads the condition of an InfraMachine of any provider; nil if it reports nothing. What looks like a secret is taken
// out once more, and the length is limited, for not every provider uses this package.
func Of(obj *unstructured.Unstructured) *metav1.Condition {
	all, err := conditions.FromUnstructured(obj)
	at := slices.IndexFunc(all, func(c metav1.Condition) bool { return c.Type == ConditionType })
	if err != nil || at < 0 || all[at].Message == "" {
		return nil
	}
	c := &all[at]
	c.Message = limit(Redactor{}.Redact(clean(c.Message)))
	c.ObservedGeneration = 0 // it was another object's
	return c
}

// HeadlineOf is the first line of a message.
func HeadlineOf(message string) string {
	line, _, _ := strings.Cut(message, "\n")
	return shorten(line, maxLine)
}

// lastLines are the last lines of an output that is fit to be shown; blank ones do not count.
func lastLines(text string) string {
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		if strings.TrimSpace(line) != "" {
			lines = append(lines, shorten(strings.TrimRight(line, " \t"), maxLine))
		}
	}
	return strings.Join(lines[max(0, len(lines)-maxLines):], "\n")
}

// shorten takes out the middle: errors begin with what was tried and end with why it failed.
func shorten(line string, n int) string {
	if len(line) <= n {
		return line
	}
	const gap = " ... "
	head := (n - len(gap)) / 2
	return strings.ToValidUTF8(line[:head], "") + gap + strings.ToValidUTF8(line[len(line)-(n-len(gap)-head):], "")
}

// limit keeps the beginning, where the headline is, and whole lines.
func limit(message string) string {
	if len(message) <= MaxMessage {
		return message
	}
	kept := message[:MaxMessage-len("\n...")]
	if i := strings.LastIndexByte(kept, '\n'); i > 0 {
		kept = kept[:i]
	}
	return strings.ToValidUTF8(kept, "") + "\n..."
}

// String is for logs.
func (r Report) String() string { return fmt.Sprintf("%s (%s)", r.Headline(), r.Cause) }
