package plan

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/slipway-capi/slipway/contract/accessors"
	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	hooks "github.com/slipway-capi/slipway/contract/api/runtime/hooks/v1alpha1"
	"github.com/slipway-capi/slipway/contract/contractversion"
	"github.com/slipway-capi/slipway/core/internal/controllers/topology"
	"github.com/slipway-capi/slipway/core/internal/topology/classref"
	"github.com/slipway-capi/slipway/core/internal/topology/intent"
)

// Change is what happens to an object of a topology.
type Change string

// The changes of an object.
const (
	Created Change = "created"
	Changed Change = "changed"
	Deleted Change = "deleted"
)

// Object is one object of a topology that changes, and in which fields.
type Object struct {
	Kind, Name string
	Change     Change
	// Because are the fields that change. Values of bootstrap templates, and most of a control plane's, are not told, since they
	// may be secret.
	Because []Field
	// Why says why an object is created or deleted.
	Why string
}

// Group is a MachineDeployment of a topology that exists, and what becomes of its Machines.
type Group struct {
	Name string
	*Plan
}

// TopologyPlan is what becomes of one Cluster with a topology, until nothing is left to be done.
type TopologyPlan struct {
	Cluster client.ObjectKey
	// Objects are those that change, in the order in which they do.
	Objects []Object
	// ControlPlane and Workers are the versions that they go through, in order.
	ControlPlane, Workers []string
	// Groups are the MachineDeployments whose Machines are not all untouched.
	Groups []Group
	// ProposedControlPlane is the control plane as it would be; nil if it stays as it is or is new. What becomes of its Machines is
	// for the control plane's own provider to say, with Reader to read the templates that do not exist yet.
	ProposedControlPlane *unstructured.Unstructured
	Reader               client.Reader
	// Stays says what does not follow by itself, such as workers that defer their upgrade; empty if all does.
	Stays string
}

// TopologyRequest asks for the plans of Clusters with a topology.
type TopologyRequest struct {
	// Reader reads the management cluster, Resolver finds contract versions there. The scheme knows the kinds of the core.
	Reader   client.Reader
	Resolver *contractversion.Resolver
	Scheme   *runtime.Scheme
	// Proposed are Clusters, ClusterClasses and templates of classes as they would be. Plans are made for the Clusters among them and
	// for those of the classes; proposing a Cluster as it is tells what is going to happen without any change.
	Proposed []client.Object
	// Now is the time to plan for; zero is the present.
	Now time.Time
	// CanUpdate is that of [Request].
	CanUpdate func(ctx context.Context, namespace string, request *hooks.CanUpdateMachineSetRequest) (*hooks.CanUpdateMachineSetResponse, error)
}

// ErrNoTopology says that a Cluster is made of single objects.
var ErrNoTopology = errors.New("has no topology")

// MakeForTopologies makes the plans of all Clusters that a proposal concerns, by namespace and name. External patches and plans of upgrades by
// extensions are not asked for: a class that has them is an error.
func MakeForTopologies(ctx context.Context, r TopologyRequest) ([]TopologyPlan, error) {
	if r.Now.IsZero() {
		r.Now = time.Now()
	}
	overlay := NewOverlay(r.Reader, r.Scheme)
	for _, o := range r.Proposed {
		var err error
		if overlay, err = overlay.With(o); err != nil {
			return nil, err
		}
	}
	clusters, err := concerned(ctx, overlay, r.Proposed)
	if err != nil {
		return nil, err
	}
	var plans []TopologyPlan
	for i := range clusters {
		p, err := ofTopology(ctx, r, overlay, &clusters[i])
		if err != nil {
			return nil, fmt.Errorf("planning for Cluster %s: %w", clusters[i].Name, err)
		}
		plans = append(plans, *p)
	}
	return plans, nil
}

// concerned are the Clusters of a proposal, and those whose class or one of whose class's templates is in it.
func concerned(ctx context.Context, reader client.Reader, proposed []client.Object) ([]clusterv1.Cluster, error) {
	list, classes := &clusterv1.ClusterList{}, &clusterv1.ClusterClassList{}
	if err := reader.List(ctx, list); err != nil {
		return nil, fmt.Errorf("listing Clusters: %w", err)
	}
	if err := reader.List(ctx, classes); err != nil {
		return nil, fmt.Errorf("listing ClusterClasses: %w", err)
	}
	touched := map[client.ObjectKey]bool{}
	for i := range classes.Items {
		class := &classes.Items[i]
		for _, o := range proposed {
			_, whole := o.(*clusterv1.ClusterClass)
			same := whole && o.GetName() == class.Name && o.GetNamespace() == class.Namespace
			touched[client.ObjectKeyFromObject(class)] = touched[client.ObjectKeyFromObject(class)] || same || topology.RefersTo(class, o)
		}
	}
	out := slices.DeleteFunc(list.Items, func(c clusterv1.Cluster) bool {
		named := slices.ContainsFunc(proposed, func(o client.Object) bool {
			_, is := o.(*clusterv1.Cluster)
			return is && o.GetName() == c.Name && o.GetNamespace() == c.Namespace
		})
		return !named && (c.Spec.Topology.ClassRef.Name == "" || !touched[classref.Key(&c)])
	})
	slices.SortFunc(out, func(a, b clusterv1.Cluster) int {
		return strings.Compare(a.Namespace+"/"+a.Name, b.Namespace+"/"+b.Name)
	})
	return out, nil
}

