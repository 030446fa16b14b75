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
	// fields are what differs, with values.
	fields []drift.Difference
	// renewal is set where only a new machine helps, whatever extensions can do.
	renewal bool
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
	for _, check := range []func(World, *Machine) *cause{otherVersion, expiringCertificates, olderThanRollout, otherConfig, otherTemplate} {
		if c := check(w, m); c != nil {
			causes = append(causes, *c)
		}
	}
	return causes
}

func otherVersion(w World, m *Machine) *cause {
	have, want := m.Spec.Version, w.ControlPlane.Spec.Version
	if have == "" || have == want {
		return nil
	}
	text := "Version " + have + ", " + want + " required"
	return &cause{short: text, text: text, fields: []drift.Difference{{Path: "spec.version", From: have, To: want}}}
}

func expiringCertificates(w World, m *Machine) *cause {
	if !certificatesExpire(w, m) {
		return nil
	}
	const text = "Certificates will expire soon"
	return &cause{short: text, text: text, renewal: true,
		fields: []drift.Difference{{Path: "status.certificatesExpiryDate", From: m.Status.CertificatesExpiryDate.UTC().Format(time.RFC3339)}}}
}

// olderThanRollout: a machine created in the very second of rollout.after is the result of that rollout.
func olderThanRollout(w World, m *Machine) *cause {
	after := w.ControlPlane.Spec.Rollout.After
	if after.IsZero() || !after.Time.Before(w.Now) || !m.CreationTimestamp.Time.Before(after.Time) {
		return nil
	}
	const text = "KubeadmControlPlane spec.rollout.after expired"
	return &cause{short: text, text: text, renewal: true, fields: []drift.Difference{{Path: "spec.rollout.after", To: after.UTC().Format(time.RFC3339)}}}
}

func otherConfig(w World, m *Machine) *cause {
	if m.Config == nil {
		return nil
	}
	fields := drift.Config(m.Config.Spec, machines.WantedConfig(w.ControlPlane))
	if len(fields) == 0 {
		return nil
	}
	const short = "KubeadmConfig is not up-to-date"
	paths := drift.Paths(fields)
	for i := range fields {
		fields[i].Path = "spec.kubeadmConfigSpec." + fields[i].Path
	}
	return &cause{short: short, text: short + ": " + strings.Join(limit(paths, 5), ", "), fields: fields}
}

func otherTemplate(w World, m *Machine) *cause {
	if m.Infra == nil {
		return nil
	}
	ref := w.ControlPlane.Spec.MachineTemplate.Spec.InfrastructureRef
	name, hasName := m.Infra.Annotations[clusterv1.TemplateClonedFromNameAnnotation]
	kind, hasKind := m.Infra.Annotations[clusterv1.TemplateClonedFromGroupKindAnnotation]
	want := schema.GroupKind{Group: ref.APIGroup, Kind: ref.Kind}.String()
	if !hasName || !hasKind || (name == ref.Name && kind == want) {
		return nil
	}
	short := m.Spec.InfrastructureRef.Kind + " is not up-to-date"
	from, to := kind+" "+name, want+" "+ref.Name
	return &cause{short: short, text: short + ": made from " + from + ", now " + to,
		fields: []drift.Difference{{Path: "spec.machineTemplate.spec.infrastructureRef", From: from, To: to}}}
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
	if updating(m) {
		return negative(clusterv1.MachineUpToDateCondition, clusterv1.MachineUpToDateUpdatingReason, "the machine is being updated in place")
	}
	if kubelet := m.Status.NodeInfo.KubeletVersion; kubelet != "" && kubelet != m.Spec.Version {
		return negative(clusterv1.MachineUpToDateCondition, clusterv1.MachineUpToDateUpdatingReason,
			"the kubelet has version "+kubelet+", "+m.Spec.Version+" required")
	}
	return positive(clusterv1.MachineUpToDateCondition, clusterv1.MachineUpToDateReason, "")
}
