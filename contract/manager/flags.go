package manager

import (
	"crypto/tls"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/slipway-capi/slipway/contract/crdmigration"
)

// Flags are the command line of every manager.
type Flags struct {
	// Kubeconfig is a file that says which API server to use; empty means the one that the manager runs in.
	Kubeconfig string
	// Namespace limits the manager to one namespace; empty means all.
	Namespace string
	// WatchFilter limits the manager to objects whose label cluster.x-k8s.io/watch-filter has this value.
	WatchFilter string
	// SyncPeriod is how often every object is looked at again even if nothing happened.
	SyncPeriod time.Duration
	// KubeAPIQPS and KubeAPIBurst limit requests to the API server.
	KubeAPIQPS   float32
	KubeAPIBurst int

	// LeaderElect says whether one of several instances is chosen to act.
	LeaderElect bool
	// LeaseDuration is how long the others wait before they take over, RenewDeadline how long the leader tries to
	// renew, RetryPeriod how long it waits between tries.
	LeaseDuration, RenewDeadline, RetryPeriod time.Duration

	// WebhookHost and WebhookPort are where the webhook server listens; an empty host means all addresses.
	WebhookHost string
	WebhookPort int
	// WebhookCertDir holds the webhook server's certificate and key, in the files WebhookCertName and WebhookKeyName.
	WebhookCertDir, WebhookCertName, WebhookKeyName string

	// HealthAddress is where /healthz and /readyz are served.
	HealthAddress string
	// DiagnosticsAddress is where metrics, profiles and the log level are served.
	DiagnosticsAddress string
	// InsecureDiagnostics serves metrics, and only them, without TLS and access control.
	InsecureDiagnostics bool
	// ProfilerAddress is where profiles are served without access control; empty means nowhere.
	ProfilerAddress string
	// ContentionProfiling records where goroutines block.
	ContentionProfiling bool
	// TLSMinVersion and TLSCipherSuites limit what all servers accept.
	TLSMinVersion   string
	TLSCipherSuites []string

	// LogFormat is text or json.
	LogFormat string
	// Verbosity is the highest V level that is logged at the start.
	Verbosity int
	// Features are the feature gates.
	Features Features
	// SkipCRDMigration names phases of the migration of CustomResourceDefinitions to leave out.
	SkipCRDMigration []string
}

// NewFlags gives the defaults.
func NewFlags() *Flags {
	return &Flags{Features: DefaultFeatures()}
}

// AddTo defines the flags in a set.
func (f *Flags) AddTo(fs *pflag.FlagSet) {
	fs.StringVar(&f.Kubeconfig, "kubeconfig", "", "File with the connection to the API server; empty means in-cluster or $KUBECONFIG.")
	fs.StringVar(&f.Namespace, "namespace", "", "Namespace that the manager watches; empty means all.")
	fs.StringVar(&f.WatchFilter, "watch-filter", "", "Value of the label cluster.x-k8s.io/watch-filter of the objects that the manager handles; empty means all objects.")
	fs.DurationVar(&f.SyncPeriod, "sync-period", 10*time.Minute, "How often every object is looked at again even if nothing happened.")
	fs.Float32Var(&f.KubeAPIQPS, "kube-api-qps", 100, "Sustained requests per second to the API server.")
	fs.IntVar(&f.KubeAPIBurst, "kube-api-burst", 200, "Requests to the API server allowed in a burst.")
	fs.Var(f.Features, "feature-gates", "Features to switch, as Feature=true,Other=false. Default: "+f.Features.String())
	fs.StringVar(&f.LogFormat, "logging-format", "text", "Format of the log: text or json.")
	fs.IntVarP(&f.Verbosity, "v", "v", 2, "Verbosity of the log: 0 is for events that matter to everyone, 4 and more for debugging.")
	fs.StringSliceVar(&f.SkipCRDMigration, "skip-crd-migration-phases", nil, "Phases of the migration of stored objects to leave out: All, StorageVersionMigration, CleanupManagedFields.")
	f.addElection(fs)
	f.addServers(fs)
}

func (f *Flags) addElection(fs *pflag.FlagSet) {
	fs.BoolVar(&f.LeaderElect, "leader-elect", false, "Let only one of several instances act.")
	fs.DurationVar(&f.LeaseDuration, "leader-elect-lease-duration", 15*time.Second, "How long others wait before they take over.")
	fs.DurationVar(&f.RenewDeadline, "leader-elect-renew-deadline", 10*time.Second, "How long the leader tries to renew before it gives up.")
	fs.DurationVar(&f.RetryPeriod, "leader-elect-retry-period", 2*time.Second, "How long to wait between tries.")
}

