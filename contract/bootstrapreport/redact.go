package bootstrapreport

import (
	"regexp"
	"slices"
	"strings"
)

// redacted stands where a secret was.
const redacted = "[redacted]"

// Redactor takes secrets out of text: everything that has the shape of one, and what it has been told of. The zero value
// knows shapes only.
type Redactor struct{ known []string }

const (
	// minLine is how long a line of a file must be to be a secret of its own; shorter ones would blot out common words.
	minLine = 8
	// minWhole is the same for a file that has one line only.
	minWhole = 4
	// minWord is the same for a word in a line.
	minWord = 8
)

// NewRedactor returns a redactor that also knows the contents of files that were put on a machine: each of their lines is
// a secret, and so are the values in them that a key calls secret or that look like random ones. Text in which lines are no
// secrets, such as commands, is given with [Redactor.AndValues].
func NewRedactor(files ...[]byte) Redactor {
	var r Redactor
	for _, content := range files {
		text := clean(string(content))
		if whole := strings.TrimSpace(text); !strings.Contains(whole, "\n") && len(whole) >= minWhole {
			r.known = append(r.known, whole)
		}
		for line := range strings.SplitSeq(text, "\n") {
			if line = strings.TrimSpace(line); len(line) >= minLine {
				r.known = append(r.known, line)
			}
		}
	}
	return r.AndValues(files...)
}

// AndValues returns a redactor that also knows the secret values in texts whose lines as such are none.
func (r Redactor) AndValues(texts ...[]byte) Redactor {
	known := slices.Clone(r.known)
	for _, content := range texts {
		for line := range strings.SplitSeq(clean(string(content)), "\n") {
			known = append(known, values(line)...)
		}
	}
	slices.Sort(known)
	return Redactor{known: slices.Compact(known)}
}

var (
	separators = regexp.MustCompile("[\\s\"'`,;=:{}()\\[\\]<>|&]+")
	// secretKey is a key whose value is a secret; not "key" alone, as taints have it.
	secretKey = regexp.MustCompile(`(?i)[\w.-]*(?:pass(?:word|wd|phrase)?|secret|token|credential|auth|[\w.-]key|private|cert)[\w.-]*["']?\s*[:=]\s*(.+)$`)
	// named is what looks random but is a name: of a host, an address, a version.
	named = regexp.MustCompile(`^([a-z0-9]+([-.][a-z0-9]+)+|v?[0-9.]+[a-z0-9.+-]*|[a-z]+[0-9]{1,3}|([0-9]+(h|m|s|ms))+)$`)
)

// values are the secrets in one line: what follows a key that says so, and random words.
func values(line string) []string {
	var out []string
	if found := secretKey.FindStringSubmatch(line); found != nil {
		value := strings.Trim(strings.TrimSpace(found[1]), `"',;`)
		if len(value) >= minWhole && !strings.HasPrefix(value, "/") && value != "true" && value != "false" && value != "null" {
			out = append(out, value)
		}
	}
	for _, word := range separators.Split(line, -1) {
		if len(word) >= minWord && random(word) {
			out = append(out, word)
		}
	}
	return out
}

// random says that a word has letters and digits, and is no path or name.
func random(word string) bool {
	return strings.ContainsAny(word, "0123456789") && letters.MatchString(word) && !strings.Contains(word, "/") && !named.MatchString(word)
}

var letters = regexp.MustCompile(`[A-Za-z]`)

// shape is what a secret looks like; the group, or all of it, is taken out.
type shape struct {
	pattern *regexp.Regexp
	// confirm may say that a finding is none.
	confirm func(text string, from, to int) bool
}

// value is what follows a key.
const value = `("[^"\n]*"|'[^'\n]*'|[^\s,;"']+)`

