package clusterclass

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/core/internal/topology/patches"
	"github.com/slipway-capi/slipway/core/internal/topology/patches/alike"
)

// Strangers warns of names in templates that are no variables: where such a name is only tested, nobody would ever see that it is
// misspelt. It is no error, since a template that tests a name may do so for classes that have it and for others.
func Strangers(spec clusterv1.ClusterClassSpec) []string {
	known := knownVariables(spec)
	if known == nil {
		return nil
	}
	var warnings []string
	warn := func(text string, path *field.Path) {
		for _, name := range patches.Roots(text) {
			if !slices.Contains(known, name) {
				warnings = append(warnings, fmt.Sprintf("%s: %s is no variable of the class%s", path, name, meant(alike.To(name, known))))
			}
		}
	}
	at := field.NewPath("spec", "patches")
	for i, p := range spec.Patches {
		warn(p.EnabledIf, at.Index(i).Child("enabledIf"))
		for j, d := range p.Definitions {
			for k, operation := range d.JSONPatches {
				if operation.ValueFrom != nil {
					warn(operation.ValueFrom.Template, at.Index(i).Child("definitions").Index(j).Child("jsonPatches").Index(k).Child("valueFrom", "template"))
				}
			}
		}
	}
	return warnings
}

func meant(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return "; did you mean " + strings.Join(names[:min(3, len(names))], " or ") + "?"
}
