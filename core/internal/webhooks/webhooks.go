// Package webhooks registers the rules of admission of the core's kinds with its manager. Each kind's rules are pure functions in a package of
// their own; admission makes webhooks of them.
package webhooks

import (
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/slipway-capi/slipway/contract/manager"
	"github.com/slipway-capi/slipway/core/internal/webhooks/cluster"
	"github.com/slipway-capi/slipway/core/internal/webhooks/clusterclass"
	"github.com/slipway-capi/slipway/core/internal/webhooks/clusterresourceset"
	"github.com/slipway-capi/slipway/core/internal/webhooks/extensionconfig"
	"github.com/slipway-capi/slipway/core/internal/webhooks/ipaddress"
	"github.com/slipway-capi/slipway/core/internal/webhooks/ipaddressclaim"
	"github.com/slipway-capi/slipway/core/internal/webhooks/machine"
	"github.com/slipway-capi/slipway/core/internal/webhooks/machinedeployment"
	"github.com/slipway-capi/slipway/core/internal/webhooks/machinedrainrule"
	"github.com/slipway-capi/slipway/core/internal/webhooks/machinehealthcheck"
	"github.com/slipway-capi/slipway/core/internal/webhooks/machinepool"
	"github.com/slipway-capi/slipway/core/internal/webhooks/machineset"
)

// SetupWithManager registers all webhooks of the core; it has the signature that manager.Program asks for.
func SetupWithManager(mgr ctrl.Manager, flags *manager.Flags) error {
	for _, register := range []func(ctrl.Manager, manager.Features) error{
		cluster.Register, clusterclass.Register, extensionconfig.Register, machine.Register, machineset.Register, machinedeployment.Register, machinepool.Register,
	} {
		if err := register(mgr, flags.Features); err != nil {
			return err
		}
	}
	for _, register := range []func(ctrl.Manager) error{
		clusterresourceset.Register, machinehealthcheck.Register, machinedrainrule.Register, ipaddress.Register, ipaddressclaim.Register,
	} {
		if err := register(mgr); err != nil {
			return err
		}
	}
	return nil
}
