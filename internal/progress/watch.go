package progress

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/slipway-capi/slipway/internal/clustertree"
)

// End is why Watch has ended.
type End string

// The ends.
const (
	// Gone means that the Cluster has been deleted.
	Gone End = "is deleted"
	// Complete means that nothing is missing, and that it was the end to wait for.
	Complete End = "is ready"
	// Left means that who watched has seen enough.
	Left End = ""
)

// Watch shows a Cluster that exists until it is deleted, or until it is ready if that is asked for. A Cluster that is deleted while its readiness
// is awaited is an error, and so is a context that runs out of time.
func Watch(ctx context.Context, client dynamic.Interface, cluster types.NamespacedName, display *Display, untilReady bool) (End, error) {
	end := Left
	var last Rollout
	err := Follow(ctx, client, cluster, func(tree *clustertree.Node) (bool, error) {
		last = Of(tree)
		if err := display.Show(tree); err != nil {
			return false, err
		}
		switch {
		case tree == nil && untilReady:
			return false, fmt.Errorf("cluster %s was deleted before it was ready", cluster)
		case tree == nil:
			end = Gone
		case untilReady && last.Done():
			end = Complete
		}
		return end == Left, nil
	})
	switch {
	case errors.Is(err, context.DeadlineExceeded) && untilReady:
		return end, fmt.Errorf("cluster %s is not ready in time: %s", cluster, strings.Join(last.Waiting, "; "))
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return Left, nil // Ctrl-C and --timeout are how watching ends
	}
	return end, err
}
