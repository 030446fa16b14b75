package manifests

import (
	"bytes"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// Encode writes objects as a YAML stream, which Parse reads.
func Encode(objects []*unstructured.Unstructured) ([]byte, error) {
	var out bytes.Buffer
	for i, o := range objects {
		document, err := yaml.Marshal(o.Object)
		if err != nil {
			return nil, fmt.Errorf("encoding %s %s: %w", o.GetKind(), o.GetName(), err)
		}
		if i > 0 {
			out.WriteString("---\n")
		}
		out.Write(document)
	}
	return out.Bytes(), nil
}
