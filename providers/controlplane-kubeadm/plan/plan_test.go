package plan

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	hooks "github.com/slipway-capi/slipway/contract/api/runtime/hooks/v1alpha1"
	"github.com/slipway-capi/slipway/contract/contractversion"
	bootstrapv1 "github.com/slipway-capi/slipway/providers/bootstrap-kubeadm/api/v1beta2"
	controlplanev1 "github.com/slipway-capi/slipway/providers/controlplane-kubeadm/api/v1beta2"
	"github.com/slipway-capi/slipway/providers/controlplane-kubeadm/internal/controllers/kubeadmcontrolplane"
)

func scheme(t *testing.T) *runtime.Scheme {
	t.Helper()
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clusterv1.AddToScheme, bootstrapv1.AddToScheme, controlplanev1.AddToScheme, corev1.AddToScheme} {
		require.NoError(t, add(s))
	}
	return s
}

// resolver knows the contract of every kind of the Docker provider.
func resolver() *contractversion.Resolver {
	return contractversion.NewResolver(contractversion.ReaderFunc(func(context.Context, string) (map[string]string, bool, error) {
		return map[string]string{"cluster.x-k8s.io/v1beta2": "v1beta2"}, true, nil
	}))
}

// load reads a file of the corpus.
func load(t *testing.T, path string) []client.Object {
	t.Helper()
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(content), 4096)
	var objects []client.Object
	for {
		object := &unstructured.Unstructured{}
		if err := decoder.Decode(object); errors.Is(err, io.EOF) {
			return objects
		} else {
			require.NoError(t, err)
		}
		objects = append(objects, object)
	}
}

func management(t *testing.T, path string) (client.Client, *controlplanev1.KubeadmControlPlane) {
	t.Helper()
	c := fake.NewClientBuilder().WithScheme(scheme(t)).WithObjects(load(t, path)...).Build()
	found := &controlplanev1.KubeadmControlPlaneList{}
	require.NoError(t, c.List(t.Context(), found))
	require.Len(t, found.Items, 1)
	return c, &found.Items[0]
}

func corpus(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("testdata/corpus/*.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	return files
}

// BC-18: an upgrade of the manager changes no machine.
//
// Conformance: CP-81
func TestBC18NoMachineOfTheCorpusChanges(t *testing.T) {
	for _, path := range corpus(t) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			reader, stored := management(t, path)
			plan, err := Make(t.Context(), Request{Reader: reader, Resolver: resolver(), Proposed: stored})
			require.NoError(t, err)
			require.Len(t, plan.Machines, 3)
			for _, m := range plan.Machines {
				assert.Equal(t, Machine{Name: m.Name, Fate: Untouched}, m)
			}
			assert.Zero(t, plan.Added)
			assert.Empty(t, plan.Blocked)
		})
	}
}

// The corpus would show a change: the same files with a new version replace every machine.
func TestTheCorpusIsSensitive(t *testing.T) {
	for _, path := range corpus(t) {
		reader, proposed := management(t, path)
		proposed.Spec.KubeadmConfigSpec.PostKubeadmCommands = []string{"true"}
		plan, err := Make(t.Context(), Request{Reader: reader, Resolver: resolver(), Proposed: proposed})
		require.NoError(t, err)
		for _, m := range plan.Machines {
			assert.Equal(t, Machine{Name: m.Name, Fate: Replaced, Because: []Field{{Path: "spec.kubeadmConfigSpec.postKubeadmCommands", To: "(not shown)"}}}, m, path)
		}
	}
}

