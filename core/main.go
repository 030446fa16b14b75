// Command manager is the core manager: it runs the controllers of Clusters, Machines, MachineSets, MachineDeployments and MachinePools.
package main

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"

	addonsv1 "github.com/slipway-capi/slipway/contract/api/addons/v1beta2"
	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	ipamv1 "github.com/slipway-capi/slipway/contract/api/ipam/v1beta2"
	runtimev1 "github.com/slipway-capi/slipway/contract/api/runtime/v1beta2"
	"github.com/slipway-capi/slipway/contract/clustercache"
	"github.com/slipway-capi/slipway/contract/external"
	"github.com/slipway-capi/slipway/contract/manager"
	"github.com/slipway-capi/slipway/core/config"
	"github.com/slipway-capi/slipway/core/internal/controllers/cluster"
	"github.com/slipway-capi/slipway/core/internal/controllers/clusterclass"
	"github.com/slipway-capi/slipway/core/internal/controllers/clusterresourceset"
	"github.com/slipway-capi/slipway/core/internal/controllers/machine"
	"github.com/slipway-capi/slipway/core/internal/controllers/machinedeployment"
	"github.com/slipway-capi/slipway/core/internal/controllers/machinehealthcheck"
	"github.com/slipway-capi/slipway/core/internal/controllers/machinepool"
	"github.com/slipway-capi/slipway/core/internal/controllers/machineset"
	"github.com/slipway-capi/slipway/core/internal/controllers/topology"
	"github.com/slipway-capi/slipway/core/internal/webhooks"
)

const name = "slipway-core-manager"

// +kubebuilder:rbac:groups=coordination.k8s.io,resources=leases,verbs=get;create;update
// +kubebuilder:rbac:groups=authentication.k8s.io,resources=tokenreviews,verbs=create
// +kubebuilder:rbac:groups=authorization.k8s.io,resources=subjectaccessreviews,verbs=create

// The migration of stored objects writes the CustomResourceDefinitions of this manager and no others, and objects of all their kinds.
//
// +kubebuilder:rbac:groups=cluster.x-k8s.io,resources=machinedrainrules,verbs=list;patch
// +kubebuilder:rbac:groups=ipam.cluster.x-k8s.io,resources=ipaddressclaims;ipaddresses,verbs=list;patch
// +kubebuilder:rbac:groups=runtime.cluster.x-k8s.io,resources=extensionconfigs,verbs=list;patch
// +kubebuilder:rbac:groups=apiextensions.k8s.io,resources=customresourcedefinitions;customresourcedefinitions/status,verbs=update;patch,resourceNames=clusterresourcesetbindings.addons.cluster.x-k8s.io;clusterresourcesets.addons.cluster.x-k8s.io;clusterclasses.cluster.x-k8s.io;clusters.cluster.x-k8s.io;machinedeployments.cluster.x-k8s.io;machinedrainrules.cluster.x-k8s.io;machinehealthchecks.cluster.x-k8s.io;machinepools.cluster.x-k8s.io;machines.cluster.x-k8s.io;machinesets.cluster.x-k8s.io;ipaddressclaims.ipam.cluster.x-k8s.io;ipaddresses.ipam.cluster.x-k8s.io;extensionconfigs.runtime.cluster.x-k8s.io

func main() { program(&options{}).Main() }

func program(options *options) manager.Program {
	return manager.Program{
		Name:             name,
		LeaderElectionID: "controller-leader-election-capi",
		CRDs:             config.CRDs,
		AddToScheme:      []func(*runtime.Scheme) error{clusterv1.AddToScheme, addonsv1.AddToScheme, ipamv1.AddToScheme, runtimev1.AddToScheme},
		// Of a cluster's Secrets only the kubeconfig is read from memory; private keys stay out of it.
		KeepSecretData: func(name string) bool { return strings.HasSuffix(name, "-kubeconfig") },
		KeepFieldsOf:   topology.FieldOwner,
		Flags:          options.addTo,
		Validate:       options.validate,
		Setup:          options.setup,
		Webhooks:       webhooks.SetupWithManager,
	}
}

// kind is a controller that setup registers.
type kind struct {
	name        string
	concurrency int
	setup       func(context.Context, ctrl.Manager, int) error
}

