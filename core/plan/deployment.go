package plan

import (
	"context"
	"maps"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/labels"
	"github.com/slipway-capi/slipway/core/internal/controllers/machinedeployment"
	"github.com/slipway-capi/slipway/core/internal/controllers/machineset"
	"github.com/slipway-capi/slipway/core/internal/outdated"
	webhooks "github.com/slipway-capi/slipway/core/internal/webhooks/machinedeployment"
)

func ofDeployment(ctx context.Context, r Request, proposal *clusterv1.MachineDeployment) (*Plan, error) {
	current := &clusterv1.MachineDeployment{}
	if err := stored(ctx, r.Reader, proposal, current, "MachineDeployment"); err != nil {
		return nil, err
	}
	proposed := current.DeepCopy()
	proposed.Spec, proposed.Annotations = *proposal.Spec.DeepCopy(), withPolicy(current.Annotations, proposal.Annotations)
	webhooks.Default(proposed, current)
	world, err := machinedeployment.Look(ctx, r.Reader, r.Resolver, r.CanUpdate, proposed, r.Now)
	if err != nil {
		return nil, err
	}
	p := newPlay(r.Now, world.Cluster)
	p.look = func(s *clusterv1.MachineSet) (machineset.World, error) {
		w, err := machineset.Look(ctx, r.Reader, r.Resolver, s, r.Now)
		if !s.DeletionTimestamp.IsZero() {
			w.Deployment = nil
		} else {
			w.Deployment = proposed
		}
		return w, err
	}
	p.deployment = &world
	for _, missing := range world.MissingTemplates {
		p.block(missing + " does not exist")
	}
	p.deployment.MissingTemplates = nil
	for _, s := range slices.Concat(world.Sets, world.Orphans) {
		if err := p.take(s); err != nil {
			return nil, err
		}
	}
	contents, err := readContents(ctx, r, proposed.Namespace, proposed.Spec.Template.Spec, p.templatesInUse())
	if err != nil {
		return nil, err
	}
	p.unpause(proposed)
	if err := p.run(); err != nil {
		return nil, err
	}
	return p.tell(r.Now, deploymentReasons{play: p, current: current, proposed: proposed, contents: contents}), nil
}

// withPolicy are the present annotations with the proposed policy of updates in place.
func withPolicy(present, proposed map[string]string) map[string]string {
	out := maps.Clone(present)
	delete(out, clusterv1.InPlaceUpdatesAnnotation)
	if policy, ok := proposed[clusterv1.InPlaceUpdatesAnnotation]; ok {
		out = labels.Merge(out, map[string]string{clusterv1.InPlaceUpdatesAnnotation: policy})
	}
	return out
}

// deploymentReasons says why a MachineDeployment does what it does to a Machine.
type deploymentReasons struct {
	play              *play
	current, proposed *clusterv1.MachineDeployment
	contents          contents
}

// outdated lists the fields for which a Machine of a set must be replaced, by the function that decides about it.
func (r deploymentReasons) outdated(set *clusterv1.MachineSet, now time.Time) ([]Field, []string) {
	var fields []Field
	for _, d := range outdated.Differences(set.Spec.Template.Spec, r.proposed.Spec.Template.Spec) {
		fields = append(fields, Field{Path: "spec.template.spec." + d.Field, From: d.Have, To: d.Want})
	}
	fields = append(fields, r.contents.between(set.Spec.Template.Spec, r.proposed.Spec.Template.Spec)...)
	if outdated.Expired(set.CreationTimestamp, r.proposed.Spec.Rollout.After, now) {
		fields = append(fields, Field{Path: "spec.rollout.after", From: at(r.current.Spec.Rollout.After), To: at(r.proposed.Spec.Rollout.After)})
	}
	return fields, outdated.Reasons(set, r.proposed, now)
}

func (r deploymentReasons) replicas() (before, after *int32) {
	return r.current.Spec.Replicas, r.proposed.Spec.Replicas
}

// staying says why an outdated Machine stays.
func (r deploymentReasons) staying() string {
	switch spec := r.proposed.Spec; {
	case spec.Paused != nil && *spec.Paused:
		return "it stays while spec.paused is true"
	case spec.Rollout.Strategy.Type == clusterv1.OnDeleteMachineDeploymentStrategyType:
		return "it stays until it is deleted, by strategy OnDelete"
	}
	return ""
}

// due says when a rollout starts that is not due yet.
func (r deploymentReasons) due(now time.Time) string {
	after := r.proposed.Spec.Rollout.After
	if after.IsZero() || !after.After(now) {
		return ""
	}
	return "from " + at(after) + " on"
}

func at(t metav1.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}
