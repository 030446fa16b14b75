// Command infrastructure-docker is the manager of development clusters: simulated ones and ones in containers.
package main

import (
	"context"
	"os"
	"strings"
	"time"

	"github.com/spf13/pflag"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/event"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/manager"
	infrav1 "github.com/slipway-capi/slipway/providers/infrastructure-docker/api/v1beta2"
	"github.com/slipway-capi/slipway/providers/infrastructure-docker/config"
	"github.com/slipway-capi/slipway/providers/infrastructure-docker/internal/controllers/devcluster"
	"github.com/slipway-capi/slipway/providers/infrastructure-docker/internal/controllers/devmachine"
	"github.com/slipway-capi/slipway/providers/infrastructure-docker/internal/controllers/devmachinepool"
	"github.com/slipway-capi/slipway/providers/infrastructure-docker/internal/controllers/devmachinetemplate"
	"github.com/slipway-capi/slipway/providers/infrastructure-docker/internal/docker"
	"github.com/slipway-capi/slipway/providers/infrastructure-docker/internal/inmemory/cloud"
	"github.com/slipway-capi/slipway/providers/infrastructure-docker/internal/webhooks"
)

type options struct {
	host, network                    string
	cluster, machine, pool, template int
}

// Leader election keeps a Lease; secure diagnostics ask who their user is and what that may do.
//
// +kubebuilder:rbac:groups=coordination.k8s.io,resources=leases,verbs=get;create;update
// +kubebuilder:rbac:groups=authentication.k8s.io,resources=tokenreviews,verbs=create
// +kubebuilder:rbac:groups=authorization.k8s.io,resources=subjectaccessreviews,verbs=create

// The migration of stored objects writes the CustomResourceDefinitions of this manager and no others, and objects of all their kinds.
//
// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=devclustertemplates;devmachinepooltemplates;devmachinetemplates,verbs=list;patch
// +kubebuilder:rbac:groups=apiextensions.k8s.io,resources=customresourcedefinitions;customresourcedefinitions/status,verbs=update;patch,resourceNames=devclusters.infrastructure.cluster.x-k8s.io;devclustertemplates.infrastructure.cluster.x-k8s.io;devmachinepools.infrastructure.cluster.x-k8s.io;devmachinepooltemplates.infrastructure.cluster.x-k8s.io;devmachines.infrastructure.cluster.x-k8s.io;devmachinetemplates.infrastructure.cluster.x-k8s.io

func main() {
	var o options
	manager.Program{
		Name:             "slipway-infrastructure-docker-manager",
		LeaderElectionID: "controller-leader-election-capd",
		CRDs:             config.CRDs,
		AddToScheme:      []func(*runtime.Scheme) error{clusterv1.AddToScheme, infrav1.AddToScheme},
		// Images are loaded into a machine, and its first boot is awaited, in one go.
		ReconcileTimeout: 15 * time.Minute,
		Flags:            o.flags,
		Setup:            o.setup,
		Webhooks:         webhooks.SetupWithManager,
	}.Main()
}

func (o *options) flags(fs *pflag.FlagSet) {
	host := os.Getenv("POD_IP")
	if host == "" {
		host = "127.0.0.1"
	}
	fs.StringVar(&o.host, "inmemory-host", host, "Address at which the API servers of simulated clusters listen; default is POD_IP, else the loopback address.")
	network := os.Getenv("DOCKER_NETWORK")
	if network == "" {
		network = "kind"
	}
	fs.StringVar(&o.network, "docker-network", network, "Bridge network of the engine that all containers are in; made if missing. Default is DOCKER_NETWORK, else kind. The engine is the one DOCKER_HOST names.")
	manager.Concurrency(fs, &o.cluster, "devcluster", 50)
	manager.Concurrency(fs, &o.machine, "devmachine", 50)
	manager.Concurrency(fs, &o.template, "devmachinetemplate", 50)
	manager.Concurrency(fs, &o.pool, "devmachinepool", 100)
}

func (o *options) setup(ctx context.Context, mgr ctrl.Manager, flags *manager.Flags) error {
	simulated := cloud.New(o.host)
	containers, woken, err := o.containers()
	if err != nil {
		return err
	}
	clusters := &devcluster.Controller{
		Client: mgr.GetClient(), InMemory: devcluster.InMemory{Cloud: simulated},
		Docker: &devcluster.Docker{Client: mgr.GetClient(), Live: mgr.GetAPIReader(), Host: containers},
	}
	if err := clusters.SetupWithManager(ctx, mgr, o.cluster); err != nil {
		return err
	}
	machines := &devmachine.Controller{Client: mgr.GetClient(), Live: mgr.GetAPIReader(), Secrets: mgr.GetCache(), Cloud: simulated, Docker: containers, Woken: woken}
	if err := machines.SetupWithManager(ctx, mgr, o.machine); err != nil {
		return err
	}
	templates := &devmachinetemplate.Controller{Client: mgr.GetClient(), Engine: containers.Engine}
	if err := templates.SetupWithManager(ctx, mgr, o.template); err != nil {
		return err
	}
	if !flags.Features.Enabled(manager.FeatureMachinePool) {
		return nil
	}
	pools := &devmachinepool.Controller{Client: mgr.GetClient(), Recorder: mgr.GetEventRecorder("devmachinepool-controller")}
	return pools.SetupWithManager(ctx, mgr, o.pool)
}

// containers prepares the docker backend. The engine is asked only when an object wants it: without one, the in-memory
// backend works all the same.
func (o *options) containers() (*docker.Host, <-chan event.GenericEvent, error) {
	engine, err := docker.Connect()
	if err != nil {
		return nil, nil, err
	}
	woken := make(chan event.GenericEvent, 1024)
	host := &docker.Host{Engine: engine, Network: o.network, Proxy: docker.ProxyOfEnvironment(), Changed: func(key string) {
		namespace, name, _ := strings.Cut(key, "/")
		woken <- event.GenericEvent{Object: &infrav1.DevMachine{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}}
	}}
	return host, woken, nil
}
