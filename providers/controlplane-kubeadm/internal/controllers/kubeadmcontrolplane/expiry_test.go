package kubeadmcontrolplane

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	bootstrapv1 "github.com/slipway-capi/slipway/providers/bootstrap-kubeadm/api/v1beta2"
)

const day = 24 * time.Hour

func noted(until time.Duration) change {
	return func(w *World) {
		w.Machines[0].Config.Annotations = map[string]string{clusterv1.MachineCertificatesExpiryDateAnnotation: now.Add(until).Format(time.RFC3339)}
	}
}

func answered(until time.Duration) change {
	return func(w *World) { w.Machines[0].CertificatesEnd = now.Add(until) }
}

// Conformance: CP-82
func TestNoteExpiry(t *testing.T) {
	for _, row := range []struct {
		name    string
		changes []change
		want    []string
	}{
		{"not asked", nil, []string{}},
		{"first answer", []change{answered(365 * day)}, []string{"note expiry of m0 2027-03-01T12:00:00Z"}},
		{"the same answer", []change{answered(365 * day), noted(365 * day)}, []string{}},
		{"renewed", []change{answered(365 * day), noted(10 * day)}, []string{"note expiry of m0 2027-03-01T12:00:00Z"}},
	} {
		t.Run(row.name, func(t *testing.T) { assert.Equal(t, row.want, say(Decide(world(1, row.changes...)).Actions)) })
	}
}

// Conformance: CP-82
func TestServersAreAskedOnlyWhenTheAnswerMayBeNew(t *testing.T) {
	look := func(ago time.Duration, failed bool) func(*expiryEyes, *Machine) {
		return func(eyes *expiryEyes, m *Machine) {
			eyes.keep(m, expiryLook{server: apiServerRun(m), at: now.Add(-ago), failed: failed})
		}
	}
	restarted := func(w *World) {
		w.Machines[0].Pods[apiServer].Status.ContainerStatuses = []corev1.ContainerStatus{{RestartCount: 1}}
	}
	rollsEarly := func(w *World) { w.ControlPlane.Spec.Rollout.Before.CertificatesExpiryDays = 90 }
	for _, row := range []struct {
		name    string
		before  func(*expiryEyes, *Machine)
		changes []change
		want    bool
	}{
		{"nothing is known", nil, nil, true},
		{"noted before the manager started", nil, []change{noted(300 * day)}, false},
		{"noted before the manager started, and near", nil, []change{noted(29 * day)}, true},
		{"noted, and about to cause a rollout", nil, []change{noted(80 * day), rollsEarly}, true},
		{"answered", look(time.Minute, false), []change{noted(300 * day)}, false},
		{"answered, near, lately", look(59*time.Minute, false), []change{noted(29 * day)}, false},
		{"answered, near, some time ago", look(time.Hour, false), []change{noted(29 * day)}, true},
		{"failed lately", look(time.Minute, true), nil, false},
		{"failed some time ago", look(5*time.Minute, true), nil, true},
		{"the API server restarted", look(time.Minute, false), []change{noted(300 * day), restarted}, true},
		{"the user removed the note after renewing by hand", look(time.Minute, false), nil, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			w := world(1)
			eyes := newExpiryEyes()
			if row.before != nil {
				row.before(eyes, w.Machines[0])
			}
			for _, apply := range row.changes {
				apply(&w)
			}
			require.True(t, askable(w.Machines[0]))
			assert.Equal(t, row.want, expiryDue(eyes, &w, w.Machines[0]))
		})
	}
}

func TestWhoCannotBeAsked(t *testing.T) {
	for name, apply := range map[string]change{
		"no configuration": func(w *World) { w.Machines[0].Config = nil }, "node lost": lostNode(0), "pod absent": func(w *World) { delete(w.Machines[0].Pods, apiServer) },
		"the user's note wins": annotated(0, clusterv1.MachineCertificatesExpiryDateAnnotation),
	} {
		assert.False(t, askable(world(1, apply).Machines[0]), name)
	}
}

func TestBindPort(t *testing.T) {
	w := world(2)
	assert.Equal(t, 6443, bindPort(w.Machines[0]))
	w.Machines[0].Config.Spec.InitConfiguration.LocalAPIEndpoint.BindPort = 7443
	w.Machines[1].Config.Spec.JoinConfiguration.ControlPlane = &bootstrapv1.JoinControlPlane{LocalAPIEndpoint: bootstrapv1.LocalAPIEndpoint{BindPort: 8443}}
	assert.Equal(t, 7443, bindPort(w.Machines[0]))
	assert.Equal(t, 8443, bindPort(w.Machines[1]))
}

// Conformance: CP-82
func TestTheEndOfCertificatesIsNotedOnTheConfiguration(t *testing.T) {
	s := started(t, 1)
	name := s.machines()[0].Name
	s.eventually("the note", func() bool {
		config := &bootstrapv1.KubeadmConfig{}
		require.NoError(t, env.Client.Get(t.Context(), client.ObjectKey{Namespace: s.namespace, Name: name}, config))
		return config.Annotations[clusterv1.MachineCertificatesExpiryDateAnnotation] == certificatesEnd.Format(time.RFC3339)
	})
}
