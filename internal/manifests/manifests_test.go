package manifests

import (
	"context"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func parse(t *testing.T, document string) *unstructured.Unstructured {
	t.Helper()
	objects, err := Parse([]byte(document))
	require.NoError(t, err)
	require.Len(t, objects, 1)
	return objects[0]
}

func TestParse(t *testing.T) {
	objects, err := Parse([]byte(`# only a comment
---
apiVersion: v1
kind: ConfigMap
metadata: {name: a}
---
---
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: ConfigMap, metadata: {name: b}}
- {apiVersion: v1, kind: ConfigMap, metadata: {name: c}}
`))
	require.NoError(t, err)
	var names []string
	for _, o := range objects {
		names = append(names, o.GetName())
	}
	assert.Equal(t, []string{"a", "b", "c"}, names)
}

func TestParseSaysWhichDocumentIsWrong(t *testing.T) {
	for document, want := range map[string]string{
		"a: b\n":                          "document 1: kind or apiVersion is missing",
		"kind: A\napiVersion: v1\n---\n}": "document 2: ",
	} {
		_, err := Parse([]byte(document))
		assert.ErrorContains(t, err, want)
	}
}

func TestLoadReadsManifestsOnly(t *testing.T) {
	objects, err := Load(fstest.MapFS{
		"config.go":               {Data: []byte("package config")},
		"crd/kustomization.yaml":  {Data: []byte("resources: []")},
		"crd/bases/a.yaml":        {Data: []byte("kind: A\napiVersion: v1\n")},
		"webhook/manifests.yml":   {Data: []byte("kind: B\napiVersion: v1\n")},
		"webhook/nested/more.yml": {Data: []byte("kind: C\napiVersion: v1\n")},
	})
	require.NoError(t, err)
	var kinds string
	for _, o := range objects {
		kinds += o.GetKind()
	}
	assert.Equal(t, "ABC", kinds)
}

var server = Server{URL: "https://127.0.0.1:1234", CA: []byte("authority"), Prefix: "capi-"}

func TestWebhooksAreRedirected(t *testing.T) {
	for _, kind := range []string{"MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"} {
		o := parse(t, `
apiVersion: admissionregistration.k8s.io/v1
kind: `+kind+`
metadata: {name: webhook-configuration}
webhooks:
- name: one
  failurePolicy: Fail
  clientConfig: {service: {name: webhook-service, namespace: system, path: /one}}
- name: two
  clientConfig: {service: {name: webhook-service, namespace: system, path: /two}}
`)
		require.NoError(t, Redirect(o, server))
		assert.Equal(t, "capi-webhook-configuration", o.GetName())
		webhooks, _, err := unstructured.NestedSlice(o.Object, "webhooks")
		require.NoError(t, err)
		assert.Equal(t, map[string]any{
			"name": "one", "failurePolicy": "Fail",
			"clientConfig": map[string]any{"url": "https://127.0.0.1:1234/one", "caBundle": "YXV0aG9yaXR5"},
		}, webhooks[0])
		assert.Equal(t, "https://127.0.0.1:1234/two", webhooks[1].(map[string]any)["clientConfig"].(map[string]any)["url"])
	}
}

func TestConversionWebhooksAreRedirected(t *testing.T) {
	o := parse(t, `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: machines.cluster.x-k8s.io}
spec:
  conversion:
    strategy: Webhook
    webhook:
      conversionReviewVersions: [v1]
      clientConfig: {service: {name: webhook-service, namespace: system, path: /convert}}
`)
	require.NoError(t, Redirect(o, server))
	url, _, err := unstructured.NestedString(o.Object, "spec", "conversion", "webhook", "clientConfig", "url")
	require.NoError(t, err)
	assert.Equal(t, "https://127.0.0.1:1234/convert", url)
	assert.Equal(t, "machines.cluster.x-k8s.io", o.GetName())
}

func TestOtherObjectsStayAsTheyAre(t *testing.T) {
	o := parse(t, "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: n}\nspec: {conversion: {strategy: None}}\n")
	before := o.DeepCopy()
	require.NoError(t, Redirect(o, server))
	assert.Equal(t, before, o)
}

func TestAWebhookWithoutAServiceIsAnError(t *testing.T) {
	o := parse(t, "apiVersion: v1\nkind: ValidatingWebhookConfiguration\nmetadata: {name: hook}\nwebhooks: [{name: w, clientConfig: {url: https://x}}]\n")
	assert.ErrorContains(t, Redirect(o, server), "ValidatingWebhookConfiguration hook: webhooks[0]: clientConfig names no service path")
}

func TestWhyACRDIsNotServed(t *testing.T) {
	tests := map[string]string{
		"[]":                                    "not established yet",
		"[{type: Established, status: 'True'}]": "",
		"[{type: Established, status: 'False'}, {type: NamesAccepted, status: 'False', message: plural is taken}]": "plural is taken",
	}
	for list, want := range tests {
		o := parse(t, "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nstatus: {conditions: "+list+"}\n")
		assert.Equal(t, want, notServed(o))
	}
}

// slowMapper finds a kind at the third question for it, as discovery does a moment after a CRD is established.
type slowMapper struct {
	meta.RESTMapper
	asked map[schema.GroupVersionKind]int
}

func (m slowMapper) RESTMapping(kind schema.GroupKind, versions ...string) (*meta.RESTMapping, error) {
	of := kind.WithVersion(versions[0])
	m.asked[of]++
	if m.asked[of] < 3 {
		return nil, &meta.NoKindMatchError{GroupKind: kind, SearchedVersions: versions}
	}
	return &meta.RESTMapping{GroupVersionKind: of}, nil
}

func TestServedKindsAreWaitedForUntilDiscoveryHasThem(t *testing.T) {
	crd := parse(t, `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: ships.example.com}
spec:
  group: example.com
  names: {kind: Ship}
  versions: [{name: v1, served: true}, {name: v2, served: true}, {name: v0, served: false}]
`)
	mapper := slowMapper{asked: map[schema.GroupVersionKind]int{}}
	require.NoError(t, waitDiscovered(t.Context(), mapper, []*unstructured.Unstructured{crd, parse(t, "apiVersion: v1\nkind: Namespace\n")}))
	ship := schema.GroupKind{Group: "example.com", Kind: "Ship"}
	assert.Equal(t, map[schema.GroupVersionKind]int{ship.WithVersion("v1"): 3, ship.WithVersion("v2"): 3}, mapper.asked)

	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	mapper.asked[ship.WithVersion("v2")] = -1000
	err := waitDiscovered(ctx, mapper, []*unstructured.Unstructured{crd})
	assert.ErrorContains(t, err, `waiting until example.com/v2, Kind=Ship is discovered (no matches for kind "Ship" in version "example.com/v2")`)
}
