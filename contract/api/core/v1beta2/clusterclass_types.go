package v1beta2

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// +kubebuilder:object:root=true
// +kubebuilder:storageversion
// +kubebuilder:resource:path=clusterclasses,scope=Namespaced,shortName=cc,categories=cluster-api
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Paused",type="string",JSONPath=".status.conditions[?(@.type==\"Paused\")].status"
// +kubebuilder:printcolumn:name="Variables Ready",type="string",JSONPath=".status.conditions[?(@.type==\"VariablesReady\")].status"
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp"
// +kubebuilder:metadata:labels="cluster.x-k8s.io/v1beta2=v1beta2"

// ClusterClass ...
type ClusterClass struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty,omitzero"`

	// spec says what is wanted.
	// +required
	Spec ClusterClassSpec `json:"spec,omitempty,omitzero"`

	// status says what is observed.
	// +optional
	Status ClusterClassStatus `json:"status,omitempty,omitzero"`
}

// GetConditions returns the conditions in the status.
func (x *ClusterClass) GetConditions() []metav1.Condition { return x.Status.Conditions }

// SetConditions replaces the conditions in the status.
func (x *ClusterClass) SetConditions(conditions []metav1.Condition) { x.Status.Conditions = conditions }

// +kubebuilder:object:root=true

// ClusterClassList is a list of ClusterClass.
type ClusterClassList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty,omitzero"`
	Items           []ClusterClass `json:"items"`
}

func init() {
	objectTypes = append(objectTypes, &ClusterClass{}, &ClusterClassList{})
}

// ClusterClassSpec ...
type ClusterClassSpec struct {
	// availabilityGates ...
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	// +listType=map
	// +listMapKey=conditionType
	AvailabilityGates []ClusterAvailabilityGate `json:"availabilityGates,omitempty"`

	// controlPlane ...
	// +required
	ControlPlane ControlPlaneClass `json:"controlPlane,omitempty,omitzero"`

	// infrastructure ...
	// +required
	Infrastructure ClusterClassInfrastructure `json:"infrastructure,omitempty,omitzero"`

	// kubernetesVersions ...
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=100
	// +listType=atomic
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=256
	KubernetesVersions []string `json:"kubernetesVersions,omitempty"`

	// patches ...
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=1000
	// +listType=atomic
	Patches []ClusterClassPatch `json:"patches,omitempty"`

	// upgrade ...
	// +optional
	Upgrade ClusterClassUpgrade `json:"upgrade,omitempty,omitzero"`

	// variables ...
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=1000
	// +listType=atomic
	Variables []ClusterClassVariable `json:"variables,omitempty"`

	// workers ...
	// +optional
	Workers WorkersClass `json:"workers,omitempty,omitzero"`
}

// ControlPlaneClass ...
type ControlPlaneClass struct {
	// deletion ...
	// +optional
	Deletion MachineDeletionSpec `json:"deletion,omitempty,omitzero"`

	// healthCheck ...
	// +optional
	HealthCheck ControlPlaneClassHealthCheck `json:"healthCheck,omitempty,omitzero"`

	// machineInfrastructure ...
	// +optional
	MachineInfrastructure ControlPlaneClassMachineInfrastructure `json:"machineInfrastructure,omitempty,omitzero"`

	// metadata ...
	// +optional
	Metadata ObjectMeta `json:"metadata,omitempty,omitzero"`

	// naming ...
	// +optional
	Naming ControlPlaneClassNaming `json:"naming,omitempty,omitzero"`

	// readinessGates ...
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	// +listType=map
	// +listMapKey=conditionType
	ReadinessGates []ClusterAvailabilityGate `json:"readinessGates,omitempty"`

	// taints ...
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	// +listType=map
	// +listMapKey=key
	// +listMapKey=effect
	Taints []MachineTaint `json:"taints,omitempty"`

	// templateRef ...
	// +required
	TemplateRef MachineHealthCheckRemediationTemplateReference `json:"templateRef,omitempty,omitzero"`
}

