package webhooks_test

import (
	"context"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
)

// warnings gathers what the API server warns about.
type warnings struct{ texts []string }

func (w *warnings) HandleWarningHeaderWithContext(_ context.Context, _ int, _, text string) {
	w.texts = append(w.texts, text)
}

func listening(t *testing.T) (client.Client, *warnings) {
	t.Helper()
	heard := &warnings{}
	config := rest.CopyConfig(env.Config)
	config.WarningHandlerWithContext = heard
	c, err := client.New(config, client.Options{Scheme: env.Client.Scheme()})
	require.NoError(t, err)
	return c, heard
}

func templateRef(kind string) clusterv1.MachineHealthCheckRemediationTemplateReference {
	return clusterv1.MachineHealthCheckRemediationTemplateReference{APIVersion: "infrastructure.cluster.x-k8s.io/v1beta2", Kind: kind, Name: "t"}
}

func newClass(namespace string) *clusterv1.ClusterClass {
	class := &clusterv1.ClusterClass{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "class"}}
	class.Spec.Infrastructure.TemplateRef, class.Spec.ControlPlane.TemplateRef = templateRef("DevClusterTemplate"), templateRef("DevControlPlaneTemplate")
	class.Spec.Workers.MachineDeployments = []clusterv1.MachineDeploymentClass{{Class: "linux",
		Bootstrap:      clusterv1.ControlPlaneClassMachineInfrastructure{TemplateRef: templateRef("DevConfigTemplate")},
		Infrastructure: clusterv1.ControlPlaneClassMachineInfrastructure{TemplateRef: templateRef("DevMachineTemplate")}}}
	class.Spec.Variables = []clusterv1.ClusterClassVariable{
		{Name: "cpus", Schema: clusterv1.VariableSchema{OpenAPIV3Schema: clusterv1.JSONSchemaProps{Type: "integer", Default: clusterv1.JSON{Raw: []byte("8")}}}},
		{Name: "zone", Required: true, Schema: clusterv1.VariableSchema{OpenAPIV3Schema: clusterv1.JSONSchemaProps{Type: "string"}}},
	}
	return class
}

func ofClass(namespace, zone string) *clusterv1.Cluster {
	c := &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "c"}}
	c.Spec.Topology = clusterv1.Topology{ClassRef: clusterv1.ClusterClassRef{Name: "class"}, Version: "v1.37.2"}
	c.Spec.Topology.Workers.MachineDeployments = []clusterv1.MachineDeploymentTopology{{Name: "workers", Class: "linux"}}
	if zone != "" {
		c.Spec.Topology.Variables = []clusterv1.ClusterVariable{{Name: "zone", Value: clusterv1.JSON{Raw: []byte(zone)}}}
	}
	return c
}

// Conformance: TP-29, TP-30, WH-17
func TestClustersAreJudgedByTheirClass(t *testing.T) {
	ctx, namespace := t.Context(), env.Namespace(t)
	c, heard := listening(t)
	early := ofClass(namespace, "")
	require.NoError(t, c.Create(ctx, early, client.DryRunAll))
	require.Len(t, heard.texts, 1)
	assert.Contains(t, heard.texts[0], "ClusterClass class does not exist yet")

	class := newClass(namespace)
	require.NoError(t, c.Create(ctx, class))
	refused(t, c.Create(ctx, ofClass(namespace, "")), "spec.topology.variables[zone]")
	refused(t, c.Create(ctx, ofClass(namespace, "3")), "spec.topology.variables[zone].value")
	other := ofClass(namespace, `"a"`)
	other.Spec.Topology.Workers.MachineDeployments[0].Class = "windows"
	refused(t, c.Create(ctx, other), "spec.topology.workers.machineDeployments[0].class")

	cluster := ofClass(namespace, `"a"`)
	require.NoError(t, c.Create(ctx, cluster), "right after its class")
	got := map[string]string{}
	for _, v := range cluster.Spec.Topology.Variables {
		got[v.Name] = string(v.Value.Raw)
	}
	assert.Equal(t, map[string]string{"zone": `"a"`, "cpus": "8"}, got, "the default is filled in")

	cluster.Spec.Topology.ClassRef.Name = "missing"
	refused(t, c.Update(ctx, cluster), "spec.topology.classRef")
}