// setup registers the controllers, those with few objects first.
func (o *options) setup(ctx context.Context, mgr ctrl.Manager, flags *manager.Flags) error {
	clusters, err := clustercache.New(mgr, clustercache.Options{
		Concurrency: o.remote.Concurrency, QPS: o.remote.ClientQPS, Burst: o.remote.ClientBurst, UserAgent: name,
	})
	if err != nil {
		return err
	}
	c, resolver := mgr.GetClient(), external.NewResolver(mgr.GetClient())
	hooks, extensions := o.extensions.setup(mgr, flags)
	updates := hooks
	if !flags.Features.Enabled(manager.FeatureInPlaceUpdates) {
		updates = nil
	}
	controllers := []kind{
		{"cluster", o.cluster, (&cluster.Controller{
			Client: c, Live: mgr.GetAPIReader(), Secrets: mgr.GetCache(), Resolver: resolver, ClusterCache: clusters, WatchFilter: flags.WatchFilter,
			Recorder: mgr.GetEventRecorder("cluster-controller"), ConnectionGrace: o.remote.ConnectionGracePeriod,
			BeforeDeleteHook: flags.Features.Enabled(manager.FeatureClusterTopology) && flags.Features.Enabled(manager.FeatureRuntimeSDK),
		}).SetupWithManager},
		{"machine", o.machine, (&machine.Controller{
			Client: c, Resolver: resolver, ClusterCache: clusters, WatchFilter: flags.WatchFilter, Recorder: mgr.GetEventRecorder("machine-controller"),
			ConditionsGrace: o.remote.ConditionsGracePeriod, Node: o.nodeSync(flags.Features), Hooks: updates,
			ConsiderVolumeAttachments: flags.Features.Enabled(manager.FeatureMachineWaitForVolumeDetachConsiderVolumeAttachments),
		}).SetupWithManager},
		{"machineset", o.machineSet, (&machineset.Controller{
			Client: c, Resolver: resolver, WatchFilter: flags.WatchFilter, Recorder: mgr.GetEventRecorder("machineset-controller"), PreflightChecks: o.preflightChecks(flags.Features),
		}).SetupWithManager},
		{"machinedeployment", o.machineDeployment, (&machinedeployment.Controller{
			Client: c, Resolver: resolver, WatchFilter: flags.WatchFilter, Recorder: mgr.GetEventRecorder("machinedeployment-controller"), Hooks: updates,
		}).SetupWithManager},
		{"machinehealthcheck", o.machineHealthCheck, (&machinehealthcheck.Controller{
			Client: c, ClusterCache: clusters, WatchFilter: flags.WatchFilter, Recorder: mgr.GetEventRecorder("machinehealthcheck-controller"),
		}).SetupWithManager},
	}
	if flags.Features.Enabled(manager.FeatureMachinePool) {
		controllers = append(controllers, kind{"machinepool", o.machinePool, (&machinepool.Controller{
			Client: c, Resolver: resolver, ClusterCache: clusters, WatchFilter: flags.WatchFilter, Recorder: mgr.GetEventRecorder("machinepool-controller"),
			ConditionsGrace: o.remote.ConditionsGracePeriod,
		}).SetupWithManager})
	}
	controllers = append(controllers, kind{"clusterresourceset", o.clusterResourceSet, (&clusterresourceset.Controller{
		Client: c, Live: mgr.GetAPIReader(), ClusterCache: clusters, WatchFilter: flags.WatchFilter, Namespace: flags.Namespace,
	}).SetupWithManager})
	if extensions != nil {
		controllers = append(controllers, kind{"extensionconfig", o.extensions.concurrency, extensions.SetupWithManager})
	}
	if flags.Features.Enabled(manager.FeatureClusterTopology) {
		controllers = append(controllers,
			kind{"clusterclass", o.clusterClass, (&clusterclass.Controller{Client: c, Resolver: resolver, WatchFilter: flags.WatchFilter, Hooks: hooks}).SetupWithManager},
			kind{"topology", o.topology, (&topology.Controller{
				Client: c, Resolver: resolver, WatchFilter: flags.WatchFilter, Recorder: mgr.GetEventRecorder("topology-controller"),
				ConsentBeforeDelete: flags.Features.Enabled(manager.FeatureRuntimeSDK), Hooks: hooks,
			}).SetupWithManager})
	}
	for _, k := range controllers {
		if err := k.setup(ctx, mgr, k.concurrency); err != nil {
			return fmt.Errorf("%s: %w", k.name, err)
		}
	}
	return nil
}
