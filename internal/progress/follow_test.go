package progress

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func crd(group, kind, scope, versions string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{
		"group": group, "scope": scope, "names": map[string]any{"kind": kind, "plural": "things"},
	}}}
	o.SetLabels(map[string]string{contractLabel: versions})
	return o
}

func TestWhichKindsArePartsOfClusters(t *testing.T) {
	tests := []struct {
		name string
		crd  *unstructured.Unstructured
		want string
	}{
		{name: "core", crd: crd("cluster.x-k8s.io", "Machine", "Namespaced", "v1beta2"), want: "cluster.x-k8s.io/v1beta2, Resource=things"},
		{name: "the newest of several versions", crd: crd("infrastructure.cluster.x-k8s.io", "XMachine", "Namespaced", "v1beta1_v1beta2"),
			want: "infrastructure.cluster.x-k8s.io/v1beta2, Resource=things"},
		{name: "third-party group", crd: crd("infrastructure.example.com", "XMachine", "Namespaced", "v1"), want: "infrastructure.example.com/v1, Resource=things"},
		{name: "template", crd: crd("infrastructure.cluster.x-k8s.io", "XMachineTemplate", "Namespaced", "v1")},
		{name: "class", crd: crd("cluster.x-k8s.io", "ClusterClass", "Namespaced", "v1beta2")},
		{name: "cluster-wide", crd: crd("infrastructure.cluster.x-k8s.io", "XIdentity", "Cluster", "v1beta2")},
		{name: "add-on", crd: crd("addons.cluster.x-k8s.io", "ClusterResourceSet", "Namespaced", "v1beta2")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, ok := resource(tt.crd)
			assert.Equal(t, tt.want != "", ok)
			if ok {
				assert.Equal(t, tt.want, got.String())
			}
		})
	}
}
