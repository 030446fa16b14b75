package machines

import (
	"maps"
	"strings"

	"github.com/blang/semver/v4"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/labels"
	"github.com/slipway-capi/slipway/contract/ownership"
	bootstrapv1 "github.com/slipway-capi/slipway/providers/bootstrap-kubeadm/api/v1beta2"
	controlplanev1 "github.com/slipway-capi/slipway/providers/controlplane-kubeadm/api/v1beta2"
)

const (
	// CleanupHook keeps a machine from being terminated until its etcd member is removed.
	CleanupHook = clusterv1.PreTerminateDeleteHookAnnotationPrefix + "/kcp-cleanup"

	kubeletLocalModeGate       = "ControlPlaneKubeletLocalMode"
	defaultNodeDeletionTimeout = int32(10)
)

// ControlPlaneGVK is the kind that owns control plane machines.
var ControlPlaneGVK = controlplanev1.GroupVersion.WithKind("KubeadmControlPlane")

// Request says which machine of a control plane is meant.
type Request struct {
	ControlPlane *controlplanev1.KubeadmControlPlane
	Cluster      *clusterv1.Cluster
	Name         string
	// FailureDomain is where the machine is to run; empty leaves it to the infrastructure.
	FailureDomain string
	// Init is set for the first machine, which starts the cluster; all others join it.
	Init bool
	// InfrastructureRef names the infrastructure machine.
	InfrastructureRef clusterv1.ContractVersionedObjectReference
	// RemediationFor is the remediation that a replacement carries on; empty for other machines.
	RemediationFor string
}

// Machine is the complete Machine, as it is created.
func Machine(r Request) *clusterv1.Machine {
	machine := &clusterv1.Machine{
		TypeMeta: metav1.TypeMeta{APIVersion: clusterv1.GroupVersion.String(), Kind: "Machine"},
		ObjectMeta: metav1.ObjectMeta{
			Namespace: r.ControlPlane.Namespace, Name: r.Name,
			Labels:      Labels(r.ControlPlane, r.Cluster.Name),
			Annotations: Annotations(r.ControlPlane),
			OwnerReferences: []metav1.OwnerReference{
				ownership.ControllerReference(r.ControlPlane, ControlPlaneGVK),
			},
		},
	}
	machine.Annotations[CleanupHook] = ""
	if r.RemediationFor != "" {
		machine.Annotations[controlplanev1.RemediationForAnnotation] = r.RemediationFor
	}
	machine.Spec.ClusterName = r.Cluster.Name
	machine.Spec.Version = r.ControlPlane.Spec.Version
	machine.Spec.FailureDomain = r.FailureDomain
	machine.Spec.InfrastructureRef = r.InfrastructureRef
	machine.Spec.Bootstrap.ConfigRef = clusterv1.ContractVersionedObjectReference{
		APIGroup: bootstrapv1.GroupVersion.Group, Kind: "KubeadmConfig", Name: r.Name,
	}
	setInPlaceFields(machine, r.ControlPlane)
	return machine
}

// InPlace is the Machine that an existing one should be: what may change in place comes from the control plane, all
// else from the machine. A machine that is being deleted still gets timeouts and taints, so that a hanging deletion
// can be helped.
func InPlace(existing *clusterv1.Machine, controlPlane *controlplanev1.KubeadmControlPlane) *clusterv1.Machine {
	wanted := existing.DeepCopy()
	if existing.DeletionTimestamp.IsZero() {
		wanted.Labels = Labels(controlPlane, existing.Spec.ClusterName)
		wanted.Annotations = Annotations(controlPlane)
		for _, key := range []string{CleanupHook, controlplanev1.RemediationForAnnotation} {
			if value, ok := existing.Annotations[key]; ok {
				wanted.Annotations[key] = value
			}
		}
		setInPlaceFields(wanted, controlPlane)
		return wanted
	}
	wanted.Spec.Deletion = deletion(controlPlane)
	wanted.Spec.Taints = controlPlane.Spec.MachineTemplate.Spec.Taints
	return wanted
}

func setInPlaceFields(machine *clusterv1.Machine, controlPlane *controlplanev1.KubeadmControlPlane) {
	machine.Spec.ReadinessGates = ReadinessGates(controlPlane)
	machine.Spec.Deletion = deletion(controlPlane)
	machine.Spec.Taints = controlPlane.Spec.MachineTemplate.Spec.Taints
}

func deletion(controlPlane *controlplanev1.KubeadmControlPlane) clusterv1.MachineDeletionSpec {
	spec := *controlPlane.Spec.MachineTemplate.Spec.Deletion.DeepCopy()
	if spec.NodeDeletionTimeoutSeconds == nil {
		timeout := defaultNodeDeletionTimeout
		spec.NodeDeletionTimeoutSeconds = &timeout
	}
	return spec
}

// Labels are those of a control plane machine and of the objects that belong to it.
func Labels(controlPlane *controlplanev1.KubeadmControlPlane, clusterName string) map[string]string {
	return labels.Merge(
		controlPlane.Spec.MachineTemplate.Metadata.Labels,
		labels.OfControlPlane(clusterName, controlPlane.Name),
	)
}

// Annotations are those of the template. The map is never nil.
func Annotations(controlPlane *controlplanev1.KubeadmControlPlane) map[string]string {
	annotations := map[string]string{}
	maps.Copy(annotations, controlPlane.Spec.MachineTemplate.Metadata.Annotations)
	return annotations
}

