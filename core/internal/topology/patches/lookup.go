package patches

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
)

// ErrNoValue says that a variable, or the field of it that is asked for, has no value.
var ErrNoValue = errors.New("has no value")

// segment is one step of a path: into a field, or into an element of a list.
type segment struct {
	field string
	index int
	list  bool
}

// Path is a path into a variable.
type Path struct {
	text     string
	segments []segment
}

// Variable is the name of the variable that the path begins with.
func (p Path) Variable() string { return p.segments[0].field }

// ParsePath reads a path such as name, name.field or name.list[0].field.
func ParsePath(text string) (Path, error) {
	p := Path{text: text}
	for part := range strings.SplitSeq(text, ".") {
		name, indexes, _ := strings.Cut(part, "[")
		if name == "" || strings.Contains(name, "]") {
			return p, fmt.Errorf("%q: a field must have a name", text)
		}
		p.segments = append(p.segments, segment{field: name})
		if !strings.Contains(part, "[") {
			continue
		}
		if !strings.HasSuffix(indexes, "]") {
			return p, fmt.Errorf("%q: an index ends with ]", text)
		}
		for index := range strings.SplitSeq(strings.TrimSuffix(indexes, "]"), "][") {
			n, err := strconv.Atoi(index)
			if err != nil || n < 0 || strconv.Itoa(n) != index {
				return p, fmt.Errorf("%q: an index is a number from 0", text)
			}
			p.segments = append(p.segments, segment{index: n, list: true})
		}
	}
	return p, nil
}

// lookup returns what a path leads to.
func lookup(values map[string]any, p Path) (clusterv1.JSON, error) {
	var at any = values
	for _, s := range p.segments {
		next, err := s.step(at)
		if err != nil {
			return clusterv1.JSON{}, fmt.Errorf("variable %s %w%s", p.text, err, meant(at, s.field))
		}
		at = next
	}
	raw, err := json.Marshal(at)
	if err != nil {
		return clusterv1.JSON{}, fmt.Errorf("variable %s: %w", p.text, err)
	}
	return clusterv1.JSON{Raw: raw}, nil
}

func (s segment) step(at any) (any, error) {
	if s.list {
		list, ok := at.([]any)
		if !ok {
			return nil, fmt.Errorf("cannot be used: [%d] follows what is no list", s.index)
		}
		if s.index >= len(list) {
			return nil, ErrNoValue
		}
		return list[s.index], nil
	}
	object, ok := at.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("cannot be used: .%s follows what is no object", s.field)
	}
	value, ok := object[s.field]
	if !ok {
		return nil, ErrNoValue
	}
	return value, nil
}
