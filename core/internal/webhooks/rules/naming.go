package rules

import (
	"strings"
	"text/template"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
)

// Naming demands a template for machine names that can be parsed, that uses .random so that names differ, and that gives valid names.
func Naming(naming clusterv1.MachineNamingSpec, path *field.Path) field.ErrorList {
	if naming.Template == "" {
		return nil
	}
	path = path.Child("template")
	parsed, err := template.New("name").Option("missingkey=error").Parse(naming.Template)
	if err != nil {
		return field.ErrorList{field.Invalid(path, naming.Template, "must be a Go template: "+err.Error())}
	}
	first, err := render(parsed, "abcde")
	if err != nil {
		return field.ErrorList{field.Invalid(path, naming.Template, "must use only .cluster.name, .machineSet.name and .random: "+err.Error())}
	}
	second, err := render(parsed, "fghij")
	if err != nil || first == second {
		return field.ErrorList{field.Invalid(path, naming.Template, "must use {{ .random }}, otherwise all machines have the same name")}
	}
	var problems field.ErrorList
	for _, problem := range validation.IsDNS1123Subdomain(first) {
		problems = append(problems, field.Invalid(path, naming.Template, "must give valid names, but gives "+first+": "+problem))
	}
	return problems
}

func render(t *template.Template, random string) (string, error) {
	var out strings.Builder
	err := t.Execute(&out, map[string]any{
		"cluster":    map[string]any{"name": "cluster"},
		"machineSet": map[string]any{"name": "set"},
		"random":     random,
	})
	return out.String(), err
}
