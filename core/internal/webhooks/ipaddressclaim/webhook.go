// Package ipaddressclaim holds the rules of admission for IPAddressClaims.
package ipaddressclaim

import (
	"k8s.io/apimachinery/pkg/util/validation/field"
	ctrl "sigs.k8s.io/controller-runtime"

	ipamv1 "github.com/slipway-capi/slipway/contract/api/ipam/v1beta2"
	"github.com/slipway-capi/slipway/core/internal/webhooks/admission"
)

// +kubebuilder:webhook:path=/validate-ipam-cluster-x-k8s-io-v1beta2-ipaddressclaim,mutating=false,failurePolicy=fail,matchPolicy=Equivalent,sideEffects=None,groups=ipam.cluster.x-k8s.io,resources=ipaddressclaims,verbs=create;update,versions=v1beta2,name=validation.ipaddressclaim.ipam.cluster.x-k8s.io,admissionReviewVersions=v1

// Register adds the webhook to the manager.
func Register(mgr ctrl.Manager) error {
	return admission.Register(mgr, &ipamv1.IPAddressClaim{}, admission.Rules[*ipamv1.IPAddressClaim]{
		Kind:     ipamv1.GroupVersion.WithKind("IPAddressClaim").GroupKind(),
		Validate: Validate,
	})
}

// Validate judges an IPAddressClaim; before is nil when it is new.
func Validate(claim, before *ipamv1.IPAddressClaim) field.ErrorList {
	path := field.NewPath("spec")
	var problems field.ErrorList
	if claim.Spec.PoolRef.APIGroup == "" {
		problems = append(problems, field.Required(path.Child("poolRef", "apiGroup"), "must name the group of the pool"))
	}
	if before != nil && before.Spec != claim.Spec {
		problems = append(problems, field.Forbidden(path, "must not change: delete the claim and make a new one"))
	}
	return problems
}
