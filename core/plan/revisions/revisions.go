// Package revisions reads the history of a MachineDeployment from its MachineSets and finds the way back to an earlier
// template. It is pure. The template that was in use last stays in an empty MachineSet, unless a topology owns the
// MachineDeployment; further ones only until a rollout is complete.
package revisions

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/core/internal/outdated"
)

// Revision is one template of a MachineDeployment, kept by a MachineSet.
type Revision struct {
	// Number grows with each rollout. A template that returns gets a new one.
	Number int
	// Set is the name of the MachineSet.
	Set string
	// Replicas is how many Machines the MachineSet is to have.
	Replicas int32
	// Current says that the template is the one in the MachineDeployment's spec.
	Current bool
	// Changes tell in a line each in what the template differs from the one in the spec.
	Changes []string
}

// Why there is no way back.
var (
	// ErrUnknown says that no MachineSet has the revision.
	ErrUnknown = errors.New("there is no such revision")
	// ErrCurrent says that the revision's template is the one in the spec.
	ErrCurrent = errors.New("its template is the present one already")
	// ErrTopology says that the change would be taken back.
	ErrTopology = errors.New("the topology of the Cluster owns it and would take the change back")
)

// List returns the revisions that can be told from the MachineSets of a MachineDeployment, the latest first. MachineSets of
// others may be among those given.
func List(md *clusterv1.MachineDeployment, sets []clusterv1.MachineSet) []Revision {
	var out []Revision
	for i := range sets {
		s := &sets[i]
		n, err := strconv.Atoi(s.Annotations[clusterv1.RevisionAnnotation])
		if err != nil || !metav1.IsControlledBy(s, md) || !s.DeletionTimestamp.IsZero() {
			continue
		}
		r := Revision{Number: n, Set: s.Name}
		if s.Spec.Replicas != nil {
			r.Replicas = *s.Spec.Replicas
		}
		for _, d := range outdated.Differences(s.Spec.Template.Spec, md.Spec.Template.Spec) {
			r.Changes = append(r.Changes, d.String())
		}
		r.Current = len(r.Changes) == 0
		out = append(out, r)
	}
	slices.SortFunc(out, func(a, b Revision) int {
		return cmp.Or(cmp.Compare(b.Number, a.Number), strings.Compare(a.Set, b.Set))
	})
	return out
}

// Undo returns the template to put into the spec of a MachineDeployment to go back to a revision; 0 is the last one with
// another template. Only what needs new Machines goes back: all else has been changed in place and stays as it is now.
func Undo(md *clusterv1.MachineDeployment, sets []clusterv1.MachineSet, to int) (clusterv1.MachineTemplateSpec, error) {
	fail := func(err error) (clusterv1.MachineTemplateSpec, error) {
		return clusterv1.MachineTemplateSpec{}, fmt.Errorf("undoing MachineDeployment %s: %w", md.Name, err)
	}
	if _, owned := md.Labels[clusterv1.ClusterTopologyOwnedLabel]; owned {
		return fail(fmt.Errorf("%w; change spec.topology of Cluster %s", ErrTopology, md.Spec.ClusterName))
	}
	all := List(md, sets)
	target := slices.IndexFunc(all, func(r Revision) bool { return to == r.Number || to == 0 && !r.Current })
	switch {
	case target < 0 && to == 0:
		return fail(fmt.Errorf("%w before this one; %s", ErrUnknown, known(all)))
	case target < 0:
		return fail(fmt.Errorf("%d: %w; %s", to, ErrUnknown, known(all)))
	case all[target].Current:
		return fail(fmt.Errorf("%d: %w; %s", to, ErrCurrent, known(all)))
	}
	i := slices.IndexFunc(sets, func(s clusterv1.MachineSet) bool { return s.Name == all[target].Set && metav1.IsControlledBy(&s, md) })
	out, from := *md.Spec.Template.DeepCopy(), sets[i].Spec.Template.DeepCopy()
	delete(out.Metadata.Labels, clusterv1.MachineDeploymentUniqueLabel)
	out.Spec.Version, out.Spec.FailureDomain = from.Spec.Version, from.Spec.FailureDomain
	out.Spec.Bootstrap, out.Spec.InfrastructureRef = from.Spec.Bootstrap, from.Spec.InfrastructureRef
	return out, nil
}

// known tells which revisions there are.
func known(all []Revision) string {
	if len(all) == 0 {
		return "there is none at all"
	}
	var names []string
	for _, r := range all {
		name := fmt.Sprintf("%d (MachineSet %s)", r.Number, r.Set)
		if r.Current {
			name = fmt.Sprintf("%d (MachineSet %s, the present one)", r.Number, r.Set)
		}
		names = append(names, name)
	}
	return "there are " + strings.Join(names, ", ")
}