// ControlPlaneClassHealthCheck ...
// +kubebuilder:validation:MinProperties=1
type ControlPlaneClassHealthCheck struct {
	// checks ...
	// +optional
	Checks MachineHealthCheckChecks `json:"checks,omitempty,omitzero"`

	// remediation ...
	// +optional
	Remediation MachineHealthCheckRemediation `json:"remediation,omitempty,omitzero"`
}

// ControlPlaneClassMachineInfrastructure ...
type ControlPlaneClassMachineInfrastructure struct {
	// templateRef ...
	// +required
	TemplateRef MachineHealthCheckRemediationTemplateReference `json:"templateRef,omitempty,omitzero"`
}

// ControlPlaneClassNaming ...
// +kubebuilder:validation:MinProperties=1
type ControlPlaneClassNaming struct {
	// template ...
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	Template string `json:"template,omitempty"`
}

// ClusterClassInfrastructure ...
type ClusterClassInfrastructure struct {
	// naming ...
	// +optional
	Naming ControlPlaneClassNaming `json:"naming,omitempty,omitzero"`

	// templateRef ...
	// +required
	TemplateRef MachineHealthCheckRemediationTemplateReference `json:"templateRef,omitempty,omitzero"`
}

// ClusterClassPatch ...
type ClusterClassPatch struct {
	// definitions ...
	// +optional
	// +kubebuilder:validation:MaxItems=100
	// +listType=atomic
	Definitions []PatchDefinition `json:"definitions,omitempty"`

	// description ...
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	Description string `json:"description,omitempty"`

	// enabledIf ...
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	EnabledIf string `json:"enabledIf,omitempty"`

	// external ...
	// +optional
	External *ClusterClassPatchExternal `json:"external,omitempty"`

	// name ...
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Name string `json:"name,omitempty"`
}

// PatchDefinition ...
type PatchDefinition struct {
	// jsonPatches ...
	// +required
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=100
	// +listType=atomic
	JSONPatches []JSONPatch `json:"jsonPatches,omitempty"`

	// selector ...
	// +required
	Selector PatchSelector `json:"selector,omitempty,omitzero"`
}

// JSONPatch ...
type JSONPatch struct {
	// op ...
	// +required
	// +kubebuilder:validation:Enum=add;replace;remove
	Op string `json:"op"`

	// path ...
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	Path string `json:"path,omitempty"`

	// value ...
	// +optional
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:Schemaless
	Value JSON `json:"value,omitempty,omitzero"`

	// valueFrom ...
	// +optional
	ValueFrom *JSONPatchValueFrom `json:"valueFrom,omitempty"`
}

// JSONPatchValueFrom ...
type JSONPatchValueFrom struct {
	// template ...
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=10240
	Template string `json:"template,omitempty"`

	// variable ...
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Variable string `json:"variable,omitempty"`
}

// PatchSelector ...
type PatchSelector struct {
	// apiVersion ...
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=317
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\/[a-z]([-a-z0-9]*[a-z0-9])?$`
	APIVersion string `json:"apiVersion,omitempty"`

	// kind ...
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-zA-Z]([-a-zA-Z0-9]*[a-zA-Z0-9])?$`
	Kind string `json:"kind,omitempty"`

	// matchResources ...
	// +required
	MatchResources PatchSelectorMatchResources `json:"matchResources,omitempty,omitzero"`
}

// PatchSelectorMatchResources ...
// +kubebuilder:validation:MinProperties=1
type PatchSelectorMatchResources struct {
	// controlPlane ...
	// +optional
	ControlPlane *bool `json:"controlPlane,omitempty"`

	// infrastructureCluster ...
	// +optional
	InfrastructureCluster *bool `json:"infrastructureCluster,omitempty"`

	// machineDeploymentClass ...
	// +optional
	MachineDeploymentClass *PatchSelectorMatchResourcesMachineDeploymentClass `json:"machineDeploymentClass,omitempty"`

	// machinePoolClass ...
	// +optional
	MachinePoolClass *PatchSelectorMatchResourcesMachineDeploymentClass `json:"machinePoolClass,omitempty"`
}

