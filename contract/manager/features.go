package manager

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// The features of the system, as users name them in --feature-gates.
const (
	FeatureMachineWaitForVolumeDetachConsiderVolumeAttachments = "MachineWaitForVolumeDetachConsiderVolumeAttachments"
	FeaturePriorityQueue                                       = "PriorityQueue"
	FeatureReconcilerRateLimiting                              = "ReconcilerRateLimiting"
	FeatureMachinePool                                         = "MachinePool"
	FeatureMachineSetPreflightChecks                           = "MachineSetPreflightChecks"
	FeatureClusterTopology                                     = "ClusterTopology"
	FeatureRuntimeSDK                                          = "RuntimeSDK"
	FeatureInPlaceUpdates                                      = "InPlaceUpdates"
	FeatureMachineTaintPropagation                             = "MachineTaintPropagation"
	FeatureKubeadmBootstrapFormatIgnition                      = "KubeadmBootstrapFormatIgnition"
)

// DefaultFeatures are the gates of the system and what they are unless a user says otherwise.
func DefaultFeatures() Features {
	return Features{
		FeatureMachineWaitForVolumeDetachConsiderVolumeAttachments: true,
		FeaturePriorityQueue:                  true,
		FeatureReconcilerRateLimiting:         true,
		FeatureMachinePool:                    true,
		FeatureMachineSetPreflightChecks:      true,
		FeatureClusterTopology:                false,
		FeatureRuntimeSDK:                     false,
		FeatureInPlaceUpdates:                 false,
		FeatureMachineTaintPropagation:        false,
		FeatureKubeadmBootstrapFormatIgnition: false,
	}
}

// Features says which feature gates are on. It is a flag value of the form Name=true,Other=false.
type Features map[string]bool

// Enabled says whether a feature is on. An unknown one is off.
func (f Features) Enabled(name string) bool { return f[name] }

// String lists the gates in a stable order.
func (f Features) String() string {
	parts := make([]string, 0, len(f))
	for _, name := range slices.Sorted(maps.Keys(f)) {
		parts = append(parts, name+"="+strconv.FormatBool(f[name]))
	}
	return strings.Join(parts, ",")
}

// Set switches the gates that the text names; unknown names are refused.
func (f Features) Set(text string) error {
	for part := range strings.SplitSeq(text, ",") {
		part = strings.TrimSpace(part)
		if part == "" {
			continue
		}
		name, value, ok := strings.Cut(part, "=")
		if !ok {
			return fmt.Errorf("%q is not of the form Feature=true", part)
		}
		if _, known := f[name]; !known {
			return fmt.Errorf("unknown feature %q, known are %s", name, strings.Join(slices.Sorted(maps.Keys(f)), ", "))
		}
		on, err := strconv.ParseBool(strings.TrimSpace(value))
		if err != nil {
			return fmt.Errorf("feature %s must be true or false, not %q", name, value)
		}
		f[name] = on
	}
	return nil
}

// Type names the kind of value in help texts.
func (f Features) Type() string { return "mapStringBool" }
