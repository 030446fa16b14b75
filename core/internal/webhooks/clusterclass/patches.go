package clusterclass

import (
	"reflect"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	hooks "github.com/slipway-capi/slipway/contract/api/runtime/hooks/v1alpha1"
	"github.com/slipway-capi/slipway/contract/manager"
	"github.com/slipway-capi/slipway/core/internal/topology/patches"
)

// patchDefinitions judges the patches of a class.
func patchDefinitions(spec clusterv1.ClusterClassSpec, features manager.Features, path *field.Path) field.ErrorList {
	var problems field.ErrorList
	known := knownVariables(spec)
	seen := map[string]bool{}
	for i, p := range spec.Patches {
		at := path.Index(i)
		if seen[p.Name] {
			problems = append(problems, field.Duplicate(at.Child("name"), p.Name))
		}
		seen[p.Name] = true
		if p.External != nil {
			problems = append(problems, external(p, features, at)...)
			continue
		}
		problems = append(problems, template(p.EnabledIf, at.Child("enabledIf"))...)
		if len(p.Definitions) == 0 {
			problems = append(problems, field.Required(at.Child("definitions"), "set definitions, or external for an extension that computes the changes"))
		}
		for j, d := range p.Definitions {
			problems = append(problems, selector(d.Selector, spec, at.Child("definitions").Index(j).Child("selector"))...)
			for k, operation := range d.JSONPatches {
				problems = append(problems, jsonPatch(operation, known, at.Child("definitions").Index(j).Child("jsonPatches").Index(k))...)
			}
		}
	}
	return problems
}

// knownVariables are those that a patch can name; nil if extensions may define more.
func knownVariables(spec clusterv1.ClusterClassSpec) []string {
	known := []string{hooks.BuiltinsName}
	for _, p := range spec.Patches {
		if p.External != nil && p.External.DiscoverVariablesExtension != "" {
			return nil
		}
	}
	for _, v := range spec.Variables {
		known = append(known, v.Name)
	}
	return known
}

func external(p clusterv1.ClusterClassPatch, features manager.Features, path *field.Path) field.ErrorList {
	if !features.Enabled(manager.FeatureRuntimeSDK) {
		return field.ErrorList{field.Forbidden(path.Child("external"), "can be set only with the feature gate "+manager.FeatureRuntimeSDK)}
	}
	var problems field.ErrorList
	if len(p.Definitions) > 0 {
		problems = append(problems, field.Forbidden(path.Child("definitions"), "must not be set together with external"))
	}
	if p.EnabledIf != "" {
		problems = append(problems, field.Forbidden(path.Child("enabledIf"), "must not be set together with external; the extension decides"))
	}
	if e := p.External; e.GeneratePatchesExtension == "" && e.ValidateTopologyExtension == "" && e.DiscoverVariablesExtension == "" {
		problems = append(problems, field.Required(path.Child("external"), "name at least one extension"))
	}
	return problems
}

func template(text string, path *field.Path) field.ErrorList {
	if text == "" {
		return nil
	}
	if _, err := patches.ParseTemplate(text); err != nil {
		return field.ErrorList{field.Invalid(path, text, err.Error())}
	}
	return nil
}

// selector demands that a patch can apply to something of this class.
func selector(s clusterv1.PatchSelector, spec clusterv1.ClusterClassSpec, path *field.Path) field.ErrorList {
	match, at := s.MatchResources, path.Child("matchResources")
	is := func(ref templateRef) bool { return ref.APIVersion == s.APIVersion && ref.Kind == s.Kind }
	var problems field.ErrorList
	roles := 0
	if on(match.ControlPlane) {
		roles++
		if !is(spec.ControlPlane.TemplateRef) && !is(spec.ControlPlane.MachineInfrastructure.TemplateRef) {
			problems = append(problems, field.Invalid(at.Child("controlPlane"), true, "the control plane of this class has no template of the kind and version of the selector"))
		}
	}
	if on(match.InfrastructureCluster) {
		roles++
		if !is(spec.Infrastructure.TemplateRef) {
			problems = append(problems, field.Invalid(at.Child("infrastructureCluster"), true, "the infrastructure of this class is not of the kind and version of the selector"))
		}
	}
	var workers []workerClass
	for _, c := range spec.Workers.MachineDeployments {
		workers = append(workers, workerClass{c.Class, is(c.Bootstrap.TemplateRef) || is(c.Infrastructure.TemplateRef)})
	}
	n, more := classNames(match.MachineDeploymentClass, workers, at.Child("machineDeploymentClass", "names"))
	problems, roles = append(problems, more...), roles+n
	workers = nil
	for _, c := range spec.Workers.MachinePools {
		workers = append(workers, workerClass{c.Class, is(c.Bootstrap.TemplateRef) || is(c.Infrastructure.TemplateRef)})
	}
	n, more = classNames(match.MachinePoolClass, workers, at.Child("machinePoolClass", "names"))
	problems, roles = append(problems, more...), roles+n
	if roles == 0 && len(problems) == 0 {
		problems = append(problems, field.Required(at, "say in which roles a template is meant: controlPlane, infrastructureCluster, machineDeploymentClass or machinePoolClass"))
	}
	return problems
}

func on(b *bool) bool { return b != nil && *b }

// workerClass is a class of workers, and whether one of its templates is of the kind in question.
type workerClass struct {
	name string
	fits bool
}

