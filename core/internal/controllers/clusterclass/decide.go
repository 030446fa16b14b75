package clusterclass

import (
	"context"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/conditions"
	"github.com/slipway-capi/slipway/contract/ownership"
	"github.com/slipway-capi/slipway/contract/paused"
)

// Reference names a template.
type Reference = clusterv1.MachineHealthCheckRemediationTemplateReference

// World is all that is known when a decision about one class is taken.
type World struct {
	Class     *clusterv1.ClusterClass
	Templates []Template
	// Discoveries are by the order of the patches.
	Discoveries []Discovery
}

// Template is a template of the class as it was found.
type Template struct {
	Reference Reference
	// Object is nil if it could not be read.
	Object *unstructured.Unstructured
	// Newest is the group and version that the contract label of the kind names.
	Newest string
	// Missing says that the template does not exist, which its appearance will tell; Err is what kept it from being read.
	Missing bool
	Err     error
}

// Decision is the class as it should be stored, and the templates that it becomes an owner of.
type Decision struct {
	Class *clusterv1.ClusterClass
	Adopt []*unstructured.Unstructured
	Err   error
}

// Templates lists what a class refers to, each once, in the order of the class.
func Templates(class *clusterv1.ClusterClass) []Reference {
	var out []Reference
	add := func(ref Reference) {
		if ref.Name != "" && !slices.Contains(out, ref) {
			out = append(out, ref)
		}
	}
	spec := class.Spec
	add(spec.Infrastructure.TemplateRef)
	add(spec.ControlPlane.TemplateRef)
	add(spec.ControlPlane.MachineInfrastructure.TemplateRef)
	for _, k := range spec.Workers.MachineDeployments {
		add(k.Bootstrap.TemplateRef)
		add(k.Infrastructure.TemplateRef)
	}
	for _, k := range spec.Workers.MachinePools {
		add(k.Bootstrap.TemplateRef)
		add(k.Infrastructure.TemplateRef)
	}
	return out
}

// Decide says what the status of a class is. It is pure: same world, same decision.
func Decide(ctx context.Context, w World) Decision {
	d := Decision{Class: w.Class.DeepCopy()}
	pause := paused.Condition(nil, d.Class)
	conditions.Set(d.Class, pause)
	if pause.Status == metav1.ConditionTrue {
		return d
	}
	d.variables(ctx, w)
	conditions.Set(d.Class, versions(w.Templates))
	owner := ownership.Reference(d.Class, clusterv1.GroupVersion.WithKind(clusterv1.ClusterClassKind))
	for _, t := range w.Templates {
		switch {
		case t.Object != nil && !ownership.Has(t.Object, owner):
			d.Adopt = append(d.Adopt, t.Object)
		case t.Err != nil && !t.Missing && d.Err == nil:
			d.Err = t.Err
		}
	}
	if conditions.IsTrue(d.Class, clusterv1.ClusterClassVariablesReadyCondition) {
		d.Class.Status.ObservedGeneration = d.Class.Generation
	}
	return d
}

// variables lists those of the class and those of its extensions. While an extension cannot tell, the list stays as it is, and a changed
// class counts as not yet seen.
func (d *Decision) variables(ctx context.Context, w World) {
	ready := metav1.Condition{Type: clusterv1.ClusterClassVariablesReadyCondition, Status: metav1.ConditionTrue, Reason: clusterv1.ClusterClassVariablesReadyReason}
	for _, discovery := range w.Discoveries {
		if err := discovery.problem(ctx); err != nil {
			d.Err = fmt.Errorf("variables of patch %s: %w", discovery.Patch, err)
			ready.Status, ready.Reason, ready.Message = metav1.ConditionFalse, clusterv1.ClusterClassVariablesReadyVariableDiscoveryFailedReason, d.Err.Error()
			break
		}
	}
	if d.Err == nil {
		d.Class.Status.Variables = definitions(d.Class, w.Discoveries)
	}
	conditions.Set(d.Class, ready)
}

func definitions(class *clusterv1.ClusterClass, discoveries []Discovery) []clusterv1.ClusterClassVariableStatus {
	var out []clusterv1.ClusterClassVariableStatus
	add := func(from string, v clusterv1.ClusterClassVariable) {
		i := slices.IndexFunc(out, func(s clusterv1.ClusterClassVariableStatus) bool { return s.Name == v.Name })
		if i < 0 {
			i, out = len(out), append(out, clusterv1.ClusterClassVariableStatus{Name: v.Name})
		}
		out[i].Definitions = append(out[i].Definitions, clusterv1.ClusterClassVariableDefinitionStatus{From: from, Required: v.Required, Schema: v.Schema})
	}
	for _, v := range class.Spec.Variables {
		add(clusterv1.VariableDefinitionFromInline, v)
	}
	for _, d := range discoveries {
		for _, v := range d.Variables {
			add(d.Patch, v)
		}
	}
	for i := range out {
		differ := conflict(out[i].Definitions)
		out[i].DefinitionsConflict = &differ
	}
	slices.SortFunc(out, func(a, b clusterv1.ClusterClassVariableStatus) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// versions compares the versions that the class names with those that the contract labels name.
func versions(templates []Template) metav1.Condition {
	c := metav1.Condition{Type: clusterv1.ClusterClassRefVersionsUpToDateCondition, Status: metav1.ConditionTrue, Reason: clusterv1.ClusterClassRefVersionsUpToDateReason}
	var old, unknown []string
	for _, t := range templates {
		kind := schema.FromAPIVersionAndKind(t.Reference.APIVersion, t.Reference.Kind)
		switch {
		case t.Newest == "":
			unknown = append(unknown, fmt.Sprintf("* %s: the kind is not installed", kind.GroupKind()))
		case t.Newest != t.Reference.APIVersion:
			old = append(old, fmt.Sprintf("* %s %s: use %s instead of %s", kind.Kind, t.Reference.Name, t.Newest, t.Reference.APIVersion))
		}
	}
	switch {
	case len(old) > 0:
		c.Status, c.Reason, c.Message = metav1.ConditionFalse, clusterv1.ClusterClassRefVersionsNotUpToDateReason, strings.Join(old, "\n")
	case len(unknown) > 0:
		c.Status, c.Reason, c.Message = metav1.ConditionUnknown, clusterv1.InternalErrorReason, strings.Join(slices.Compact(unknown), "\n")
	}
	return c
}
