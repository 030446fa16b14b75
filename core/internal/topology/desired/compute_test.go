package desired

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	yamlstream "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/core/internal/topology/intent"
	"github.com/slipway-capi/slipway/core/internal/topology/patches"
	"github.com/slipway-capi/slipway/core/internal/topology/upgrade"
)

var update = flag.Bool("update", false, "write the golden files")

func read(t testing.TB, name string, into any) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", name))
	require.NoError(t, err)
	require.NoError(t, yaml.UnmarshalStrict(raw, into))
}

func templates(t testing.TB) map[string]*unstructured.Unstructured {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", "templates.yaml"))
	require.NoError(t, err)
	out := map[string]*unstructured.Unstructured{}
	decoder := yamlstream.NewYAMLOrJSONDecoder(bytes.NewReader(raw), 4096)
	for {
		o := &unstructured.Unstructured{}
		err := decoder.Decode(&o.Object)
		if errors.Is(err, io.EOF) {
			return out
		}
		require.NoError(t, err)
		out[o.GetKind()+"/"+o.GetName()] = o
	}
}

// world is the quick start; each name gets the next number as its random suffix.
func world(t testing.TB) World {
	t.Helper()
	w := World{Cluster: &clusterv1.Cluster{}, Values: patches.Values{"imageRepository": {Raw: []byte(`"example.com/k8s"`)}}}
	read(t, "cluster.yaml", w.Cluster)
	w.Blueprint.Class = &clusterv1.ClusterClass{}
	read(t, "class.yaml", w.Blueprint.Class)
	all := templates(t)
	w.Blueprint.Infrastructure, w.Blueprint.ControlPlane = all["DevClusterTemplate/quick-start-cluster"], all["KubeadmControlPlaneTemplate/quick-start-control-plane"]
	w.Blueprint.ControlPlaneMachine = all["DevMachineTemplate/quick-start-control-plane"]
	w.Blueprint.MachineDeployments = map[string]WorkerTemplates{"default-worker": {all["KubeadmConfigTemplate/quick-start-worker"], all["DevMachineTemplate/quick-start-worker"]}}
	w.Blueprint.MachinePools = map[string]WorkerTemplates{"default-pool": {all["KubeadmConfigTemplate/quick-start-worker"], all["DevMachinePoolTemplate/quick-start-pool"]}}
	w.Versions.ControlPlane = "v1.37.2"
	w.Versions.MachineDeployments = upgrade.Groups{Versions: map[string]string{"md-0": "v1.36.0", "md-1": "v1.37.2"}}
	w.Versions.MachinePools = upgrade.Groups{Versions: map[string]string{"mp-0": "v1.37.2"}}
	seen := map[string]int{}
	w.Suffix = func(purpose string) string {
		if seen[purpose] == 0 {
			seen[purpose] = len(seen) + 1
		}
		return fmt.Sprintf("%05d", seen[purpose])
	}
	return w
}

// documents are all objects, as YAML.
func documents(t testing.TB, topology *Topology) string {
	t.Helper()
	objects := []any{topology.Infrastructure, topology.ControlPlane, topology.ControlPlaneMachine, topology.ControlPlaneHealthCheck}
	for _, d := range topology.MachineDeployments {
		objects = append(objects, d.Object, d.Bootstrap, d.Infrastructure)
		if d.HealthCheck != nil {
			objects = append(objects, d.HealthCheck)
		}
	}
	for _, p := range topology.MachinePools {
		objects = append(objects, p.Object, p.Bootstrap, p.Infrastructure)
	}
	var out bytes.Buffer
	for _, o := range objects {
		raw, err := yaml.Marshal(o)
		require.NoError(t, err)
		fmt.Fprintf(&out, "---\n%s", raw)
	}
	return out.String()
}

