// Package payload reads the objects that ConfigMaps and Secrets of ClusterResourceSets hold: YAML documents, JSON and lists, in
// the order in which they must be created. It is pure.
package payload

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Data is the content of a ConfigMap or Secret: each value holds objects.
type Data map[string][]byte

// Hash is a digest of all values, in the form that ClusterResourceSetBindings record.
func (d Data) Hash() string {
	sum := sha256.New()
	for _, key := range slices.Sorted(maps.Keys(d)) {
		sum.Write(d[key])
	}
	return fmt.Sprintf("sha256:%x", sum.Sum(nil))
}

// Objects reads all objects: Namespaces and CustomResourceDefinitions first, since others need them, then the rest in the order
// of keys and documents. Errors are of type *Error.
func (d Data) Objects() ([]*unstructured.Unstructured, error) {
	var all []*unstructured.Unstructured
	for _, key := range slices.Sorted(maps.Keys(d)) {
		for n, doc := range split(d[key]) {
			objects, err := doc.objects()
			if err != nil {
				return nil, &Error{Key: key, Document: n + 1, Line: doc.line, cause: doc.locate(err)}
			}
			all = append(all, objects...)
		}
	}
	slices.SortStableFunc(all, func(a, b *unstructured.Unstructured) int { return rank(a) - rank(b) })
	return all, nil
}

// Error is a mistake in a payload.
type Error struct {
	// Key is that of the value; Document counts from one; Line is where the document begins.
	Key            string
	Document, Line int
	cause          error
}

// Error tells place and cause. The cause may repeat words of the payload.
func (e *Error) Error() string { return e.Place() + ": " + e.cause.Error() }

// Place tells where the mistake is, and nothing of what stands there: for payloads that are secret.
func (e *Error) Place() string {
	return fmt.Sprintf("key %s, document %d from line %d", e.Key, e.Document, e.Line)
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.cause }

// rank is 0 for what others need.
func rank(o *unstructured.Unstructured) int {
	switch gk := o.GroupVersionKind().GroupKind(); {
	case gk.Group == "" && gk.Kind == "Namespace":
		return 0
	case gk.Group == "apiextensions.k8s.io" && gk.Kind == "CustomResourceDefinition":
		return 1
	}
	return 2
}

// flatten takes the objects out of lists.
func flatten(o *unstructured.Unstructured) ([]*unstructured.Unstructured, error) {
	if strings.HasSuffix(o.GetKind(), "List") && o.Object["items"] != nil {
		var out []*unstructured.Unstructured
		items, ok := o.Object["items"].([]any)
		if !ok {
			return nil, errors.New("items is no list")
		}
		for i, item := range items {
			object, ok := item.(map[string]any)
			if !ok {
				return nil, fmt.Errorf("items[%d] is no object", i)
			}
			more, err := flatten(&unstructured.Unstructured{Object: object})
			if err != nil {
				return nil, fmt.Errorf("items[%d]: %w", i, err)
			}
			out = append(out, more...)
		}
		return out, nil
	}
	return []*unstructured.Unstructured{o}, check(o)
}

func check(o *unstructured.Unstructured) error {
	if v, ok := o.Object["apiVersion"].(string); !ok || v == "" {
		return errors.New("apiVersion is missing")
	}
	if v, ok := o.Object["kind"].(string); !ok || v == "" {
		return errors.New("kind is missing")
	}
	if _, err := meta.Accessor(o); err != nil || o.GetName() == "" {
		return fmt.Errorf("%s: metadata.name is missing", o.GetKind())
	}
	return nil
}
