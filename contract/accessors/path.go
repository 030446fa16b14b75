// Package accessors reads and writes the contract's paths of provider objects: the only fields of them that the core
// knows. Objects are unstructured; each path has one type, and two typed errors tell what is wrong.
package accessors

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

var (
	// ErrNotFound says that the object has no value at the path.
	ErrNotFound = errors.New("field not found")
	// ErrWrongType says that the value has another type than the contract demands.
	ErrWrongType = errors.New("field has the wrong type")
)

// Path is one field of the contract, with the type that its value must have.
type Path[T any] struct{ fields []string }

func at[T any](path string) Path[T] { return Path[T]{fields: strings.Split(path, ".")} }

// String is the path with dots, as users write it.
func (p Path[T]) String() string { return strings.Join(p.fields, ".") }

// Get reads the value. It returns an error that is ErrNotFound or ErrWrongType and names kind, object and path.
func (p Path[T]) Get(obj *unstructured.Unstructured) (T, error) {
	var out T
	value, found, err := unstructured.NestedFieldNoCopy(obj.Object, p.fields...)
	if err != nil {
		return out, p.fail(obj, ErrWrongType, "one of its parents is no object")
	}
	if !found || value == nil {
		return out, p.fail(obj, ErrNotFound, "")
	}
	if plain, ok := value.(T); ok {
		return plain, nil // flags and names need no conversion
	}
	raw, err := json.Marshal(value)
	if err != nil {
		return out, p.fail(obj, ErrWrongType, err.Error())
	}
	if err := json.Unmarshal(raw, &out); err != nil {
		var none T
		return none, p.fail(obj, ErrWrongType, fmt.Sprintf("have %T, want %T", value, out))
	}
	return out, nil
}

// GetOr reads the value and takes a default where there is none; a wrong type is still an error.
func (p Path[T]) GetOr(obj *unstructured.Unstructured, fallback T) (T, error) {
	v, err := p.Get(obj)
	if errors.Is(err, ErrNotFound) {
		return fallback, nil
	}
	return v, err
}

// Set writes the value, making the objects on the way.
func (p Path[T]) Set(obj *unstructured.Unstructured, value T) error {
	raw, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("encoding %s: %w", p, err)
	}
	var plain any
	if err := json.Unmarshal(raw, &plain); err != nil {
		return fmt.Errorf("decoding %s: %w", p, err)
	}
	if err := unstructured.SetNestedField(obj.Object, integers(plain), p.fields...); err != nil {
		return p.fail(obj, ErrWrongType, "one of its parents is no object")
	}
	return nil
}

func (p Path[T]) fail(obj *unstructured.Unstructured, kind error, detail string) error {
	if detail != "" {
		detail = ": " + detail
	}
	return fmt.Errorf("%s %s: %s: %w%s", obj.GetKind(), obj.GetName(), p, kind, detail)
}

// integers turns whole floats into int64, the only number that unstructured objects copy.
func integers(v any) any {
	switch x := v.(type) {
	case float64:
		if x == float64(int64(x)) {
			return int64(x)
		}
	case map[string]any:
		for k := range x {
			x[k] = integers(x[k])
		}
	case []any:
		for i := range x {
			x[i] = integers(x[i])
		}
	}
	return v
}
