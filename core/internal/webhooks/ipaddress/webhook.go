// Package ipaddress holds the rules of admission for IPAddresses.
package ipaddress

import (
	"context"
	"fmt"
	"net/netip"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ipamv1 "github.com/slipway-capi/slipway/contract/api/ipam/v1beta2"
	"github.com/slipway-capi/slipway/core/internal/webhooks/admission"
)

// +kubebuilder:webhook:path=/validate-ipam-cluster-x-k8s-io-v1beta2-ipaddress,mutating=false,failurePolicy=fail,matchPolicy=Equivalent,sideEffects=None,groups=ipam.cluster.x-k8s.io,resources=ipaddresses,verbs=create;update,versions=v1beta2,name=validation.ipaddress.ipam.cluster.x-k8s.io,admissionReviewVersions=v1

// +kubebuilder:rbac:groups=ipam.cluster.x-k8s.io,resources=ipaddressclaims,verbs=get

// Register adds the webhook to the manager.
func Register(mgr ctrl.Manager) error {
	live := mgr.GetAPIReader()
	return admission.Register(mgr, &ipamv1.IPAddress{}, admission.Rules[*ipamv1.IPAddress]{
		Kind:     ipamv1.GroupVersion.WithKind("IPAddress").GroupKind(),
		Validate: Validate,
		ValidateAmong: func(ctx context.Context, obj, before *ipamv1.IPAddress) ([]string, field.ErrorList, error) {
			if before != nil || obj.Spec.ClaimRef.Name == "" {
				return nil, nil, nil // what is stored does not change
			}
			claim := &ipamv1.IPAddressClaim{}
			err := live.Get(ctx, client.ObjectKey{Namespace: obj.Namespace, Name: obj.Spec.ClaimRef.Name}, claim)
			if apierrors.IsNotFound(err) {
				return nil, nil, nil // an address may be moved, or restored, before its claim
			}
			if err != nil {
				return nil, nil, fmt.Errorf("reading IPAddressClaim %s: %w", obj.Spec.ClaimRef.Name, err)
			}
			return nil, ValidateClaim(obj, claim), nil
		},
	})
}

// ValidateClaim demands that an address is of the pool that its claim asked for.
func ValidateClaim(address *ipamv1.IPAddress, claim *ipamv1.IPAddressClaim) field.ErrorList {
	if have, want := address.Spec.PoolRef, claim.Spec.PoolRef; have != want {
		return field.ErrorList{field.Invalid(field.NewPath("spec", "poolRef"), have.Kind+" "+have.Name,
			fmt.Sprintf("must be the pool of the claim %s, %s %s of %s", claim.Name, want.Kind, want.Name, want.APIGroup))}
	}
	return nil
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
