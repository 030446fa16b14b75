// Command infrastructure-docker is the manager of development clusters: simulated ones and ones in containers.
package main

import (
	"context"
	"os"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/manager"
	infrav1 "github.com/slipway-capi/slipway/providers/infrastructure-docker/api/v1beta2"
	"github.com/slipway-capi/slipway/providers/infrastructure-docker/internal/controllers/devcluster"
	"github.com/slipway-capi/slipway/providers/infrastructure-docker/internal/controllers/devmachine"
	"github.com/slipway-capi/slipway/providers/infrastructure-docker/internal/inmemory/cloud"
)

type options struct {
	host             string
	cluster, machine int
}

func main() {
	var o options
	manager.Program{
		Name:             "slipway-infrastructure-docker-manager",
		LeaderElectionID: "controller-leader-election-capd",
		AddToScheme:      []func(*runtime.Scheme) error{clusterv1.AddToScheme, infrav1.AddToScheme},
		Flags:            o.flags,
		Setup:            o.setup,
	}.Main()
}

func (o *options) flags(fs *pflag.FlagSet) {
	host := os.Getenv("POD_IP")
	if host == "" {
		host = "127.0.0.1"
	}
	fs.StringVar(&o.host, "inmemory-host", host, "Address at which the API servers of simulated clusters listen; default is POD_IP, else the loopback address.")
	manager.Concurrency(fs, &o.cluster, "devcluster", 50)
	manager.Concurrency(fs, &o.machine, "devmachine", 50)
}

func (o *options) setup(ctx context.Context, mgr ctrl.Manager, _ *manager.Flags) error {
	simulated := cloud.New(o.host)
	clusters := &devcluster.Controller{Client: mgr.GetClient(), InMemory: devcluster.InMemory{Cloud: simulated}}
	if err := clusters.SetupWithManager(ctx, mgr, o.cluster); err != nil {
		return err
	}
	machines := &devmachine.Controller{Client: mgr.GetClient(), Live: mgr.GetAPIReader(), Secrets: mgr.GetCache(), Cloud: simulated}
	return machines.SetupWithManager(ctx, mgr, o.machine)
}