// Conformance: CP-80
func TestMake(t *testing.T) {
	reader, proposed := management(t, "testdata/corpus/first-release.yaml")
	proposed.Spec.Version = "1.38.0"
	config := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "kubeadm-config"}, Data: map[string]string{
		"ClusterConfiguration": "apiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\nkubernetesVersion: v1.37.2\nencryptionAlgorithm: ECDSA-P256\n" +
			"apiServer:\n  certSANs: [example.org]\n  extraArgs: [{name: audit-log-path, value: \"-\"}]\n",
	}}
	workload := fake.NewClientBuilder().WithScheme(scheme(t)).WithObjects(config).Build()
	at := time.Now()
	plan, err := Make(t.Context(), Request{Reader: reader, Resolver: resolver(), Workload: workload, Proposed: proposed, Now: at})
	require.NoError(t, err)
	for _, m := range plan.Machines {
		assert.Equal(t, Machine{Name: m.Name, Fate: Replaced, Because: []Field{{Path: "spec.version", From: "v1.37.2", To: "v1.38.0"}}}, m)
	}
	assert.Equal(t, []Field{{Path: "kubernetesVersion", From: `"v1.37.2"`, To: `"v1.38.0"`}}, plan.Joining)
	assert.NotEmpty(t, plan.Blocked, "the machines of the corpus report no health")

	_, err = Make(t.Context(), Request{Reader: reader, Resolver: resolver(), Workload: reader, Proposed: proposed})
	require.ErrorContains(t, err, "kubeadm-config")
	proposed.Name = "other"
	_, err = Make(t.Context(), Request{Reader: reader, Resolver: resolver(), Proposed: proposed})
	require.ErrorContains(t, err, "other")
}

// TestUpdatesInPlace: a plan asks the extension, with the request that the controller would send.
//
// Conformance: CP-80, CP-98, CP-102
func TestUpdatesInPlace(t *testing.T) {
	reader, proposed := management(t, "testdata/corpus/first-release.yaml")
	proposed.Spec.Version = "v1.38.0"
	nobody := func(*hooks.CanUpdateMachineResponse) error { return ErrNobody }
	covered := func(r *hooks.CanUpdateMachineResponse) error {
		r.MachinePatch = hooks.Patch{PatchType: hooks.JSONMergePatchType, Patch: []byte(`{"spec":{"version":"v1.38.0"}}`)}
		return nil
	}
	for _, row := range []struct {
		policy string
		answer func(*hooks.CanUpdateMachineResponse) error
		want   []Fate
		why    string
	}{
		{"Prefer", covered, []Fate{InPlace, InPlace, Replaced}, "APIServerPodHealthy"},
		{"Prefer", nobody, []Fate{Replaced, Replaced, Replaced}, "APIServerPodHealthy"},
		{"Never", covered, []Fate{Replaced, Replaced, Replaced}, "APIServerPodHealthy"},
		{"Require", covered, []Fate{InPlace, InPlace, InPlace}, "APIServerPodHealthy"},
		{"Require", nobody, []Fate{Untouched, Untouched, Untouched}, "no extension changes these fields in place: Machine spec.version"},
	} {
		proposed.Annotations = map[string]string{clusterv1.InPlaceUpdatesAnnotation: row.policy}
		plan, err := Make(t.Context(), Request{Reader: reader, Resolver: resolver(), Proposed: proposed,
			CanUpdate: func(_ context.Context, _ string, q *hooks.CanUpdateMachineRequest) (*hooks.CanUpdateMachineResponse, error) {
				assert.Equal(t, []string{"v1.37.2", "v1.38.0"}, []string{q.Current.Machine.Spec.Version, q.Desired.Machine.Spec.Version})
				response := &hooks.CanUpdateMachineResponse{}
				return response, row.answer(response)
			}})
		require.NoError(t, err)
		var fates []Fate
		for _, m := range plan.Machines {
			fates = append(fates, m.Fate)
		}
		assert.Equal(t, row.want, fates, row.policy)
		assert.Contains(t, strings.Join(plan.Blocked, "\n"), row.why)
	}
}

func TestControlPlanesWithoutClusterHaveNoPlan(t *testing.T) {
	reader, stored := management(t, "testdata/corpus/first-release.yaml")
	stored.OwnerReferences = nil
	require.NoError(t, reader.Update(t.Context(), stored))
	_, err := Make(t.Context(), Request{Reader: reader, Resolver: resolver(), Proposed: stored})
	require.ErrorIs(t, err, kubeadmcontrolplane.ErrNoCluster)
}
