package clustertree

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

func object(group, kind, name string, owners ...string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{}}
	o.SetAPIVersion(group + "/v1beta2")
	o.SetKind(kind)
	o.SetName(name)
	o.SetNamespace("default")
	o.SetUID(types.UID(kind + "/" + name))
	var refs []any
	for _, owner := range owners {
		uid, controls := strings.CutSuffix(owner, "!")
		refs = append(refs, map[string]any{"uid": uid, "name": uid, "kind": "x", "apiVersion": "v1", "controller": controls})
	}
	if refs != nil {
		_ = unstructured.SetNestedSlice(o.Object, refs, "metadata", "ownerReferences")
	}
	return o
}

func with(o *unstructured.Unstructured, conditionType, status string) *unstructured.Unstructured {
	list, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
	list = append(list, map[string]any{"type": conditionType, "status": status, "reason": "Because", "message": "so it is"})
	_ = unstructured.SetNestedSlice(o.Object, list, "status", "conditions")
	return o
}

func outline(n *Node, depth int, b *strings.Builder) string {
	b.WriteString(strings.Repeat(" ", depth) + n.Name() + "\n")
	for _, c := range n.Children {
		outline(c, depth+1, b)
	}
	return b.String()
}

const (
	coreGroup = "cluster.x-k8s.io"
	infra     = "infrastructure.cluster.x-k8s.io"
	boot      = "bootstrap.cluster.x-k8s.io"
	cpGroup   = "controlplane.cluster.x-k8s.io"
)

func TestBuild(t *testing.T) {
	objects := []*unstructured.Unstructured{
		object(coreGroup, "Machine", "cp-1", "KubeadmControlPlane/cp!"),
		object(coreGroup, "MachineDeployment", "md", "Cluster/c"),
		object(coreGroup, "MachineSet", "ms", "MachineDeployment/md!"),
		object(coreGroup, "Machine", "w-1", "MachineSet/ms!"),
		object(infra, "DevMachine", "w-1", "Machine/w-1!"),
		object(boot, "KubeadmConfig", "cp-1", "KubeadmControlPlane/cp", "Machine/cp-1"),
		object(cpGroup, "KubeadmControlPlane", "cp", "Cluster/c!"),
		object(infra, "DevCluster", "c", "Cluster/c!"),
		object(infra, "DevMachineTemplate", "w", "Cluster/c"),
		object(coreGroup, "Cluster", "c"),
		object(coreGroup, "Cluster", "other"),
		object(infra, "DevCluster", "other", "Cluster/other!"),
		object(coreGroup, "Machine", "orphan", "MachineSet/gone!"),
	}
	root := Build(objects, types.NamespacedName{Namespace: "default", Name: "c"})
	require.NotNil(t, root)
	assert.Equal(t, `Cluster/c
 DevCluster/c
 KubeadmControlPlane/cp
  Machine/cp-1
   KubeadmConfig/cp-1
 MachineDeployment/md
  MachineSet/ms
   Machine/w-1
    DevMachine/w-1
`, outline(root, 0, &strings.Builder{}))
}

func TestNoClusterNoTree(t *testing.T) {
	objects := []*unstructured.Unstructured{object(coreGroup, "Cluster", "c"), object("example.com", "Cluster", "d")}
	assert.Nil(t, Build(objects, types.NamespacedName{Namespace: "elsewhere", Name: "c"}))
	assert.Nil(t, Build(objects, types.NamespacedName{Namespace: "default", Name: "d"}), "a Cluster of another group")
}

func TestHeadline(t *testing.T) {
	tests := []struct {
		name   string
		object *unstructured.Unstructured
		want   string
	}{
		{name: "nothing reported", object: object(coreGroup, "Cluster", "c")},
		{name: "Available wins", object: with(with(object(coreGroup, "Cluster", "c"), "Ready", "True"), "Available", "False"), want: "Available"},
		{name: "else Ready", object: with(with(object(coreGroup, "Cluster", "c"), "Paused", "True"), "Ready", "True"), want: "Ready"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			headline := Build([]*unstructured.Unstructured{tt.object}, types.NamespacedName{Namespace: "default", Name: "c"}).Headline()
			if tt.want == "" {
				assert.Nil(t, headline)
				return
			}
			require.NotNil(t, headline)
			assert.Equal(t, tt.want, headline.Type)
		})
	}
}

func TestMalformedConditionsDoNotHideTheObject(t *testing.T) {
	broken := object(coreGroup, "Cluster", "c")
	require.NoError(t, unstructured.SetNestedField(broken.Object, "nonsense", "status", "conditions"))
	root := Build([]*unstructured.Unstructured{broken}, types.NamespacedName{Namespace: "default", Name: "c"})
	require.NotNil(t, root)
	assert.Empty(t, root.Conditions)
}

func TestAnObjectThatOwnsItselfIsNoLoop(t *testing.T) {
	root := Build([]*unstructured.Unstructured{
		object(coreGroup, "Cluster", "c"), object(infra, "DevCluster", "c", "DevCluster/c!", "Cluster/c"),
	}, types.NamespacedName{Namespace: "default", Name: "c"})
	require.Len(t, root.Children, 1)
	assert.Empty(t, root.Children[0].Children)
}
