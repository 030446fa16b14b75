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

// ClusterClass is a reusable description of clusters: templates, variables, and patches that turn values into changes of
// the templates.
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

// ClusterClassSpec is the class as it should be.
type ClusterClassSpec struct {
	// availabilityGates lists further conditions of the Cluster that must be good before it counts as Available, besides the
	// built-in ones.
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	// +listType=map
	// +listMapKey=conditionType
	AvailabilityGates []ClusterAvailabilityGate `json:"availabilityGates,omitempty"`

	// controlPlane is how control planes of the class are made.
	// +required
	ControlPlane ControlPlaneClass `json:"controlPlane,omitempty,omitzero"`

	// infrastructure is how the shared infrastructure is made.
	// +required
	Infrastructure ClusterClassInfrastructure `json:"infrastructure,omitempty,omitzero"`

	// kubernetesVersions lists the versions that clusters of the class may have, in the order in which upgrades go through
	// them.
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=100
	// +listType=atomic
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=256
	KubernetesVersions []string `json:"kubernetesVersions,omitempty"`

	// patches lists changes of the templates, made one after the other.
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=1000
	// +listType=atomic
	Patches []ClusterClassPatch `json:"patches,omitempty"`

	// upgrade says how upgrades of clusters of the class are planned.
	// +optional
	Upgrade ClusterClassUpgrade `json:"upgrade,omitempty,omitzero"`

	// variables defines the values that a cluster can set.
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=1000
	// +listType=atomic
	Variables []ClusterClassVariable `json:"variables,omitempty"`

	// workers defines the kinds of worker groups that a cluster can have.
	// +optional
	Workers WorkersClass `json:"workers,omitempty,omitzero"`
}

// ControlPlaneClass is how control planes of a class are made.
type ControlPlaneClass struct {
	// deletion says how Machines are deleted: for how long their nodes are drained and volumes detached. Unset takes the
	// values of the class.
	// +optional
	Deletion MachineDeletionSpec `json:"deletion,omitempty,omitzero"`

	// healthCheck makes a MachineHealthCheck for the control plane Machines of each cluster.
	// +optional
	HealthCheck ControlPlaneClassHealthCheck `json:"healthCheck,omitempty,omitzero"`

	// machineInfrastructure is how the machines are made, where the control plane provider uses machines.
	// +optional
	MachineInfrastructure ControlPlaneClassMachineInfrastructure `json:"machineInfrastructure,omitempty,omitzero"`

	// metadata holds labels and annotations for the objects made from this. They win over those of the class, and change in
	// place.
	// +optional
	Metadata ObjectMeta `json:"metadata,omitempty,omitzero"`

	// naming says how objects are named.
	// +optional
	Naming ControlPlaneClassNaming `json:"naming,omitempty,omitzero"`

	// readinessGates lists further conditions that a Machine must have to be Ready. They are updated in place.
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	// +listType=map
	// +listMapKey=conditionType
	ReadinessGates []ClusterAvailabilityGate `json:"readinessGates,omitempty"`

	// taints lists taints for the Nodes, brought in place to Nodes that exist. It needs the feature MachineTaintPropagation.
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	// +listType=map
	// +listMapKey=key
	// +listMapKey=effect
	Taints []MachineTaint `json:"taints,omitempty"`

	// templateRef names the template of the control plane object.
	// +required
	TemplateRef MachineHealthCheckRemediationTemplateReference `json:"templateRef,omitempty,omitzero"`
}

// ControlPlaneClassHealthCheck is the health check of control plane Machines.
// +kubebuilder:validation:MinProperties=1
type ControlPlaneClassHealthCheck struct {
	// checks says by which signs a Machine is unhealthy.
	// +optional
	Checks MachineHealthCheckChecks `json:"checks,omitempty,omitzero"`

	// remediation says when, and how, unhealthy Machines are replaced.
	// +optional
	Remediation MachineHealthCheckRemediation `json:"remediation,omitempty,omitzero"`
}

// ControlPlaneClassMachineInfrastructure names a template.
type ControlPlaneClassMachineInfrastructure struct {
	// templateRef names the template to clone.
	// +required
	TemplateRef MachineHealthCheckRemediationTemplateReference `json:"templateRef,omitempty,omitzero"`
}

