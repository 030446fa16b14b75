// Package payload reads the objects that ConfigMaps and Secrets of ClusterResourceSets hold: YAML documents, JSON and lists, in
// the order in which they must be created. It is pure.
package payload

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
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
// of keys and documents. Errors name the key and the number of the document.
func (d Data) Objects() ([]*unstructured.Unstructured, error) {
	var all []*unstructured.Unstructured
	for _, key := range slices.Sorted(maps.Keys(d)) {
		objects, err := documents(d[key])
		if err != nil {
			return nil, fmt.Errorf("key %s: %w", key, err)
		}
		all = append(all, objects...)
	}
	slices.SortStableFunc(all, func(a, b *unstructured.Unstructured) int { return rank(a) - rank(b) })
	return all, nil
}

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

const bufferSize = 4096

func documents(content []byte) ([]*unstructured.Unstructured, error) {
	var out []*unstructured.Unstructured
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(content), bufferSize)
	for n := 1; ; n++ {
		o := &unstructured.Unstructured{}
		err := decoder.Decode(&o.Object)
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, fmt.Errorf("document %d: %w", n, err)
		}
		if len(o.Object) == 0 {
			continue // nothing between two separators
		}
		objects, err := flatten(o)
		if err != nil {
			return nil, fmt.Errorf("document %d: %w", n, err)
		}
		out = append(out, objects...)
	}
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
