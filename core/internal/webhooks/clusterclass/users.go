package clusterclass

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/core/internal/topology/classref"
	"github.com/slipway-capi/slipway/core/internal/topology/variables"
)

// pageSize bounds one answer of the API server.
const pageSize = 500

// reader finds the Clusters that use a class, and its templates. It asks the API server: a Cluster that was made a moment ago must
// not be missed, and classes seldom change.
type reader struct{ live client.Reader }

func newReader(mgr ctrl.Manager) reader { return reader{live: mgr.GetAPIReader()} }

func (r reader) users(ctx context.Context, class *clusterv1.ClusterClass) ([]*clusterv1.Cluster, error) {
	var out []*clusterv1.Cluster
	list := &clusterv1.ClusterList{}
	for {
		if err := r.live.List(ctx, list, client.Limit(pageSize), client.Continue(list.Continue)); err != nil {
			return nil, fmt.Errorf("listing the Clusters of the class: %w", err)
		}
		for i := range list.Items {
			if cluster := &list.Items[i]; classref.Key(cluster) == client.ObjectKeyFromObject(class) {
				out = append(out, cluster.DeepCopy())
			}
		}
		if list.Continue == "" {
			return out, nil
		}
	}
}

// keep says why a class must not be deleted.
func keep(users []*clusterv1.Cluster) string {
	if len(users) == 0 {
		return ""
	}
	return fmt.Sprintf("it is used by %s; delete them or move them to another class first", counted(keys(users)))
}

func keys(clusters []*clusterv1.Cluster) []string {
	var out []string
	for _, c := range clusters {
		out = append(out, c.Namespace+"/"+c.Name)
	}
	slices.Sort(out)
	return out
}

// counted says how many Clusters there are, and names the first of them.
func counted(names []string) string {
	const shown = 5
	text := strings.Join(names[:min(shown, len(names))], ", ")
	if more := len(names) - shown; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	if len(names) == 1 {
		return "Cluster " + text
	}
	return fmt.Sprintf("%d Clusters: %s", len(names), text)
}

// ValidateAmong judges a change of a class by the Clusters that use it: what they use must stay. Values that no longer fit are only
// warned about, since each Cluster goes on as it is and tells the same in its conditions.
func ValidateAmong(ctx context.Context, class, before *clusterv1.ClusterClass, users []*clusterv1.Cluster) (warnings []string, problems field.ErrorList) {
	path := field.NewPath("spec", "workers")
	problems = removed(path.Child("machineDeployments"), deploymentClasses(before), deploymentClasses(class), users, func(c *clusterv1.Cluster) []string {
		var used []string
		for _, g := range c.Spec.Topology.Workers.MachineDeployments {
			used = append(used, g.Class)
		}
		return used
	})
	problems = append(problems, removed(path.Child("machinePools"), poolClasses(before), poolClasses(class), users, func(c *clusterv1.Cluster) []string {
		var used []string
		for _, g := range c.Spec.Topology.Workers.MachinePools {
			used = append(used, g.Class)
		}
		return used
	})...)
	problems = append(problems, unchecked(class, users)...)
	problems = append(problems, versionsInUse(class, before, users)...)
	return misfits(ctx, class, users), problems
}

func deploymentClasses(class *clusterv1.ClusterClass) []string {
	var out []string
	for _, c := range class.Spec.Workers.MachineDeployments {
		out = append(out, c.Class)
	}
	return out
}

func poolClasses(class *clusterv1.ClusterClass) []string {
	var out []string
	for _, c := range class.Spec.Workers.MachinePools {
		out = append(out, c.Class)
	}
	return out
}

// removed refuses that a worker class goes which Clusters use.
func removed(path *field.Path, before, after []string, users []*clusterv1.Cluster, used func(*clusterv1.Cluster) []string) field.ErrorList {
	var problems field.ErrorList
	for _, class := range before {
		if slices.Contains(after, class) {
			continue
		}
		var by []*clusterv1.Cluster
		for _, c := range users {
			if slices.Contains(used(c), class) {
				by = append(by, c)
			}
		}
		if len(by) > 0 {
			problems = append(problems, field.Forbidden(path, fmt.Sprintf("class %q must not be removed: it is used by %s", class, counted(keys(by)))))
		}
	}
	return problems
}

// unchecked refuses that the checks of a health check go which Clusters have switched on.
func unchecked(class *clusterv1.ClusterClass, users []*clusterv1.Cluster) field.ErrorList {
	path := field.NewPath("spec")
	by := map[string][]*clusterv1.Cluster{}
	var paths []*field.Path
	note := func(at *field.Path, c *clusterv1.Cluster, enabled *bool, own, ofClass clusterv1.MachineHealthCheckChecks) {
		if enabled == nil || !*enabled || own.Any() || ofClass.Any() {
			return
		}
		if by[at.String()] == nil {
			paths = append(paths, at)
		}
		by[at.String()] = append(by[at.String()], c)
	}
	for _, c := range users {
		topology := c.Spec.Topology
		own := topology.ControlPlane.HealthCheck
		note(path.Child("controlPlane", "healthCheck", "checks"), c, own.Enabled, own.Checks, class.Spec.ControlPlane.HealthCheck.Checks)
		for _, g := range topology.Workers.MachineDeployments {
			for i, k := range class.Spec.Workers.MachineDeployments {
				if k.Class == g.Class {
					note(path.Child("workers", "machineDeployments").Index(i).Child("healthCheck", "checks"), c, g.HealthCheck.Enabled, g.HealthCheck.Checks, k.HealthCheck.Checks)
				}
			}
		}
	}
	var problems field.ErrorList
	for _, at := range paths {
		problems = append(problems, field.Forbidden(at, "must not be removed: the health check is enabled by "+counted(keys(by[at.String()]))))
	}
	return problems
}

// versionsInUse refuses that a version goes which Clusters have or are on their way to: the list is also the way of upgrades.
func versionsInUse(class, before *clusterv1.ClusterClass, users []*clusterv1.Cluster) field.ErrorList {
	after := class.Spec.KubernetesVersions
	if len(after) == 0 {
		return nil
	}
	var problems field.ErrorList
	for _, version := range before.Spec.KubernetesVersions {
		if slices.Contains(after, version) {
			continue
		}
		var by []*clusterv1.Cluster
		for _, c := range users {
			if c.Spec.Topology.Version == version {
				by = append(by, c)
			}
		}
		if len(by) > 0 {
			problems = append(problems, field.Forbidden(field.NewPath("spec", "kubernetesVersions"), fmt.Sprintf("%s must not be removed: it is the version of %s", version, counted(keys(by)))))
		}
	}
	return problems
}

// misfits warns of values of Clusters that the class as it is to be would refuse.
func misfits(ctx context.Context, class *clusterv1.ClusterClass, users []*clusterv1.Cluster) []string {
	known, err := variables.NewCatalog(class)
	if err != nil {
		return nil // the schema is refused elsewhere
	}
	by := map[string][]string{}
	for _, c := range users {
		topology := c.Spec.Topology.DeepCopy()
		known.Default(topology)
		for _, problem := range known.Validate(ctx, topology, nil, field.NewPath("spec", "topology")) {
			by[problem.Error()] = append(by[problem.Error()], c.Namespace+"/"+c.Name)
		}
	}
	var out []string
	for problem, clusters := range by {
		slices.Sort(clusters)
		out = append(out, fmt.Sprintf("this change stops the topology of %s: %s", counted(clusters), problem))
	}
	slices.Sort(out)
	return out
}
