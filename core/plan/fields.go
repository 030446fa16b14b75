package plan

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/external"
)

// inPlaceFields lists in what a Machine changes without being replaced.
func inPlaceFields(from, to *clusterv1.Machine) []Field {
	out := keys("metadata.labels", from.Labels, to.Labels)
	out = append(out, keys("metadata.annotations", from.Annotations, to.Annotations)...)
	if a, b := controller(from), controller(to); a != b {
		out = append(out, Field{Path: "metadata.ownerReferences", From: a, To: b})
	}
	a, b := from.Spec, to.Spec
	for _, f := range []struct {
		path     string
		from, to any
	}{
		{"spec.minReadySeconds", a.MinReadySeconds, b.MinReadySeconds},
		{"spec.deletion.nodeDrainTimeoutSeconds", a.Deletion.NodeDrainTimeoutSeconds, b.Deletion.NodeDrainTimeoutSeconds},
		{"spec.deletion.nodeVolumeDetachTimeoutSeconds", a.Deletion.NodeVolumeDetachTimeoutSeconds, b.Deletion.NodeVolumeDetachTimeoutSeconds},
		{"spec.deletion.nodeDeletionTimeoutSeconds", a.Deletion.NodeDeletionTimeoutSeconds, b.Deletion.NodeDeletionTimeoutSeconds},
		{"spec.readinessGates", a.ReadinessGates, b.ReadinessGates},
		{"spec.taints", a.Taints, b.Taints},
	} {
		if x, y := encoded(f.from), encoded(f.to); x != y {
			out = append(out, Field{Path: f.path, From: x, To: y})
		}
	}
	return out
}

func controller(m *clusterv1.Machine) string {
	if o := metav1.GetControllerOf(m); o != nil {
		return o.Kind + " " + o.Name
	}
	return ""
}

func keys(path string, from, to map[string]string) []Field {
	all := maps.Clone(to)
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, from)
	var out []Field
	for _, k := range slices.Sorted(maps.Keys(all)) {
		a, had := from[k]
		b, has := to[k]
		if a != b || had != has {
			out = append(out, Field{Path: path + "." + k, From: a, To: b})
		}
	}
	return out
}

// encoded is a value as JSON, empty for an absent one; empty lists and maps are absent.
func encoded(v any) string {
	if v == nil {
		return ""
	}
	switch r := reflect.ValueOf(v); r.Kind() {
	case reflect.Pointer:
		if r.IsNil() {
			return ""
		}
	case reflect.Slice, reflect.Map:
		if r.Len() == 0 {
			return ""
		}
	}
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(text)
}

// contents are the templates that sets and proposal refer to, as far as they exist.
type contents map[clusterv1.ContractVersionedObjectReference]*unstructured.Unstructured

func readContents(ctx context.Context, r Request, namespace string, wanted clusterv1.MachineSpec, inUse []clusterv1.MachineSpec) (contents, error) {
	out := contents{}
	for _, spec := range append(inUse, wanted) {
		for _, ref := range []clusterv1.ContractVersionedObjectReference{spec.Bootstrap.ConfigRef, spec.InfrastructureRef} {
			if _, known := out[ref]; ref.Name == "" || known {
				continue
			}
			o, err := external.Get(ctx, r.Reader, r.Resolver, ref, namespace)
			switch {
			case err == nil:
				out[ref] = o.Unstructured
			case external.IsNotFound(err):
				out[ref] = nil
			default:
				return nil, err
			}
		}
	}
	return out, nil
}

// between lists in what the templates of two specs differ inside, where both exist. The controllers decide by the
// references alone; this is for people.
func (c contents) between(from, to clusterv1.MachineSpec) []Field {
	bootstrap := c.fields(from.Bootstrap.ConfigRef, to.Bootstrap.ConfigRef)
	for i := range bootstrap {
		hide(&bootstrap[i].From)
		hide(&bootstrap[i].To)
	}
	return append(bootstrap, c.fields(from.InfrastructureRef, to.InfrastructureRef)...)
}

func hide(value *string) {
	if *value != "" {
		*value = Hidden
	}
}

func (c contents) fields(from, to clusterv1.ContractVersionedObjectReference) []Field {
	a, b := c[from], c[to]
	if from == to || a == nil || b == nil || from.Kind != to.Kind {
		return nil
	}
	path := []string{"spec", "template", "spec"}
	x, _, _ := unstructured.NestedFieldNoCopy(a.Object, path...)
	y, _, _ := unstructured.NestedFieldNoCopy(b.Object, path...)
	return leaves(to.Kind+" spec.template.spec", x, y)
}

// leaves compares two JSON values down to what is no object.
func leaves(path string, a, b any) []Field {
	from, isA := a.(map[string]any)
	to, isB := b.(map[string]any)
	if !isA && !isB || (a != nil && !isA) || (b != nil && !isB) {
		if x, y := encoded(a), encoded(b); x != y {
			return []Field{{Path: path, From: x, To: y}}
		}
		return nil
	}
	all := maps.Clone(from)
	if all == nil {
		all = map[string]any{}
	}
	maps.Copy(all, to)
	var out []Field
	for _, k := range slices.Sorted(maps.Keys(all)) {
		out = append(out, leaves(path+"."+k, from[k], to[k])...)
	}
	return out
}
