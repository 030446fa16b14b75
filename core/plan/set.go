package plan

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/core/internal/controllers/machineset"
	"github.com/slipway-capi/slipway/core/internal/outdated"
	webhooks "github.com/slipway-capi/slipway/core/internal/webhooks/machineset"
)

func ofSet(ctx context.Context, r Request, proposal *clusterv1.MachineSet) (*Plan, error) {
	current := &clusterv1.MachineSet{}
	if err := stored(ctx, r.Reader, proposal, current, "MachineSet"); err != nil {
		return nil, err
	}
	if owner := metav1.GetControllerOf(current); owner != nil {
		return nil, fmt.Errorf("MachineSet %s: %s %s %w", current.Name, owner.Kind, owner.Name, ErrOwned)
	}
	proposed := current.DeepCopy()
	proposed.Spec = *proposal.Spec.DeepCopy()
	webhooks.Default(proposed, current)
	world, err := machineset.Look(ctx, r.Reader, r.Resolver, current, r.Now)
	if err != nil {
		return nil, err
	}
	p := newPlay(r.Now, world.Cluster)
	p.look = func(s *clusterv1.MachineSet) (machineset.World, error) {
		return machineset.Look(ctx, r.Reader, r.Resolver, s, r.Now)
	}
	if err := p.take(current); err != nil {
		return nil, err
	}
	contents, err := readContents(ctx, r, proposed.Namespace, proposed.Spec.Template.Spec, p.templatesInUse())
	if err != nil {
		return nil, err
	}
	if err := p.propose(proposed); err != nil {
		return nil, err
	}
	if err := p.run(); err != nil {
		return nil, err
	}
	return p.tell(r.Now, setReasons{current: current, proposed: proposed, contents: contents}), nil
}

// setReasons says why a MachineSet does what it does to a Machine. It replaces none for its template.
type setReasons struct {
	current, proposed *clusterv1.MachineSet
	contents          contents
}

func (r setReasons) outdated(set *clusterv1.MachineSet, _ time.Time) ([]Field, []string) {
	var fields []Field
	var lines []string
	for _, d := range outdated.Differences(set.Spec.Template.Spec, r.proposed.Spec.Template.Spec) {
		fields = append(fields, Field{Path: "spec.template.spec." + d.Field, From: d.Have, To: d.Want})
		lines = append(lines, d.String())
	}
	return append(fields, r.contents.between(set.Spec.Template.Spec, r.proposed.Spec.Template.Spec)...), lines
}

func (r setReasons) replicas() (before, after *int32) {
	return r.current.Spec.Replicas, r.proposed.Spec.Replicas
}

func (r setReasons) staying() string {
	return "a MachineSet replaces no Machine; only new ones follow these fields"
}

func (r setReasons) due(time.Time) string { return "" }