var shapes = []shape{
	{regexp.MustCompile(`[a-z0-9]{6}\.[a-z0-9]{16}`), nil},
	{regexp.MustCompile(`[0-9A-Fa-f]{32,}`), nil},
	{regexp.MustCompile(`(?s)-----BEGIN [A-Z0-9 ]+-----.*?(?:-----END [A-Z0-9 ]+-----|\z)`), nil},
	// The beginning may have been cut off.
	{regexp.MustCompile(`(?:[A-Za-z0-9+/=]+\s+)*-----END [A-Z0-9 ]+-----`), nil},
	{regexp.MustCompile(`://([^\s"'<>/]+)@`), nil},
	// A password in a URL may hold what ought to be encoded, "/" and "@" too: it ends at the last "@".
	{regexp.MustCompile(`://([^\s"'<>/@:]*:[^\s"'<>]*)@`), noDigest},
	{regexp.MustCompile(`(?i)\b(?:bearer|basic)\s+([A-Za-z0-9._~+/=-]{8,})`), nil},
	{regexp.MustCompile(`(?i)(?:pass(?:word|wd|phrase)?|secret|token|credentials?|api[_-]?key|access[_-]?key|private[_-]?key|certificate[_-]?key)["']?\s*=\s*` + value), nil},
	{regexp.MustCompile(`(?i)--[a-z-]*(?:password|secret|token|key)[a-z-]*[ \t]+` + value), nil},
	{regexp.MustCompile(`(?i)(?:pass(?:word|wd|phrase)|api[_-]?key|access[_-]?key|private[_-]?key|certificate[_-]?key)["']?\s*:[ \t]*([^\s][^\n]*)`), nil},
	// kubeadm speaks of "the secret: ..." in sentences.
	{regexp.MustCompile(`(?im)secret["']?\s*:[ \t]*(\S+)[ \t]*$`), nil},
	{regexp.MustCompile(`(?i)(?:token|-data|credentials?)["']?\s*:[ \t]*(["']?[^\s"']*[0-9][^\s"']*["']?)`), nil},
	{regexp.MustCompile(`eyJ[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]*)?`), nil},
	{regexp.MustCompile(`[A-Za-z0-9+/_-]{40,}={0,2}`), mixed},
	{regexp.MustCompile(`\$[0-9a-z]{1,2}\$[^\s:"']{8,}`), nil},
	{regexp.MustCompile(`(?:AKIA|ASIA)[0-9A-Z]{16}`), nil},
}

// noDigest says that an "@" does not stand before the digest of an image, whose host may have a port.
func noDigest(text string, _, to int) bool { return !strings.HasPrefix(text[to:], "@sha256:") }

// mixed tells base64 from long paths and names: it has capitals, other letters, and digits or many capitals.
func mixed(text string, from, to int) bool {
	word := text[from:to]
	all := func(s string) bool {
		capitals := len(s) - len(strings.Map(withoutCapitals, s))
		return capitals > 0 && strings.IndexFunc(s, isLower) >= 0 && (strings.ContainsAny(s, "0123456789") || capitals*4 >= len(s))
	}
	if word[0] != '/' {
		return all(word)
	}
	return slices.ContainsFunc(strings.FieldsFunc(word, func(r rune) bool { return r == '/' || r == '-' }), func(s string) bool { return len(s) >= 20 && all(s) })
}

func withoutCapitals(r rune) rune {
	if r >= 'A' && r <= 'Z' {
		return -1
	}
	return r
}

func isLower(r rune) bool { return r >= 'a' && r <= 'z' }

// Redact returns the text with a mark in place of each secret. All are looked for in the text as it is, so that none hides
// half of another.
func (r Redactor) Redact(text string) string {
	hidden := make([]bool, len(text))
	hide := func(from, to int) {
		for i := from; i < to; i++ {
			hidden[i] = true
		}
	}
	for _, secret := range r.known {
		for from := 0; ; {
			i := strings.Index(text[from:], secret)
			if i < 0 {
				break
			}
			hide(from+i, from+i+len(secret))
			from += i + 1
		}
	}
	for _, s := range shapes {
		for _, at := range s.pattern.FindAllStringSubmatchIndex(text, -1) {
			from, to := at[0], at[1]
			if len(at) > 3 {
				from, to = at[2], at[3]
			}
			if s.confirm == nil || s.confirm(text, from, to) {
				hide(from, to)
			}
		}
	}
	return marked(text, hidden)
}

func marked(text string, hidden []bool) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		switch {
		case !hidden[i]:
			b.WriteByte(text[i])
		case i == 0 || !hidden[i-1]:
			b.WriteString(redacted)
		}
	}
	return b.String()
}
