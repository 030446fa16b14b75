package rules

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/manager"
)

const (
	controlPlaneTaint = "node-role.kubernetes.io/control-plane"
	outOfServiceTaint = "node.kubernetes.io/out-of-service"
)

// ownTaints are set and removed by the controllers, or no longer exist in Kubernetes.
var ownTaints = []string{
	"node.cluster.x-k8s.io/uninitialized",
	"node.cluster.x-k8s.io/outdated-revision",
	"node-role.kubernetes.io/master",
}

// Taints judges the taints that a machine asks for. Those that Kubernetes or this system manage on Nodes are refused, since two writers would
// take turns.
func Taints(taints []clusterv1.MachineTaint, controlPlane bool, features manager.Features, path *field.Path) field.ErrorList {
	if len(taints) > 0 && !features.Enabled(manager.FeatureMachineTaintPropagation) {
		return field.ErrorList{field.Forbidden(path, "can be set only with the feature gate "+manager.FeatureMachineTaintPropagation)}
	}
	var problems field.ErrorList
	for i, taint := range taints {
		key := path.Index(i).Child("key")
		for _, problem := range validation.IsQualifiedName(taint.Key) {
			problems = append(problems, field.Invalid(key, taint.Key, problem))
		}
		if reason := managed(taint.Key, controlPlane); reason != "" {
			problems = append(problems, field.Invalid(key, taint.Key, reason))
		}
	}
	return problems
}

func managed(key string, controlPlane bool) string {
	switch {
	case slices.Contains(ownTaints, key):
		return "must be another key: controllers manage this taint"
	case key == controlPlaneTaint && !controlPlane:
		return "must be another key: only machines of a control plane may have this taint"
	case strings.HasPrefix(key, "node.kubernetes.io/") && key != outOfServiceTaint:
		return fmt.Sprintf("must be another key: Kubernetes manages taints of node.kubernetes.io/, except %s", outOfServiceTaint)
	case strings.HasPrefix(key, "node.cloudprovider.kubernetes.io/"):
		return "must be another key: the cloud provider manages taints of node.cloudprovider.kubernetes.io/"
	}
	return ""
}
