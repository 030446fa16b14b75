package manager

import (
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/pprof"
	"os"
	"path"
	"path/filepath"
	goruntime "runtime"
	"strings"
	"sync"
	"time"

	"github.com/spf13/pflag"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/metrics/filters"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	"github.com/slipway-capi/slipway/contract/crdmigration"
)

// cacheSyncTimeout is how long the caches may take to fill before the manager gives up, so that a missing CRD is noticed.
const cacheSyncTimeout = 5 * time.Minute

// reconcileTimeout ends a reconcile that hangs, so that it does not keep a worker for ever.
const reconcileTimeout = time.Minute

// Program says what is special about one manager.
type Program struct {
	// Name is how the manager calls itself in logs and as a client of the API server.
	Name string
	// LeaderElectionID is the name of the Lease.
	LeaderElectionID string
	// AddToScheme registers the types that the manager handles, besides those of Kubernetes.
	AddToScheme []func(*runtime.Scheme) error
	// KeepSecretData says for a Secret's name whether its data stays in the cache; nil keeps all.
	KeepSecretData func(name string) bool
	// KeepFieldsOf names a field owner of this manager whose entries of managedFields stay in the cache; empty keeps none.
	KeepFieldsOf string
	// CRDs holds the manifests of this manager's CustomResourceDefinitions, in files named <group>_<plural>.yaml. What is stored of
	// their kinds is brought up to date after an upgrade. The manager's role must let it update these CRDs.
	CRDs fs.FS
	// ReconcileTimeout is how long one reconcile may take; zero means a minute.
	ReconcileTimeout time.Duration
	// Flags defines flags of this manager only, if it has any.
	Flags func(fs *pflag.FlagSet)
	// Validate checks those flags.
	Validate func() error
	// Setup registers the controllers.
	Setup func(ctx context.Context, mgr ctrl.Manager, flags *Flags) error
	// Webhooks registers the webhooks; nil means that the manager has none, and no webhook server runs.
	Webhooks func(mgr ctrl.Manager, flags *Flags) error
}

// Main runs the program with the arguments of the process until it is told to stop, and ends the process.
func (p Program) Main() {
	if err := p.Run(ctrl.SetupSignalHandler(), os.Args[1:]); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", p.Name, err)
		os.Exit(1)
	}
}

// Run runs the program with the given arguments until the context ends.
func (p Program) Run(ctx context.Context, args []string) error {
	flags := NewFlags()
	set := pflag.NewFlagSet(p.Name, pflag.ContinueOnError)
	flags.AddTo(set)
	if p.Flags != nil {
		p.Flags(set)
	}
	if err := set.Parse(args); err != nil {
		return err
	}
	if err := flags.Validate(); err != nil {
		return err
	}
	if p.Validate != nil {
		if err := p.Validate(); err != nil {
			return err
		}
	}
	restConfig, err := flags.restConfig()
	if err != nil {
		return err
	}
	mgr, err := p.New(restConfig, flags)
	if err != nil {
		return err
	}
	if err := p.register(ctx, mgr, flags); err != nil {
		return err
	}
	mgr.GetLogger().Info("Starting manager", "name", p.Name, "features", flags.Features.String())
	return mgr.Start(ctx)
}

// register adds the controllers, the webhooks and the probes to the manager.
func (p Program) register(ctx context.Context, mgr ctrl.Manager, flags *Flags) error {
	if err := p.Setup(ctx, mgr, flags); err != nil {
		return fmt.Errorf("setting up controllers: %w", err)
	}
	if err := p.migrate(ctx, mgr, flags); err != nil {
		return err
	}
	check := healthz.Ping
	if p.Webhooks != nil {
		if err := p.Webhooks(mgr, flags); err != nil {
			return fmt.Errorf("setting up webhooks: %w", err)
		}
		check = mgr.GetWebhookServer().StartedChecker()
	}
	if err := mgr.AddHealthzCheck("webhook", check); err != nil {
		return fmt.Errorf("adding the health check: %w", err)
	}
	if err := mgr.AddReadyzCheck("webhook", check); err != nil {
		return fmt.Errorf("adding the readiness check: %w", err)
	}
	return nil
}

// migrate registers the migration of this manager's kinds.
func (p Program) migrate(ctx context.Context, mgr ctrl.Manager, flags *Flags) error {
	if p.CRDs == nil {
		return nil
	}
	m := &crdmigration.Migrator{Client: mgr.GetClient(), Live: mgr.GetAPIReader()}
	for _, phase := range flags.SkipCRDMigration {
		m.Skip = append(m.Skip, crdmigration.Phase(phase))
	}
	var err error
	if m.Kinds, err = crdNames(p.CRDs); err != nil {
		return fmt.Errorf("listing the kinds of %s: %w", p.Name, err)
	}
	return m.SetupWithManager(ctx, mgr)
}

// crdNames are the names of CRDs by those of their files.
func crdNames(files fs.FS) ([]string, error) {
	var names []string
	err := fs.WalkDir(files, ".", func(file string, d fs.DirEntry, err error) error {
		if group, plural, ok := strings.Cut(strings.TrimSuffix(path.Base(file), ".yaml"), "_"); ok && err == nil && !d.IsDir() {
			names = append(names, plural+"."+group)
		}
		return err
	})
	return names, err
}

// logOfLibraries: their logger must not change while something may log. Who starts several managers in one process, as tests do, finds their
// lines in the log of the first.
var logOfLibraries sync.Once