// ReadinessGates are the conditions that make a control plane machine ready, the user's last.
func ReadinessGates(controlPlane *controlplanev1.KubeadmControlPlane) []clusterv1.MachineReadinessGate {
	types := []string{
		controlplanev1.KubeadmControlPlaneMachineNodeKubeadmLabelsAndTaintsSetCondition,
		controlplanev1.KubeadmControlPlaneMachineAPIServerPodHealthyCondition,
		controlplanev1.KubeadmControlPlaneMachineControllerManagerPodHealthyCondition,
		controlplanev1.KubeadmControlPlaneMachineSchedulerPodHealthyCondition,
	}
	if ManagedEtcd(controlPlane) {
		types = append(types,
			controlplanev1.KubeadmControlPlaneMachineEtcdPodHealthyCondition,
			controlplanev1.KubeadmControlPlaneMachineEtcdMemberHealthyCondition,
		)
	}
	known := map[string]bool{}
	var gates []clusterv1.MachineReadinessGate
	for _, conditionType := range types {
		known[conditionType] = true
		gates = append(gates, clusterv1.MachineReadinessGate{ConditionType: conditionType})
	}
	for _, gate := range controlPlane.Spec.MachineTemplate.Spec.ReadinessGates {
		if !known[gate.ConditionType] {
			known[gate.ConditionType] = true
			gates = append(gates, clusterv1.MachineReadinessGate(gate))
		}
	}
	return gates
}

// ManagedEtcd says whether etcd runs on the control plane machines.
func ManagedEtcd(controlPlane *controlplanev1.KubeadmControlPlane) bool {
	return len(controlPlane.Spec.KubeadmConfigSpec.ClusterConfiguration.Etcd.External.Endpoints) == 0
}

// KubeadmConfig is the complete bootstrap configuration of a new machine.
func KubeadmConfig(r Request) *bootstrapv1.KubeadmConfig {
	config := &bootstrapv1.KubeadmConfig{
		TypeMeta: metav1.TypeMeta{APIVersion: bootstrapv1.GroupVersion.String(), Kind: "KubeadmConfig"},
		ObjectMeta: metav1.ObjectMeta{
			Namespace: r.ControlPlane.Namespace, Name: r.Name,
			Labels:          labels.OfControlPlane(r.Cluster.Name, r.ControlPlane.Name),
			OwnerReferences: []metav1.OwnerReference{OwnerUntilMachine(r.ControlPlane)},
		},
		Spec: WantedConfig(r.ControlPlane),
	}
	if r.Init {
		config.Spec.JoinConfiguration = bootstrapv1.JoinConfiguration{}
	} else {
		config.Spec.InitConfiguration = bootstrapv1.InitConfiguration{}
	}
	return config
}

// WantedConfig is the control plane's configuration with both forms, init and join. The join form always says that a
// control plane joins: that is how a machine that joined is told from the first one later.
func WantedConfig(controlPlane *controlplanev1.KubeadmControlPlane) bootstrapv1.KubeadmConfigSpec {
	spec := *controlPlane.Spec.KubeadmConfigSpec.DeepCopy()
	if spec.JoinConfiguration.ControlPlane == nil {
		spec.JoinConfiguration.ControlPlane = &bootstrapv1.JoinControlPlane{}
	}
	if _, set := spec.ClusterConfiguration.FeatureGates[kubeletLocalModeGate]; !set && needsKubeletLocalMode(controlPlane.Spec.Version) {
		gates := map[string]bool{kubeletLocalModeGate: true}
		maps.Copy(gates, spec.ClusterConfiguration.FeatureGates)
		spec.ClusterConfiguration.FeatureGates = gates
	}
	return spec
}

// UpdatedConfig is the configuration of a machine that exists when it is brought to what the control plane wants now. It is
// that of a machine that joins, whatever it was; what was filled in for this machine stays.
func UpdatedConfig(existing bootstrapv1.KubeadmConfigSpec, controlPlane *controlplanev1.KubeadmControlPlane) bootstrapv1.KubeadmConfigSpec {
	spec, had := WantedConfig(controlPlane), existing.DeepCopy()
	spec.InitConfiguration = bootstrapv1.InitConfiguration{}
	spec.JoinConfiguration.Discovery = had.JoinConfiguration.Discovery
	if spec.ClusterConfiguration.ControlPlaneEndpoint == "" {
		spec.ClusterConfiguration.ControlPlaneEndpoint = had.ClusterConfiguration.ControlPlaneEndpoint
	}
	return spec
}

// needsKubeletLocalMode: from 1.31 kubeadm can point kubelets to their own API server, which upgrades need; from 1.36
// it always does and knows no gate any more.
func needsKubeletLocalMode(version string) bool {
	parsed, err := semver.ParseTolerant(strings.TrimPrefix(version, "v"))
	if err != nil {
		return false
	}
	return parsed.Major == 1 && parsed.Minor >= 31 && parsed.Minor < 36
}

// OwnerUntilMachine is the owner of a machine's objects until the core makes the Machine their controller.
func OwnerUntilMachine(controlPlane *controlplanev1.KubeadmControlPlane) metav1.OwnerReference {
	return ownership.Reference(controlPlane, ControlPlaneGVK)
}
