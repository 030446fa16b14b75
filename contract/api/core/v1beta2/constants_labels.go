package v1beta2

// Label keys and values.
const (
	ClusterNameLabel                          = "cluster.x-k8s.io/cluster-name"
	ClusterTopologyOwnedLabel                 = "topology.cluster.x-k8s.io/owned"
	ClusterTopologyMachineDeploymentNameLabel = "topology.cluster.x-k8s.io/deployment-name"
	ClusterTopologyMachinePoolNameLabel       = "topology.cluster.x-k8s.io/pool-name"
	ProviderNameLabel                         = "cluster.x-k8s.io/provider"
	LabelsFromMachineAnnotation               = "cluster.x-k8s.io/labels-from-machine"
	WatchLabel                                = "cluster.x-k8s.io/watch-filter"
	InterruptibleLabel                        = "cluster.x-k8s.io/interruptible"
)

// Annotation keys.
const (
	ClusterTopologyUpgradeStepAnnotation           = "topology.internal.cluster.x-k8s.io/upgrade-step"
	ClusterTopologyHoldUpgradeSequenceAnnotation   = "topology.cluster.x-k8s.io/hold-upgrade-sequence"
	ClusterTopologyDeferUpgradeAnnotation          = "topology.cluster.x-k8s.io/defer-upgrade"
	ClusterTopologyUpgradeConcurrencyAnnotation    = "topology.cluster.x-k8s.io/upgrade-concurrency"
	ClusterTopologyUnsafeUpdateClassNameAnnotation = "unsafe.topology.cluster.x-k8s.io/disable-update-class-name-check"
	ClusterTopologyUnsafeUpdateVersionAnnotation   = "unsafe.topology.cluster.x-k8s.io/disable-update-version-check"
	ClusterNameAnnotation                          = "cluster.x-k8s.io/cluster-name"
	ClusterNamespaceAnnotation                     = "cluster.x-k8s.io/cluster-namespace"
	MachineAnnotation                              = "cluster.x-k8s.io/machine"
	OwnerKindAnnotation                            = "cluster.x-k8s.io/owner-kind"
	AnnotationsFromMachineAnnotation               = "cluster.x-k8s.io/annotations-from-machine"
	TaintsFromMachineAnnotation                    = "cluster.x-k8s.io/taints-from-machine"
	OwnerNameAnnotation                            = "cluster.x-k8s.io/owner-name"
	PausedAnnotation                               = "cluster.x-k8s.io/paused"
	DisableMachineCreateAnnotation                 = "cluster.x-k8s.io/disable-machine-create"
	DeleteMachineAnnotation                        = "cluster.x-k8s.io/delete-machine"
	TemplateClonedFromNameAnnotation               = "cluster.x-k8s.io/cloned-from-name"
	TemplateClonedFromGroupKindAnnotation          = "cluster.x-k8s.io/cloned-from-groupkind"
	MachineSkipRemediationAnnotation               = "cluster.x-k8s.io/skip-remediation"
	RemediateMachineAnnotation                     = "cluster.x-k8s.io/remediate-machine"
	MachineSetSkipPreflightChecksAnnotation        = "machineset.cluster.x-k8s.io/skip-preflight-checks"
	ManagedByAnnotation                            = "cluster.x-k8s.io/managed-by"
	TopologyDryRunAnnotation                       = "topology.cluster.x-k8s.io/dry-run"
	ReplicasManagedByAnnotation                    = "cluster.x-k8s.io/replicas-managed-by"
	AutoscalerMinSizeAnnotation                    = "cluster.x-k8s.io/cluster-api-autoscaler-node-group-min-size"
	AutoscalerMaxSizeAnnotation                    = "cluster.x-k8s.io/cluster-api-autoscaler-node-group-max-size"
	CRDMigrationObservedGenerationAnnotation       = "crd-migration.cluster.x-k8s.io/observed-generation"
	BeforeClusterUpgradeHookAnnotationPrefix       = "before-upgrade.hook.cluster.cluster.x-k8s.io"
)

// Other names on the wire.
const (
	ClusterSecretType                               = "cluster.x-k8s.io/secret"
	VariableDefinitionFromInline                    = "inline"
	MachineSetPreflightCheckAll                     = "All"
	MachineSetPreflightCheckKubeadmVersionSkew      = "KubeadmVersionSkew"
	MachineSetPreflightCheckKubernetesVersionSkew   = "KubernetesVersionSkew"
	MachineSetPreflightCheckControlPlaneIsStable    = "ControlPlaneIsStable"
	MachineSetPreflightCheckControlPlaneVersionSkew = "ControlPlaneVersionSkew"
	TemplateSuffix                                  = "Template"
	MachineHostName                                 = "Hostname"
	MachineExternalIP                               = "ExternalIP"
	MachineInternalIP                               = "InternalIP"
	MachineExternalDNS                              = "ExternalDNS"
	MachineInternalDNS                              = "InternalDNS"
	MachineTaintPropagationAlways                   = "Always"
	MachineTaintPropagationOnInitialization         = "OnInitialization"
)
