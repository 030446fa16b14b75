package patches

import (
	"encoding/json"
	"fmt"
	"strings"

	jsonpatch "github.com/evanphx/json-patch/v5"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
)

// Root is where patches may change a template, and what is below.
const Root = "/spec/template/spec"

// Inside says whether a JSON pointer leads to what patches may change.
func Inside(pointer string) bool { return pointer == Root || strings.HasPrefix(pointer, Root+"/") }

// inline makes the changes of one patch that are written out in the class.
func inline(patch clusterv1.ClusterClassPatch, t *Template, values map[string]any) error {
	enabled, err := enabled(patch.EnabledIf, values)
	if err != nil {
		return fmt.Errorf("enabledIf: %w", err)
	}
	if !enabled {
		return nil
	}
	for i, definition := range patch.Definitions {
		if !t.matches(definition.Selector) {
			continue
		}
		for j, operation := range definition.JSONPatches {
			if err := carryOut(operation, t, values); err != nil {
				return fmt.Errorf("definitions[%d].jsonPatches[%d] (%s %s): %w", i, j, operation.Op, operation.Path, err)
			}
		}
	}
	return nil
}

func enabled(text string, values map[string]any) (bool, error) {
	if text == "" {
		return true, nil
	}
	out, err := render(text, values)
	return strings.TrimSpace(out) == "true", err
}

func carryOut(operation clusterv1.JSONPatch, t *Template, values map[string]any) error {
	if !Inside(operation.Path) {
		return fmt.Errorf("only %s and what is below it can be changed", Root)
	}
	step := map[string]any{"op": operation.Op, "path": operation.Path}
	if operation.Op != "remove" {
		value, err := valueOf(operation, values)
		if err != nil {
			return err
		}
		step["value"] = json.RawMessage(value.Raw)
	}
	document, err := json.Marshal([]any{step})
	if err != nil {
		return fmt.Errorf("encoding the patch: %w", err)
	}
	return applyJSONPatch(t, document)
}

func valueOf(operation clusterv1.JSONPatch, values map[string]any) (clusterv1.JSON, error) {
	switch from := operation.ValueFrom; {
	case from == nil:
		return operation.Value, nil
	case from.Variable != "":
		path, err := ParsePath(from.Variable)
		if err != nil {
			return clusterv1.JSON{}, err
		}
		return lookup(values, path)
	default:
		return renderValue(from.Template, values)
	}
}

// applyJSONPatch changes a template by a patch in the manner of RFC 6902.
func applyJSONPatch(t *Template, document []byte) error {
	patch, err := jsonpatch.DecodePatch(document)
	if err != nil {
		return fmt.Errorf("reading the JSON patch: %w", err)
	}
	return t.change(func(before []byte) ([]byte, error) { return patch.Apply(before) })
}

// applyMergePatch changes a template by a patch in the manner of RFC 7386.
func applyMergePatch(t *Template, document []byte) error {
	return t.change(func(before []byte) ([]byte, error) { return jsonpatch.MergePatch(before, document) })
}
