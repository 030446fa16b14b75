package patches

import (
	"slices"
	"text/template/parse"
)

// Roots are the variables that a template asks for, each once and in order: the names right below the root of the values, whether
// they are printed, tested or walked through. A template that cannot be read, and what templates are defined inside of one, ask for
// none.
func Roots(text string) []string {
	t, err := ParseTemplate(text)
	if err != nil || t.Tree == nil {
		return nil
	}
	var r roots
	r.list(t.Root, true)
	return r.names
}

type roots struct{ names []string }

func (r *roots) note(name string) {
	if !slices.Contains(r.names, name) {
		r.names = append(r.names, name)
	}
}

// list walks through a part of a template; atRoot says that the dot is the values there.
func (r *roots) list(list *parse.ListNode, atRoot bool) {
	if list == nil {
		return
	}
	for _, node := range list.Nodes {
		switch n := node.(type) {
		case *parse.ActionNode:
			r.pipe(n.Pipe, atRoot)
		case *parse.TemplateNode:
			r.pipe(n.Pipe, atRoot)
		case *parse.IfNode:
			r.branch(n.BranchNode, atRoot, atRoot)
		case *parse.RangeNode:
			r.branch(n.BranchNode, atRoot, false)
		case *parse.WithNode:
			r.branch(n.BranchNode, atRoot, false)
		}
	}
}

func (r *roots) branch(n parse.BranchNode, atRoot, inside bool) {
	r.pipe(n.Pipe, atRoot)
	r.list(n.List, inside)
	r.list(n.ElseList, atRoot)
}

func (r *roots) pipe(pipe *parse.PipeNode, atRoot bool) {
	if pipe == nil {
		return
	}
	for _, command := range pipe.Cmds {
		for _, argument := range command.Args {
			r.argument(argument, atRoot)
		}
	}
}

func (r *roots) argument(node parse.Node, atRoot bool) {
	switch n := node.(type) {
	case *parse.FieldNode:
		if atRoot {
			r.note(n.Ident[0])
		}
	case *parse.VariableNode:
		if n.Ident[0] == "$" && len(n.Ident) > 1 {
			r.note(n.Ident[1])
		}
	case *parse.ChainNode:
		r.argument(n.Node, atRoot)
	case *parse.PipeNode:
		r.pipe(n, atRoot)
	}
}
