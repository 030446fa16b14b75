package patches

import (
	"errors"
	"fmt"
	"strings"
	"text/template"

	"k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
)

// maxOutput is the largest output of a template, in bytes: more than any object may have.
const maxOutput = 1 << 20

// ParseTemplate reads a template of a patch.
func ParseTemplate(text string) (*template.Template, error) {
	t, err := template.New("").Funcs(functions).Parse(text)
	if err != nil {
		return nil, errors.New(strings.TrimPrefix(err.Error(), "template: :"))
	}
	return t, nil
}

// render carries a template out over the values.
func render(text string, values map[string]any) (string, error) {
	t, err := ParseTemplate(text)
	if err != nil {
		return "", err
	}
	out := &limited{}
	if err := t.Execute(out, values); err != nil {
		return "", errors.New(strings.TrimPrefix(err.Error(), "template: :"))
	}
	return out.String(), nil
}

// noValue is what a template prints for a variable that has no value.
const noValue = "<no value>"

// renderValue carries a template out and reads its output as YAML.
func renderValue(text string, values map[string]any) (clusterv1.JSON, error) {
	out, err := render(text, values)
	if err != nil {
		return clusterv1.JSON{}, err
	}
	if strings.Contains(out, noValue) {
		return clusterv1.JSON{}, errors.New("the template prints " + withoutValue(text, values) + "; if that is meant to be left out at times, guard it with if or default")
	}
	raw, err := yaml.YAMLToJSON([]byte(out))
	if err != nil {
		return clusterv1.JSON{}, fmt.Errorf("the output of the template is no YAML: %w", err)
	}
	return clusterv1.JSON{Raw: raw}, nil
}

// limited is a buffer that refuses to grow too large.
type limited struct{ strings.Builder }

func (l *limited) Write(p []byte) (int, error) {
	if l.Len()+len(p) > maxOutput {
		return 0, fmt.Errorf("the output is larger than %d bytes", maxOutput)
	}
	return l.Builder.Write(p)
}

// decode makes of the values what templates can work with. Whole numbers stay whole.
func decode(values Values) (map[string]any, error) {
	out := make(map[string]any, len(values))
	for name, value := range values {
		var decoded any
		if err := json.Unmarshal(value.Raw, &decoded); err != nil {
			return nil, fmt.Errorf("the value of variable %s is no JSON: %w", name, err)
		}
		out[name] = decoded
	}
	return out, nil
}
