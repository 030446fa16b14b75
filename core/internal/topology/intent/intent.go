// Package intent compares what a controller wants of an object with the object as it is: whether an apply would change anything,
// and where. Others may add to an object, also inside of lists, without being fought; what an earlier intent held and the present
// one does not counts as a difference. It is pure, so that nothing has to be sent to find out.
package intent

import (
	"bytes"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// Difference is a field that an apply would change.
type Difference struct {
	// Path is the path with dots, from the root of the object.
	Path string
	// Have and Want are its values; nil for absent.
	Have, Want any
}

// String shows a difference in one line.
func (d Difference) String() string {
	switch {
	case d.Have == nil:
		return fmt.Sprintf("%s: %v is added", d.Path, d.Want)
	case d.Want == nil:
		return fmt.Sprintf("%s: %v is removed", d.Path, d.Have)
	}
	return fmt.Sprintf("%s: %v becomes %v", d.Path, d.Have, d.Want)
}

// Differences lists, in order, what an apply of want by the owner would change in have. Below picks the fields to compare, such as
// spec; without any, all of the intent is compared.
func Differences(have, want *unstructured.Unstructured, owner string, below ...string) []Difference {
	h, w := part(have, below), part(want, below)
	c := &comparison{}
	c.value(strings.Join(below, "."), h, w)
	c.removed(have, want, owner, below)
	slices.SortFunc(c.found, func(a, b Difference) int { return strings.Compare(a.Path, b.Path) })
	return slices.CompactFunc(c.found, func(a, b Difference) bool { return a.Path == b.Path })
}

func part(o *unstructured.Unstructured, below []string) any {
	if len(below) == 0 {
		return o.Object
	}
	value, _, _ := unstructured.NestedFieldNoCopy(o.Object, below...)
	return value
}

type comparison struct {
	found []Difference
	// dropped are the paths of fields that an apply takes away.
	dropped [][]string
}

func (c *comparison) differ(path string, have, want any) {
	c.found = append(c.found, Difference{Path: path, Have: have, Want: want})
}

// server are fields of metadata that nobody applies.
var server = []string{"metadata.resourceVersion", "metadata.uid", "metadata.generation", "metadata.creationTimestamp", "metadata.managedFields", "status"}

func (c *comparison) value(path string, have, want any) {
	switch w := want.(type) {
	case map[string]any:
		h, ok := have.(map[string]any)
		if !ok {
			if len(w) > 0 || have != nil {
				c.differ(path, have, want)
			}
			return
		}
		for _, key := range slices.Sorted(maps.Keys(w)) {
			if at := join(path, key); !slices.Contains(server, at) {
				c.value(at, h[key], w[key])
			}
		}
	case []any:
		c.list(path, have, w)
	case nil:
	default:
		if !reflect.DeepEqual(number(have), number(want)) {
			c.differ(path, have, want)
		}
	}
}

// list compares lists as wholes, but lets others add fields to the elements.
func (c *comparison) list(path string, have any, want []any) {
	h, ok := have.([]any)
	if !ok {
		if len(want) > 0 || have != nil {
			c.differ(path, have, want)
		}
		return
	}
	if path == "metadata.ownerReferences" || path == "metadata.finalizers" {
		c.members(path, h, want)
		return
	}
	if len(h) != len(want) {
		c.differ(path, have, want)
		return
	}
	inner := &comparison{}
	for i := range want {
		inner.value("", h[i], want[i])
	}
	if len(inner.found) > 0 {
		c.differ(path, have, want)
	}
}

// members wants each element somewhere: others have theirs in the same list.
func (c *comparison) members(path string, have, want []any) {
	for _, w := range want {
		if !slices.ContainsFunc(have, func(h any) bool {
			inner := &comparison{}
			inner.value("", h, w)
			return len(inner.found) == 0
		}) {
			c.differ(path, have, want)
			return
		}
	}
}

// number lets whole numbers of different types be equal.
func number(v any) any {
	switch n := v.(type) {
	case int:
		return int64(n)
	case int32:
		return int64(n)
	case float64:
		if n == float64(int64(n)) {
			return int64(n)
		}
	}
	return v
}

// removed finds fields that the owner has applied before and no longer wants.
func (c *comparison) removed(have, want *unstructured.Unstructured, owner string, below []string) {
	for _, entry := range have.GetManagedFields() {
		if entry.Manager != owner || entry.Operation != metav1.ManagedFieldsOperationApply || entry.Subresource != "" || entry.FieldsV1 == nil {
			continue
		}
		set := &fieldpath.Set{}
		if set.FromJSON(bytes.NewReader(entry.FieldsV1.GetRawBytes())) != nil {
			continue
		}
		set.Leaves().Iterate(func(p fieldpath.Path) {
			if fields, ok := names(p); ok && within(fields, below) && gone(have, want, fields) {
				h, _, _ := unstructured.NestedFieldNoCopy(have.Object, fields...)
				c.differ(strings.Join(fields, "."), h, nil)
				c.dropped = append(c.dropped, fields)
			}
		})
	}
}

// names gives a path as names of fields; paths into lists end at the list, which is compared as a whole.
func names(p fieldpath.Path) ([]string, bool) {
	var out []string
	for _, element := range p {
		if element.FieldName == nil {
			return nil, false
		}
		out = append(out, *element.FieldName)
	}
	return out, len(out) > 0
}

func within(fields, below []string) bool {
	return len(fields) >= len(below) && slices.Equal(fields[:len(below)], below)
}

func gone(have, want *unstructured.Unstructured, fields []string) bool {
	if _, wanted, err := unstructured.NestedFieldNoCopy(want.Object, fields...); wanted || err != nil {
		return false
	}
	h, there, err := unstructured.NestedFieldNoCopy(have.Object, fields...)
	return there && err == nil && h != nil
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}
