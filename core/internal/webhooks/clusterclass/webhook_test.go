package clusterclass

import (
	"encoding/json"
	"testing"

	jsonpatch "github.com/evanphx/json-patch/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/manager"
)

const good = `
metadata: {name: class, namespace: default}
spec:
  infrastructure: {templateRef: {apiVersion: infra.io/v1, kind: DevClusterTemplate, name: a}, naming: {template: "{{ .cluster.name }}-i-{{ .random }}"}}
  controlPlane:
    templateRef: {apiVersion: cp.io/v1, kind: KubeadmControlPlaneTemplate, name: a}
    machineInfrastructure: {templateRef: {apiVersion: infra.io/v1, kind: DevMachineTemplate, name: a}}
    healthCheck: {checks: {nodeStartupTimeoutSeconds: 60}}
  workers:
    machineDeployments:
    - class: linux
      bootstrap: {templateRef: {apiVersion: boot.io/v1, kind: KubeadmConfigTemplate, name: a}}
      infrastructure: {templateRef: {apiVersion: infra.io/v1, kind: DevMachineTemplate, name: b}}
      naming: {template: "{{ .cluster.name }}-{{ .machineDeployment.topologyName }}-{{ .random }}"}
    machinePools:
    - class: pool
      bootstrap: {templateRef: {apiVersion: boot.io/v1, kind: KubeadmConfigTemplate, name: a}}
      infrastructure: {templateRef: {apiVersion: infra.io/v1, kind: DevMachinePoolTemplate, name: b}}
  kubernetesVersions: [v1.35.4, v1.36.0, v1.36.2, v1.37.2]
  variables:
  - {name: image, required: true, schema: {openAPIV3Schema: {type: object, properties: {tag: {type: string, default: latest}}}}}
  patches:
  - name: image
    enabledIf: "{{ if .image }}true{{ end }}"
    definitions:
    - selector: {apiVersion: infra.io/v1, kind: DevMachineTemplate, matchResources: {controlPlane: true, machineDeploymentClass: {names: ["lin*"]}}}
      jsonPatches:
      - {op: add, path: /spec/template/spec/tag, valueFrom: {variable: image.tag}}
      - {op: add, path: /spec/template/spec/list/-, valueFrom: {template: "{{ .builtin.cluster.name }}"}}
      - {op: replace, path: /spec/template/spec/other, value: {a: 1}}
      - {op: remove, path: /spec/template/spec/other}
      - {op: add, path: /spec/template/spec/name, valueFrom: {variable: "builtin.cluster.network.pods[0]"}}
`

func class(t testing.TB, changes string) *clusterv1.ClusterClass {
	t.Helper()
	raw, err := yaml.YAMLToJSON([]byte(good))
	require.NoError(t, err)
	if changes != "" {
		document, err := yaml.YAMLToJSON([]byte("[" + changes + "]"))
		require.NoError(t, err)
		patch, err := jsonpatch.DecodePatch(document)
		require.NoError(t, err)
		raw, err = patch.Apply(raw)
		require.NoError(t, err)
	}
	var out clusterv1.ClusterClass
	require.NoError(t, json.Unmarshal(raw, &out))
	return &out
}

func features(t testing.TB, gates string) manager.Features {
	t.Helper()
	f := manager.NewFlags().Features
	require.NoError(t, f.Set(gates))
	return f
}

