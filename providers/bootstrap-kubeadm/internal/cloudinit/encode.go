package cloudinit

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

const (
	templateMarker = "## template: jinja\n"
	configMarker   = "#cloud-config\n"
)

// text is a string that is quoted while the document is built.
type text string

// MarshalYAML implements yaml.Marshaler.
func (t text) MarshalYAML() (any, error) {
	if !utf8.ValidString(string(t)) {
		// Files from Secrets may be binary.
		return string(t), nil
	}
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: string(t), Style: yaml.DoubleQuotedStyle}, nil
}

func texts[S ~[]string](list S) []text {
	var out []text
	for _, s := range list {
		out = append(out, text(s))
	}
	return out
}

// encode writes the document as YAML that reads the same in every parser, old or new: each text is quoted or a literal
// block, so that none can be taken for a number, a merge key or a comment.
func encode(d document) ([]byte, error) {
	var root yaml.Node
	if err := root.Encode(d); err != nil {
		return nil, fmt.Errorf("writing cloud-config: %w", err)
	}
	var out bytes.Buffer
	asks := false
	eachText(&root, func(n *yaml.Node) { asks = asks || asksForTemplate(n.Value) })
	if asks {
		eachText(&root, func(n *yaml.Node) { n.Value = protect(n.Value) })
		out.WriteString(templateMarker)
	}
	eachText(&root, func(n *yaml.Node) { n.Style = styleOf(n.Value, asks) })
	out.WriteString(configMarker)
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	if err := encoder.Encode(&root); err != nil {
		return nil, fmt.Errorf("writing cloud-config: %w", err)
	}
	return out.Bytes(), nil
}

// eachText visits everything that may come from a user: all text values, and keys, which may be devices.
func eachText(n *yaml.Node, visit func(*yaml.Node)) {
	if n.Kind == yaml.ScalarNode && n.Tag == "!!str" {
		visit(n)
	}
	for i, child := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 0 && plainKey(child.Value) {
			continue
		}
		eachText(child, visit)
	}
}

// plainKey: the keys of cloud-config itself are lower-case words.
func plainKey(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r != '_' && (r < 'a' || r > 'z') }) < 0
}

// styleOf keeps texts of several lines readable. A text that starts with white space would need an indentation hint,
// which parsers disagree about. A text with an expression must not be quoted, since quoting changes quotes inside it.
func styleOf(s string, template bool) yaml.Style {
	starts := s != "" && !unicode.IsSpace(rune(s[0]))
	if starts && (strings.Contains(s, "\n") || template && expression.MatchString(s)) {
		return yaml.LiteralStyle
	}
	return yaml.DoubleQuotedStyle
}