func classNames(match *clusterv1.PatchSelectorMatchResourcesMachineDeploymentClass, workers []workerClass, path *field.Path) (int, field.ErrorList) {
	if match == nil {
		return 0, nil
	}
	var problems field.ErrorList
	for i, pattern := range match.Names {
		if strings.Contains(strings.TrimSuffix(strings.TrimPrefix(pattern, "*"), "*"), "*") || len(pattern) > 1 && strings.HasPrefix(pattern, "*") && strings.HasSuffix(pattern, "*") {
			problems = append(problems, field.Invalid(path.Index(i), pattern, "a * may stand alone, at the beginning or at the end"))
			continue
		}
		fits := slices.ContainsFunc(workers, func(w workerClass) bool { return w.fits && patches.MatchName(pattern, w.name) })
		if !fits {
			problems = append(problems, field.Invalid(path.Index(i), pattern, "matches no worker class of this class with a template of the kind and version of the selector"))
		}
	}
	return len(match.Names), problems
}

func jsonPatch(operation clusterv1.JSONPatch, known []string, path *field.Path) field.ErrorList {
	problems := pointer(operation, path.Child("path"))
	switch operation.Op {
	case "remove":
		if !operation.Value.IsZero() || operation.ValueFrom != nil {
			problems = append(problems, field.Forbidden(path.Child("value"), "an operation that removes has no value"))
		}
	case "add", "replace":
		problems = append(problems, value(operation, known, path)...)
	default:
		problems = append(problems, field.NotSupported(path.Child("op"), operation.Op, []string{"add", "replace", "remove"}))
	}
	return problems
}

// pointer demands a path into what patches may change. In lists only both ends can be addressed: who knows what a position in
// the middle is after other patches?
func pointer(operation clusterv1.JSONPatch, path *field.Path) field.ErrorList {
	if !patches.Inside(operation.Path) {
		return field.ErrorList{field.Invalid(path, operation.Path, "must be "+patches.Root+" or below it")}
	}
	for part := range strings.SplitSeq(strings.TrimPrefix(operation.Path, patches.Root+"/"), "/") {
		n, err := strconv.Atoi(part)
		switch {
		case part == "-" && operation.Op != "add":
			return field.ErrorList{field.Invalid(path, operation.Path, "the end of a list can only be added to")}
		case err != nil:
		case operation.Op != "add":
			return field.ErrorList{field.Invalid(path, operation.Path, "elements of a list can be added but not replaced or removed: replace the whole list")}
		case n != 0:
			return field.ErrorList{field.Invalid(path, operation.Path, "can be added to a list only at its beginning, 0, or at its end, -")}
		}
	}
	return nil
}

func value(operation clusterv1.JSONPatch, known []string, path *field.Path) field.ErrorList {
	from := operation.ValueFrom
	switch {
	case operation.Value.IsZero() && from == nil:
		return field.ErrorList{field.Required(path.Child("value"), "set value or valueFrom")}
	case !operation.Value.IsZero() && from != nil:
		return field.ErrorList{field.Forbidden(path.Child("valueFrom"), "must not be set together with value")}
	case from == nil:
		return nil
	case from.Variable != "" && from.Template != "":
		return field.ErrorList{field.Forbidden(path.Child("valueFrom", "template"), "must not be set together with variable")}
	case from.Variable == "" && from.Template == "":
		return field.ErrorList{field.Required(path.Child("valueFrom"), "set variable or template")}
	case from.Template != "":
		return template(from.Template, path.Child("valueFrom", "template"))
	}
	return variable(from.Variable, known, path.Child("valueFrom", "variable"))
}

func variable(text string, known []string, path *field.Path) field.ErrorList {
	p, err := patches.ParsePath(text)
	if err != nil {
		return field.ErrorList{field.Invalid(path, text, err.Error())}
	}
	if known != nil && !slices.Contains(known, p.Variable()) {
		return field.ErrorList{field.NotSupported(path, p.Variable(), known)}
	}
	if p.Variable() == hooks.BuiltinsName && !builtin(reflect.TypeFor[hooks.Builtins](), text) {
		return field.ErrorList{field.Invalid(path, text, "the variable builtin has no such field")}
	}
	return nil
}

// builtin says whether builtin has the field that a path leads to.
func builtin(at reflect.Type, text string) bool {
	if text == hooks.BuiltinsName {
		return true
	}
	for part := range strings.SplitSeq(strings.TrimPrefix(text, hooks.BuiltinsName+"."), ".") {
		name, index, indexed := strings.Cut(part, "[")
		if at.Kind() == reflect.Pointer {
			at = at.Elem()
		}
		switch at.Kind() {
		case reflect.Map:
			at = at.Elem()
			continue
		case reflect.Struct:
		default:
			return false
		}
		next, ok := jsonField(at, name)
		if !ok {
			return false
		}
		at = next
		if indexed && at.Kind() == reflect.Slice && strings.HasSuffix(index, "]") {
			at = at.Elem()
		} else if indexed {
			return false
		}
	}
	return true
}

func jsonField(at reflect.Type, name string) (reflect.Type, bool) {
	for i := range at.NumField() {
		tag, _, _ := strings.Cut(at.Field(i).Tag.Get("json"), ",")
		if tag == name {
			return at.Field(i).Type, true
		}
	}
	return nil, false
}