// Conformance: TP-25
func TestValidate(t *testing.T) {
	const onPatch = "/spec/patches/0/definitions/0/"
	for _, c := range []struct{ name, change, gates, want string }{
		{name: "a good class"},
		{name: "the feature is off", gates: "ClusterTopology=false", want: "spec: Forbidden: can be set only with the feature gate ClusterTopology"},
		{name: "no template", change: `{op: replace, path: /spec/infrastructure/templateRef/kind, value: DevCluster}`, want: "spec.infrastructure.templateRef.kind: Invalid value"},
		{name: "a name that is none", change: `{op: replace, path: /spec/infrastructure/naming/template, value: "{{ .cluster.name }}_"}`, want: "spec.infrastructure.naming.template: Invalid value"},
		{name: "a name with what is not there", change: `{op: replace, path: /spec/infrastructure/naming/template, value: "{{ .machineDeployment.topologyName }}"}`, want: "spec.infrastructure.naming.template: Invalid value"},
		{name: "a worker class twice", change: `{op: copy, from: /spec/workers/machineDeployments/0, path: /spec/workers/machineDeployments/-}`, want: `spec.workers.machineDeployments[1].class: Duplicate value: "linux"`},
		{name: "a worker class that is no label", change: `{op: replace, path: /spec/workers/machineDeployments/0/class, value: "-"}`, want: `spec.workers.machineDeployments[0].class: Invalid value`},
		{name: "a health check that is too quick", change: `{op: replace, path: /spec/controlPlane/healthCheck/checks/nodeStartupTimeoutSeconds, value: 3}`, want: "spec.controlPlane.healthCheck.checks.nodeStartupTimeoutSeconds: Invalid value: 3"},
		{name: "labels that are none", change: `{op: add, path: /spec/controlPlane/metadata, value: {labels: {"a b": c}}}`, want: "spec.controlPlane.metadata.labels: Invalid value"},
		{name: "taints of others", gates: "MachineTaintPropagation=true", change: `{op: add, path: /spec/workers/machineDeployments/0/taints, value: [{key: node.kubernetes.io/not-ready, effect: NoSchedule, propagation: Always}]}`, want: "spec.workers.machineDeployments[0].taints[0].key: Invalid value"},

		{name: "versions down", change: `{op: add, path: /spec/kubernetesVersions/-, value: v1.36.9}`, want: "spec.kubernetesVersions[4]: Invalid value: \"v1.36.9\": must be above the version before it, v1.37.2"},
		{name: "a minor left out", change: `{op: remove, path: /spec/kubernetesVersions/1}, {op: remove, path: /spec/kubernetesVersions/1}`, want: "must be at most one minor above the version before it, v1.35.4"},
		{name: "a version without v", change: `{op: replace, path: /spec/kubernetesVersions/0, value: 1.35.4-x}`, want: "spec.kubernetesVersions[0]: Invalid value"},
		{name: "two planners", change: `{op: add, path: /spec/upgrade, value: {external: {generateUpgradePlanExtension: x}}}`, want: "spec.kubernetesVersions: Forbidden"},

		{name: "a variable twice", change: `{op: copy, from: /spec/variables/0, path: /spec/variables/-}`, want: `spec.variables[1].name: Duplicate value: "image"`},
		{name: "a variable that exists everywhere", change: `{op: replace, path: /spec/variables/0/name, value: builtin}`, want: "spec.variables[0].name: Invalid value"},
		{name: "a variable with a path for a name", change: `{op: replace, path: /spec/variables/0/name, value: a.b}`, want: "spec.variables[0].name: Invalid value"},
		{name: "a bad schema", change: `{op: replace, path: /spec/variables/0/schema/openAPIV3Schema/properties/tag/type, value: text}`, want: `spec.variables[0].schema.openAPIV3Schema.properties[tag].type: Unsupported value: "text"`},

		{name: "a patch twice", change: `{op: copy, from: /spec/patches/0, path: /spec/patches/-}`, want: `spec.patches[1].name: Duplicate value: "image"`},
		{name: "a patch of nothing", change: `{op: remove, path: /spec/patches/0/definitions}`, want: "spec.patches[0].definitions: Required value"},
		{name: "a switch that does not compile", change: `{op: replace, path: /spec/patches/0/enabledIf, value: "{{ if"}`, want: "spec.patches[0].enabledIf: Invalid value"},
		{name: "a kind that the class does not have", change: `{op: replace, path: ` + onPatch + `selector/kind, value: OtherTemplate}`, want: "spec.patches[0].definitions[0].selector.matchResources.controlPlane: Invalid value"},
		{name: "no role", change: `{op: replace, path: ` + onPatch + `selector/matchResources, value: {controlPlane: false}}`, want: "spec.patches[0].definitions[0].selector.matchResources: Required value"},
		{name: "the wrong infrastructure", change: `{op: replace, path: ` + onPatch + `selector/matchResources, value: {infrastructureCluster: true}}`, want: "selector.matchResources.infrastructureCluster: Invalid value"},
		{name: "a worker class that does not exist", change: `{op: replace, path: ` + onPatch + `selector/matchResources/machineDeploymentClass/names, value: [windows]}`, want: `selector.matchResources.machineDeploymentClass.names[0]: Invalid value: "windows"`},
		{name: "a pattern that is none", change: `{op: replace, path: ` + onPatch + `selector/matchResources/machineDeploymentClass/names, value: ["*i*"]}`, want: `selector.matchResources.machineDeploymentClass.names[0]: Invalid value: "*i*": a * may stand`},
		{name: "a pool of another kind", change: `{op: add, path: ` + onPatch + `selector/matchResources/machinePoolClass, value: {names: ["*"]}}`, want: `selector.matchResources.machinePoolClass.names[0]: Invalid value`},
		{name: "an unknown operation", change: `{op: replace, path: ` + onPatch + `jsonPatches/0/op, value: move}`, want: `spec.patches[0].definitions[0].jsonPatches[0].op: Unsupported value: "move"`},
		{name: "out of reach", change: `{op: replace, path: ` + onPatch + `jsonPatches/0/path, value: /spec/template/metadata/labels}`, want: "jsonPatches[0].path: Invalid value"},
		{name: "all of it", change: `{op: replace, path: ` + onPatch + `jsonPatches/0/path, value: /spec/template/spec}`},
		{name: "in the middle of a list", change: `{op: replace, path: ` + onPatch + `jsonPatches/0/path, value: /spec/template/spec/list/1}`, want: "can be added to a list only at its beginning"},
		{name: "an element of a list away", change: `{op: replace, path: ` + onPatch + `jsonPatches/3/path, value: /spec/template/spec/list/0}`, want: "replace the whole list"},
		{name: "the end of a list replaced", change: `{op: replace, path: ` + onPatch + `jsonPatches/2/path, value: /spec/template/spec/list/-}`, want: "the end of a list can only be added to"},
		{name: "a value to remove", change: `{op: add, path: ` + onPatch + `jsonPatches/3/value, value: 1}`, want: "jsonPatches[3].value: Forbidden"},
		{name: "no value", change: `{op: remove, path: ` + onPatch + `jsonPatches/2/value}`, want: "jsonPatches[2].value: Required value"},
		{name: "two values", change: `{op: add, path: ` + onPatch + `jsonPatches/0/value, value: 1}`, want: "jsonPatches[0].valueFrom: Forbidden"},
		{name: "two sources", change: `{op: add, path: ` + onPatch + `jsonPatches/0/valueFrom/template, value: x}`, want: "jsonPatches[0].valueFrom.template: Forbidden"},
		{name: "no source", change: `{op: replace, path: ` + onPatch + `jsonPatches/0/valueFrom, value: {}}`, want: "jsonPatches[0].valueFrom: Required value"},
		{name: "an unknown variable", change: `{op: replace, path: ` + onPatch + `jsonPatches/0/valueFrom/variable, value: imgae.tag}`, want: `valueFrom.variable: Unsupported value: "imgae": supported values: "builtin", "image"`},
		{name: "a path that is none", change: `{op: replace, path: ` + onPatch + `jsonPatches/0/valueFrom/variable, value: "image["}`, want: `valueFrom.variable: Invalid value`},
		{name: "builtin without the field", change: `{op: replace, path: ` + onPatch + `jsonPatches/0/valueFrom/variable, value: builtin.cluster.nam}`, want: "the variable builtin has no such field"},
		{name: "builtin with too much of a path", change: `{op: replace, path: ` + onPatch + `jsonPatches/0/valueFrom/variable, value: "builtin.cluster.name[0]"}`, want: "the variable builtin has no such field"},
		{name: "builtin labels", change: `{op: replace, path: ` + onPatch + `jsonPatches/0/valueFrom/variable, value: builtin.cluster.metadata.labels.a}`},
		{name: "a function that is not safe", change: `{op: replace, path: ` + onPatch + `jsonPatches/1/valueFrom/template, value: "{{ now }}"}`, want: `function "now" not defined`},

		{name: "external without the feature", change: `{op: replace, path: /spec/patches/0, value: {name: x, external: {generatePatchesExtension: e}}}`, want: "spec.patches[0].external: Forbidden: can be set only with the feature gate RuntimeSDK"},
		{name: "external", gates: "RuntimeSDK=true", change: `{op: replace, path: /spec/patches/0, value: {name: x, external: {generatePatchesExtension: e}}}`},
		{name: "external without extension", gates: "RuntimeSDK=true", change: `{op: replace, path: /spec/patches/0, value: {name: x, external: {settings: {a: b}}}}`, want: "spec.patches[0].external: Required value"},
		{name: "both", gates: "RuntimeSDK=true", change: `{op: add, path: /spec/patches/0/external, value: {generatePatchesExtension: e}}, {op: remove, path: /spec/patches/0/enabledIf}`, want: "spec.patches[0].definitions: Forbidden"},
		{name: "variables of an extension", gates: "RuntimeSDK=true", change: `{op: add, path: /spec/patches/-, value: {name: x, external: {discoverVariablesExtension: e}}}, {op: replace, path: ` + onPatch + `jsonPatches/0/valueFrom/variable, value: discovered}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			gates := "ClusterTopology=true"
			if c.gates != "" {
				gates += "," + c.gates
			}
			problems := Validate(class(t, c.change), nil, features(t, gates))
			if c.want == "" {
				assert.Empty(t, problems)
				return
			}
			require.NotEmpty(t, problems)
			assert.Contains(t, problems.ToAggregate().Error(), c.want)
		})
	}
}

// Conformance: TP-26
func TestChangesThatClustersCanFollow(t *testing.T) {
	for _, c := range []struct{ name, change, want string }{
		{name: "another template of the kind", change: `{op: replace, path: /spec/infrastructure/templateRef/name, value: z}`},
		{name: "another version of the kind", change: `{op: replace, path: /spec/infrastructure/templateRef/apiVersion, value: infra.io/v2}`},
		{name: "another kind", change: `{op: replace, path: /spec/infrastructure/templateRef/kind, value: OtherTemplate}`, want: `spec.infrastructure.templateRef: Invalid value: "OtherTemplate.infra.io": must stay of the same group and kind, DevClusterTemplate.infra.io`},
		{name: "another group", change: `{op: replace, path: /spec/controlPlane/templateRef/apiVersion, value: other.io/v1}`, want: `spec.controlPlane.templateRef: Invalid value`},
		{name: "machines taken from the control plane", change: `{op: remove, path: /spec/controlPlane/machineInfrastructure}, {op: remove, path: /spec/patches}`, want: "spec.controlPlane.machineInfrastructure.templateRef: Forbidden"},
		{name: "other bootstrap of workers, which rolls out", change: `{op: replace, path: /spec/workers/machineDeployments/0/bootstrap/templateRef/kind, value: OtherTemplate}`},
		{name: "other machines of workers", change: `{op: replace, path: /spec/workers/machineDeployments/0/infrastructure/templateRef/kind, value: OtherTemplate}, {op: remove, path: /spec/patches}`, want: "spec.workers.machineDeployments[0].infrastructure.templateRef: Invalid value"},
		{name: "a new worker class", change: `{op: add, path: /spec/workers/machineDeployments/-, value: {class: new, bootstrap: {templateRef: {apiVersion: x.io/v1, kind: XTemplate, name: x}}, infrastructure: {templateRef: {apiVersion: x.io/v1, kind: ZTemplate, name: z}}}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			problems := Validate(class(t, c.change), class(t, ""), features(t, "ClusterTopology=true"))
			if c.want == "" {
				assert.Empty(t, problems)
				return
			}
			require.NotEmpty(t, problems)
			assert.Contains(t, problems.ToAggregate().Error(), c.want)
		})
	}
}