// ControlPlaneClassNaming says how objects are named.
// +kubebuilder:validation:MinProperties=1
type ControlPlaneClassNaming struct {
	// template is a Go template for the name. It knows .cluster.name, .random and, for workers,
	// .machineDeployment.topologyName or .machinePool.topologyName.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	Template string `json:"template,omitempty"`
}

// ClusterClassInfrastructure is how the shared infrastructure of clusters is made.
type ClusterClassInfrastructure struct {
	// naming says how objects are named.
	// +optional
	Naming ControlPlaneClassNaming `json:"naming,omitempty,omitzero"`

	// templateRef names the template of the infrastructure cluster.
	// +required
	TemplateRef MachineHealthCheckRemediationTemplateReference `json:"templateRef,omitempty,omitzero"`
}

// ClusterClassPatch is a change of templates, written out here or computed by an extension.
type ClusterClassPatch struct {
	// definitions lists JSON patches and the templates they apply to. It excludes external.
	// +optional
	// +kubebuilder:validation:MaxItems=100
	// +listType=atomic
	Definitions []PatchDefinition `json:"definitions,omitempty"`

	// description says for people what the patch is for.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	Description string `json:"description,omitempty"`

	// enabledIf is a Go template over the variables; the patch is made only where it gives true. Unset makes it always.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	EnabledIf string `json:"enabledIf,omitempty"`

	// external names the extension that computes the changes. It excludes definitions.
	// +optional
	External *ClusterClassPatchExternal `json:"external,omitempty"`

	// name identifies the patch within the class.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Name string `json:"name,omitempty"`
}

// PatchDefinition is a list of JSON patches and what they apply to.
type PatchDefinition struct {
	// jsonPatches lists the changes, made in this order.
	// +required
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=100
	// +listType=atomic
	JSONPatches []JSONPatch `json:"jsonPatches,omitempty"`

	// selector picks the templates to change.
	// +required
	Selector PatchSelector `json:"selector,omitempty,omitzero"`
}

// JSONPatch is one operation in the manner of RFC 6902.
type JSONPatch struct {
	// op is add, replace or remove.
	// +required
	// +kubebuilder:validation:Enum=add;replace;remove
	Op string `json:"op"`

	// path is a JSON pointer to what changes; it must begin with /spec.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	Path string `json:"path,omitempty"`

	// value is the new value, for add and replace. It excludes valueFrom.
	// +optional
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:Schemaless
	Value JSON `json:"value,omitempty,omitzero"`

	// valueFrom takes the new value from variables. It excludes value.
	// +optional
	ValueFrom *JSONPatchValueFrom `json:"valueFrom,omitempty"`
}

// JSONPatchValueFrom says where a value comes from.
type JSONPatchValueFrom struct {
	// template is a Go template over the variables whose output, read as YAML, is the value.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=10240
	Template string `json:"template,omitempty"`

	// variable names a variable, or a path into one. Names that begin with builtin are those of the cluster itself.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Variable string `json:"variable,omitempty"`
}

// PatchSelector picks templates.
type PatchSelector struct {
	// apiVersion is group and version of the template.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=317
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\/[a-z]([-a-z0-9]*[a-z0-9])?$`
	APIVersion string `json:"apiVersion,omitempty"`

	// kind is the kind of the template.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-zA-Z]([-a-zA-Z0-9]*[a-zA-Z0-9])?$`
	Kind string `json:"kind,omitempty"`

	// matchResources says in which roles the template is meant.
	// +required
	MatchResources PatchSelectorMatchResources `json:"matchResources,omitempty,omitzero"`
}