// Conformance: TP-23, TP-27
func TestTheQuickStart(t *testing.T) {
	got, err := Compute(t.Context(), world(t))
	require.NoError(t, err)
	golden := filepath.Join("testdata", "golden.yaml")
	if *update {
		require.NoError(t, os.WriteFile(golden, []byte(documents(t, got)), 0o600))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	assert.Equal(t, string(want), documents(t, got))
}

// exists is the world after the topology was created.
func exists(w World, made *Topology) World {
	w.Current = Current{Infrastructure: made.Infrastructure, ControlPlane: made.ControlPlane, ControlPlaneMachine: made.ControlPlaneMachine,
		MachineDeployments: map[string]CurrentDeployment{}, MachinePools: map[string]CurrentPool{}}
	for _, d := range made.MachineDeployments {
		w.Current.MachineDeployments[d.Name] = CurrentDeployment{Object: d.Object, Bootstrap: d.Bootstrap, Infrastructure: d.Infrastructure}
	}
	for _, p := range made.MachinePools {
		w.Current.MachinePools[p.Name] = CurrentPool{Object: p.Object, Bootstrap: p.Bootstrap, Infrastructure: p.Infrastructure}
	}
	return w
}

func TestASecondTimeChangesNothing(t *testing.T) {
	w := world(t)
	first, err := Compute(t.Context(), w)
	require.NoError(t, err)
	second, err := Compute(t.Context(), exists(w, first))
	require.NoError(t, err)
	assert.Equal(t, documents(t, first), documents(t, second))
	assert.Empty(t, intent.Differences(first.ControlPlane, second.ControlPlane, "me"))
}

func TestWhatOneSettingChanges(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*World)
		// controlPlane, machine, deployment and template are what differs then in the control plane, the template of its machines,
		// the first MachineDeployment and the template of its machines.
		controlPlane, machine, template []string
	}{
		{name: "a value of a variable", change: func(w *World) { w.Values["imageRepository"] = clusterv1.JSON{Raw: []byte(`"other"`)} },
			controlPlane: []string{"spec.kubeadmConfigSpec.clusterConfiguration.imageRepository: example.com/k8s becomes other"}},
		{name: "the version of the control plane", change: func(w *World) { w.Versions.ControlPlane = "v1.37.3" },
			controlPlane: []string{"spec.version: v1.37.2 becomes v1.37.3"},
			machine:      []string{"spec.template.spec.backend.docker.customImage: kindest/node:v1.37.2 becomes kindest/node:v1.37.3"}},
		{name: "the version of workers", change: func(w *World) { w.Versions.MachineDeployments.Versions["md-0"] = "v1.37.2" },
			template: []string{"spec.template.spec.backend.docker.customImage: kindest/node:v1.36.0 becomes kindest/node:v1.37.2"}},
		{name: "replicas", change: func(w *World) { five := int32(5); w.Cluster.Spec.Topology.ControlPlane.Replicas = &five },
			controlPlane: []string{"spec.replicas: 3 becomes 5"}},
		{name: "labels", change: func(w *World) { w.Cluster.Spec.Topology.ControlPlane.Metadata.Labels["new"] = "x" },
			controlPlane: []string{"metadata.labels.new: x is added", "spec.machineTemplate.metadata.labels.new: x is added"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := world(t)
			before, err := Compute(t.Context(), w)
			require.NoError(t, err)
			w = exists(w, before)
			c.change(&w)
			after, err := Compute(t.Context(), w)
			require.NoError(t, err)
			assert.Equal(t, c.controlPlane, texts(before.ControlPlane, after.ControlPlane))
			assert.Equal(t, c.machine, texts(before.ControlPlaneMachine, after.ControlPlaneMachine))
			assert.Equal(t, c.template, texts(before.MachineDeployments[0].Infrastructure, after.MachineDeployments[0].Infrastructure))
			assert.Empty(t, texts(before.MachineDeployments[1].Infrastructure, after.MachineDeployments[1].Infrastructure), "the other group is left alone")
		})
	}
}

func texts(before, after *unstructured.Unstructured) (out []string) {
	for _, d := range intent.Differences(before, after, "me") {
		out = append(out, d.String())
	}
	return out
}

func TestWhatCannotBeComputed(t *testing.T) {
	for want, change := range map[string]func(*World){
		`machineDeployment md-0: class quick-start has no worker class "other"`: func(w *World) { w.Cluster.Spec.Topology.Workers.MachineDeployments[0].Class = "other" },
		"naming template of the class":                                          func(w *World) { w.Blueprint.Class.Spec.Infrastructure.Naming.Template = "{{ .x }}" },
		"patch imageRepository":                                                 func(w *World) { w.Blueprint.Class.Spec.Patches[0].EnabledIf = "{{ fail \"no\" }}" },
		"does not end in Template":                                              func(w *World) { w.Blueprint.Infrastructure.SetKind("DevCluster") },
	} {
		w := world(t)
		change(&w)
		_, err := Compute(t.Context(), w)
		require.ErrorContains(t, err, want)
	}
}

func TestGroupsThatMustWaitAreLeftOut(t *testing.T) {
	w := world(t)
	delete(w.Versions.MachineDeployments.Versions, "md-0")
	got, err := Compute(t.Context(), w)
	require.NoError(t, err)
	require.Len(t, got.MachineDeployments, 1)
	assert.Equal(t, "md-1", got.MachineDeployments[0].Name)
	assert.Nil(t, got.MachineDeployments[0].HealthCheck, "it is switched off")
}
