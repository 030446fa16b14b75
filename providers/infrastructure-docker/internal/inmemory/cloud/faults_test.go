package cloud

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/slipway-capi/slipway/contract/certificates"
	"github.com/slipway-capi/slipway/providers/infrastructure-docker/internal/inmemory/faults"
)

// nodes asks for the Nodes once, without the retries of the client.
func (r running) nodes(t *testing.T) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	_, err := r.client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	return err
}

func TestErrorsAndOutages(t *testing.T) {
	r := start(t, certificates.ECDSAP256)
	require.NoError(t, r.nodes(t))
	r.cluster.Break(faults.Plan{ErrorRate: 1})
	assert.True(t, apierrors.IsServiceUnavailable(r.nodes(t)))

	r.cluster.Break(faults.Plan{})
	watching, err := r.client.CoreV1().Nodes().Watch(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	r.cluster.Break(faults.Plan{Outage: true})
	for range watching.ResultChan() {
	} // ends, since the connection is cut
	assert.Error(t, r.nodes(t))
	require.NoError(t, r.cluster.EnsureAPIServer("cp-0", version, r.cas))
	assert.Error(t, r.nodes(t), "what controllers do meanwhile does not end an outage")

	r.cluster.Break(faults.Plan{})
	again, err := kubernetes.NewForConfig(r.config)
	require.NoError(t, err)
	r.client = again
	assert.NoError(t, r.nodes(t))
}

func TestLostMembers(t *testing.T) {
	r := start(t, certificates.ECDSAP256)
	r.machine(t, "cp-1")
	r.machine(t, "cp-2")
	leader := r.cluster.etcd.Leader()
	require.Equal(t, "cp-0", leader)

	r.cluster.Break(faults.Plan{LostMembers: []string{"cp-0"}})
	assert.NotEqual(t, "cp-0", r.cluster.etcd.Leader(), "another one leads")
	assert.NoError(t, r.nodes(t), "a majority is enough")
	_, err := r.cluster.etcd.Connect("cp-0")
	assert.Error(t, err)

	r.cluster.Break(faults.Plan{LostMembers: []string{"cp-0", "cp-1"}})
	assert.Empty(t, r.cluster.etcd.Leader())
	err = r.nodes(t)
	require.True(t, apierrors.IsServiceUnavailable(err), "%v", err)
	assert.ErrorContains(t, err, "etcd has lost its majority")
	assert.Len(t, r.cluster.etcd.Members(), 3, "lost is not removed")

	r.cluster.Break(faults.Plan{})
	assert.NotEmpty(t, r.cluster.etcd.Leader())
	assert.NoError(t, r.nodes(t))
}