// New makes the manager of the program without controllers.
func (p Program) New(restConfig *rest.Config, flags *Flags) (ctrl.Manager, error) {
	scheme, err := p.scheme()
	if err != nil {
		return nil, err
	}
	tlsOptions, err := flags.tlsOptions()
	if err != nil {
		return nil, err
	}
	level := &logLevel{}
	level.set(flags.Verbosity)
	logger := newLogger(os.Stderr, flags.LogFormat, level)
	ctrl.SetLogger(logger)
	logOfLibraries.Do(func() { klog.SetLogger(logger) })
	if flags.ContentionProfiling {
		goruntime.SetBlockProfileRate(1)
	}
	restConfig = rest.AddUserAgent(restConfig, p.Name)
	restConfig.QPS, restConfig.Burst = flags.KubeAPIQPS, flags.KubeAPIBurst
	// The API server warns at each write about what the wire format fixes, such as names of finalizers.
	restConfig.WarningHandlerWithContext = ctrllog.NewKubeAPIWarningLogger(ctrllog.KubeAPIWarningLoggerOptions{Deduplicate: true})
	options := p.options(scheme, flags, tlsOptions)
	options.Logger, options.Controller.Logger = logger, logger
	options.Metrics = flags.diagnostics(level, tlsOptions)
	mgr, err := ctrl.NewManager(restConfig, options)
	if err != nil {
		return nil, fmt.Errorf("making the manager: %w", err)
	}
	return mgr, nil
}

// options turns flags into the options of controller-runtime, except for logs and diagnostics.
func (p Program) options(scheme *runtime.Scheme, flags *Flags, tlsOptions []func(*tls.Config)) ctrl.Options {
	queue := flags.Features.Enabled(FeaturePriorityQueue)
	return ctrl.Options{
		Scheme:                        scheme,
		Cache:                         CacheOptions(CacheScope{Namespace: flags.Namespace, SyncPeriod: flags.SyncPeriod, KeepSecretData: p.KeepSecretData, KeepFieldsOf: p.KeepFieldsOf}),
		Client:                        ClientOptions(),
		Controller:                    config.Controller{CacheSyncTimeout: cacheSyncTimeout, UsePriorityQueue: &queue, ReconciliationTimeout: cmp.Or(p.ReconcileTimeout, reconcileTimeout)},
		HealthProbeBindAddress:        flags.HealthAddress,
		PprofBindAddress:              flags.ProfilerAddress,
		LeaderElection:                flags.LeaderElect,
		LeaderElectionID:              p.LeaderElectionID,
		LeaderElectionNamespace:       electionNamespace(flags.Kubeconfig),
		LeaderElectionReleaseOnCancel: true,
		LeaseDuration:                 &flags.LeaseDuration,
		RenewDeadline:                 &flags.RenewDeadline,
		RetryPeriod:                   &flags.RetryPeriod,
		WebhookServer: webhook.NewServer(webhook.Options{
			Host: flags.WebhookHost, Port: flags.WebhookPort,
			CertDir: flags.WebhookCertDir, CertName: flags.WebhookCertName, KeyName: flags.WebhookKeyName,
			TLSOpts: tlsOptions,
		}),
	}
}

func (p Program) scheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	for _, add := range append([]func(*runtime.Scheme) error{clientgoscheme.AddToScheme, apiextensionsv1.AddToScheme}, p.AddToScheme...) {
		if err := add(scheme); err != nil {
			return nil, fmt.Errorf("registering types: %w", err)
		}
	}
	return scheme, nil
}

// diagnostics serves metrics, profiles and the log level by TLS to users that the API server authorizes, or metrics alone to everyone.
func (f *Flags) diagnostics(level http.Handler, tlsOptions []func(*tls.Config)) metricsserver.Options {
	if f.InsecureDiagnostics {
		return metricsserver.Options{BindAddress: f.DiagnosticsAddress}
	}
	return metricsserver.Options{
		BindAddress:    f.DiagnosticsAddress,
		SecureServing:  true,
		FilterProvider: filters.WithAuthenticationAndAuthorization,
		TLSOpts:        tlsOptions,
		ExtraHandlers: map[string]http.Handler{
			"/debug/flags/v":       level,
			"/debug/pprof/":        http.HandlerFunc(pprof.Index),
			"/debug/pprof/cmdline": http.HandlerFunc(pprof.Cmdline),
			"/debug/pprof/profile": http.HandlerFunc(pprof.Profile),
			"/debug/pprof/symbol":  http.HandlerFunc(pprof.Symbol),
			"/debug/pprof/trace":   http.HandlerFunc(pprof.Trace),
		},
	}
}

// restConfig finds the API server: the file of the flag, else $KUBECONFIG, else the cluster that the manager runs in.
func (f *Flags) restConfig() (*rest.Config, error) {
	file := f.Kubeconfig
	if file == "" {
		file = os.Getenv(clientcmd.RecommendedConfigPathEnvVar)
	}
	if file == "" {
		c, err := rest.InClusterConfig()
		if err != nil {
			return nil, fmt.Errorf("finding the API server (set --kubeconfig outside a cluster): %w", err)
		}
		return c, nil
	}
	c, err := clientcmd.BuildConfigFromFlags("", filepath.Clean(file))
	if err != nil {
		return nil, fmt.Errorf("reading kubeconfig %s: %w", file, err)
	}
	return c, nil
}

// electionNamespace is where the Lease lives: the Pod's namespace, which controller-runtime finds itself inside a cluster.
func electionNamespace(kubeconfig string) string {
	if ns := os.Getenv("POD_NAMESPACE"); ns != "" {
		return ns
	}
	if kubeconfig != "" || os.Getenv(clientcmd.RecommendedConfigPathEnvVar) != "" {
		return "default"
	}
	return ""
}
