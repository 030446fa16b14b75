package intent

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

func object(t testing.TB, text string) *unstructured.Unstructured {
	t.Helper()
	o := &unstructured.Unstructured{}
	require.NoError(t, yaml.Unmarshal([]byte(text), &o.Object))
	return o
}

func TestDifferences(t *testing.T) {
	for _, c := range []struct {
		name, have, want string
		// owned are the fields that the owner has applied before.
		owned string
		below []string
		diff  []string
	}{
		{name: "the same", have: `{spec: {a: 1, b: [x]}}`, want: `{spec: {a: 1, b: [x]}}`},
		{name: "more than is wanted", have: `{spec: {a: 1, defaulted: x}, status: {s: 1}}`, want: `{spec: {a: 1}}`},
		{name: "another value", have: `{spec: {a: 1}}`, want: `{spec: {a: 2}}`, diff: []string{"spec.a: 1 becomes 2"}},
		{name: "a new field", have: `{spec: {}}`, want: `{spec: {a: {b: 2}}}`, diff: []string{"spec.a: map[b:2] is added"}},
		{name: "a field of another type", have: `{spec: {a: text}}`, want: `{spec: {a: {b: 2}}}`, diff: []string{"spec.a: text becomes map[b:2]"}},
		{name: "a field that was wanted and no longer is", have: `{spec: {a: 1, b: 2}}`, want: `{spec: {a: 1}}`, owned: `{"f:spec":{"f:a":{},"f:b":{}}}`, diff: []string{"spec.b: 2 is removed"}},
		{name: "a field that was wanted and that somebody has taken out already", have: `{spec: {a: 1}}`, want: `{spec: {a: 1}}`, owned: `{"f:spec":{"f:a":{},"f:b":{}}}`},
		{name: "a label that was wanted", have: `{metadata: {labels: {a/b: x, c: y}}}`, want: `{metadata: {labels: {c: y}}}`, owned: `{"f:metadata":{"f:labels":{"f:a/b":{},"f:c":{}}}}`, diff: []string{"metadata.labels.a/b: x is removed"}},
		{name: "BC-07: somebody adds a field inside of a list", have: `{spec: {subnets: [{id: net-a, zone: z1}]}}`, want: `{spec: {subnets: [{id: net-a}]}}`},
		{name: "a shorter list", have: `{spec: {l: [a, b]}}`, want: `{spec: {l: [a]}}`, diff: []string{"spec.l: [a b] becomes [a]"}},
		{name: "another order", have: `{spec: {l: [a, b]}}`, want: `{spec: {l: [b, a]}}`, diff: []string{"spec.l: [a b] becomes [b a]"}},
		{name: "a change inside of a list", have: `{spec: {l: [{id: a, zone: z}]}}`, want: `{spec: {l: [{id: b}]}}`, diff: []string{"spec.l: [map[id:a zone:z]] becomes [map[id:b]]"}},
		{name: "owners of others stay", have: `{metadata: {ownerReferences: [{uid: o, name: other}, {uid: u, name: n}]}}`, want: `{metadata: {ownerReferences: [{uid: u, name: n}]}}`},
		{name: "an owner is missing", have: `{metadata: {ownerReferences: [{uid: o}]}}`, want: `{metadata: {ownerReferences: [{uid: u}]}}`, diff: []string{"metadata.ownerReferences: [map[uid:o]] becomes [map[uid:u]]"}},
		{name: "what the server writes", have: `{metadata: {name: n, resourceVersion: "1"}, status: {a: 1}}`, want: `{metadata: {name: n, resourceVersion: "2"}, status: {a: 2}}`},
		{name: "only a part is compared", have: `{metadata: {labels: {a: b}}, spec: {template: {spec: {a: 1}}}}`, want: `{metadata: {labels: {a: c}}, spec: {template: {spec: {a: 2}}}}`, below: []string{"spec", "template", "spec"}, diff: []string{"spec.template.spec.a: 1 becomes 2"}},
		{name: "nothing where an empty object is wanted", have: `{spec: {}}`, want: `{spec: {a: {}}}`},
		{name: "a whole number however it was read", have: `{spec: {a: 1.0}}`, want: `{spec: {a: 1}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			have, want := object(t, c.have), object(t, c.want)
			if c.owned != "" {
				have.SetManagedFields([]metav1.ManagedFieldsEntry{
					{Manager: "other", Operation: metav1.ManagedFieldsOperationApply, FieldsV1: metav1.NewFieldsV1(`{"f:spec":{"f:defaulted":{}}}`)},
					{Manager: "me", Operation: metav1.ManagedFieldsOperationApply, FieldsV1: metav1.NewFieldsV1(c.owned)},
				})
			}
			var got []string
			for _, d := range Differences(have, want, "me", c.below...) {
				got = append(got, d.String())
			}
			assert.Equal(t, c.diff, got)
		})
	}
}

func FuzzDifferencesOfTheSameAreNone(f *testing.F) {
	f.Add(`{"spec":{"a":[1,{"b":null}],"c":{}}}`)
	f.Fuzz(func(t *testing.T, text string) {
		o := &unstructured.Unstructured{}
		if yaml.Unmarshal([]byte(text), &o.Object) != nil || o.Object == nil {
			return
		}
		assert.Empty(t, Differences(o, o, "me"))
	})
}
