package kubeadmcontrolplane

import (
	"crypto"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"

	"github.com/slipway-capi/slipway/contract/certificates"
	"github.com/slipway-capi/slipway/contract/kubeconfig"
)

// However long the manager runs and however many clusters it serves: one key per algorithm.
//
// Conformance: CP-51, CP-83
func TestKeysForEtcdAreMadeOnce(t *testing.T) {
	ca, err := certificates.NewCA(certificates.ECDSAP256, 0, now)
	require.NoError(t, err)
	eyes, made := newEtcdEyes(), 0
	eyes.newKey = func(a certificates.Algorithm) (crypto.Signer, error) {
		made++
		return certificates.NewKey(a)
	}
	ask := func(cluster types.UID, at time.Time) certificates.KeyPair {
		pair, err := eyes.clientPair(cluster, ca, certificates.ECDSAP256, at)
		require.NoError(t, err)
		return pair
	}
	first := ask("c0", now)
	for i := range 20 {
		ask(types.UID(fmt.Sprintf("c%d", i)), now.Add(time.Duration(i)*13*time.Hour))
	}
	assert.Equal(t, 1, made)
	assert.Equal(t, first, ask("c0", now.Add(time.Hour)), "signed once a day at most")
	assert.NotEqual(t, first.Cert, ask("c0", now.Add(25*time.Hour)).Cert)
	certificate, err := first.Certificate()
	require.NoError(t, err)
	assert.Equal(t, "cluster-api.x-k8s.io", certificate.Subject.CommonName)
	assert.WithinDuration(t, now.AddDate(10, 0, 0), certificate.NotAfter, 72*time.Hour)

	other, err := certificates.NewCA(certificates.ECDSAP256, 0, now)
	require.NoError(t, err)
	renewed, err := eyes.clientPair("c0", other, certificates.ECDSAP256, now)
	require.NoError(t, err)
	assert.NotEqual(t, first.Cert, renewed.Cert, "another authority, another certificate")
	eyes.forget("c0")
	assert.NotContains(t, eyes.pairs, types.UID("c0"))
}

// Conformance: CP-83
func TestASteadyControlPlaneMakesNoKeys(t *testing.T) {
	for _, action := range Decide(world(3)).Actions {
		assert.NotContains(t, fmt.Sprintf("%T", action), "Certificates")
		assert.NotContains(t, fmt.Sprintf("%T", action), "Kubeconfig")
	}
	half := world(3, func(w *World) { w.Kubeconfig.Expires = now.Add(kubeconfig.Validity / 2) })
	assert.Empty(t, say(Decide(half).Actions), "half of its life is left")
	half.Kubeconfig.Expires = now.Add(kubeconfig.Validity/2 - time.Second)
	assert.Equal(t, []string{"WriteKubeconfig"}, say(Decide(half).Actions))
}
