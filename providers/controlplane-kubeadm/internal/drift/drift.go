// Package drift finds out in what a machine differs from what its control plane wants now. It is pure and errs on the
// safe side: what is not known counts as equal, and absent, zero and default values are the same, so that an upgrade
// of the manager or a lost annotation never replaces a machine.
package drift

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	bootstrapv1 "github.com/slipway-capi/slipway/providers/bootstrap-kubeadm/api/v1beta2"
)

// Difference is one field with another value than the wanted one.
type Difference struct {
	Path string
	// From and To are the values as JSON, empty for absent ones and Hidden for those that may be secret.
	From, To string
}

// Hidden stands for a value that is not told.
const Hidden = "(not shown)"

// secretive are the fields whose values are never told: contents, commands and tokens may be secret.
var secretive = []string{
	"files", "users", "bootCommands", "preKubeadmCommands", "postKubeadmCommands", "ignition",
	"initConfiguration.bootstrapTokens", "joinConfiguration.discovery",
}

// Config returns the fields in which the configuration a machine was made from differs from the wanted one; none means
// up to date. The first machine was made from an init configuration and all others from a join configuration; it is
// enough that one reading of the stored configuration agrees.
func Config(stored, wanted bootstrapv1.KubeadmConfigSpec) []Difference {
	asJoin := joinForm(wanted)
	if stored.JoinConfiguration.ControlPlane != nil {
		return differences(joinForm(stored), asJoin)
	}
	// Without the marker of a join this is the first machine, or the marker was lost. Try all readings.
	best := differences(convertInit(stored, wanted), asJoin)
	for _, reading := range [][]Difference{
		differences(joinForm(stored), asJoin),
		differences(initForm(stored), initForm(wanted)),
	} {
		if len(reading) < len(best) {
			best = reading
		}
	}
	return best
}

// InJoinForm reads a stored configuration as a join configuration, in the way that is nearest to the wanted one. Fields that
// replace no machine are taken from the wanted one.
func InJoinForm(stored, wanted bootstrapv1.KubeadmConfigSpec) bootstrapv1.KubeadmConfigSpec {
	target := joinForm(wanted)
	if len(Config(stored, wanted)) == 0 {
		return target
	}
	read := joinForm(stored)
	if stored.JoinConfiguration.ControlPlane == nil {
		if converted := convertInit(stored, wanted); len(differences(converted, target)) <= len(differences(read, target)) {
			read = converted
		}
	}
	read.ClusterConfiguration.ControlPlaneEndpoint = target.ClusterConfiguration.ControlPlaneEndpoint
	read.ClusterConfiguration.DNS = target.ClusterConfiguration.DNS
	read.JoinConfiguration.Discovery = target.JoinConfiguration.Discovery
	read.JoinConfiguration.Timeouts.ControlPlaneComponentHealthCheckSeconds = target.JoinConfiguration.Timeouts.ControlPlaneComponentHealthCheckSeconds
	return read
}

// Joined returns the fields in which two configurations differ for a machine that joins.
func Joined(a, b bootstrapv1.KubeadmConfigSpec) []Difference {
	return differences(joinForm(a), joinForm(b))
}

// Between returns the fields in which two plain JSON documents differ.
func Between(a, b map[string]any) []Difference {
	return list(prune(a, ""), prune(b, ""))
}

// Of is the difference of one field that is compared as a whole.
func Of(path string, from, to any) Difference {
	return Difference{Path: path, From: told(path, from), To: told(path, to)}
}

// Paths are the fields alone.
func Paths(all []Difference) []string {
	paths := make([]string, 0, len(all))
	for _, d := range all {
		paths = append(paths, d.Path)
	}
	return paths
}

// SameMeaning says whether two configurations mean the same in every field.
func SameMeaning(a, b bootstrapv1.KubeadmConfigSpec) bool {
	a, b = *a.DeepCopy(), *b.DeepCopy()
	clearDefaults(&a)
	clearDefaults(&b)
	return len(list(asData(a), asData(b))) == 0
}

func joinForm(spec bootstrapv1.KubeadmConfigSpec) bootstrapv1.KubeadmConfigSpec {
	spec = *spec.DeepCopy()
	spec.InitConfiguration = bootstrapv1.InitConfiguration{}
	return spec
}

func initForm(spec bootstrapv1.KubeadmConfigSpec) bootstrapv1.KubeadmConfigSpec {
	spec = *spec.DeepCopy()
	spec.JoinConfiguration = bootstrapv1.JoinConfiguration{}
	return spec
}

// convertInit reads an init configuration as the join configuration that means the same.
func convertInit(stored, wanted bootstrapv1.KubeadmConfigSpec) bootstrapv1.KubeadmConfigSpec {
	converted := joinForm(stored)
	init := stored.InitConfiguration.DeepCopy()
	join := bootstrapv1.JoinConfiguration{
		NodeRegistration: init.NodeRegistration,
		Patches:          init.Patches,
		SkipPhases:       init.SkipPhases,
		Timeouts:         init.Timeouts,
		CACertPath:       wanted.JoinConfiguration.CACertPath,
	}
	join.ControlPlane = &bootstrapv1.JoinControlPlane{LocalAPIEndpoint: init.LocalAPIEndpoint}
	converted.JoinConfiguration = join
	return converted
}