// PatchSelectorMatchResourcesMachineDeploymentClass ...
type PatchSelectorMatchResourcesMachineDeploymentClass struct {
	// names ...
	// +optional
	// +kubebuilder:validation:MaxItems=100
	// +listType=atomic
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=256
	Names []string `json:"names,omitempty"`
}

// ClusterClassPatchExternal ...
type ClusterClassPatchExternal struct {
	// discoverVariablesExtension ...
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	DiscoverVariablesExtension string `json:"discoverVariablesExtension,omitempty"`

	// generatePatchesExtension ...
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	GeneratePatchesExtension string `json:"generatePatchesExtension,omitempty"`

	// settings ...
	// +optional
	Settings map[string]string `json:"settings,omitempty"`

	// validateTopologyExtension ...
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	ValidateTopologyExtension string `json:"validateTopologyExtension,omitempty"`
}

// ClusterClassUpgrade ...
// +kubebuilder:validation:MinProperties=1
type ClusterClassUpgrade struct {
	// external ...
	// +optional
	External ClusterClassUpgradeExternal `json:"external,omitempty,omitzero"`
}

// ClusterClassUpgradeExternal ...
// +kubebuilder:validation:MinProperties=1
type ClusterClassUpgradeExternal struct {
	// generateUpgradePlanExtension ...
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	GenerateUpgradePlanExtension string `json:"generateUpgradePlanExtension,omitempty"`
}

// ClusterClassVariable ...
type ClusterClassVariable struct {
	// deprecatedV1Beta1Metadata ...
	// +optional
	DeprecatedV1Beta1Metadata ObjectMeta `json:"deprecatedV1Beta1Metadata,omitempty,omitzero"`

	// name ...
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Name string `json:"name,omitempty"`

	// required ...
	// +required
	Required bool `json:"required"`

	// schema ...
	// +required
	Schema VariableSchema `json:"schema,omitempty,omitzero"`
}

// VariableSchema ...
type VariableSchema struct {
	// openAPIV3Schema ...
	// +required
	OpenAPIV3Schema JSONSchemaProps `json:"openAPIV3Schema,omitempty,omitzero"`
}

// JSONSchemaProps ...
// +kubebuilder:validation:MinProperties=1
type JSONSchemaProps struct {
	// additionalProperties ...
	// +optional
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:Schemaless
	AdditionalProperties JSON `json:"additionalProperties,omitempty,omitzero"`

	// allOf ...
	// +optional
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:Schemaless
	AllOf JSON `json:"allOf,omitempty,omitzero"`

	// anyOf ...
	// +optional
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:Schemaless
	AnyOf JSON `json:"anyOf,omitempty,omitzero"`

	// default ...
	// +optional
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:Schemaless
	Default JSON `json:"default,omitempty,omitzero"`

	// description ...
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=4096
	Description string `json:"description,omitempty"`

	// enum ...
	// +optional
	// +kubebuilder:validation:MaxItems=100
	// +listType=atomic
	Enum []JSON `json:"enum,omitempty"`

	// example ...
	// +optional
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:Schemaless
	Example JSON `json:"example,omitempty,omitzero"`

	// exclusiveMaximum ...
	// +optional
	ExclusiveMaximum *bool `json:"exclusiveMaximum,omitempty"`

	// exclusiveMinimum ...
	// +optional
	ExclusiveMinimum *bool `json:"exclusiveMinimum,omitempty"`

	// format ...
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32
	Format string `json:"format,omitempty"`

	// items ...
	// +optional
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:Schemaless
	Items JSON `json:"items,omitempty,omitzero"`

	// maxItems ...
	// +optional
	MaxItems *int64 `json:"maxItems,omitempty"`

	// maxLength ...
	// +optional
	MaxLength *int64 `json:"maxLength,omitempty"`

	// maxProperties ...
	// +optional
	MaxProperties *int64 `json:"maxProperties,omitempty"`

	// maximum ...
	// +optional
	Maximum *int64 `json:"maximum,omitempty"`

	// minItems ...
	// +optional
	MinItems *int64 `json:"minItems,omitempty"`

	// minLength ...
	// +optional
	MinLength *int64 `json:"minLength,omitempty"`

	// minProperties ...
	// +optional
	MinProperties *int64 `json:"minProperties,omitempty"`

	// minimum ...
	// +optional
	Minimum *int64 `json:"minimum,omitempty"`

	// not ...
	// +optional
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:Schemaless
	Not JSON `json:"not,omitempty,omitzero"`

	// oneOf ...
	// +optional
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:Schemaless
	OneOf JSON `json:"oneOf,omitempty,omitzero"`

	// pattern ...
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	Pattern string `json:"pattern,omitempty"`

	// properties ...
	// +optional
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:Schemaless
	Properties JSON `json:"properties,omitempty,omitzero"`

	// required ...
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=1000
	// +listType=atomic
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=256
	Required []string `json:"required,omitempty"`

	// type ...
	// +optional
	// +kubebuilder:validation:Enum=object;array;string;integer;number;boolean
	Type string `json:"type,omitempty"`

	// uniqueItems ...
	// +optional
	UniqueItems *bool `json:"uniqueItems,omitempty"`

	// x-kubernetes-int-or-string ...
	// +optional
	XIntOrString *bool `json:"x-kubernetes-int-or-string,omitempty"`

	// x-kubernetes-preserve-unknown-fields ...
	// +optional
	XPreserveUnknownFields *bool `json:"x-kubernetes-preserve-unknown-fields,omitempty"`

	// x-kubernetes-validations ...
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=100
	// +listType=map
	// +listMapKey=rule
	XValidations []ValidationRule `json:"x-kubernetes-validations,omitempty"`

	// x-metadata ...
	// +optional
	XMetadata ObjectMeta `json:"x-metadata,omitempty,omitzero"`
}