// PatchSelectorMatchResources lists roles of a template; at least one must be given.
// +kubebuilder:validation:MinProperties=1
type PatchSelectorMatchResources struct {
	// controlPlane means the template of the control plane, or of its machines.
	// +optional
	ControlPlane *bool `json:"controlPlane,omitempty"`

	// infrastructureCluster means the template of the infrastructure cluster.
	// +optional
	InfrastructureCluster *bool `json:"infrastructureCluster,omitempty"`

	// machineDeploymentClass means templates of these classes of MachineDeployments.
	// +optional
	MachineDeploymentClass *PatchSelectorMatchResourcesMachineDeploymentClass `json:"machineDeploymentClass,omitempty"`

	// machinePoolClass means templates of these classes of MachinePools.
	// +optional
	MachinePoolClass *PatchSelectorMatchResourcesMachineDeploymentClass `json:"machinePoolClass,omitempty"`
}

// PatchSelectorMatchResourcesMachineDeploymentClass lists worker classes.
type PatchSelectorMatchResourcesMachineDeploymentClass struct {
	// names lists names of classes; a * at either end, or alone, stands for anything.
	// +optional
	// +kubebuilder:validation:MaxItems=100
	// +listType=atomic
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=256
	Names []string `json:"names,omitempty"`
}

// ClusterClassPatchExternal names the extensions behind a patch.
type ClusterClassPatchExternal struct {
	// discoverVariablesExtension names the extension that defines further variables.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	DiscoverVariablesExtension string `json:"discoverVariablesExtension,omitempty"`

	// generatePatchesExtension names the extension that computes the changes of the templates.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	GeneratePatchesExtension string `json:"generatePatchesExtension,omitempty"`

	// settings is handed to the extensions with each call.
	// +optional
	Settings map[string]string `json:"settings,omitempty"`

	// validateTopologyExtension names the extension that judges the templates after all patches.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	ValidateTopologyExtension string `json:"validateTopologyExtension,omitempty"`
}

// ClusterClassUpgrade says how upgrades are planned.
// +kubebuilder:validation:MinProperties=1
type ClusterClassUpgrade struct {
	// external leaves the planning to an extension.
	// +optional
	External ClusterClassUpgradeExternal `json:"external,omitempty,omitzero"`
}

// ClusterClassUpgradeExternal names the extension that plans upgrades.
// +kubebuilder:validation:MinProperties=1
type ClusterClassUpgradeExternal struct {
	// generateUpgradePlanExtension names the extension that lists the versions to go through.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	GenerateUpgradePlanExtension string `json:"generateUpgradePlanExtension,omitempty"`
}

// ClusterClassVariable defines a value that a cluster can set.
type ClusterClassVariable struct {
	// deprecatedV1Beta1Metadata holds labels and annotations of the definition, as an earlier API version had them.
	// +optional
	DeprecatedV1Beta1Metadata ObjectMeta `json:"deprecatedV1Beta1Metadata,omitempty,omitzero"`

	// name is the name by which clusters and patches use it; builtin is taken.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Name string `json:"name,omitempty"`

	// required says that every cluster must set it.
	// +required
	Required bool `json:"required"`

	// schema says which values are allowed.
	// +required
	Schema VariableSchema `json:"schema,omitempty,omitzero"`
}

// VariableSchema says which values a variable may have.
type VariableSchema struct {
	// openAPIV3Schema is the schema, in the subset of OpenAPI that CustomResourceDefinitions have.
	// +required
	OpenAPIV3Schema JSONSchemaProps `json:"openAPIV3Schema,omitempty,omitzero"`
}

