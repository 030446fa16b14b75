package clusterclass

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	hooks "github.com/slipway-capi/slipway/contract/api/runtime/hooks/v1alpha1"
	"github.com/slipway-capi/slipway/contract/extension/answers"
	"github.com/slipway-capi/slipway/contract/extension/hook"
	"github.com/slipway-capi/slipway/contract/extension/hookcall"
	"github.com/slipway-capi/slipway/core/internal/topology/variables"
)

// Discovery is what the extension of one patch says about variables.
type Discovery struct {
	// Patch is the name of the patch.
	Patch     string
	Variables []clusterv1.ClusterClassVariable
	Err       error
}

// discoverAgain is when extensions are asked again: a new program behind the same address may want other variables.
const discoverAgain = 10 * time.Minute

var errNoExtensions = errors.New("extensions are not enabled (feature gate RuntimeSDK)")

// discover asks the extensions of a class which variables their patches use.
func (c *Controller) discover(ctx context.Context, class *clusterv1.ClusterClass) []Discovery {
	var out []Discovery
	for _, p := range class.Spec.Patches {
		if p.External == nil || p.External.DiscoverVariablesExtension == "" {
			continue
		}
		d := Discovery{Patch: p.Name, Err: errNoExtensions}
		if c.Hooks != nil {
			var response *hooks.DiscoverVariablesResponse
			request := &hooks.DiscoverVariablesRequest{CommonRequest: hooks.CommonRequest{Settings: p.External.Settings}}
			if response, d.Err = hookcall.One(ctx, c.Hooks, hook.DiscoverVariables, p.External.DiscoverVariablesExtension, class.Namespace, request); d.Err == nil {
				d.Variables = response.Variables
			}
		}
		out = append(out, d)
	}
	return out
}

// The bounds of what an extension can define, which are those of the class itself.
const (
	maxVariables = 1000
	maxName      = 256
)

// problem says what is wrong with the variables of an extension.
func (d Discovery) problem(ctx context.Context) error {
	if d.Err != nil {
		return d.Err
	}
	if len(d.Variables) > maxVariables {
		return fmt.Errorf("it defines %d variables, more than %d", len(d.Variables), maxVariables)
	}
	seen := map[string]bool{}
	for i, v := range d.Variables {
		name := answers.Text(v.Name)
		switch {
		case v.Name == "" || len(v.Name) > maxName:
			return fmt.Errorf("its variable %d has no name, or one of more than %d characters", i, maxName)
		case v.Name == hooks.BuiltinsName:
			return fmt.Errorf("it defines the variable %s, which every cluster has", name)
		case seen[v.Name]:
			return fmt.Errorf("it defines the variable %s twice", name)
		}
		seen[v.Name] = true
		if problems := variables.ValidateSchema(ctx, v.Schema.OpenAPIV3Schema, field.NewPath("schema", "openAPIV3Schema")); len(problems) > 0 {
			return fmt.Errorf("its variable %s: %s", name, answers.Text(problems.ToAggregate().Error()))
		}
	}
	return nil
}

// conflict says whether the definitions of a variable differ.
func conflict(definitions []clusterv1.ClusterClassVariableDefinitionStatus) bool {
	for _, d := range definitions[1:] {
		if d.Required != definitions[0].Required || !equality.Semantic.DeepEqual(d.Schema, definitions[0].Schema) {
			return true
		}
	}
	return false
}

// ofExtension finds the classes that may wait for an extension.
func (c *Controller) ofExtension(ctx context.Context, _ client.Object) []reconcile.Request {
	list := &clusterv1.ClusterClassList{}
	if err := c.Client.List(ctx, list); err != nil {
		return nil
	}
	var out []reconcile.Request
	for i := range list.Items {
		if variables.FromExtensions(&list.Items[i]) {
			out = append(out, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&list.Items[i])})
		}
	}
	return out
}
