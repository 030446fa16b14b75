package kubeadmconfig

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/certificates"
	"github.com/slipway-capi/slipway/contract/conditions"
	bootstrapv1 "github.com/slipway-capi/slipway/providers/bootstrap-kubeadm/api/v1beta2"
)

// Conformance: KB-92
func TestADocumentThatDoesNotFit(t *testing.T) {
	large := func(w *World) {
		w.Sources.Files = []bootstrapv1.File{{Path: "/small", Content: "x"}, {Path: "/large", Content: strings.Repeat("x", maxContent)}}
	}
	for _, row := range []struct {
		name, actions string
		world         World
	}{
		{"join", "ReleaseLock", world(large)},
		{"init takes no lock", "", world(large, notInitialized, controlPlaneMachine)},
		{"Ignition", "ReleaseLock", world(large, spec(func(s *bootstrapv1.KubeadmConfigSpec) { s.Format = bootstrapv1.Ignition }))},
	} {
		t.Run(row.name, func(t *testing.T) {
			d := Decide(row.world)
			require.NoError(t, d.Err, "no loop of attempts")
			assert.Equal(t, tooLargeRetry, d.After)
			assert.Equal(t, row.actions, names(d.Actions))
			message := conditions.Message(d.Config, bootstrapv1.KubeadmConfigDataSecretAvailableCondition)
			assert.Contains(t, message, fmt.Sprintf("the largest part is file /large with %d bytes", maxContent))
			assert.Equal(t, message, conditions.Message(Decide(row.world).Config, bootstrapv1.KubeadmConfigDataSecretAvailableCondition), "the message is stable")
		})
	}
	assert.Contains(t, names(Decide(world(func(w *World) {
		w.Sources.Files = []bootstrapv1.File{{Path: "/f", Content: strings.Repeat("x", maxContent/2)}}
	})).Actions), "StoreData")
}

const marked = "TOPSECRET"

// Conformance: KB-93
func TestNothingSecretIsTold(t *testing.T) {
	secrets := func(w *World) {
		w.Sources.Files = []bootstrapv1.File{{Path: "/f", Content: marked}}
		w.Sources.Users = []bootstrapv1.User{{Name: "u", Passwd: marked}}
		w.Certificates.Set = certificateSet(*w)
		for i := range w.Certificates.Set {
			w.Certificates.Set[i].Pair = &certificates.KeyPair{Cert: authority.Cert, Key: []byte(marked)}
		}
		w.Config.Spec.JoinConfiguration.Discovery.TLSBootstrapToken = marked
	}
	ignite := spec(func(s *bootstrapv1.KubeadmConfigSpec) { s.Format = bootstrapv1.Ignition })
	for name, w := range map[string]World{
		"all is well":       world(secrets, controlPlaneMachine),
		"first machine":     world(secrets, controlPlaneMachine, notInitialized),
		"unreadable bundle": world(secrets, func(w *World) { w.Certificates.Set[0].Pair.Cert = []byte(marked) }),
		"too large":         world(secrets, func(w *World) { w.Sources.Files[0].Content = strings.Repeat(marked, maxContent/4) }),
		"not base64": world(secrets, ignite, func(w *World) {
			w.Sources.Files[0].Encoding = bootstrapv1.Base64
			w.Sources.Files[0].Content = "!" + marked
		}),
		"unreadable hash": world(secrets, ignite, func(w *World) { w.Sources.Users[0].Passwd = marked + ":\n" }),
		"password":        world(secrets, func(w *World) { w.Sources.UserErr = errors.New("no such Secret") }),
		"old version":     world(secrets, func(w *World) { w.Machine.Spec.Version = "v1.20.0" }),
	} {
		d := Decide(w)
		told := fmt.Sprint(d.Err)
		for _, c := range d.Config.Status.Conditions {
			told += c.Message
		}
		failed := interrupted(w, d, StoreData{}, errors.New("refused"))
		for _, c := range failed.Config.Status.Conditions {
			told += c.Message
		}
		assert.NotContains(t, told, marked, name)
		assert.NotContains(t, told, newToken, name)
	}
}

// Conformance: KB-93
func TestTemplatesFromSecretsAreNotQuoted(t *testing.T) {
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "mine"}, Data: map[string][]byte{"parse": []byte("{{ " + marked), "run": []byte("{{ index .controlPlane \"" + marked + "\" }}")}}
	c := fakeClient(t, secret)
	for _, key := range []string{"parse", "run"} {
		w := World{Config: configOf(), Cluster: &clusterv1.Cluster{}}
		w.Config.Spec.Files = []bootstrapv1.File{{Path: "/f", ContentFormat: bootstrapv1.FileContentFormatTemplate,
			ContentFrom: bootstrapv1.FileSource{Secret: bootstrapv1.SecretKeySource{Name: "mine", Key: key}}}}
		got := (&Controller{Client: c, Live: c}).sources(t.Context(), w)
		require.ErrorContains(t, got.FileErr, "file /f: template: the text in Secret mine")
		assert.NotContains(t, got.FileErr.Error(), marked)
	}
}

// Conformance: KB-15
func TestIgnoredFieldsAreTold(t *testing.T) {
	serial := spec(func(s *bootstrapv1.KubeadmConfigSpec) { s.JoinConfiguration.NodeRegistration.ImagePullSerial = &no })
	older := func(w *World) { w.Machine.Spec.Version = "v1.30.4" }
	for _, w := range []World{world(serial, older), world(serial, older, created, left(ttl))} {
		d := Decide(w)
		require.True(t, conditions.IsTrue(d.Config, bootstrapv1.KubeadmConfigDataSecretAvailableCondition))
		assert.Equal(t, "kubeadm of Kubernetes v1.30.4 ignores joinConfiguration.nodeRegistration.imagePullSerial",
			conditions.Message(d.Config, bootstrapv1.KubeadmConfigDataSecretAvailableCondition), "as long as the machine is there")
	}
	assert.Empty(t, conditions.Message(Decide(world(serial)).Config, bootstrapv1.KubeadmConfigDataSecretAvailableCondition))
}
