package machine

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/slipway-capi/slipway/core/internal/drain"
	"github.com/slipway-capi/slipway/core/internal/volumes"
)

// drain reads what runs on a Node that is to be drained, and what is attached to it when nothing is left to evict.
func (c *Controller) drain(ctx context.Context, cluster client.ObjectKey, w *World) {
	if !drainDue(*w) && volumesSkipped(*w) {
		return
	}
	remote, err := c.ClusterCache.UncachedClient(ctx, cluster)
	if err != nil {
		w.DrainErr, w.VolumesErr = err, err
		return
	}
	observed, err := drain.Observe(ctx, c.Client, remote, w.Machine, w.Cluster.Labels, w.Node.Node, w.Now)
	if err != nil {
		w.DrainErr, w.VolumesErr = err, err
		return
	}
	w.Drain = &observed
	plan, err := drain.Decide(observed)
	if !volumesSkipped(*w) && (err == nil && plan.Done() || drainSkipped(*w)) {
		w.Volumes, w.VolumesErr = c.volumes(ctx, remote, w, plan)
	}
}

func (c *Controller) volumes(ctx context.Context, remote client.Reader, w *World, plan drain.Plan) (*volumes.World, error) {
	v := &volumes.World{Now: w.Now, Began: volumesStart(*w), Node: w.Node.Node, Staying: plan.Skipped()}
	var err error
	if c.ConsiderVolumeAttachments {
		if v.Attachments, err = volumes.Attachments(ctx, remote, w.Node.Node.Name); err != nil {
			return nil, err
		}
	}
	if v.Attached() {
		if v.Volumes, err = volumes.PersistentVolumes(ctx, remote); err != nil {
			return nil, err
		}
	}
	return v, nil
}
