package patches

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"text/template"
	"text/template/parse"

	"github.com/slipway-capi/slipway/core/internal/topology/patches/alike"
)

// noted is the name of a function that only this file puts into templates.
const noted = "noted"

// withoutValue says what a template prints although it has no value. It carries the template out a second time, with a function behind each
// expression that is printed: only so is it certain which of them are reached, and what the dot is there.
func withoutValue(text string, values map[string]any) string {
	found := "a variable or field that has no value"
	seen := false
	note := func(expression string, dot, value any) any {
		if value == nil && !seen {
			seen, found = true, fmt.Sprintf("{{ %s }}, which has no value%s", expression, meantBy(expression, dot, values))
		}
		return value
	}
	t, err := template.New("").Funcs(functions).Funcs(template.FuncMap{noted: note}).Parse(text)
	if err != nil {
		return found
	}
	for _, part := range t.Templates() {
		instrument(part.Root)
	}
	_ = t.Execute(&limited{}, values) // it was carried out before
	return found
}

// instrument pipes what is printed in a part of a template through the function.
func instrument(list *parse.ListNode) {
	if list == nil {
		return
	}
	for _, node := range list.Nodes {
		switch n := node.(type) {
		case *parse.ActionNode:
			if len(n.Pipe.Decl) == 0 {
				text := strconv.Quote(n.Pipe.String())
				n.Pipe.Cmds = append(n.Pipe.Cmds, &parse.CommandNode{NodeType: parse.NodeCommand, Pos: n.Pos, Args: []parse.Node{
					parse.NewIdentifier(noted).SetPos(n.Pos),
					&parse.StringNode{NodeType: parse.NodeString, Pos: n.Pos, Quoted: text, Text: n.Pipe.String()},
					&parse.DotNode{NodeType: parse.NodeDot, Pos: n.Pos},
				}})
			}
		case *parse.IfNode:
			instrument(n.List)
			instrument(n.ElseList)
		case *parse.RangeNode:
			instrument(n.List)
			instrument(n.ElseList)
		case *parse.WithNode:
			instrument(n.List)
			instrument(n.ElseList)
		}
	}
}

// meantBy offers names for the first field of an expression such as .a.b or $.a.b that is not there. Other expressions are not looked into.
func meantBy(expression string, dot any, values map[string]any) string {
	fields, ofRoot := strings.CutPrefix(expression, "$.")
	walked := ""
	switch rest, ofDot := strings.CutPrefix(expression, "."); {
	case ofRoot:
		dot, walked = values, "$."
	case ofDot:
		fields = rest
	default:
		return ""
	}
	for name := range strings.SplitSeq(fields, ".") {
		object, ok := dot.(map[string]any)
		if !ok || strings.ContainsAny(name, " |()") {
			return ""
		}
		below, there := object[name]
		if !there {
			return didYouMean(walked, alike.To(name, slices.Sorted(maps.Keys(object))))
		}
		dot, walked = below, walked+name+"."
	}
	return ""
}

// meant offers names for a field that an object does not have.
func meant(at any, name string) string {
	object, ok := at.(map[string]any)
	if _, there := object[name]; there || !ok {
		return ""
	}
	return didYouMean("", alike.To(name, slices.Sorted(maps.Keys(object))))
}

func didYouMean(walked string, names []string) string {
	if len(names) == 0 {
		return ""
	}
	names = slices.Clone(names[:min(3, len(names))])
	for i := range names {
		names[i] = walked + names[i]
	}
	return " (did you mean " + strings.Join(names, " or ") + "?)"
}