// Conformance: TP-31, TP-32
func TestClassesStayWhileClustersUseThem(t *testing.T) {
	ctx, namespace := t.Context(), env.Namespace(t)
	c, heard := listening(t)
	class, cluster := newClass(namespace), ofClass(namespace, `"a"`)
	require.NoError(t, c.Create(ctx, class))
	require.NoError(t, c.Create(ctx, cluster))

	err := c.Delete(ctx, class)
	assert.True(t, apierrors.IsForbidden(err), "%v", err)
	require.ErrorContains(t, err, "used by Cluster "+namespace+"/c")

	without := class.DeepCopy()
	without.Spec.Workers = clusterv1.WorkersClass{}
	refused(t, c.Update(ctx, without), "spec.workers.machineDeployments")

	narrow := class.DeepCopy()
	narrow.Spec.Variables[1].Schema.OpenAPIV3Schema.Enum = []clusterv1.JSON{{Raw: []byte(`"b"`)}}
	require.NoError(t, c.Update(ctx, narrow))
	assert.Contains(t, strings.Join(heard.texts, "\n"), `this change stops the topology of Cluster `+namespace+`/c: spec.topology.variables[zone].value: Unsupported value: "a"`)

	require.NoError(t, c.Delete(ctx, cluster))
	require.NoError(t, c.Delete(ctx, class))
}

// boats is the definition of a template that patches of classes change.
var boats = fstest.MapFS{"boats.yaml": {Data: []byte(`
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: boattemplates.infrastructure.cluster.x-k8s.io}
spec:
  group: infrastructure.cluster.x-k8s.io
  names: {kind: BoatTemplate, listKind: BoatTemplateList, plural: boattemplates, singular: boattemplate}
  scope: Namespaced
  versions:
  - name: v1beta2
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {template: {type: object, properties: {
      spec: {type: object, properties: {length: {type: integer}}}}}}}}}}
`)}}

// Conformance: TP-33, TP-34
func TestPatchesAreComparedWithTheirTemplates(t *testing.T) {
	ctx := t.Context()
	c, heard := listening(t)
	class := newClass(env.Namespace(t))
	class.Spec.Workers.MachineDeployments[0].Infrastructure.TemplateRef = templateRef("BoatTemplate")
	patch := func(kind, path, value string) {
		class.Spec.Patches = []clusterv1.ClusterClassPatch{{Name: "p", Definitions: []clusterv1.PatchDefinition{{
			Selector: clusterv1.PatchSelector{APIVersion: "infrastructure.cluster.x-k8s.io/v1beta2", Kind: kind, MatchResources: clusterv1.PatchSelectorMatchResources{
				MachineDeploymentClass: &clusterv1.PatchSelectorMatchResourcesMachineDeploymentClass{Names: []string{"linux"}},
			}},
			JSONPatches: []clusterv1.JSONPatch{{Op: "add", Path: path, Value: clusterv1.JSON{Raw: []byte(value)}}},
		}}}}
	}
	patch("BoatTemplate", "/spec/template/spec/lenght", "3")
	err := c.Create(ctx, class.DeepCopy())
	refused(t, err, "spec.patches[0].definitions[0].jsonPatches[0].path")
	require.ErrorContains(t, err, "did you mean length?")
	patch("BoatTemplate", "/spec/template/spec/length", `"3"`)
	refused(t, c.Create(ctx, class.DeepCopy()), "spec.patches[0].definitions[0].jsonPatches[0].value")

	patch("BoatTemplate", "/spec/template/spec/length", "3")
	heard.texts = nil
	require.NoError(t, c.Create(ctx, class.DeepCopy(), client.DryRunAll))
	assert.Equal(t, []string{"clusters wait for templates that do not exist yet: DevClusterTemplate t, DevControlPlaneTemplate t, DevConfigTemplate t, BoatTemplate t"}, heard.texts)

	class.Spec.Workers.MachineDeployments[0].Infrastructure.TemplateRef = templateRef("RaftTemplate")
	patch("RaftTemplate", "/spec/template/spec/lenght", "3")
	heard.texts = nil
	require.NoError(t, c.Create(ctx, class))
	assert.Contains(t, heard.texts, "patches are not compared with their templates: CustomResourceDefinition rafttemplates.infrastructure.cluster.x-k8s.io does not exist")
}
