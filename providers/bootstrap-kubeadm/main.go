// Command bootstrap-kubeadm is the manager of KubeadmConfigs.
package main

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/clustercache"
	"github.com/slipway-capi/slipway/contract/external"
	"github.com/slipway-capi/slipway/contract/manager"
	bootstrapv1 "github.com/slipway-capi/slipway/providers/bootstrap-kubeadm/api/v1beta2"
	"github.com/slipway-capi/slipway/providers/bootstrap-kubeadm/config"
	"github.com/slipway-capi/slipway/providers/bootstrap-kubeadm/internal/controllers/kubeadmconfig"
	"github.com/slipway-capi/slipway/providers/bootstrap-kubeadm/internal/webhooks"
)

type options struct {
	remote      manager.RemoteFlags
	concurrency int
	tokenTTL    time.Duration
}

// Leader election keeps a Lease; secure diagnostics ask who their user is and what that may do.
//
// +kubebuilder:rbac:groups=coordination.k8s.io,resources=leases,verbs=get;create;update
// +kubebuilder:rbac:groups=authentication.k8s.io,resources=tokenreviews,verbs=create
// +kubebuilder:rbac:groups=authorization.k8s.io,resources=subjectaccessreviews,verbs=create

// The migration of stored objects writes the CustomResourceDefinitions of this manager and no others, and objects of all their kinds.
//
// +kubebuilder:rbac:groups=bootstrap.cluster.x-k8s.io,resources=kubeadmconfigtemplates,verbs=list;patch
// +kubebuilder:rbac:groups=apiextensions.k8s.io,resources=customresourcedefinitions;customresourcedefinitions/status,verbs=update;patch,resourceNames=kubeadmconfigs.bootstrap.cluster.x-k8s.io;kubeadmconfigtemplates.bootstrap.cluster.x-k8s.io

func main() {
	var o options
	manager.Program{
		Name:             "bootstrap-kubeadm",
		LeaderElectionID: "kubeadm-bootstrap-manager-leader-election-capi",
		CRDs:             config.CRDs,
		AddToScheme:      []func(*runtime.Scheme) error{clusterv1.AddToScheme, bootstrapv1.AddToScheme},
		KeepSecretData:   kubeadmconfig.KeepSecretData,
		Flags:            o.flags,
		Validate:         o.validate,
		Setup:            o.setup,
		Webhooks: func(mgr ctrl.Manager, flags *manager.Flags) error {
			return webhooks.Register(mgr, webhooks.Options{Ignition: flags.Features.Enabled(manager.FeatureKubeadmBootstrapFormatIgnition)})
		},
	}.Main()
}

func (o *options) flags(fs *pflag.FlagSet) {
	o.remote.AddTo(fs)
	manager.Concurrency(fs, &o.concurrency, "kubeadmconfig", 100)
	fs.DurationVar(&o.tokenTTL, "bootstrap-token-ttl", 15*time.Minute, "How long a bootstrap token lives; it is extended until its machine has joined.")
}

func (o *options) validate() error {
	if o.tokenTTL <= 0 {
		return errors.New("--bootstrap-token-ttl must be greater than 0")
	}
	return o.remote.Validate()
}

func (o *options) setup(ctx context.Context, mgr ctrl.Manager, flags *manager.Flags) error {
	clusters, err := clustercache.New(mgr, clustercache.Options{Concurrency: o.remote.Concurrency, QPS: o.remote.ClientQPS, Burst: o.remote.ClientBurst})
	if err != nil {
		return err
	}
	c := &kubeadmconfig.Controller{Client: mgr.GetClient(), Live: mgr.GetAPIReader(), Secrets: mgr.GetCache(), Resolver: external.NewResolver(mgr.GetClient()),
		ClusterCache: clusters, TokenTTL: o.tokenTTL, WatchFilter: flags.WatchFilter}
	return c.SetupWithManager(ctx, mgr, o.concurrency)
}
