// Package testenv gives tests a real etcd and kube-apiserver with CRDs and webhooks, started once per package; it needs controller-runtime.
//
// A package starts one in TestMain and keeps it in a variable:
//
//	var env *testenv.Environment
//
//	func TestMain(m *testing.M) {
//		os.Exit(testenv.Main(m, &env, testenv.Options{Files: []fs.FS{config.Files}, AddToScheme: clusterv1.AddToScheme}))
//	}
//
// There are no controllers of Kubernetes in it: nothing collects garbage and a deleted namespace stays Terminating.
package testenv

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	"github.com/slipway-capi/slipway/contract/manager"
)

// Options say what the environment holds besides an empty API.
type Options struct {
	// Files hold YAML documents; every CustomResourceDefinition and webhook configuration in them is installed.
	Files []fs.FS
	// AddToScheme registers the types that the test's clients and managers use, besides those of Kubernetes.
	AddToScheme []func(*runtime.Scheme) error
	// Manager, if given, is set up and started with the environment; it also serves the webhooks.
	Manager func(ctx context.Context, mgr ctrl.Manager) error
	// KeepFieldsOf names a field owner whose entries of managedFields the manager keeps in its cache.
	KeepFieldsOf string
	// Restricted gives the managers no more rights than the ClusterRoles in Files, on an API server that protects owner references. Main
	// fails if they were refused anything for want of a right.
	Restricted bool
}

// Environment is a running API server and the means to talk to it.
type Environment struct {
	// Config reaches the API server as an administrator, without limits on the rate of requests.
	Config *rest.Config
	// KubeConfig is the same as a file for kubectl.
	KubeConfig []byte
	// Scheme knows the types of Kubernetes and those of the options.
	Scheme *runtime.Scheme
	// Client reads and writes without a cache. Its updates prevail over what controllers have written since the object was read.
	Client client.WithWatch

	plane  *envtest.Environment
	cancel context.CancelFunc
	done   []<-chan error
	// managers is how managers reach the API server; refusals are what they were not allowed to do.
	managers *rest.Config
	refusals *refusals

	keepFieldsOf string
}

// Main runs the tests of a package with an environment, for use in TestMain; it returns the exit code.
func Main(m *testing.M, env **Environment, opts Options) int {
	e, err := Start(context.Background(), opts)
	if err != nil {
		fmt.Fprintln(os.Stderr, "starting the test environment:", err)
		return 1
	}
	*env = e
	code := m.Run()
	if err := e.Stop(); err != nil {
		fmt.Fprintln(os.Stderr, "stopping the test environment:", err)
	}
	for _, refusal := range e.Refusals() {
		fmt.Fprintln(os.Stderr, "a manager lacks a right:", refusal)
		code = max(code, 1)
	}
	return code
}

// Start starts etcd and the API server, installs what the options hold, and starts the manager if there is one.
func Start(ctx context.Context, opts Options) (*Environment, error) {
	apiServer, etcd, err := binaries()
	if err != nil {
		return nil, err
	}
	found, err := readFiles(opts.Files)
	if err != nil {
		return nil, err
	}
	scheme, err := newScheme(opts.AddToScheme)
	if err != nil {
		return nil, err
	}
	plane := &envtest.Environment{
		Scheme: scheme,
		CRDs:   found.crds,
		WebhookInstallOptions: envtest.WebhookInstallOptions{
			MutatingWebhooks:   found.mutating,
			ValidatingWebhooks: found.validating,
		},
		ControlPlaneStartTimeout: time.Minute,
		ControlPlaneStopTimeout:  10 * time.Second,
	}
	plane.ControlPlane.GetAPIServer().Path = apiServer
	plane.ControlPlane.Etcd = &envtest.Etcd{Path: etcd}
	if opts.Restricted {
		plane.ControlPlane.GetAPIServer().Configure().Append("enable-admission-plugins", ownerProtection)
	}
	return start(ctx, plane, scheme, found.roles, opts)
}

