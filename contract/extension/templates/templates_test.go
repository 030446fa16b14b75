package templates_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	hooks "github.com/slipway-capi/slipway/contract/api/runtime/hooks/v1alpha1"
	"github.com/slipway-capi/slipway/contract/extension/templates"
)

func raw(spec string) string {
	return `{"apiVersion":"example.org/v1","kind":"BoatTemplate","metadata":{"name":"t"},"spec":{"template":{"spec":` + spec + `}}}`
}

func item(holder, spec string, own ...hooks.Variable) hooks.GeneratePatchesRequestItem {
	i := hooks.GeneratePatchesRequestItem{Object: runtime.RawExtension{Raw: []byte(raw(spec))}, Variables: own}
	i.UID, i.HolderReference = "first", hooks.HolderReference{Kind: "MachineDeployment", Name: holder}
	return i
}

func variable(name, value string) hooks.Variable {
	return hooks.Variable{Name: name, Value: clusterv1.JSON{Raw: []byte(value)}}
}

// boat is an older type of the template: it knows neither color nor what else a mast or a sail may have.
type boat struct {
	Spec struct {
		Template struct {
			Spec boatSpec `json:"spec"`
		} `json:"template"`
	} `json:"spec"`
}

type boatSpec struct {
	Name  string            `json:"name"`
	Size  int64             `json:"size"`
	Masts []mast            `json:"masts,omitempty"`
	Flags []string          `json:"flags,omitempty"`
	Extra map[string]string `json:"extra,omitempty"`
}

type mast struct {
	Name   string `json:"name"`
	Height int64  `json:"height,omitempty"`
}