// JSONSchemaProps is a schema of a value, a subset of JSON Schema.
// +kubebuilder:validation:MinProperties=1
type JSONSchemaProps struct {
	// additionalProperties is the schema of the values of a map. It excludes properties.
	// +optional
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:Schemaless
	AdditionalProperties JSON `json:"additionalProperties,omitempty,omitzero"`

	// allOf lists schemas that must all accept the value.
	// +optional
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:Schemaless
	AllOf JSON `json:"allOf,omitempty,omitzero"`

	// anyOf lists schemas of which at least one must accept the value.
	// +optional
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:Schemaless
	AnyOf JSON `json:"anyOf,omitempty,omitzero"`

	// default is the value where none is set.
	// +optional
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:Schemaless
	Default JSON `json:"default,omitempty,omitzero"`

	// description says for people what the value is for.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=4096
	Description string `json:"description,omitempty"`

	// enum lists the only values allowed.
	// +optional
	// +kubebuilder:validation:MaxItems=100
	// +listType=atomic
	Enum []JSON `json:"enum,omitempty"`

	// example shows a good value.
	// +optional
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:Schemaless
	Example JSON `json:"example,omitempty,omitzero"`

	// exclusiveMaximum makes the maximum itself too large.
	// +optional
	ExclusiveMaximum *bool `json:"exclusiveMaximum,omitempty"`

	// exclusiveMinimum makes the minimum itself too small.
	// +optional
	ExclusiveMinimum *bool `json:"exclusiveMinimum,omitempty"`

	// format names a format of strings, such as ipv4, cidr or duration.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32
	Format string `json:"format,omitempty"`

	// items is the schema of the elements of a list.
	// +optional
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:Schemaless
	Items JSON `json:"items,omitempty,omitzero"`

	// maxItems is the largest number of elements of a list.
	// +optional
	MaxItems *int64 `json:"maxItems,omitempty"`

	// maxLength is the largest length of a string.
	// +optional
	MaxLength *int64 `json:"maxLength,omitempty"`

	// maxProperties is the largest number of entries of a map.
	// +optional
	MaxProperties *int64 `json:"maxProperties,omitempty"`

	// maximum is the largest number allowed.
	// +optional
	Maximum *int64 `json:"maximum,omitempty"`

	// minItems is the smallest number of elements of a list.
	// +optional
	MinItems *int64 `json:"minItems,omitempty"`

	// minLength is the smallest length of a string.
	// +optional
	MinLength *int64 `json:"minLength,omitempty"`

	// minProperties is the smallest number of entries of a map.
	// +optional
	MinProperties *int64 `json:"minProperties,omitempty"`

	// minimum is the smallest number allowed.
	// +optional
	Minimum *int64 `json:"minimum,omitempty"`

	// not is a schema that must not accept the value.
	// +optional
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:Schemaless
	Not JSON `json:"not,omitempty,omitzero"`

	// oneOf lists schemas of which exactly one must accept the value.
	// +optional
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:Schemaless
	OneOf JSON `json:"oneOf,omitempty,omitzero"`

	// pattern is a regular expression that strings must match.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	Pattern string `json:"pattern,omitempty"`

	// properties holds the schemas of the fields of an object. It excludes additionalProperties.
	// +optional
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:Schemaless
	Properties JSON `json:"properties,omitempty,omitzero"`

	// required lists the fields that an object must have.
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=1000
	// +listType=atomic
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=256
	Required []string `json:"required,omitempty"`

	// type is object, array, string, integer, number or boolean.
	// +optional
	// +kubebuilder:validation:Enum=object;array;string;integer;number;boolean
	Type string `json:"type,omitempty"`

	// uniqueItems says that no element of a list may appear twice.
	// +optional
	UniqueItems *bool `json:"uniqueItems,omitempty"`

	// x-kubernetes-int-or-string lets the value be a whole number or a string, such as 1 or 25%. It excludes type.
	// +optional
	XIntOrString *bool `json:"x-kubernetes-int-or-string,omitempty"`

	// x-kubernetes-preserve-unknown-fields keeps fields that the schema does not name. Without it they are refused.
	// +optional
	XPreserveUnknownFields *bool `json:"x-kubernetes-preserve-unknown-fields,omitempty"`

	// x-kubernetes-validations are rules in the Common Expression Language that the value must keep, each with a message.
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=100
	// +listType=map
	// +listMapKey=rule
	XValidations []ValidationRule `json:"x-kubernetes-validations,omitempty"`

	// x-metadata gives the schema labels and annotations, for tools that show or fill in variables. It has no effect on values.
	// +optional
	XMetadata ObjectMeta `json:"x-metadata,omitempty,omitzero"`
}