func start(ctx context.Context, plane *envtest.Environment, scheme *runtime.Scheme, roles []*rbacv1.ClusterRole, opts Options) (*Environment, error) {
	restConfig, err := plane.Start()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("starting etcd and kube-apiserver: %w", err), plane.Stop())
	}
	restConfig.QPS, restConfig.Burst = -1, 0
	e := &Environment{Config: restConfig, KubeConfig: plane.KubeConfig, Scheme: scheme, plane: plane, managers: restConfig, keepFieldsOf: opts.KeepFieldsOf}
	ctx, e.cancel = context.WithCancel(ctx)
	direct, err := client.NewWithWatch(restConfig, client.Options{Scheme: scheme})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("making a client: %w", err), e.Stop())
	}
	e.Client = insistent(direct)
	if opts.Restricted {
		if err := e.restrict(ctx, roles); err != nil {
			return nil, errors.Join(err, e.Stop())
		}
	}
	if opts.Manager == nil {
		return e, nil
	}
	if _, err := e.StartManager(ctx, opts.Manager); err != nil {
		return nil, errors.Join(err, e.Stop())
	}
	return e, nil
}

func newScheme(add []func(*runtime.Scheme) error) (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	for _, f := range append([]func(*runtime.Scheme) error{clientgoscheme.AddToScheme, apiextensionsv1.AddToScheme}, add...) {
		if err := f(scheme); err != nil {
			return nil, fmt.Errorf("registering types: %w", err)
		}
	}
	return scheme, nil
}

// NewManager makes a manager as in production, but without metrics, probes and leader election, that serves webhooks where the API server
// expects them.
func (e *Environment) NewManager() (ctrl.Manager, error) {
	hooks := e.plane.WebhookInstallOptions
	skip := true
	mgr, err := ctrl.NewManager(e.managers, ctrl.Options{
		Scheme:                 e.Scheme,
		Cache:                  manager.CacheOptions(manager.CacheScope{KeepFieldsOf: e.keepFieldsOf}),
		Client:                 manager.ClientOptions(),
		Metrics:                metricsserver.Options{BindAddress: "0"},
		HealthProbeBindAddress: "0",
		WebhookServer:          webhook.NewServer(webhook.Options{Host: hooks.LocalServingHost, Port: hooks.LocalServingPort, CertDir: hooks.LocalServingCertDir}),
		Controller:             config.Controller{SkipNameValidation: &skip},
	})
	if err != nil {
		return nil, fmt.Errorf("making a manager: %w", err)
	}
	return mgr, nil
}

// StartManager makes a manager, lets setup register controllers and webhooks, and runs it until the context or the environment ends. It
// returns when caches are filled and webhooks answer.
func (e *Environment) StartManager(ctx context.Context, setup func(ctx context.Context, mgr ctrl.Manager) error) (ctrl.Manager, error) {
	mgr, err := e.NewManager()
	if err != nil {
		return nil, err
	}
	if err := setup(ctx, mgr); err != nil {
		return nil, fmt.Errorf("setting up the manager: %w", err)
	}
	done := make(chan error, 1)
	go func() { done <- mgr.Start(ctx) }()
	e.done = append(e.done, done)
	if !mgr.GetCache().WaitForCacheSync(ctx) {
		return nil, fmt.Errorf("filling the caches of the manager: %w", context.Cause(ctx))
	}
	return mgr, e.waitForWebhooks(ctx, mgr)
}

// waitForWebhooks waits for the webhook server if there are webhooks to serve: until then every write would be refused.
func (e *Environment) waitForWebhooks(ctx context.Context, mgr ctrl.Manager) error {
	hooks := e.plane.WebhookInstallOptions
	if len(hooks.MutatingWebhooks)+len(hooks.ValidatingWebhooks) == 0 {
		return nil
	}
	started := mgr.GetWebhookServer().StartedChecker()
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		err := started(nil)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for the webhook server: %w", err)
		case <-tick.C:
		}
	}
}

// Stop ends the managers, the API server and etcd.
func (e *Environment) Stop() error {
	if e.cancel != nil {
		e.cancel()
	}
	var errs []error
	for _, done := range e.done {
		select {
		case err := <-done:
			errs = append(errs, err)
		case <-time.After(10 * time.Second):
			errs = append(errs, errors.New("a manager did not stop within 10 seconds"))
		}
	}
	return errors.Join(append(errs, e.plane.Stop())...)
}

// Namespace makes a namespace of its own for a test and has it deleted afterwards; what is in it stays, since nothing collects it.
func (e *Environment) Namespace(t testing.TB) string {
	t.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"}}
	if err := e.Client.Create(context.Background(), namespace); err != nil {
		t.Fatalf("creating a namespace: %v", err)
	}
	t.Cleanup(func() { _ = e.Client.Delete(context.Background(), namespace) })
	return namespace.Name
}
