package kubeadmcontrolplane

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	controlplanev1 "github.com/slipway-capi/slipway/providers/controlplane-kubeadm/api/v1beta2"
)

// changeable are the fields, with all that is below them, that may change during the life of a control plane.
var changeable = slices.Concat(
	[]string{"spec.replicas", "spec.version", "spec.remediation", "spec.machineNaming", "spec.rollout",
		"spec.machineTemplate.metadata", "spec.machineTemplate.spec"},
	under("spec.kubeadmConfigSpec", "bootCommands", "preKubeadmCommands", "postKubeadmCommands", "files", "verbosity",
		"users", "ntp", "ignition", "diskSetup", "format", "mounts"),
	under("spec.kubeadmConfigSpec.clusterConfiguration", "etcd", "dns", "imageRepository", "featureGates", "apiServer",
		"controllerManager", "scheduler", "certificateValidityPeriodDays", "encryptionAlgorithm"),
	under("spec.kubeadmConfigSpec.initConfiguration", "nodeRegistration", "patches", "skipPhases", "bootstrapTokens",
		"localAPIEndpoint", "timeouts"),
	under("spec.kubeadmConfigSpec.joinConfiguration", "nodeRegistration", "patches", "skipPhases", "caCertPath",
		"controlPlane", "discovery", "timeouts"),
)

func under(prefix string, names ...string) []string {
	list := make([]string, 0, len(names))
	for _, name := range names {
		list = append(list, prefix+"."+name)
	}
	return list
}

func mayChange(path string) bool {
	return slices.ContainsFunc(changeable, func(allowed string) bool {
		return path == allowed || strings.HasPrefix(path, allowed+".")
	})
}

// validateChanges refuses changes of fields that cannot reach a running control plane.
func validateChanges(before, after *controlplanev1.KubeadmControlPlane) field.ErrorList {
	var problems field.ErrorList
	for _, path := range changedPaths(before.Spec, after.Spec) {
		if !mayChange(path) {
			problems = append(problems, field.Forbidden(field.NewPath(path), "the field cannot be changed"))
		}
	}
	return problems
}

func changedPaths(before, after any) []string {
	var paths []string
	collect("spec", plain(before), plain(after), &paths)
	slices.Sort(paths)
	return paths
}

func plain(value any) any {
	encoded, err := json.Marshal(value)
	if err != nil {
		return nil
	}
	var data any
	if err := json.Unmarshal(encoded, &data); err != nil {
		return nil
	}
	return data
}

// collect finds the deepest changed fields. An object that is removed as a whole is one change; one that is added is
// a change of each of its fields.
func collect(path string, before, after any, paths *[]string) {
	left, leftIsMap := before.(map[string]any)
	right, rightIsMap := after.(map[string]any)
	switch {
	case rightIsMap && before == nil:
		left = map[string]any{}
	case !leftIsMap || !rightIsMap:
		if !reflect.DeepEqual(before, after) {
			*paths = append(*paths, path)
		}
		return
	}
	for key := range left {
		collect(path+"."+key, left[key], right[key], paths)
	}
	for key := range right {
		if _, seen := left[key]; !seen {
			collect(path+"."+key, nil, right[key], paths)
		}
	}
}
