package kubeadmcontrolplane

import (
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/providers/controlplane-kubeadm/internal/drift"
	"github.com/slipway-capi/slipway/providers/controlplane-kubeadm/internal/machines"
)

// cause is why a machine is out of date.
type cause struct {
	// short is the same for all machines with this cause; it is what the control plane reports.
	short string
	// text names the details for this machine.
	text string
}

// certificatesExpire says whether a machine's certificates end within the time the control plane allows.
func certificatesExpire(w World, m *Machine) bool {
	days := w.ControlPlane.Spec.Rollout.Before.CertificatesExpiryDays
	expiry := m.Status.CertificatesExpiryDate
	return days > 0 && !expiry.IsZero() && expiry.Time.Before(w.Now.Add(time.Duration(days)*24*time.Hour))
}

// outdated lists why a machine is not what the control plane wants now. None means up to date; what is not known
// counts as equal, so nothing is ever replaced for lack of knowledge.
func outdated(w World, m *Machine) []cause {
	if m.judged {
		return m.causes
	}
	var causes []cause
	add := func(short, text string) { causes = append(causes, cause{short, text}) }
	if have, want := m.Spec.Version, w.ControlPlane.Spec.Version; have != "" && have != want {
		add("Version "+have+", "+want+" required", "Version "+have+", "+want+" required")
	}
	if certificatesExpire(w, m) {
		add("Certificates will expire soon", "Certificates will expire soon")
	}
	// A machine created in the very second of rollout.after is the result of that rollout.
	if after := w.ControlPlane.Spec.Rollout.After; !after.IsZero() && after.Time.Before(w.Now) && m.CreationTimestamp.Time.Before(after.Time) {
		add("KubeadmControlPlane spec.rollout.after expired", "KubeadmControlPlane spec.rollout.after expired")
	}
	if m.Config != nil {
		if paths := drift.ConfigPaths(m.Config.Spec, machines.WantedConfig(w.ControlPlane)); len(paths) > 0 {
			add("KubeadmConfig is not up-to-date", "KubeadmConfig is not up-to-date: "+strings.Join(limit(paths, 5), ", "))
		}
	}
	if text := otherTemplate(w, m); text != "" {
		add(m.Spec.InfrastructureRef.Kind+" is not up-to-date", text)
	}
	return causes
}

func otherTemplate(w World, m *Machine) string {
	if m.Infra == nil {
		return ""
	}
	ref := w.ControlPlane.Spec.MachineTemplate.Spec.InfrastructureRef
	name, hasName := m.Infra.Annotations[clusterv1.TemplateClonedFromNameAnnotation]
	kind, hasKind := m.Infra.Annotations[clusterv1.TemplateClonedFromGroupKindAnnotation]
	if !hasName || !hasKind {
		return ""
	}
	want := schema.GroupKind{Group: ref.APIGroup, Kind: ref.Kind}.String()
	if name == ref.Name && kind == want {
		return ""
	}
	return fmt.Sprintf("%s is not up-to-date: made from %s %s, now %s %s", m.Spec.InfrastructureRef.Kind, kind, name, want, ref.Name)
}

// summary names the causes in a line.
func summary(w World, m *Machine) string {
	var parts []string
	for _, c := range outdated(w, m) {
		parts = append(parts, c.short)
	}
	return strings.Join(parts, "; ")
}

func limit(list []string, most int) []string {
	if len(list) <= most {
		return list
	}
	return append(slices.Clone(list[:most]), fmt.Sprintf("and %d more", len(list)-most))
}

func upToDateCondition(w World, m *Machine) metav1.Condition {
	causes := outdated(w, m)
	if len(causes) > 0 {
		lines := make([]string, 0, len(causes))
		for _, c := range causes {
			lines = append(lines, "* "+c.text)
		}
		return negative(clusterv1.MachineUpToDateCondition, clusterv1.MachineNotUpToDateReason, strings.Join(lines, "\n"))
	}
	if _, updating := m.Annotations[clusterv1.UpdateInProgressAnnotation]; updating {
		return negative(clusterv1.MachineUpToDateCondition, clusterv1.MachineUpToDateUpdatingReason, "the machine is being updated in place")
	}
	if kubelet := m.Status.NodeInfo.KubeletVersion; kubelet != "" && kubelet != m.Spec.Version {
		return negative(clusterv1.MachineUpToDateCondition, clusterv1.MachineUpToDateUpdatingReason,
			"the kubelet has version "+kubelet+", "+m.Spec.Version+" required")
	}
	return positive(clusterv1.MachineUpToDateCondition, clusterv1.MachineUpToDateReason, "")
}