func ofTopology(ctx context.Context, r TopologyRequest, overlay *Overlay, cluster *clusterv1.Cluster) (*TopologyPlan, error) {
	if cluster.Spec.Topology.ClassRef.Name == "" {
		return nil, ErrNoTopology
	}
	if !cluster.DeletionTimestamp.IsZero() {
		return nil, ErrDeleting
	}
	w, err := topology.Look(ctx, overlay, r.Resolver, cluster, r.Now)
	if err != nil {
		return nil, err
	}
	end, err := topology.Foresee(ctx, w, nil)
	if err != nil {
		return nil, err
	}
	p := &TopologyPlan{Cluster: client.ObjectKeyFromObject(cluster), ControlPlane: end.Plans.ControlPlane, Workers: end.Plans.Workers, Stays: end.Stays}
	changed := map[string]*unstructured.Unstructured{}
	for _, action := range end.Actions {
		switch a := action.(type) {
		case topology.Apply:
			p.Objects = append(p.Objects, object(w, a))
			if a.New {
				if overlay, err = overlay.With(a.Object); err != nil {
					return nil, err
				}
			} else {
				changed[a.Object.GetKind()+"/"+a.Object.GetName()] = w.After(a)
			}
		case topology.Delete:
			p.Objects = append(p.Objects, Object{Kind: a.Object.GetKind(), Name: a.Object.GetName(), Change: Deleted, Why: a.Because})
		}
	}
	p.Reader = overlay
	if cp := w.Current.ControlPlane; cp != nil {
		p.ProposedControlPlane = changed[cp.GetKind()+"/"+cp.GetName()]
	}
	return p, p.groups(ctx, r, w, changed)
}

// groups plans for the MachineDeployments that exist and stay, with a control plane that is done before them.
func (p *TopologyPlan) groups(ctx context.Context, r TopologyRequest, w topology.World, changed map[string]*unstructured.Unstructured) error {
	overlay := p.Reader.(*Overlay)
	if p.ProposedControlPlane != nil {
		done, err := upgraded(p.ProposedControlPlane, w.Cluster.Spec.Topology.Version)
		if err != nil {
			return err
		}
		if overlay, err = overlay.With(done); err != nil {
			return err
		}
	}
	for _, t := range w.Cluster.Spec.Topology.Workers.MachineDeployments {
		current := w.Current.MachineDeployments[t.Name].Object
		if current == nil {
			continue
		}
		proposed := current.DeepCopy()
		if u := changed["MachineDeployment/"+current.Name]; u != nil {
			proposed = &clusterv1.MachineDeployment{}
			if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, proposed); err != nil {
				return fmt.Errorf("converting MachineDeployment %s: %w", current.Name, err)
			}
		}
		plan, err := Make(ctx, Request{Reader: overlay, Resolver: r.Resolver, Proposed: proposed, Now: r.Now, CanUpdate: r.CanUpdate})
		if err != nil {
			return err
		}
		if plan.Added > 0 || slices.ContainsFunc(plan.Machines, func(m Machine) bool { return m.Fate != Untouched }) {
			p.Groups = append(p.Groups, Group{Name: current.Name, Plan: plan})
		}
	}
	return nil
}

// upgraded is a control plane all of whose Machines have reached a version.
func upgraded(controlPlane *unstructured.Unstructured, version string) (*unstructured.Unstructured, error) {
	contract, out := accessors.ControlPlane(accessors.V1Beta2), controlPlane.DeepCopy()
	have, err := contract.Versions(out)
	if err != nil {
		return nil, err
	}
	now := clusterv1.StatusVersion{Version: version}
	for _, v := range have {
		now.Replicas += v.Replicas
	}
	return out, contract.SetVersions(out, now)
}

func object(w topology.World, a topology.Apply) Object {
	o := Object{Kind: a.Object.GetKind(), Name: a.Object.GetName(), Change: Changed}
	if a.New {
		o.Change, o.Why = Created, a.Because
		return o
	}
	for _, d := range a.Differences {
		f := Field{Path: d.Path, From: encoded(d.Have), To: encoded(d.Want)}
		if secret(w, a.Object, d) {
			hide(&f.From)
			hide(&f.To)
		}
		o.Because = append(o.Because, f)
	}
	return o
}

// openFields are those of a control plane whose values can be told, whatever its kind: they are the contract's.
var openFields = []string{"metadata", "spec.version", "spec.replicas", "spec.machineTemplate", "spec.machineNaming", "spec.rollout"}

// secret says whether the values of a field may be secret: those of bootstrap templates are, and those that only a control plane knows.
func secret(w topology.World, o *unstructured.Unstructured, d intent.Difference) bool {
	switch {
	case w.IsBootstrap(o):
		return strings.HasPrefix(d.Path, "spec")
	case w.Current.ControlPlane != nil && o.GetKind() == w.Current.ControlPlane.GetKind() && o.GetName() == w.Current.ControlPlane.GetName():
		return !slices.ContainsFunc(openFields, func(open string) bool { return d.Path == open || strings.HasPrefix(d.Path, open+".") })
	}
	return false
}