// ValidationRule ...
type ValidationRule struct {
	// fieldPath ...
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	FieldPath string `json:"fieldPath,omitempty"`

	// message ...
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	Message string `json:"message,omitempty"`

	// messageExpression ...
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	MessageExpression string `json:"messageExpression,omitempty"`

	// reason ...
	// +optional
	// +kubebuilder:default:="FieldValueInvalid"
	// +kubebuilder:validation:Enum=FieldValueInvalid;FieldValueForbidden;FieldValueRequired;FieldValueDuplicate
	Reason string `json:"reason,omitempty"`

	// rule ...
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=4096
	Rule string `json:"rule,omitempty"`
}

// WorkersClass ...
// +kubebuilder:validation:MinProperties=1
type WorkersClass struct {
	// machineDeployments ...
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=100
	// +listType=map
	// +listMapKey=class
	MachineDeployments []MachineDeploymentClass `json:"machineDeployments,omitempty"`

	// machinePools ...
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=100
	// +listType=map
	// +listMapKey=class
	MachinePools []MachinePoolClass `json:"machinePools,omitempty"`
}

// MachineDeploymentClass ...
type MachineDeploymentClass struct {
	// bootstrap ...
	// +required
	Bootstrap ControlPlaneClassMachineInfrastructure `json:"bootstrap,omitempty,omitzero"`

	// class ...
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Class string `json:"class,omitempty"`

	// deletion ...
	// +optional
	Deletion MachineDeploymentTopologyDeletion `json:"deletion,omitempty,omitzero"`

	// failureDomain ...
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	FailureDomain string `json:"failureDomain,omitempty"`

	// healthCheck ...
	// +optional
	HealthCheck MachineDeploymentClassHealthCheck `json:"healthCheck,omitempty,omitzero"`

	// infrastructure ...
	// +required
	Infrastructure ControlPlaneClassMachineInfrastructure `json:"infrastructure,omitempty,omitzero"`

	// metadata ...
	// +optional
	Metadata ObjectMeta `json:"metadata,omitempty,omitzero"`

	// minReadySeconds ...
	// +optional
	// +kubebuilder:validation:Minimum=0
	MinReadySeconds *int32 `json:"minReadySeconds,omitempty"`

	// naming ...
	// +optional
	Naming ControlPlaneClassNaming `json:"naming,omitempty,omitzero"`

	// readinessGates ...
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	// +listType=map
	// +listMapKey=conditionType
	ReadinessGates []ClusterAvailabilityGate `json:"readinessGates,omitempty"`

	// rollout ...
	// +optional
	Rollout MachineDeploymentClassRollout `json:"rollout,omitempty,omitzero"`

	// taints ...
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	// +listType=map
	// +listMapKey=key
	// +listMapKey=effect
	Taints []MachineTaint `json:"taints,omitempty"`
}

