package plane

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/slipway-capi/slipway/internal/manifests"
)

// Definitions are the CustomResourceDefinitions of all components, whether or not a plane runs.
func Definitions() ([]*unstructured.Unstructured, error) {
	var out []*unstructured.Unstructured
	for _, c := range Components() {
		objects, err := manifests.Load(c.Files)
		if err != nil {
			return nil, fmt.Errorf("manifests of %s: %w", c.Name, err)
		}
		for _, o := range objects {
			if o.GetKind() == "CustomResourceDefinition" {
				out = append(out, o)
			}
		}
	}
	return out, nil
}