// ValidationRule is a rule in the Common Expression Language.
type ValidationRule struct {
	// fieldPath is the field that an error names, where it is not the value itself.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	FieldPath string `json:"fieldPath,omitempty"`

	// message is what the user is told when the rule fails.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	Message string `json:"message,omitempty"`

	// messageExpression computes that message. It wins over message.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	MessageExpression string `json:"messageExpression,omitempty"`

	// reason is the machine-readable kind of the error. Default FieldValueInvalid.
	// +optional
	// +kubebuilder:default:="FieldValueInvalid"
	// +kubebuilder:validation:Enum=FieldValueInvalid;FieldValueForbidden;FieldValueRequired;FieldValueDuplicate
	Reason string `json:"reason,omitempty"`

	// rule is an expression over self, and oldSelf on updates, that must be true.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=4096
	Rule string `json:"rule,omitempty"`
}

// WorkersClass defines the kinds of worker groups.
// +kubebuilder:validation:MinProperties=1
type WorkersClass struct {
	// machineDeployments lists the kinds of groups made as MachineDeployments.
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=100
	// +listType=map
	// +listMapKey=class
	MachineDeployments []MachineDeploymentClass `json:"machineDeployments,omitempty"`

	// machinePools lists the kinds of groups made as MachinePools.
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=100
	// +listType=map
	// +listMapKey=class
	MachinePools []MachinePoolClass `json:"machinePools,omitempty"`
}

// MachineDeploymentClass is how one kind of MachineDeployment is made.
type MachineDeploymentClass struct {
	// bootstrap names the template of the bootstrap configuration.
	// +required
	Bootstrap ControlPlaneClassMachineInfrastructure `json:"bootstrap,omitempty,omitzero"`

	// class is the name by which clusters refer to it.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Class string `json:"class,omitempty"`

	// deletion says how Machines are deleted: for how long their nodes are drained and volumes detached. Unset takes the
	// values of the class.
	// +optional
	Deletion MachineDeploymentTopologyDeletion `json:"deletion,omitempty,omitzero"`

	// failureDomain is where the Machines run, unless the cluster says otherwise.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	FailureDomain string `json:"failureDomain,omitempty"`

	// healthCheck makes a MachineHealthCheck for each group of this class.
	// +optional
	HealthCheck MachineDeploymentClassHealthCheck `json:"healthCheck,omitempty,omitzero"`

	// infrastructure names the template of the machines.
	// +required
	Infrastructure ControlPlaneClassMachineInfrastructure `json:"infrastructure,omitempty,omitzero"`

	// metadata holds labels and annotations for the objects made from this. They win over those of the class, and change in
	// place.
	// +optional
	Metadata ObjectMeta `json:"metadata,omitempty,omitzero"`

	// minReadySeconds is for how long a Machine must be Ready before it counts as available. Default 0. It changes in place.
	// +optional
	// +kubebuilder:validation:Minimum=0
	MinReadySeconds *int32 `json:"minReadySeconds,omitempty"`

	// naming says how objects are named.
	// +optional
	Naming ControlPlaneClassNaming `json:"naming,omitempty,omitzero"`

	// readinessGates lists further conditions that a Machine must have to be Ready. They are updated in place.
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	// +listType=map
	// +listMapKey=conditionType
	ReadinessGates []ClusterAvailabilityGate `json:"readinessGates,omitempty"`

	// rollout says by which strategy Machines are replaced, unless the cluster says otherwise.
	// +optional
	Rollout MachineDeploymentClassRollout `json:"rollout,omitempty,omitzero"`

	// taints lists taints for the Nodes, brought in place to Nodes that exist. It needs the feature MachineTaintPropagation.
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	// +listType=map
	// +listMapKey=key
	// +listMapKey=effect
	Taints []MachineTaint `json:"taints,omitempty"`
}

// MachineDeploymentClassHealthCheck is the health check of groups of a class.
// +kubebuilder:validation:MinProperties=1
type MachineDeploymentClassHealthCheck struct {
	// checks says by which signs a Machine is unhealthy.
	// +optional
	Checks MachineHealthCheckChecks `json:"checks,omitempty,omitzero"`

	// remediation says when, and how, unhealthy Machines are replaced.
	// +optional
	Remediation MachineDeploymentTopologyHealthCheckRemediation `json:"remediation,omitempty,omitzero"`
}

