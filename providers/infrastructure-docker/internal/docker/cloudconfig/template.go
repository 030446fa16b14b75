package cloudconfig

import (
	"fmt"
	"regexp"
	"strings"
)

var (
	tag      = regexp.MustCompile(`\{%[-+]?\s*raw\s*[-+]?%\}|\{\{[-+]?\s*([A-Za-z_][\w.\[\]'"-]*)\s*[-+]?\}\}|\{#|\{%|\{\{`)
	rawEnd   = regexp.MustCompile(`\{%[-+]?\s*endraw\s*[-+]?%\}`)
	brackets = regexp.MustCompile(`\[['"]([^'"]*)['"]\]`)
)

// expand fills the variables of a template. Statements other than raw blocks, and expressions other than a variable, are
// refused: half a template language would give half the text.
func expand(text string, variables map[string]string) (string, error) {
	var out strings.Builder
	for {
		at := tag.FindStringSubmatchIndex(text)
		if at == nil {
			out.WriteString(text)
			return out.String(), nil
		}
		out.WriteString(text[:at[0]])
		found := text[at[0]:at[1]]
		text = text[at[1]:]
		switch {
		case at[2] >= 0:
			value, err := look(found, variables)
			if err != nil {
				return "", err
			}
			out.WriteString(value)
		case found == "{#":
			_, rest, closed := strings.Cut(text, "#}")
			if !closed {
				return "", fmt.Errorf("a comment of the template has no end")
			}
			text = rest
		case strings.HasPrefix(found, "{%") && len(found) > 2:
			end := rawEnd.FindStringIndex(text)
			if end == nil {
				return "", fmt.Errorf("a raw block of the template has no end")
			}
			out.WriteString(text[:end[0]])
			text = text[end[1]:]
		default:
			return "", fmt.Errorf("the template uses more than variables and raw blocks, which needs an image with cloud-init")
		}
	}
}

// look finds a variable under the names cloud-init gives it: ds.meta_data.x, v1.x and x.
func look(expression string, variables map[string]string) (string, error) {
	name := strings.Trim(expression, "{}+- \t")
	name = brackets.ReplaceAllString(name, ".$1")
	key := strings.TrimPrefix(strings.TrimPrefix(name, "ds.meta_data."), "v1.")
	value, ok := variables[strings.ReplaceAll(key, "-", "_")]
	if !ok {
		return "", fmt.Errorf("the template's variable %s is unknown here", name)
	}
	return value, nil
}
