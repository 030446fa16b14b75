package topology

import (
	"crypto/sha256"
	"encoding/json"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
)

const (
	suffixLength = 5
	// letters make no words.
	letters = "bcdfghjklmnpqrstvwxz2456789"
)

// suffix is the end of the name of an object: always the same for one Cluster and purpose.
func suffix(cluster *clusterv1.Cluster, purpose string) string {
	sum := sha256.Sum256([]byte(string(cluster.UID) + "\x00" + purpose))
	out := make([]byte, suffixLength)
	for i := range out {
		out[i] = letters[int(sum[i])%len(letters)]
	}
	return string(out)
}

// replaced is the name of a template that takes the place of one with other content: the same content has the same name again.
func replaced(cluster *clusterv1.Cluster, template *unstructured.Unstructured) string {
	name := template.GetName()
	return name[:max(0, len(name)-suffixLength)] + suffix(cluster, content(template))
}

// content sums up what a template is about.
func content(template *unstructured.Unstructured) string {
	spec, _, _ := unstructured.NestedFieldNoCopy(template.Object, "spec", "template", "spec")
	raw, err := json.Marshal(spec) // keys come in order
	if err != nil {
		return template.GetName()
	}
	return template.GetKind() + string(raw)
}

func sortedNames[T any](m map[string]T) []string { return slices.Sorted(maps.Keys(m)) }
