// Package outdated says why Machines made from one template must be replaced to follow another. The MachineDeployment rolls
// out for these reasons, and its Machines report them, so both use the same words. It is pure.
package outdated

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
)

// Difference is a field of a template for which Machines must be replaced.
type Difference struct {
	// Field is the path below spec.template.spec.
	Field string
	// Have and Want are the values, empty where the field is not set.
	Have, Want string
	// label is how people call the field.
	label string
}

// String tells the difference in a line.
func (d Difference) String() string {
	return fmt.Sprintf("%s %s, %s required", d.label, orUnset(d.Have), orUnset(d.Want))
}

func orUnset(value string) string {
	if value == "" {
		return "unset"
	}
	return value
}

// Differences compares two templates, the version first. Fields that change in place do not count, and unset is equal to empty.
func Differences(have, want clusterv1.MachineSpec) []Difference {
	var out []Difference
	differs := func(field, label, a, b string) {
		if a != b {
			out = append(out, Difference{Field: field, Have: a, Want: b, label: label})
		}
	}
	references := func(field string, a, b clusterv1.ContractVersionedObjectReference) {
		if a.APIGroup == b.APIGroup && a.Kind == b.Kind {
			differs(field, b.Kind, a.Name, b.Name)
			return
		}
		differs(field, field, text(a), text(b))
	}
	differs("version", "Version", have.Version, want.Version)
	differs("failureDomain", "Failure domain", have.FailureDomain, want.FailureDomain)
	references("bootstrap.configRef", have.Bootstrap.ConfigRef, want.Bootstrap.ConfigRef)
	differs("bootstrap.dataSecretName", "Bootstrap data Secret", deref(have.Bootstrap.DataSecretName), deref(want.Bootstrap.DataSecretName))
	references("infrastructureRef", have.InfrastructureRef, want.InfrastructureRef)
	return out
}

// Expired says whether a rollout that was asked for from a moment on is due for what was created then. Times of the API
// have whole seconds, so what was made in the second of that moment is its result already.
func Expired(created, after metav1.Time, now time.Time) bool {
	return !after.IsZero() && !after.After(now) && created.Before(&after)
}

// Reasons lists in one line each why the Machines of a MachineSet must be replaced; it is empty when they need not.
func Reasons(set *clusterv1.MachineSet, deployment *clusterv1.MachineDeployment, now time.Time) []string {
	var out []string
	for _, d := range Differences(set.Spec.Template.Spec, deployment.Spec.Template.Spec) {
		out = append(out, d.String())
	}
	if Expired(set.CreationTimestamp, deployment.Spec.Rollout.After, now) {
		out = append(out, "MachineDeployment spec.rollout.after expired")
	}
	return out
}

func text(r clusterv1.ContractVersionedObjectReference) string {
	if r.Name == "" {
		return ""
	}
	return r.Kind + "." + r.APIGroup + "/" + r.Name
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
