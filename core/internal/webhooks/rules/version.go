package rules

import (
	"strings"

	"github.com/blang/semver/v4"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// DefaultVersion puts the v before a version that lacks it.
func DefaultVersion(version *string) {
	if *version != "" && !strings.HasPrefix(*version, "v") {
		*version = "v" + *version
	}
}

// Version demands a semantic version; an empty one passes.
func Version(version string, path *field.Path) field.ErrorList {
	if version == "" {
		return nil
	}
	if _, err := ParseVersion(version); err != nil {
		return field.ErrorList{field.Invalid(path, version, "must be a semantic version such as v1.37.2")}
	}
	return nil
}

// ParseVersion reads a semantic version with or without v.
func ParseVersion(version string) (semver.Version, error) {
	return semver.Parse(strings.TrimPrefix(version, "v"))
}
