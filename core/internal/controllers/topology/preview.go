package topology

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/core/internal/topology/patches"
	"github.com/slipway-capi/slipway/core/internal/topology/variables"
)

// Preview is what the objects of a new Cluster are made from where there is nothing to read from.
type Preview struct {
	Cluster *clusterv1.Cluster
	Class   *clusterv1.ClusterClass
	// Template finds a template of the class; nil if there is none.
	Template func(apiVersion, kind, name string) *unstructured.Unstructured
	// Extensions are behind external patches.
	Extensions patches.Extensions
	// Suffix ends the names of objects.
	Suffix func(purpose string) string
}

// Objects are those that the controller would apply, in its order, and the Cluster with its references to two of them. It is the
// decision of the controller about a world in which nothing exists yet.
func (p Preview) Objects(ctx context.Context) (*clusterv1.Cluster, []*unstructured.Unstructured, error) {
	w := World{Cluster: p.Cluster.DeepCopy(), Class: p.Class.DeepCopy(), Suffix: p.Suffix}
	w.Class.Status.ObservedGeneration = w.Class.Generation
	w.Steps = w.Class.Spec.KubernetesVersions
	if err := p.templates(&w); err != nil {
		return nil, nil, err
	}
	known, err := variables.NewCatalog(w.Class)
	if err != nil {
		return nil, nil, err
	}
	if w.Values, w.Overrides, err = values(ctx, w.Cluster.Spec.Topology, known); err != nil {
		return nil, nil, err
	}
	if err := w.compute(ctx, p.Extensions); err != nil {
		return nil, nil, err
	}
	d := Decide(w)
	var objects []*unstructured.Unstructured
	for _, action := range d.Actions {
		switch a := action.(type) {
		case Apply:
			objects = append(objects, a.Object)
		case Refer:
			w.Cluster.Spec.InfrastructureRef, w.Cluster.Spec.ControlPlaneRef = a.Infrastructure, a.ControlPlane
		}
	}
	return w.Cluster, objects, d.Err
}

func (p Preview) templates(w *World) error {
	var errs []error
	seen := map[classRef]bool{}
	w.Blueprint = blueprint(w.Class, func(ref classRef) *unstructured.Unstructured {
		if ref.Name == "" {
			return nil
		}
		o := p.Template(ref.APIVersion, ref.Kind, ref.Name)
		if o == nil && !seen[ref] {
			errs = append(errs, fmt.Errorf("there is no %s %s (%s) in namespace %s, to which the class refers", ref.Kind, ref.Name, ref.APIVersion, p.Class.Namespace))
		}
		seen[ref] = true
		return o
	})
	return errors.Join(errs...)
}
