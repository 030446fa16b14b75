// Package ipaddress holds the rules of admission for IPAddresses.
package ipaddress

import (
	"fmt"
	"net/netip"

	"k8s.io/apimachinery/pkg/util/validation/field"
	ctrl "sigs.k8s.io/controller-runtime"

	ipamv1 "github.com/slipway-capi/slipway/contract/api/ipam/v1beta2"
	"github.com/slipway-capi/slipway/core/internal/webhooks/admission"
)

// +kubebuilder:webhook:path=/validate-ipam-cluster-x-k8s-io-v1beta2-ipaddress,mutating=false,failurePolicy=fail,matchPolicy=Equivalent,sideEffects=None,groups=ipam.cluster.x-k8s.io,resources=ipaddresses,verbs=create;update,versions=v1beta2,name=validation.ipaddress.ipam.cluster.x-k8s.io,admissionReviewVersions=v1

// Register adds the webhook to the manager.
func Register(mgr ctrl.Manager) error {
	return admission.Register(mgr, &ipamv1.IPAddress{}, admission.Rules[*ipamv1.IPAddress]{
		Kind:     ipamv1.GroupVersion.WithKind("IPAddress").GroupKind(),
		Validate: Validate,
	})
}

// Validate judges an IPAddress; before is nil when it is new.
func Validate(address, before *ipamv1.IPAddress) field.ErrorList {
	path, spec := field.NewPath("spec"), address.Spec
	var problems field.ErrorList
	ip, err := netip.ParseAddr(spec.Address)
	if err != nil {
		problems = append(problems, field.Invalid(path.Child("address"), spec.Address, "must be an IPv4 or IPv6 address"))
	} else if longest := int32(ip.BitLen()); spec.Prefix < 0 || spec.Prefix > longest {
		problems = append(problems, field.Invalid(path.Child("prefix"), spec.Prefix, fmt.Sprintf("must be between 0 and %d", longest)))
	}
	if spec.Gateway != "" {
		if _, err := netip.ParseAddr(spec.Gateway); err != nil {
			problems = append(problems, field.Invalid(path.Child("gateway"), spec.Gateway, "must be an IPv4 or IPv6 address"))
		}
	}
	if spec.PoolRef.APIGroup == "" {
		problems = append(problems, field.Required(path.Child("poolRef", "apiGroup"), "must name the group of the pool"))
	}
	if before != nil && before.Spec != spec {
		problems = append(problems, field.Forbidden(path, "must not change: release the claim and make a new one"))
	}
	return problems
}