func (f *Flags) addServers(fs *pflag.FlagSet) {
	fs.StringVar(&f.WebhookHost, "webhook-host", "", "Address that the webhook server listens on; empty means all.")
	fs.IntVar(&f.WebhookPort, "webhook-port", 9443, "Port of the webhook server.")
	fs.StringVar(&f.WebhookCertDir, "webhook-cert-dir", "/tmp/k8s-webhook-server/serving-certs/", "Directory with the webhook server's certificate.")
	fs.StringVar(&f.WebhookCertName, "webhook-cert-name", "tls.crt", "File with the certificate, in webhook-cert-dir.")
	fs.StringVar(&f.WebhookKeyName, "webhook-key-name", "tls.key", "File with the key, in webhook-cert-dir.")
	fs.StringVar(&f.HealthAddress, "health-addr", ":9440", "Address of /healthz and /readyz; 0 switches them off.")
	fs.StringVar(&f.DiagnosticsAddress, "diagnostics-address", ":8443", "Address of metrics, profiles and the log level, served by TLS to authorized users; 0 switches it off.")
	fs.BoolVar(&f.InsecureDiagnostics, "insecure-diagnostics", false, "Serve metrics, and only them, by plain HTTP to everyone.")
	fs.StringVar(&f.ProfilerAddress, "profiler-address", "", "Address of an extra profiler without access control, for example localhost:6060.")
	fs.BoolVar(&f.ContentionProfiling, "contention-profiling", false, "Record where goroutines block.")
	fs.StringVar(&f.TLSMinVersion, "tls-min-version", "VersionTLS12", "Oldest TLS version that servers accept: VersionTLS12 or VersionTLS13.")
	fs.StringSliceVar(&f.TLSCipherSuites, "tls-cipher-suites", nil, "Cipher suites for TLS 1.2 by their Go names; empty means Go's own choice.")
}

// Validate refuses values that no flag may have.
func (f *Flags) Validate() error {
	var errs []error
	if f.LogFormat != "text" && f.LogFormat != "json" {
		errs = append(errs, fmt.Errorf("--logging-format must be text or json, not %q", f.LogFormat))
	}
	if f.Features.Enabled(FeatureReconcilerRateLimiting) && !f.Features.Enabled(FeaturePriorityQueue) {
		errs = append(errs, fmt.Errorf("feature %s needs feature %s", FeatureReconcilerRateLimiting, FeaturePriorityQueue))
	}
	if f.LeaderElect && (f.LeaseDuration <= f.RenewDeadline || f.RenewDeadline <= f.RetryPeriod) {
		errs = append(errs, errors.New("--leader-elect-lease-duration must be greater than -renew-deadline, and that greater than -retry-period"))
	}
	for _, phase := range f.SkipCRDMigration {
		if !slices.Contains(crdmigration.Phases, crdmigration.Phase(phase)) {
			errs = append(errs, fmt.Errorf("--skip-crd-migration-phases: unknown phase %q, known are %v", phase, crdmigration.Phases))
		}
	}
	if _, err := f.tlsOptions(); err != nil {
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// tlsOptions turns the TLS flags into settings for the servers.
func (f *Flags) tlsOptions() ([]func(*tls.Config), error) {
	versions := map[string]uint16{"": tls.VersionTLS12, "VersionTLS12": tls.VersionTLS12, "VersionTLS13": tls.VersionTLS13}
	oldest, ok := versions[f.TLSMinVersion]
	if !ok {
		return nil, fmt.Errorf("--tls-min-version must be VersionTLS12 or VersionTLS13, not %q", f.TLSMinVersion)
	}
	var suites []uint16
	for _, name := range f.TLSCipherSuites {
		i := slices.IndexFunc(tls.CipherSuites(), func(s *tls.CipherSuite) bool { return s.Name == name })
		if i < 0 {
			return nil, fmt.Errorf("--tls-cipher-suites: unknown or insecure suite %q, known are %s", name, suiteNames())
		}
		suites = append(suites, tls.CipherSuites()[i].ID)
	}
	return []func(*tls.Config){func(c *tls.Config) { c.MinVersion, c.CipherSuites = oldest, suites }}, nil
}

func suiteNames() string {
	var names []string
	for _, s := range tls.CipherSuites() {
		names = append(names, s.Name)
	}
	return strings.Join(names, ", ")
}

// RemoteFlags are the flags of managers that connect to workload clusters.
type RemoteFlags struct {
	// ConnectionGracePeriod is how long a connection may fail before it is reported.
	ConnectionGracePeriod time.Duration
	// ConditionsGracePeriod is how long conditions that need the connection are kept before they become Unknown.
	ConditionsGracePeriod time.Duration
	// Concurrency is how many connections are handled at the same time.
	Concurrency int
	// ClientQPS and ClientBurst limit requests to each workload cluster.
	ClientQPS   float32
	ClientBurst int
}

// AddTo defines the flags in a set.
func (f *RemoteFlags) AddTo(fs *pflag.FlagSet) {
	fs.DurationVar(&f.ConnectionGracePeriod, "remote-connection-grace-period", 50*time.Second, "How long a connection to a workload cluster may fail before it is reported.")
	fs.DurationVar(&f.ConditionsGracePeriod, "remote-conditions-grace-period", 5*time.Minute, "How long conditions that need the connection are kept before they become Unknown.")
	fs.IntVar(&f.Concurrency, "clustercache-concurrency", 100, "Connections to workload clusters that are handled at the same time.")
	fs.Float32Var(&f.ClientQPS, "clustercache-client-qps", 20, "Sustained requests per second to each workload cluster.")
	fs.IntVar(&f.ClientBurst, "clustercache-client-burst", 30, "Requests to each workload cluster allowed in a burst.")
}

// Validate refuses periods that contradict each other.
func (f *RemoteFlags) Validate() error {
	if f.ConditionsGracePeriod < 2*time.Minute || f.ConditionsGracePeriod <= f.ConnectionGracePeriod {
		return errors.New("--remote-conditions-grace-period must be at least 2m and greater than --remote-connection-grace-period")
	}
	return nil
}

// Concurrency defines a flag <name>-concurrency.
func Concurrency(fs *pflag.FlagSet, value *int, name string, byDefault int) {
	fs.IntVar(value, name+"-concurrency", byDefault, "Objects of this controller that are handled at the same time.")
}
