package cloudinit

import (
	"regexp"
	"strings"
)

var (
	// expression is a use of cloud-init's instance data, such as {{ ds.meta_data.local_hostname }}.
	expression = regexp.MustCompile(`\{\{[-+]?\s*(?:ds|v1)[.\[][^{}\n]*\}\}`)
	// statement is a template statement that depends on instance data, such as {% if v1.region == "x" %}.
	statement = regexp.MustCompile(`\{%[-+]?\s*\w[^{}\n]*\b(?:ds|v1)[.\[][^{}\n]*%\}`)
	// syntax is an expression, which stays, or what would open any other tag of the template language.
	syntax = regexp.MustCompile(expression.String() + `|\{[{%#]`)
)

// asksForTemplate says whether a text wants cloud-init to fill in instance data.
func asksForTemplate(s string) bool { return expression.MatchString(s) || statement.MatchString(s) }

// protect keeps cloud-init from reading template syntax where nobody asked for it. What opens a tag is put into a raw
// block of its own, so that the text around it, its line breaks and its indentation stay as they are. A text with
// statements about instance data is a template written by hand and left alone.
func protect(s string) string {
	if statement.MatchString(s) {
		return s
	}
	var out strings.Builder
	for {
		at := syntax.FindStringIndex(s)
		if at == nil {
			out.WriteString(s)
			return out.String()
		}
		out.WriteString(s[:at[0]])
		found := s[at[0]:at[1]]
		s = s[at[1]:]
		if len(found) > 2 {
			out.WriteString(found)
			continue
		}
		out.WriteString("{% raw %}" + found + "{% endraw " + keepBreak(s) + "%}")
	}
}

// keepBreak is the mark that keeps the line break after a tag, which cloud-init's templates swallow; it is left out where
// none follows, since old versions of the template language do not know it.
func keepBreak(rest string) string {
	if rest == "" || rest[0] == '\n' {
		return "+"
	}
	return ""
}
