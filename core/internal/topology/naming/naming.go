// Package naming makes the names of the objects of a managed topology from the templates that a ClusterClass may give.
package naming

import (
	"errors"
	"strings"
	"text/template"

	"k8s.io/apimachinery/pkg/util/validation"
)

// The templates that are used where a class gives none.
const (
	Infrastructure    = "{{ .cluster.name }}-{{ .random }}"
	ControlPlane      = "{{ .cluster.name }}-{{ .random }}"
	MachineDeployment = "{{ .cluster.name }}-{{ .machineDeployment.topologyName }}-{{ .random }}"
	MachinePool       = "{{ .cluster.name }}-{{ .machinePool.topologyName }}-{{ .random }}"
)

const (
	// maxLength is that of a label value, which names of these objects become.
	maxLength = 63
	// suffixLength is how many characters of a name that is too long give way to the random ones.
	suffixLength = 5
)

// Data is what a template can use.
type Data struct {
	Cluster string
	// MachineDeployment and MachinePool are the names of the worker group in the topology; only one of them is set, or none.
	MachineDeployment, MachinePool string
	// Random is a suffix of five characters that makes names differ.
	Random string
}

// Render makes a name. A name that is too long is cut, and ends in random characters.
func Render(text string, data Data) (string, error) {
	t, err := template.New("").Option("missingkey=error").Parse(text)
	if err != nil {
		return "", errors.New(strings.TrimPrefix(err.Error(), "template: :"))
	}
	values := map[string]any{"cluster": map[string]any{"name": data.Cluster}, "random": data.Random}
	if data.MachineDeployment != "" {
		values["machineDeployment"] = map[string]any{"topologyName": data.MachineDeployment}
	}
	if data.MachinePool != "" {
		values["machinePool"] = map[string]any{"topologyName": data.MachinePool}
	}
	var out strings.Builder
	if err := t.Execute(&out, values); err != nil {
		return "", errors.New(strings.TrimPrefix(err.Error(), "template: :"))
	}
	name := out.String()
	if len(name) > maxLength {
		name = name[:maxLength-suffixLength] + data.Random
	}
	if problems := validation.IsDNS1123Subdomain(name); len(problems) > 0 {
		return "", errors.New("the name " + name + " that it gives is not valid: " + problems[0])
	}
	return name, nil
}
