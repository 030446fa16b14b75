package main

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/manager"
	"github.com/slipway-capi/slipway/core/internal/controllers/machine"
)

// options are the flags that only the core manager has.
type options struct {
	remote                                                                                      manager.RemoteFlags
	cluster, machine, machineSet, machineDeployment, clusterClass, clusterResourceSet, topology int
	machinePool, machineHealthCheck                                                             int
	preflight                                                                                   []string
	labels, annotations                                                                         []string
	labelRules, annotationRules                                                                 []*regexp.Regexp
	extensions                                                                                  extensionOptions
}

func (o *options) addTo(fs *pflag.FlagSet) {
	o.remote.AddTo(fs)
	o.extensions.addTo(fs)
	manager.Concurrency(fs, &o.cluster, "cluster", 50)
	manager.Concurrency(fs, &o.clusterClass, "clusterclass", 10)
	manager.Concurrency(fs, &o.clusterResourceSet, "clusterresourceset", 10)
	manager.Concurrency(fs, &o.topology, "clustertopology", 50)
	manager.Concurrency(fs, &o.machine, "machine", 100)
	manager.Concurrency(fs, &o.machineSet, "machineset", 50)
	manager.Concurrency(fs, &o.machineDeployment, "machinedeployment", 50)
	manager.Concurrency(fs, &o.machinePool, "machinepool", 50)
	manager.Concurrency(fs, &o.machineHealthCheck, "machinehealthcheck", 50)
	fs.StringSliceVar(&o.preflight, "machineset-preflight-checks", []string{clusterv1.MachineSetPreflightCheckAll},
		"Checks that a MachineSet makes before it creates Machines: "+strings.Join(preflightChecks, ", ")+".")
	fs.StringSliceVar(&o.labels, "additional-sync-machine-labels", nil, "Regular expressions for more labels of Machines that their Nodes get.")
	fs.StringSliceVar(&o.annotations, "additional-sync-machine-annotations", nil, "Regular expressions for more annotations of Machines that their Nodes get.")
}

// preflightChecks are the names that --machineset-preflight-checks takes.
var preflightChecks = []string{
	clusterv1.MachineSetPreflightCheckAll, clusterv1.MachineSetPreflightCheckControlPlaneIsStable, clusterv1.MachineSetPreflightCheckControlPlaneVersionSkew,
	clusterv1.MachineSetPreflightCheckKubeadmVersionSkew, clusterv1.MachineSetPreflightCheckKubernetesVersionSkew,
}

func (o *options) validate() error {
	errs := []error{o.remote.Validate(), o.extensions.validate()}
	for _, check := range o.preflight {
		if !slices.Contains(preflightChecks, check) {
			errs = append(errs, fmt.Errorf("--machineset-preflight-checks: unknown check %q, known are %s", check, strings.Join(preflightChecks, ", ")))
		}
	}
	var err error
	o.labelRules, err = compile("--additional-sync-machine-labels", o.labels)
	errs = append(errs, err)
	o.annotationRules, err = compile("--additional-sync-machine-annotations", o.annotations)
	return errors.Join(append(errs, err)...)
}

func compile(flag string, expressions []string) ([]*regexp.Regexp, error) {
	var out []*regexp.Regexp
	for _, e := range expressions {
		rule, err := regexp.Compile(e)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", flag, err)
		}
		out = append(out, rule)
	}
	return out, nil
}

// preflightChecks are none when the feature is off.
func (o *options) preflightChecks(features manager.Features) []string {
	if !features.Enabled(manager.FeatureMachineSetPreflightChecks) {
		return nil
	}
	return o.preflight
}

func (o *options) nodeSync(features manager.Features) machine.NodeSync {
	return machine.NodeSync{Labels: o.labelRules, Annotations: o.annotationRules, Taints: features.Enabled(manager.FeatureMachineTaintPropagation)}
}
