package etcd

import (
	"crypto/sha256"
	"io"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestToCopy(t *testing.T) {
	for _, row := range []struct {
		name  string
		state State
		want  []string
	}{
		{name: "nobody", want: []string{}},
		{name: "the leader alone", state: State{Leader: 1, Members: []Member{{ID: 1, Name: "a"}}}, want: []string{"a"}},
		{name: "the leader last", state: State{Leader: 1, Members: []Member{{ID: 1, Name: "a"}, {ID: 2, Name: "b"}, {ID: 3, Name: "c"}}}, want: []string{"b", "c", "a"}},
		{name: "no learners, none without a name", state: State{Leader: 3, Members: []Member{{ID: 1}, {ID: 2, Name: "b", Learner: true}, {ID: 3, Name: "c"}}}, want: []string{"c"}},
		{name: "never a corrupt one, and a full one last", state: State{Leader: 3, Members: []Member{
			{ID: 1, Name: "a", Alarms: []string{"CORRUPT"}}, {ID: 2, Name: "b", Alarms: []string{"NOSPACE"}}, {ID: 3, Name: "c"}}}, want: []string{"c", "b"}},
	} {
		assert.Equal(t, row.want, ToCopy(&row.state), row.name)
	}
}

func TestASnapshotEndsWithItsHash(t *testing.T) {
	c := newCluster(t)
	a := c.plan("a")
	c.start("a", "a="+a.peerURL(), "new")
	client, _ := c.connect("a")
	_, err := client.client.Put(t.Context(), "/registry/x", "y")
	require.NoError(t, err)
	stream, err := client.Snapshot(t.Context())
	require.NoError(t, err)
	defer stream.Close()
	assert.Equal(t, etcdVersion, "v"+stream.Version)
	assert.Equal(t, int64(2), stream.Revision)
	content, err := io.ReadAll(stream)
	require.NoError(t, err)
	database, trailer := content[:len(content)-sha256.Size], content[len(content)-sha256.Size:]
	assert.Zero(t, len(database)%512)
	sum := sha256.Sum256(database)
	assert.Equal(t, sum[:], trailer)
}
