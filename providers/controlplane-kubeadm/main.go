// Command manager runs the kubeadm control plane provider.
package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	runtimev1 "github.com/slipway-capi/slipway/contract/api/runtime/v1beta2"
	"github.com/slipway-capi/slipway/contract/clustercache"
	"github.com/slipway-capi/slipway/contract/extension/hookcall"
	"github.com/slipway-capi/slipway/contract/extension/registration"
	"github.com/slipway-capi/slipway/contract/external"
	"github.com/slipway-capi/slipway/contract/manager"
	bootstrapv1 "github.com/slipway-capi/slipway/providers/bootstrap-kubeadm/api/v1beta2"
	backupv1 "github.com/slipway-capi/slipway/providers/controlplane-kubeadm/api/backup/v1alpha1"
	controlplanev1 "github.com/slipway-capi/slipway/providers/controlplane-kubeadm/api/v1beta2"
	"github.com/slipway-capi/slipway/providers/controlplane-kubeadm/config"
	"github.com/slipway-capi/slipway/providers/controlplane-kubeadm/internal/controllers/etcdbackup"
	"github.com/slipway-capi/slipway/providers/controlplane-kubeadm/internal/controllers/etcdsnapshot"
	"github.com/slipway-capi/slipway/providers/controlplane-kubeadm/internal/controllers/kubeadmcontrolplane"
	backupwebhooks "github.com/slipway-capi/slipway/providers/controlplane-kubeadm/internal/webhooks/etcdbackup"
	webhooks "github.com/slipway-capi/slipway/providers/controlplane-kubeadm/internal/webhooks/kubeadmcontrolplane"
)

const (
	name = "slipway-kubeadm-control-plane-manager"
	// leastConditionsGrace is more than a connection needs to be found broken and made again.
	leastConditionsGrace = 2 * time.Minute
)

// options are the flags of this manager only.
type options struct {
	concurrency, clusterCacheConcurrency int
	clientQPS                            float32
	clientBurst                          int
	etcdDialTimeout, etcdCallTimeout     time.Duration
	etcdLogLevel                         zapcore.Level
	conditionsGrace                      time.Duration
	// backupRoot is the directory below which snapshots of etcd may be stored.
	backupRoot                             string
	backupConcurrency, snapshotConcurrency int
	extensions                             registration.Options
}

// The migration of stored objects writes the CustomResourceDefinitions of this manager and no others.
//
// +kubebuilder:rbac:groups=apiextensions.k8s.io,resources=customresourcedefinitions;customresourcedefinitions/status,verbs=update;patch,resourceNames=etcdbackups.backup.slipway.dev;etcdsnapshots.backup.slipway.dev;kubeadmcontrolplanes.controlplane.cluster.x-k8s.io;kubeadmcontrolplanetemplates.controlplane.cluster.x-k8s.io

// Extensions that update machines in place are found by the ExtensionConfigs of the core.
//
// +kubebuilder:rbac:groups=runtime.cluster.x-k8s.io,resources=extensionconfigs,verbs=get;list;watch
// +kubebuilder:rbac:groups="",resources=namespaces,verbs=get;list;watch

func main() {
	o := &options{}
	manager.Program{
		Name:             name,
		LeaderElectionID: "kubeadm-control-plane-manager-leader-election-capi",
		CRDs:             config.CRDs,
		AddToScheme:      []func(*runtime.Scheme) error{clusterv1.AddToScheme, bootstrapv1.AddToScheme, controlplanev1.AddToScheme, backupv1.AddToScheme, runtimev1.AddToScheme},
		KeepSecretData:   keepSecretData,
		ReconcileTimeout: kubeadmcontrolplane.Budget,
		Flags:            o.addTo,
		Validate:         o.extensions.Validate,
		Setup:            o.setup,
		Webhooks: func(mgr ctrl.Manager, flags *manager.Flags) error {
			if err := backupwebhooks.Register(mgr); err != nil {
				return err
			}
			return webhooks.Register(mgr, webhooks.Options{TaintPropagation: flags.Features.Enabled(manager.FeatureMachineTaintPropagation),
				Ignition:        flags.Features.Enabled(manager.FeatureKubeadmBootstrapFormatIgnition),
				ClusterTopology: flags.Features.Enabled(manager.FeatureClusterTopology)})
		},
	}.Main()
}

