package manager

import (
	"os"

	"k8s.io/client-go/features"
)

// A streamed list of an idle kind ends with a bookmark that the API server sends about once a second; a plain list takes milliseconds.
// Managers start a cache for each kind that they meet, so the first cluster on a fresh plane was ready 3 seconds later with streams.
// The environment can turn streams on again: KUBE_FEATURE_WatchListClient=true.
func init() {
	if os.Getenv("KUBE_FEATURE_"+string(features.WatchListClient)) != "" {
		return
	}
	if gates, ok := features.FeatureGates().(interface {
		Set(features.Feature, bool) error
	}); ok {
		_ = gates.Set(features.WatchListClient, false) // fails only for a gate that is locked or gone; then there is nothing to do
	}
}
