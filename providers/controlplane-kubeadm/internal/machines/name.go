package machines

import (
	"errors"
	"fmt"
	"strings"
	"text/template"
)

const (
	defaultNameTemplate = "{{ .kubeadmControlPlane.name }}-{{ .random }}"
	maxNameLength       = 63
	// RandomLength is the length of the random part of a name.
	RandomLength = 5
)

// ErrNotRandom says that a naming template gives every machine the same name.
var ErrNotRandom = errors.New("the naming template must use {{ .random }}, else all machines have one name")

// Name renders a machine's name. A name that is too long is cut and ends in the random part.
func Name(nameTemplate, cluster, controlPlane, random string) (string, error) {
	if nameTemplate == "" {
		nameTemplate = defaultNameTemplate
	}
	if !usesRandom(nameTemplate, cluster, controlPlane) {
		return "", ErrNotRandom
	}
	name, err := render(nameTemplate, cluster, controlPlane, random)
	if err != nil {
		return "", err
	}
	if len(name) > maxNameLength {
		name = name[:maxNameLength-RandomLength] + random
	}
	return name, nil
}

func usesRandom(nameTemplate, cluster, controlPlane string) bool {
	a, errA := render(nameTemplate, cluster, controlPlane, "aaaaa")
	b, errB := render(nameTemplate, cluster, controlPlane, "bbbbb")
	return errA != nil || errB != nil || a != b
}

func render(nameTemplate, cluster, controlPlane, random string) (string, error) {
	parsed, err := template.New("name").Option("missingkey=error").Parse(nameTemplate)
	if err != nil {
		return "", fmt.Errorf("parsing the naming template: %w", err)
	}
	var out strings.Builder
	err = parsed.Execute(&out, map[string]any{
		"cluster":             map[string]any{"name": cluster},
		"kubeadmControlPlane": map[string]any{"name": controlPlane},
		"random":              random,
	})
	if err != nil {
		return "", fmt.Errorf("rendering the naming template: %w", err)
	}
	return out.String(), nil
}