// MachineDeploymentClassRollout says how Machines are replaced.
// +kubebuilder:validation:MinProperties=1
type MachineDeploymentClassRollout struct {
	// strategy says how old Machines are replaced by new ones.
	// +optional
	Strategy MachineDeploymentRolloutStrategy `json:"strategy,omitempty,omitzero"`
}

// MachinePoolClass is how one kind of MachinePool is made.
type MachinePoolClass struct {
	// bootstrap names the template of the bootstrap configuration.
	// +required
	Bootstrap ControlPlaneClassMachineInfrastructure `json:"bootstrap,omitempty,omitzero"`

	// class is the name by which clusters refer to it.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Class string `json:"class,omitempty"`

	// deletion says how Machines are deleted: for how long their nodes are drained and volumes detached. Unset takes the
	// values of the class.
	// +optional
	Deletion MachineDeletionSpec `json:"deletion,omitempty,omitzero"`

	// failureDomains lists where the machines run, unless the cluster says otherwise.
	// +optional
	// +kubebuilder:validation:MaxItems=100
	// +listType=atomic
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=256
	FailureDomains []string `json:"failureDomains,omitempty"`

	// infrastructure names the template of the machines.
	// +required
	Infrastructure ControlPlaneClassMachineInfrastructure `json:"infrastructure,omitempty,omitzero"`

	// metadata holds labels and annotations for the objects made from this. They win over those of the class, and change in
	// place.
	// +optional
	Metadata ObjectMeta `json:"metadata,omitempty,omitzero"`

	// minReadySeconds is for how long a Machine must be Ready before it counts as available. Default 0. It changes in place.
	// +optional
	// +kubebuilder:validation:Minimum=0
	MinReadySeconds *int32 `json:"minReadySeconds,omitempty"`

	// naming says how objects are named.
	// +optional
	Naming ControlPlaneClassNaming `json:"naming,omitempty,omitzero"`

	// taints lists taints for the Nodes, brought in place to Nodes that exist. It needs the feature MachineTaintPropagation.
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	// +listType=map
	// +listMapKey=key
	// +listMapKey=effect
	Taints []MachineTaint `json:"taints,omitempty"`
}

// ClusterClassStatus is the class as it was observed.
// +kubebuilder:validation:MinProperties=1
type ClusterClassStatus struct {
	// conditions tell what is the matter with the object, one entry for each aspect.
	// +optional
	// +kubebuilder:validation:MaxItems=32
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// deprecated holds what earlier API versions reported. Nothing acts on it.
	// +optional
	Deprecated MachineHealthCheckDeprecatedStatus `json:"deprecated,omitempty,omitzero"`

	// observedGeneration is the generation of the spec that this status belongs to.
	// +optional
	// +kubebuilder:validation:Minimum=1
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// variables lists all variables, those of extensions too.
	// +optional
	// +kubebuilder:validation:MaxItems=1000
	// +listType=atomic
	Variables []ClusterClassVariableStatus `json:"variables,omitempty"`
}

// ClusterClassVariableStatus is one variable, by whomever it is defined.
type ClusterClassVariableStatus struct {
	// definitions holds one entry for each place that defines the variable.
	// +required
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=100
	// +listType=atomic
	Definitions []ClusterClassVariableDefinitionStatus `json:"definitions,omitempty"`

	// definitionsConflict says that the definitions differ, so that a cluster cannot set one value for all.
	// +optional
	DefinitionsConflict *bool `json:"definitionsConflict,omitempty"`

	// name is the name of the variable.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Name string `json:"name,omitempty"`
}

// ClusterClassVariableDefinitionStatus is one definition of a variable.
type ClusterClassVariableDefinitionStatus struct {
	// deprecatedV1Beta1Metadata holds labels and annotations of the definition, as an earlier API version had them.
	// +optional
	DeprecatedV1Beta1Metadata ObjectMeta `json:"deprecatedV1Beta1Metadata,omitempty,omitzero"`

	// from is inline for the class itself, else the name of the patch whose extension defines it.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	From string `json:"from,omitempty"`

	// required says that every cluster must set it.
	// +required
	Required bool `json:"required"`

	// schema says which values are allowed.
	// +required
	Schema VariableSchema `json:"schema,omitempty,omitzero"`
}
