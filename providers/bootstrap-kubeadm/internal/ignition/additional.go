package ignition

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// additional is the user's own configuration, translated from the YAML that people write to the JSON of Ignition. The YAML
// has keys in snake_case, contents in plain text, and some fields that stand for others.
type additional struct {
	tree map[string]any
	// butane is set for a Butane config, whose first keys are variant and version; others are Container Linux Configs.
	butane bool
}

// dialects are the versions of Butane whose configs mean Ignition 3.3 or older.
var dialects = map[string][]string{
	"flatcar": {"1.0.0"},
	"fcos":    {"1.0.0", "1.1.0", "1.2.0", "1.3.0", "1.4.0"},
}

func parseAdditional(text string) (additional, error) {
	tree := map[string]any{}
	if err := yaml.UnmarshalStrict([]byte(text), &tree); err != nil {
		return additional{}, additionalError(strings.TrimPrefix(err.Error(), "error converting YAML to JSON: "))
	}
	a := additional{}
	variant, version := tree["variant"], tree["version"]
	if _, a.butane = tree["variant"]; a.butane {
		if known := dialects[fmt.Sprint(variant)]; !slices.Contains(known, fmt.Sprint(version)) {
			return a, additionalError(fmt.Sprintf("variant %v, version %v is not known: use flatcar 1.0.0 or fcos 1.4.0", variant, version))
		}
		delete(tree, "variant")
		delete(tree, "version")
	}
	t := translation{butane: a.butane}
	translated, err := t.value("", tree)
	if err != nil {
		return a, additionalError(err.Error())
	}
	a.tree, _ = translated.(map[string]any)
	t.finish(a.tree)
	return a, nil
}

// translation walks through the YAML. Units are those that stand for other settings.
type translation struct {
	butane bool
	units  []any
}

// value translates what stands at a path of keys; lists do not count in a path.
func (t *translation) value(at string, v any) (any, error) {
	switch v := v.(type) {
	case map[string]any:
		return t.object(at, v)
	case []any:
		out := make([]any, 0, len(v))
		for _, item := range v {
			translated, err := t.value(at, item)
			if err != nil {
				return nil, err
			}
			out = append(out, translated)
		}
		return out, nil
	}
	return v, nil
}

func (t *translation) object(at string, in map[string]any) (any, error) {
	out := map[string]any{}
	for _, key := range slices.Sorted(maps.Keys(in)) {
		translated, err := t.value(strings.TrimPrefix(at+"."+key, "."), in[key])
		if err != nil {
			return nil, err
		}
		out[camelCase(key)] = translated
	}
	if t.butane {
		return t.butaneObject(at, out)
	}
	return t.containerLinuxObject(at, out)
}

// camelCase is how Ignition writes a key.
func camelCase(key string) string {
	words := strings.Split(key, "_")
	for i, w := range words[1:] {
		switch {
		case w == "mib":
			words[i+1] = "MiB"
		case w != "":
			words[i+1] = strings.ToUpper(w[:1]) + w[1:]
		}
	}
	return strings.Join(words, "")
}

// finish adds what Ignition wants beside what the user wrote.
func (t *translation) finish(tree map[string]any) {
	version := version2
	if t.butane {
		version = version3
	}
	child(tree, "ignition")["version"] = version
	if len(t.units) > 0 {
		systemd := child(tree, "systemd")
		have, _ := systemd["units"].([]any)
		systemd["units"] = append(have, t.units...)
	}
}

func child(in map[string]any, key string) map[string]any {
	out, ok := in[key].(map[string]any)
	if !ok {
		out = map[string]any{}
		in[key] = out
	}
	return out
}

func text(in map[string]any, key string) string {
	s, _ := in[key].(string)
	return s
}

// inline turns plain contents into a source.
func inline(in map[string]any) {
	if contents, ok := in["inline"].(string); ok {
		delete(in, "inline")
		in["source"] = dataURL([]byte(contents))
	}
}
