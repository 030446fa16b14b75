package etcd

import (
	"cmp"
	"context"
	"io"
	"slices"
)

// Stream is a snapshot on its way from a member. Its content ends with a hash of it.
type Stream struct {
	io.ReadCloser
	// Version is that of etcd on the member.
	Version string
	// Revision is that of the member just before; the snapshot may hold later ones.
	Revision int64
}

// Snapshot begins to stream a snapshot of the member. The context is for the whole stream.
func (c *Client) Snapshot(ctx context.Context) (*Stream, error) {
	short, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	status, err := c.client.Status(short, c.endpoint)
	if err != nil {
		return nil, c.fail("reading the status", err)
	}
	response, err := c.client.SnapshotWithVersion(ctx)
	if err != nil {
		return nil, c.fail("taking a snapshot", err)
	}
	stream := &Stream{ReadCloser: response.Snapshot, Version: status.Version}
	if status.Header != nil {
		stream.Revision = status.Header.Revision
	}
	return stream, nil
}

// ToCopy names the members that a snapshot may be taken of, the best first: those without alarm, and the leader last, which has
// enough to do. Learners may lag behind, and members that raised CORRUPT hold who knows what.
func ToCopy(state *State) []string {
	var members []Member
	for _, m := range state.Members {
		if m.Name != "" && !m.Learner && !slices.Contains(m.Alarms, "CORRUPT") {
			members = append(members, m)
		}
	}
	last := func(is bool) int {
		if is {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(members, func(a, b Member) int {
		return cmp.Or(cmp.Compare(len(a.Alarms), len(b.Alarms)), cmp.Compare(last(a.ID == state.Leader), last(b.ID == state.Leader)))
	})
	names := make([]string, 0, len(members))
	for _, m := range members {
		names = append(names, m.Name)
	}
	return names
}