func differences(a, b bootstrapv1.KubeadmConfigSpec) []Difference {
	return list(normalise(a), normalise(b))
}

func list(a, b any) []Difference {
	found := map[string]Difference{}
	compare("", a, b, found)
	all := slices.Collect(maps.Values(found))
	slices.SortFunc(all, func(x, y Difference) int { return strings.Compare(x.Path, y.Path) })
	return all
}

// clearIgnored leaves out the fields that are filled in by others or changed without replacing machines.
func clearIgnored(spec *bootstrapv1.KubeadmConfigSpec) {
	spec.ClusterConfiguration.ControlPlaneEndpoint = ""
	spec.ClusterConfiguration.DNS = bootstrapv1.DNS{}
	spec.JoinConfiguration.Discovery = bootstrapv1.Discovery{}
	spec.JoinConfiguration.Timeouts.ControlPlaneComponentHealthCheckSeconds = nil
	spec.InitConfiguration.Timeouts.ControlPlaneComponentHealthCheckSeconds = nil
}

// clearDefaults removes what older versions wrote out and newer ones leave away.
func clearDefaults(spec *bootstrapv1.KubeadmConfigSpec) {
	if spec.Format == "cloud-config" {
		spec.Format = ""
	}
	for _, registration := range []*bootstrapv1.NodeRegistrationOptions{
		&spec.InitConfiguration.NodeRegistration, &spec.JoinConfiguration.NodeRegistration,
	} {
		if registration.ImagePullPolicy == "IfNotPresent" {
			registration.ImagePullPolicy = ""
		}
	}
	for i := range spec.Files {
		if spec.Files[i].ContentFormat == "Raw" {
			spec.Files[i].ContentFormat = ""
		}
	}
	if spec.ClusterConfiguration.EncryptionAlgorithm == "RSA-2048" {
		spec.ClusterConfiguration.EncryptionAlgorithm = ""
	}
	if spec.ClusterConfiguration.CACertificateValidityPeriodDays == 3650 {
		spec.ClusterConfiguration.CACertificateValidityPeriodDays = 0
	}
}

// normalise turns a configuration into plain data without anything that is absent, zero or default.
func normalise(spec bootstrapv1.KubeadmConfigSpec) any {
	spec = *spec.DeepCopy()
	clearIgnored(&spec)
	clearDefaults(&spec)
	return asData(spec)
}

func asData(spec bootstrapv1.KubeadmConfigSpec) any {
	encoded, err := json.Marshal(spec)
	if err != nil {
		return fmt.Sprintf("not encodable: %v", err)
	}
	var data any
	if err := json.Unmarshal(encoded, &data); err != nil {
		return fmt.Sprintf("not decodable: %v", err)
	}
	return prune(data, "")
}

// keptWhole are the fields where an empty value means something: no taints at all, a gate that is off.
var keptWhole = []string{"taints", "featureGates"}

func prune(value any, field string) any {
	switch typed := value.(type) {
	case map[string]any:
		if slices.Contains(keptWhole, field) {
			return orNil(typed, len(typed))
		}
		for key, child := range typed {
			if pruned := prune(child, key); pruned == nil {
				delete(typed, key)
			} else {
				typed[key] = pruned
			}
		}
		return orNil(typed, len(typed))
	case []any:
		if slices.Contains(keptWhole, field) {
			return typed
		}
		for i := range typed {
			typed[i] = prune(typed[i], "")
		}
		return orNil(typed, len(typed))
	case nil, bool, string, float64:
		if typed == nil || reflect.ValueOf(typed).IsZero() {
			return nil
		}
	}
	return value
}

func orNil(value any, size int) any {
	if size == 0 {
		return nil
	}
	return value
}

// compare collects the differing fields. Lists are compared as a whole: their order matters.
func compare(path string, a, b any, found map[string]Difference) {
	left, leftIsMap := a.(map[string]any)
	right, rightIsMap := b.(map[string]any)
	if a == nil && rightIsMap {
		left, leftIsMap = map[string]any{}, true
	}
	if b == nil && leftIsMap {
		right, rightIsMap = map[string]any{}, true
	}
	if !leftIsMap || !rightIsMap {
		if !reflect.DeepEqual(a, b) {
			found[path] = Of(path, a, b)
		}
		return
	}
	for key := range left {
		compare(join(path, key), left[key], right[key], found)
	}
	for key := range right {
		if _, seen := left[key]; !seen {
			compare(join(path, key), nil, right[key], found)
		}
	}
}

func told(path string, value any) string {
	if value == nil {
		return ""
	}
	for _, field := range secretive {
		if path == field || strings.HasPrefix(path, field+".") {
			return Hidden
		}
	}
	encoded, err := json.Marshal(value)
	if err != nil {
		return Hidden
	}
	return string(encoded)
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}
