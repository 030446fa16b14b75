package machineset

import (
	"fmt"
	"strings"
	"text/template"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
)

const (
	defaultNaming = "{{ .machineSet.name }}-{{ .random }}"
	// maxNameLength is that of a Machine: it becomes a host name and a label value.
	maxNameLength = 63
)

// machineName makes the name of a new Machine. A name that gets too long is cut, and ends in the random suffix again.
func machineName(s *clusterv1.MachineSet, suffix string) (string, error) {
	text := s.Spec.MachineNaming.Template
	if text == "" {
		text = defaultNaming
	}
	t, err := template.New("machineNaming").Option("missingkey=error").Parse(text)
	if err != nil {
		return "", fmt.Errorf("spec.machineNaming.template: %w", err)
	}
	var out strings.Builder
	err = t.Execute(&out, map[string]any{
		"cluster": map[string]any{"name": s.Spec.ClusterName}, "machineSet": map[string]any{"name": s.Name}, "random": suffix,
	})
	if err != nil {
		return "", fmt.Errorf("spec.machineNaming.template: %w", err)
	}
	name := out.String()
	if len(name) > maxNameLength {
		name = name[:maxNameLength-len(suffix)] + suffix
	}
	return name, nil
}
