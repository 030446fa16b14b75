package payload

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Conformance: RS-04
func TestObjects(t *testing.T) {
	for _, c := range []struct {
		name string
		data Data
		want []string
		err  string
	}{
		{name: "documents", data: Data{"a": []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: one}\n---\n---\n# nothing\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: two}\n")}, want: []string{"ConfigMap one", "ConfigMap two"}},
		{name: "JSON", data: Data{"a": []byte(`{"apiVersion":"v1","kind":"Secret","metadata":{"name":"s"}}`)}, want: []string{"Secret s"}},
		{name: "a list in a list", data: Data{"a": []byte("apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: ConfigMapList, items: [{apiVersion: v1, kind: ConfigMap, metadata: {name: in}}]}\n- {apiVersion: v1, kind: Secret, metadata: {name: s}}\n")}, want: []string{"ConfigMap in", "Secret s"}},
		{name: "what others need comes first", data: Data{
			"a": []byte("apiVersion: x.io/v1\nkind: Thing\nmetadata: {name: t}\n---\napiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: things.x.io}\n"),
			"b": []byte("apiVersion: v1\nkind: Namespace\nmetadata: {name: ns}\n"),
		}, want: []string{"Namespace ns", "CustomResourceDefinition things.x.io", "Thing t"}},
		{name: "keys in order", data: Data{"b": []byte("{apiVersion: v1, kind: B, metadata: {name: b}}"), "a": []byte("{apiVersion: v1, kind: A, metadata: {name: a}}")}, want: []string{"A a", "B b"}},
		{name: "nothing", data: Data{"a": nil}},
		{name: "no YAML", data: Data{"cni.yaml": []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: one}\n---\na: b: c\n")}, err: "key cni.yaml, document 2 from line 4: yaml: line 5: mapping values are not allowed"},
		{name: "no kind", data: Data{"a": []byte("apiVersion: v1\nmetadata: {name: x}\n")}, err: "key a, document 1 from line 1: kind is missing"},
		{name: "no name", data: Data{"a": []byte("apiVersion: v1\nkind: ConfigMap\n")}, err: "ConfigMap: metadata.name is missing"},
		{name: "a bad element of a list", data: Data{"a": []byte("apiVersion: v1\nkind: List\nitems: [7]\n")}, err: "items[0] is no object"},
		{name: "plain text", data: Data{"a": []byte("hello")}, err: "document 1 from line 1: it is no object"},
		{name: "a comment or content behind the separator, carriage returns, a byte order mark", data: Data{"a": []byte("\ufeff--- # first\r\napiVersion: v1\r\nkind: A\r\nmetadata: {name: a}\r\n---\r\n--- {apiVersion: v1, kind: B, metadata: {name: b}}\r\n")}, want: []string{"A a", "B b"}},
		{name: "the end of a document is one, too", data: Data{"a": []byte("{apiVersion: v1, kind: A, metadata: {name: a}}\n...\n{apiVersion: v1, kind: B, metadata: {name: b}}\n")}, want: []string{"A a", "B b"}},
		{name: "a key is no separator", data: Data{"a": []byte("apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData:\n  key: |\n    -----BEGIN\n    ---\n    -----END\n")}, want: []string{"Secret s"}},
		{name: "JSON values in a row", data: Data{"a": []byte(`{"apiVersion":"v1","kind":"A","metadata":{"name":"a"}} {"apiVersion":"v1","kind":"B","metadata":{"name":"b"}}`)}, want: []string{"A a", "B b"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			objects, err := c.data.Objects()
			if c.err != "" {
				require.ErrorContains(t, err, c.err)
				return
			}
			require.NoError(t, err)
			var got []string
			for _, o := range objects {
				got = append(got, o.GetKind()+" "+o.GetName())
			}
			assert.Equal(t, c.want, got)
		})
	}
}

func TestThePlaceOfAMistakeTellsNothingOfThePayload(t *testing.T) {
	_, err := Data{"a": []byte("# nothing\n---\nhunter2: hunter2: hunter2\n")}.Objects()
	var mistake *Error
	require.ErrorAs(t, err, &mistake)
	assert.Equal(t, "key a, document 2 from line 2", mistake.Place())
}

func TestNumbersStayWhole(t *testing.T) {
	objects, err := Data{"a": []byte("{apiVersion: v1, kind: A, metadata: {name: a}, spec: {replicas: 3, big: 9007199254740993}}")}.Objects()
	require.NoError(t, err)
	assert.Equal(t, map[string]any{"replicas": int64(3), "big": int64(9007199254740993)}, objects[0].Object["spec"])
}

func TestHash(t *testing.T) {
	assert.Equal(t, Data{"a": []byte("x"), "b": []byte("y")}.Hash(), Data{"b": []byte("y"), "a": []byte("x")}.Hash())
	assert.NotEqual(t, Data{"a": []byte("x")}.Hash(), Data{"a": []byte("y")}.Hash())
	assert.Regexp(t, "^sha256:[0-9a-f]{64}$", Data{}.Hash())
}

func FuzzObjects(f *testing.F) {
	f.Add([]byte("apiVersion: v1\nkind: List\nitems: [{apiVersion: v1, kind: A, metadata: {name: a}}]\n---\n{}"))
	f.Fuzz(func(t *testing.T, content []byte) {
		objects, err := Data{"k": content}.Objects()
		if err != nil {
			return
		}
		for _, o := range objects {
			assert.NotEmpty(t, o.GetName())
			assert.NotEmpty(t, o.GetKind())
		}
	})
}