// Conformance: RT-07
func TestEditKeepsWhatTheTypeDoesNotKnow(t *testing.T) {
	const before = `{"name":"a","color":"red","masts":[{"name":"fore","height":1,"wood":"oak"},{"name":"main","height":2,"wood":"fir"}],"flags":["x"],"extra":{"k":"v"}}`
	for _, c := range []struct {
		name string
		edit func(*boatSpec)
		want string
	}{
		{"nothing", func(*boatSpec) {}, before},
		{"a field", func(b *boatSpec) { b.Name = "b" }, `{"name":"b","color":"red","masts":[{"name":"fore","height":1,"wood":"oak"},{"name":"main","height":2,"wood":"fir"}],"flags":["x"],"extra":{"k":"v"}}`},
		{"a field that was not there", func(b *boatSpec) { b.Size = 9007199254740993 }, `{"name":"a","size":9007199254740993,"color":"red","masts":[{"name":"fore","height":1,"wood":"oak"},{"name":"main","height":2,"wood":"fir"}],"flags":["x"],"extra":{"k":"v"}}`},
		{"inside an element", func(b *boatSpec) { b.Masts[1].Height = 3 }, `{"name":"a","color":"red","masts":[{"name":"fore","height":1,"wood":"oak"},{"name":"main","height":3,"wood":"fir"}],"flags":["x"],"extra":{"k":"v"}}`},
		{"an element before others", func(b *boatSpec) { b.Masts = append([]mast{{Name: "new"}}, b.Masts...) }, `{"name":"a","color":"red","masts":[{"name":"new"},{"name":"fore","height":1,"wood":"oak"},{"name":"main","height":2,"wood":"fir"}],"flags":["x"],"extra":{"k":"v"}}`},
		{"an element before others, and one changed", func(b *boatSpec) { b.Masts[0].Height = 5; b.Masts = append([]mast{{Name: "new"}}, b.Masts...) }, `{"name":"a","color":"red","masts":[{"name":"new"},{"name":"fore","height":5,"wood":"oak"},{"name":"main","height":2,"wood":"fir"}],"flags":["x"],"extra":{"k":"v"}}`},
		{"another element instead", func(b *boatSpec) { b.Masts[0] = mast{Name: "mizzen"} }, `{"name":"a","color":"red","masts":[{"name":"mizzen"},{"name":"main","height":2,"wood":"fir"}],"flags":["x"],"extra":{"k":"v"}}`},
		{"an element less", func(b *boatSpec) { b.Masts = b.Masts[1:] }, `{"name":"a","color":"red","masts":[{"name":"main","height":2,"wood":"fir"}],"flags":["x"],"extra":{"k":"v"}}`},
		{"elements swapped", func(b *boatSpec) { b.Masts[0], b.Masts[1] = b.Masts[1], b.Masts[0] }, `{"name":"a","color":"red","masts":[{"name":"main","height":2,"wood":"fir"},{"name":"fore","height":1,"wood":"oak"}],"flags":["x"],"extra":{"k":"v"}}`},
		{"no list any more", func(b *boatSpec) { b.Masts = nil }, `{"name":"a","color":"red","flags":["x"],"extra":{"k":"v"}}`},
		{"texts", func(b *boatSpec) { b.Flags = []string{"y", "x"} }, `{"name":"a","color":"red","masts":[{"name":"fore","height":1,"wood":"oak"},{"name":"main","height":2,"wood":"fir"}],"flags":["y","x"],"extra":{"k":"v"}}`},
		{"entries of a map", func(b *boatSpec) { b.Extra = map[string]string{"l": "w"} }, `{"name":"a","color":"red","masts":[{"name":"fore","height":1,"wood":"oak"},{"name":"main","height":2,"wood":"fir"}],"flags":["x"],"extra":{"l":"w"}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			request := &hooks.GeneratePatchesRequest{Items: []hooks.GeneratePatchesRequestItem{item("md", before)}}
			response := &hooks.GeneratePatchesResponse{}
			require.NoError(t, templates.Change(request, response, func(t *templates.Template) error {
				return templates.Edit(t, func(b *boat) error { c.edit(&b.Spec.Template.Spec); return nil })
			}))
			if c.want == before {
				assert.Empty(t, response.Items, "what stays as it is gets no patch")
				return
			}
			require.Len(t, response.Items, 1)
			assert.Equal(t, hooks.JSONMergePatchType, response.Items[0].PatchType)
			got, err := jsonpatch.MergePatch(request.Items[0].Object.Raw, response.Items[0].Patch)
			require.NoError(t, err)
			assert.JSONEq(t, raw(c.want), string(got))
			assert.Contains(t, string(got), "red")
		})
	}
}

func TestPatchesHoldOnlyTheDifference(t *testing.T) {
	request := &hooks.GeneratePatchesRequest{Items: []hooks.GeneratePatchesRequestItem{item("md", `{"name":"a","size":1}`), item("other", `{"name":"b"}`)}}
	request.Items[1].UID = "second"
	response := &hooks.GeneratePatchesResponse{}
	require.NoError(t, templates.Change(request, response, func(t *templates.Template) error {
		if t.Holder.Name != "other" {
			return nil
		}
		return unstructured.SetNestedField(t.Object.Object, "c", "spec", "template", "spec", "name")
	}))
	require.Len(t, response.Items, 1)
	assert.EqualValues(t, "second", response.Items[0].UID)
	assert.JSONEq(t, `{"spec":{"template":{"spec":{"name":"c"}}}}`, string(response.Items[0].Patch))
	assert.JSONEq(t, raw(`{"name":"b"}`), string(request.Items[1].Object.Raw), "the request stays as it is")
}

func TestWhatChangeRefuses(t *testing.T) {
	for want, change := range map[string]func(*templates.Template) error{
		"only spec.template.spec of a template can be changed": func(t *templates.Template) error { t.Object.SetLabels(map[string]string{"a": "b"}); return nil },
		"BoatTemplate of MachineDeployment md: it leaks":       func(*templates.Template) error { return errors.New("it leaks") },
		"reading variable size": func(t *templates.Template) error {
			var text string
			_, err := t.Variable("size", &text)
			return err
		},
	} {
		request := &hooks.GeneratePatchesRequest{Variables: []hooks.Variable{variable("size", "1")}, Items: []hooks.GeneratePatchesRequestItem{item("md", `{}`)}}
		require.ErrorContains(t, templates.Change(request, &hooks.GeneratePatchesResponse{}, change), want)
	}
	bad := &hooks.GeneratePatchesRequest{Items: []hooks.GeneratePatchesRequestItem{{Object: runtime.RawExtension{Raw: []byte(`[]`)}}}}
	require.ErrorContains(t, templates.Change(bad, &hooks.GeneratePatchesResponse{}, nil), "reading a template")
}

func TestVariables(t *testing.T) {
	request := &hooks.GeneratePatchesRequest{
		Variables: []hooks.Variable{variable("size", "1"), variable("builtin", `{"cluster":{"name":"c"}}`)},
		Items:     []hooks.GeneratePatchesRequestItem{item("md", `{}`, variable("size", "2"), variable("builtin", `{"machineDeployment":{"class":"k"}}`)), item("md", `{}`)},
	}
	var sizes []int
	require.NoError(t, templates.Change(request, &hooks.GeneratePatchesResponse{}, func(tpl *templates.Template) error {
		var size int
		found, err := tpl.Variable("size", &size)
		require.True(t, found)
		sizes = append(sizes, size)
		found, missing := tpl.Variable("other", &size)
		assert.False(t, found)
		b, err2 := tpl.Builtins()
		assert.Equal(t, "c", b.Cluster.Name)
		assert.Equal(t, len(sizes) == 1, b.MachineDeployment != nil)
		return errors.Join(err, missing, err2)
	}))
	assert.Equal(t, []int{2, 1}, sizes, "the template's own value wins")
}

func TestCheckTellsEverything(t *testing.T) {
	request := &hooks.ValidateTopologyRequest{}
	for _, name := range []string{"one", "two"} {
		i := item(name, `{"size":3}`)
		request.Items = append(request.Items, &hooks.ValidateTopologyRequestItem{HolderReference: i.HolderReference, Object: i.Object})
	}
	require.NoError(t, templates.Check(request, func(templates.Template) error { return nil }))
	err := templates.Check(request, func(t templates.Template) error {
		size, _, _ := unstructured.NestedInt64(t.Object.Object, "spec", "template", "spec", "size")
		if size > 2 {
			return errors.New("too large")
		}
		return nil
	})
	require.EqualError(t, err, "BoatTemplate of MachineDeployment one: too large\nBoatTemplate of MachineDeployment two: too large")
}

// FuzzEdit makes changes of a part that a type knows, and expects that nothing else moves.
func FuzzEdit(f *testing.F) {
	f.Add(`{"name":"a","masts":[{"name":"x","w":1}],"z":{"q":[1,2]}}`, "b", int64(3))
	f.Add(`{"masts":[{},{"name":"y"}],"size":2}`, "", int64(0))
	f.Fuzz(func(t *testing.T, spec, name string, size int64) {
		var in map[string]any
		if json.Unmarshal([]byte(spec), &in) != nil || in == nil {
			return
		}
		request := &hooks.GeneratePatchesRequest{Items: []hooks.GeneratePatchesRequestItem{item("md", spec)}}
		response := &hooks.GeneratePatchesResponse{}
		err := templates.Change(request, response, func(t *templates.Template) error {
			return templates.Edit(t, func(b *boat) error {
				b.Spec.Template.Spec.Size = size
				b.Spec.Template.Spec.Masts = append(b.Spec.Template.Spec.Masts, mast{Name: name})
				return nil
			})
		})
		if err != nil {
			return // it does not fit the type
		}
		require.Len(t, response.Items, 1)
		var patch struct {
			Spec struct {
				Template struct {
					Spec map[string]any `json:"spec"`
				} `json:"template"`
			} `json:"spec"`
		}
		require.NoError(t, json.Unmarshal(response.Items[0].Patch, &patch))
		for key := range patch.Spec.Template.Spec {
			assert.Contains(t, []string{"size", "masts"}, key)
		}
	})
}
