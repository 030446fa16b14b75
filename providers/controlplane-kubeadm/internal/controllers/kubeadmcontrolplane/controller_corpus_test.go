package kubeadmcontrolplane

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/conditions"
	controlplanev1 "github.com/slipway-capi/slipway/providers/controlplane-kubeadm/api/v1beta2"
)

// restore creates the objects of a file anew, as a restore of a backup does: same names, new UIDs.
func restore(t *testing.T, namespace, path string) {
	t.Helper()
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	uids := map[types.UID]types.UID{}
	for document := range strings.SplitSeq(string(content), "\n---\n") {
		object := &unstructured.Unstructured{}
		require.NoError(t, yaml.Unmarshal([]byte(document), &object.Object))
		status := object.Object["status"]
		delete(object.Object, "status")
		former := object.GetUID()
		object.SetNamespace(namespace)
		object.SetUID("")
		references := object.GetOwnerReferences()
		for i := range references {
			references[i].UID = uids[references[i].UID]
		}
		object.SetOwnerReferences(references)
		require.NoError(t, env.Client.Create(t.Context(), object))
		uids[former] = object.GetUID()
		if status != nil {
			object.Object["status"] = status
			require.NoError(t, env.Client.Status().Update(t.Context(), object))
		}
	}
}

// BC-18: objects that an earlier version stored are reconciled, and no Machine is created, deleted or changed.
//
// Conformance: CP-81
func TestBC18TheCorpusIsLeftAlone(t *testing.T) {
	files, err := filepath.Glob("../../../plan/testdata/corpus/*.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, path := range files {
		t.Run(filepath.Base(path), func(t *testing.T) {
			namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "corpus-"}}
			require.NoError(t, env.Client.Create(t.Context(), namespace))
			s := &scene{t: t, namespace: namespace.Name}
			restore(t, s.namespace, path)
			before := content(s.machines())
			require.Len(t, before, 3)
			s.eventually("all machines are judged", func() bool {
				judged := 0
				for _, machine := range s.machines() {
					judged += rank(conditions.Has(&machine, clusterv1.MachineUpToDateCondition))
				}
				return judged == 3
			})
			s.change(func(cp *controlplanev1.KubeadmControlPlane) { cp.Annotations = map[string]string{"touch": "it"} })
			settle(s)
			assert.Equal(t, before, content(s.machines()))
			for _, machine := range s.machines() {
				assert.True(t, conditions.IsTrue(&machine, clusterv1.MachineUpToDateCondition), conditions.Message(&machine, clusterv1.MachineUpToDateCondition))
			}
		})
	}
}

// content is what makes up a machine, without the book-keeping of the API server and without status.
func content(list []clusterv1.Machine) []clusterv1.Machine {
	var out []clusterv1.Machine
	for _, machine := range list {
		kept := clusterv1.Machine{Spec: machine.Spec}
		kept.Name, kept.UID, kept.Generation = machine.Name, machine.UID, machine.Generation
		kept.Labels, kept.Annotations, kept.OwnerReferences = machine.Labels, machine.Annotations, machine.OwnerReferences
		kept.DeletionTimestamp = machine.DeletionTimestamp
		out = append(out, kept)
	}
	return out
}