func (o *options) addTo(fs *pflag.FlagSet) {
	fs.IntVar(&o.concurrency, "kubeadmcontrolplane-concurrency", 100, "Number of control planes handled at the same time.")
	fs.IntVar(&o.clusterCacheConcurrency, "clustercache-concurrency", 100, "Number of workload clusters connected or probed at the same time.")
	fs.Float32Var(&o.clientQPS, "clustercache-client-qps", 20, "Sustained requests per second to one workload cluster.")
	fs.IntVar(&o.clientBurst, "clustercache-client-burst", 30, "Requests to one workload cluster allowed in a burst.")
	fs.DurationVar(&o.etcdDialTimeout, "etcd-dial-timeout-duration", 10*time.Second, "How long connecting to an etcd member may take.")
	o.etcdLogLevel = zapcore.InfoLevel
	fs.Var(levelFlag{&o.etcdLogLevel}, "etcd-client-log-level", "How much the etcd client tells: debug, info, warn or error.")
	fs.DurationVar(&o.conditionsGrace, "remote-conditions-grace-period", 5*time.Minute,
		"How long conditions are kept after the connection to a workload cluster broke; at least 2m.")
	fs.DurationVar(&o.etcdCallTimeout, "etcd-call-timeout-duration", 15*time.Second, "How long one question to etcd may take.")
	fs.StringVar(&o.backupRoot, "etcd-backup-root", "", "Directory below which EtcdBackups may store snapshots; without it they must use S3.")
	fs.IntVar(&o.backupConcurrency, "etcdbackup-concurrency", 10, "Number of EtcdBackups handled at the same time.")
	fs.IntVar(&o.snapshotConcurrency, "etcdsnapshot-concurrency", 4, "Number of snapshots of etcd taken or verified at the same time.")
	o.extensions.AddTo(fs)
}

// keepSecretData: certificates and kubeconfigs are read from memory, boot documents never.
func keepSecretData(name string) bool {
	for _, suffix := range []string{"-ca", "-etcd", "-proxy", "-sa", "-apiserver-etcd-client", "-kubeconfig"} {
		if strings.HasSuffix(name, suffix) {
			return true
		}
	}
	return false
}

// levelFlag makes a flag of a log level.
type levelFlag struct{ *zapcore.Level }

// Type implements pflag.Value.
func (levelFlag) Type() string { return "level" }

func (o *options) setup(_ context.Context, mgr ctrl.Manager, flags *manager.Flags) error {
	if o.conditionsGrace < leastConditionsGrace {
		return fmt.Errorf("--remote-conditions-grace-period is %s, it must be at least %s", o.conditionsGrace, leastConditionsGrace)
	}
	logs := zap.NewProductionConfig()
	logs.Level = zap.NewAtomicLevelAt(o.etcdLogLevel)
	etcdLog, err := logs.Build()
	if err != nil {
		return fmt.Errorf("making the log of the etcd client: %w", err)
	}
	clusters, err := clustercache.New(mgr, clustercache.Options{
		Concurrency: o.clusterCacheConcurrency, QPS: o.clientQPS, Burst: o.clientBurst, UserAgent: name,
		ByObject: kubeadmcontrolplane.RemoteCache(),
	})
	if err != nil {
		return err
	}
	hooks, err := o.hooks(mgr, flags)
	if err != nil {
		return err
	}
	controller := &kubeadmcontrolplane.Controller{
		Client: mgr.GetClient(), Cached: mgr.GetCache(), Live: mgr.GetAPIReader(),
		Resolver: external.NewResolver(mgr.GetClient()), Clusters: clusters,
		Recorder:        mgr.GetEventRecorder("kubeadmcontrolplane-controller"),
		EtcdDialTimeout: o.etcdDialTimeout, EtcdCallTimeout: o.etcdCallTimeout, EtcdLog: etcdLog,
		ConditionsGrace: o.conditionsGrace, Hooks: hooks,
	}
	if err := controller.Register(mgr, kubeadmcontrolplane.Options{Concurrency: o.concurrency, WatchFilter: flags.WatchFilter}); err != nil {
		return err
	}
	return o.setupBackups(mgr, flags, clusters, etcdLog)
}

// hooks makes what asks extensions about updates in place; nil without these features.
func (o *options) hooks(mgr ctrl.Manager, flags *manager.Flags) (*hookcall.Client, error) {
	if !flags.Features.Enabled(manager.FeatureRuntimeSDK) || !flags.Features.Enabled(manager.FeatureInPlaceUpdates) {
		return nil, nil
	}
	return o.extensions.Client(mgr, name)
}

func (o *options) setupBackups(mgr ctrl.Manager, flags *manager.Flags, clusters clustercache.Cache, etcdLog *zap.Logger) error {
	snapshots := &etcdsnapshot.Controller{
		Client: mgr.GetClient(), Live: mgr.GetAPIReader(), Cached: mgr.GetCache(), Clusters: clusters, Recorder: mgr.GetEventRecorder("etcdsnapshot-controller"),
		Root: o.backupRoot, EtcdDialTimeout: o.etcdDialTimeout, EtcdCallTimeout: o.etcdCallTimeout, EtcdLog: etcdLog,
	}
	if err := snapshots.Register(mgr, etcdsnapshot.Options{Concurrency: o.snapshotConcurrency, WatchFilter: flags.WatchFilter}); err != nil {
		return err
	}
	backups := &etcdbackup.Controller{Client: mgr.GetClient(), Recorder: mgr.GetEventRecorder("etcdbackup-controller")}
	return backups.Register(mgr, etcdbackup.Options{Concurrency: o.backupConcurrency, WatchFilter: flags.WatchFilter})
}
