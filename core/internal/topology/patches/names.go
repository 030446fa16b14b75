package patches

import "strings"

// MatchName says whether the name of a class fits a pattern, in which a * alone, at the beginning or at the end stands for
// anything.
func MatchName(pattern, name string) bool {
	switch {
	case pattern == "*":
		return true
	case strings.HasPrefix(pattern, "*"):
		return strings.HasSuffix(name, pattern[1:])
	case strings.HasSuffix(pattern, "*"):
		return strings.HasPrefix(name, pattern[:len(pattern)-1])
	}
	return pattern == name
}
