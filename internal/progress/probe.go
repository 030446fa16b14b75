package progress

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
)

// Watches try again for ever by themselves, so it is asked besides whether anybody is still there. An API server that is started again is
// back well within the patience.
const (
	probeEvery = 2 * time.Second
	patience   = 15 * time.Second
)

// ErrSilent says that the management cluster does not answer any more.
var ErrSilent = errors.New("the management cluster does not answer any more")

// probe asks again and again, and returns when it has got no answer for as long as the patience lasts, or when the context ends.
func probe(ctx context.Context, ask func(context.Context) error, every, patience time.Duration) error {
	tick := time.NewTicker(every)
	defer tick.Stop()
	last := time.Now()
	for {
		asked, cancel := context.WithTimeout(ctx, patience)
		err := ask(asked)
		cancel()
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case answered(err):
			last = time.Now()
		case time.Since(last) >= patience:
			return fmt.Errorf("%w: %w", ErrSilent, err)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

// answered says whether an error, or none, has come from the API server itself.
func answered(err error) bool {
	var status apierrors.APIStatus
	return err == nil || errors.As(err, &status)
}

// asker asks for the Cluster that is followed.
func asker(client dynamic.Interface, cluster types.NamespacedName, kinds []schema.GroupVersionResource) func(context.Context) error {
	for _, kind := range kinds {
		if kind.Group == clusterv1.GroupVersion.Group && kind.Resource == "clusters" {
			return func(ctx context.Context) error {
				_, err := client.Resource(kind).Namespace(cluster.Namespace).Get(ctx, cluster.Name, metav1.GetOptions{ResourceVersion: "0"})
				return err
			}
		}
	}
	return func(context.Context) error { return nil }
}