// MachineDeploymentClassHealthCheck ...
// +kubebuilder:validation:MinProperties=1
type MachineDeploymentClassHealthCheck struct {
	// checks ...
	// +optional
	Checks MachineHealthCheckChecks `json:"checks,omitempty,omitzero"`

	// remediation ...
	// +optional
	Remediation MachineDeploymentTopologyHealthCheckRemediation `json:"remediation,omitempty,omitzero"`
}

// MachineDeploymentClassRollout ...
// +kubebuilder:validation:MinProperties=1
type MachineDeploymentClassRollout struct {
	// strategy ...
	// +optional
	Strategy MachineDeploymentRolloutStrategy `json:"strategy,omitempty,omitzero"`
}

// MachinePoolClass ...
type MachinePoolClass struct {
	// bootstrap ...
	// +required
	Bootstrap ControlPlaneClassMachineInfrastructure `json:"bootstrap,omitempty,omitzero"`

	// class ...
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Class string `json:"class,omitempty"`

	// deletion ...
	// +optional
	Deletion MachineDeletionSpec `json:"deletion,omitempty,omitzero"`

	// failureDomains ...
	// +optional
	// +kubebuilder:validation:MaxItems=100
	// +listType=atomic
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=256
	FailureDomains []string `json:"failureDomains,omitempty"`

	// infrastructure ...
	// +required
	Infrastructure ControlPlaneClassMachineInfrastructure `json:"infrastructure,omitempty,omitzero"`

	// metadata ...
	// +optional
	Metadata ObjectMeta `json:"metadata,omitempty,omitzero"`

	// minReadySeconds ...
	// +optional
	// +kubebuilder:validation:Minimum=0
	MinReadySeconds *int32 `json:"minReadySeconds,omitempty"`

	// naming ...
	// +optional
	Naming ControlPlaneClassNaming `json:"naming,omitempty,omitzero"`

	// taints ...
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	// +listType=map
	// +listMapKey=key
	// +listMapKey=effect
	Taints []MachineTaint `json:"taints,omitempty"`
}

// ClusterClassStatus ...
// +kubebuilder:validation:MinProperties=1
type ClusterClassStatus struct {
	// conditions ...
	// +optional
	// +kubebuilder:validation:MaxItems=32
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// deprecated ...
	// +optional
	Deprecated MachineHealthCheckDeprecatedStatus `json:"deprecated,omitempty,omitzero"`

	// observedGeneration ...
	// +optional
	// +kubebuilder:validation:Minimum=1
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// variables ...
	// +optional
	// +kubebuilder:validation:MaxItems=1000
	// +listType=atomic
	Variables []ClusterClassVariableStatus `json:"variables,omitempty"`
}

// ClusterClassVariableStatus ...
type ClusterClassVariableStatus struct {
	// definitions ...
	// +required
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=100
	// +listType=atomic
	Definitions []ClusterClassVariableDefinitionStatus `json:"definitions,omitempty"`

	// definitionsConflict ...
	// +optional
	DefinitionsConflict *bool `json:"definitionsConflict,omitempty"`

	// name ...
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Name string `json:"name,omitempty"`
}

// ClusterClassVariableDefinitionStatus ...
type ClusterClassVariableDefinitionStatus struct {
	// deprecatedV1Beta1Metadata ...
	// +optional
	DeprecatedV1Beta1Metadata ObjectMeta `json:"deprecatedV1Beta1Metadata,omitempty,omitzero"`

	// from ...
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	From string `json:"from,omitempty"`

	// required ...
	// +required
	Required bool `json:"required"`

	// schema ...
	// +required
	Schema VariableSchema `json:"schema,omitempty,omitzero"`
}
