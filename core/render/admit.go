package render

import (
	"context"
	"slices"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/manager"
	"github.com/slipway-capi/slipway/core/internal/topology/patches/paths"
	"github.com/slipway-capi/slipway/core/internal/topology/variables"
	"github.com/slipway-capi/slipway/core/internal/webhooks/cluster"
	"github.com/slipway-capi/slipway/core/internal/webhooks/clusterclass"
)

// features are all on: which ones a management cluster has is not known.
func features() manager.Features {
	all := manager.NewFlags().Features
	for name := range all {
		all[name] = true
	}
	return all
}

// admitClass judges the class as the webhook does.
func (r *Renderer) admitClass(in *input, out *Result) error {
	problems := clusterclass.Validate(in.class, nil, features())
	schemas := r.kinds.Schemas()
	warnings, found := clusterclass.ValidateTemplates(in.class, nil, clusterclass.Templates{Schemas: schemas, Unknown: undefined(in.class, schemas)})
	out.Warnings = append(append(out.Warnings, warnings...), clusterclass.Strangers(in.class.Spec)...)
	if problems = append(problems, found...); len(problems) > 0 {
		return invalid(clusterv1.ClusterClassKind, in.class.Name, problems)
	}
	return nil
}

// undefined names the kinds of templates that patches change and that no definition describes.
func undefined(class *clusterv1.ClusterClass, known paths.Schemas) []string {
	var out []string
	for _, gvk := range paths.Kinds(class.Spec.Patches) {
		if known[gvk] == nil {
			out = append(out, "there is no CustomResourceDefinition of "+gvk.Kind+" ("+gvk.GroupVersion().String()+")")
		}
	}
	return out
}

// admitCluster fills the defaults of the Cluster in and judges it, as the webhook does.
func (r *Renderer) admitCluster(ctx context.Context, in *input, out *Result) error {
	among := cluster.Among{Class: in.class}
	known, err := variables.NewCatalog(in.class)
	if err != nil {
		return err
	}
	among.Variables = known
	cluster.Default(in.cluster)
	cluster.DefaultAmong(in.cluster, among)
	problems := cluster.Validate(in.cluster, nil, features())
	warnings, found := cluster.ValidateAmong(ctx, in.cluster, nil, among)
	out.Warnings = slices.Concat(out.Warnings, cluster.NetworkWarnings(in.cluster, nil), warnings)
	problems = slices.Concat(problems, found)
	if len(problems) > 0 {
		return invalid(clusterv1.ClusterKind, in.cluster.Name, problems)
	}
	return nil
}
