package inplace

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"

	jsonpatch "github.com/evanphx/json-patch/v5"
	"k8s.io/apimachinery/pkg/util/json"

	hooks "github.com/slipway-capi/slipway/contract/api/runtime/hooks/v1alpha1"
)

// Answer is what is known about bringing Machines to another template while they run.
type Answer struct {
	// Uncovered names the fields that no extension changes.
	Uncovered []string
	// Err says why it is not known.
	Err error
}

// Covered says whether every difference can be changed in place.
func (a Answer) Covered() bool { return a.Err == nil && len(a.Uncovered) == 0 }

// Part is one object of a question to an extension, and what it answered about it.
type Part struct {
	// Name is how the object is called in front of its fields.
	Name string
	// Root is where the fields are that an extension can change.
	Root []string
	// Current and Desired are the object as it is and as it should be.
	Current, Desired any
	// Patch is the part of the difference that the extension changes.
	Patch hooks.Patch
}

// Uncovered lists the fields in which parts still differ from what they should be when the patches are applied. What patches
// change elsewhere than below the root is dropped.
func Uncovered(parts []Part) ([]string, error) {
	var out []string
	for _, p := range parts {
		before, err := json.Marshal(p.Current)
		if err != nil {
			return nil, fmt.Errorf("encoding %s: %w", p.Name, err)
		}
		after, err := Patched(before, p.Patch)
		if err != nil {
			return nil, fmt.Errorf("the patch of %s: %w", p.Name, err)
		}
		wanted, err := json.Marshal(p.Desired)
		if err != nil {
			return nil, fmt.Errorf("encoding %s: %w", p.Name, err)
		}
		a, err := below(after, p.Root)
		if err != nil {
			return nil, fmt.Errorf("the patch of %s: %w", p.Name, err)
		}
		b, err := below(wanted, p.Root)
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", p.Name, err)
		}
		path := p.Name
		for i, name := range p.Root {
			path += map[bool]string{true: " ", false: "."}[i == 0] + name
		}
		out = append(out, differing(path, a, b)...)
	}
	return out, nil
}

var errNoObject = errors.New("the result is no object")

// Patched is an encoded object with a patch of an extension applied.
func Patched(document []byte, p hooks.Patch) ([]byte, error) {
	if !p.IsDefined() || len(bytes.TrimSpace(p.Patch)) == 0 {
		return document, nil
	}
	switch p.PatchType {
	case hooks.JSONPatchType:
		patch, err := jsonpatch.DecodePatch(p.Patch)
		if err != nil {
			return nil, fmt.Errorf("reading the JSON patch: %w", err)
		}
		return patch.Apply(document)
	case hooks.JSONMergePatchType:
		return jsonpatch.MergePatch(document, p.Patch)
	}
	return nil, fmt.Errorf("its type %q is unknown", p.PatchType)
}

// below is what an encoded object holds at a path; nil if there is nothing.
func below(document []byte, path []string) (any, error) {
	var tree any
	if err := json.Unmarshal(document, &tree); err != nil {
		return nil, errNoObject
	}
	for _, name := range path {
		fields, ok := tree.(map[string]any)
		if !ok && tree != nil {
			return nil, errNoObject
		}
		tree = fields[name]
	}
	return tree, nil
}

// differing lists the paths at which two trees differ. What is empty is the same as what is not there.
func differing(path string, a, b any) []string {
	x, isX := a.(map[string]any)
	y, isY := b.(map[string]any)
	if !isX && !isY || a != nil && !isX || b != nil && !isY {
		if same(a, b) {
			return nil
		}
		return []string{path}
	}
	all := maps.Clone(x)
	if all == nil {
		all = map[string]any{}
	}
	maps.Copy(all, y)
	var out []string
	for _, key := range slices.Sorted(maps.Keys(all)) {
		out = append(out, differing(path+"."+key, x[key], y[key])...)
	}
	return out
}

func same(a, b any) bool {
	if empty(a) && empty(b) {
		return true
	}
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}

func empty(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case map[string]any:
		return len(v) == 0
	case []any:
		return len(v) == 0
	}
	return false
}
