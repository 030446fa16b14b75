package kubeadmcontrolplane

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/conditions"
	"github.com/slipway-capi/slipway/providers/controlplane-kubeadm/internal/kubeadmconfig"
	"github.com/slipway-capi/slipway/providers/controlplane-kubeadm/internal/machines"
)

func upgradeTo(version string) change {
	return func(w *World) { w.ControlPlane.Spec.Version = version }
}

// upgraded machines have the version that is wanted.
func upgraded(list ...int) change {
	return func(w *World) {
		for _, i := range list {
			w.Machines[i].Spec.Version = w.ControlPlane.Spec.Version
		}
	}
}

func surgeOf(n int32) change {
	return func(w *World) {
		surge := intstr.FromInt32(n)
		w.ControlPlane.Spec.Rollout.Strategy.RollingUpdate.MaxSurge = &surge
	}
}

func annotated(i int, key string) change {
	return func(w *World) { w.Machines[i].Annotations[key] = "" }
}

// failing has a component that reports trouble since some time.
func failing(i int, component string, since time.Duration) change {
	return func(w *World) {
		notReady(i, component)(w)
		for _, c := range components {
			if c.name == component {
				bad := judgePod(w.Machines[i].Pods[component], c.condition)
				bad.LastTransitionTime = metav1.NewTime(now.Add(-since))
				conditions.Set(w.Machines[i], bad)
			}
		}
	}
}

func storedConfig(version string) change {
	return func(w *World) { w.Joining.Config = kubeadmConfig(version) }
}

// Conformance: CP-20, CP-21, CP-22, CP-23, CP-24, CP-31, CP-35, CP-96
func TestRollout(t *testing.T) {
	nothing := []string{}
	const next = "v1.37.3"
	for _, row := range []struct {
		name  string
		world World
		want  []string
	}{
		{"surge: what kubeadm reads, then a new machine", world(3, upgradeTo(next)), []string{"kubeadm-config", "create init=false "}},
		{"kubeadm-config is written once", world(3, upgradeTo(next), storedConfig(next)), []string{"create init=false "}},
		{"surge used up: the oldest goes", world(4, wanted(3), upgradeTo(next), storedConfig(next), upgraded(3)),
			[]string{"move leadership from m0 to m3", "delete m0"}},
		{"no surge: the oldest goes first", world(3, surgeOf(0), upgradeTo(next), storedConfig(next)), []string{"move leadership from m0 to m2", "delete m0"}},
		{"no surge: then its replacement comes", world(2, wanted(3), surgeOf(0), upgradeTo(next), storedConfig(next), upgraded(1)), []string{"create init=false "}},
		{"one machine: surge is the only way", world(1, upgradeTo(next), storedConfig(next)), []string{"create init=false "}},
		{"the last old one", world(4, wanted(3), upgradeTo(next), storedConfig(next), upgraded(1, 2, 3)), []string{"move leadership from m0 to m3", "delete m0"}},
		{"done", world(3, upgradeTo(next), storedConfig(next), upgraded(0, 1, 2)), nothing},
		{"waits for the new machine to join", world(4, wanted(3), upgradeTo(next), storedConfig(next), upgraded(3), joining(3)), nothing},
		{"waits for a deletion", world(4, wanted(3), upgradeTo(next), storedConfig(next), upgraded(3), deleting(0, "DrainingNode")), nothing},
		{"a machine that is going needs no replacement", world(3, upgradeTo(next), storedConfig(next), upgraded(1, 2), deleting(0, "DrainingNode")), nothing},
		{"marked for deletion first", world(4, wanted(3), upgradeTo(next), storedConfig(next), upgraded(3), annotated(1, clusterv1.DeleteMachineAnnotation)), []string{"delete m1"}},
		{"a mark counts also on a machine that is up to date", world(4, wanted(3), upgradeTo(next), storedConfig(next), upgraded(3), annotated(3, clusterv1.DeleteMachineAnnotation)), []string{"delete m3"}},
		{"scaled up meanwhile", world(4, wanted(5), upgradeTo(next), storedConfig(next), upgraded(3)), []string{"create init=false "}},
		{"scaled down meanwhile: an old one goes", world(4, wanted(1), upgradeTo(next), storedConfig(next), upgraded(3)), []string{"move leadership from m0 to m3", "delete m0"}},
		{"changed again meanwhile: machines of the abandoned change go too", world(4, wanted(3), upgradeTo(next), upgraded(3), upgradeTo("v1.37.4"), storedConfig("v1.37.4")),
			[]string{"move leadership from m0 to m3", "delete m0"}},
		{"unknown strategy", world(3, upgradeTo(next), func(w *World) { w.ControlPlane.Spec.Rollout.Strategy.Type = "OnDelete" }), nothing},
		{"the API server gets its role", world(3, upgradeTo(next), storedConfig(next), func(w *World) { w.Joining.Granted = false }), []string{"GrantKubeletAccess", "create init=false "}},
		{"newer versions bring the role themselves", world(3, upgradeTo("v1.38.0-beta.1"), storedConfig("v1.38.0-beta.1"), func(w *World) { w.Joining.Granted = false }), []string{"create init=false "}},
		{"two minors at once", world(3, upgradeTo("v1.39.0"), storedConfig("v1.39.0")), nothing},
		{"kubeadm-config unreadable", world(3, upgradeTo(next), func(w *World) { w.Joining.Config.Data[kubeadmconfig.Key] = "{" }), nothing},
		{"kubeadm-config missing", world(3, upgradeTo(next), func(w *World) { w.Joining = Joining{Problem: "no key"} }), nothing},
		{"no connection", world(3, upgradeTo(next), func(w *World) { w.Joining = Joining{}; w.Workload = Workload{}; w.Etcd.State = nil }), nothing},
		{"no template", world(3, upgradeTo(next), storedConfig(next), func(w *World) { w.Template = Template{Missing: true} }), nothing},

		{"a healthy control plane is needed for the surge", world(3, upgradeTo(next), storedConfig(next), failing(2, "kube-scheduler", time.Minute)), nothing},
		{"a machine that is broken for long goes ahead of its replacement", world(3, upgradeTo(next), storedConfig(next), failing(1, "kube-scheduler", time.Hour)), []string{"delete m1"}},
		{"not if another one is broken too", world(3, upgradeTo(next), storedConfig(next), failing(1, "kube-scheduler", time.Hour), failing(2, "kube-apiserver", time.Hour)), nothing},
		{"not if no majority would be left", world(2, wanted(3), upgradeTo(next), storedConfig(next), failing(1, "kube-scheduler", time.Hour)), nothing},

		{"certificates end", world(1, func(w *World) {
			w.ControlPlane.Spec.Rollout.Before.CertificatesExpiryDays = 30
			w.Machines[0].Status.CertificatesExpiryDate = metav1.NewTime(now.Add(29 * 24 * time.Hour))
		}), []string{"create init=false "}},
		{"rollout.after passed", world(1, func(w *World) { w.ControlPlane.Spec.Rollout.After = metav1.NewTime(now.Add(-time.Second)) }), []string{"create init=false "}},
		{"BC-20: the tag of etcd", world(1, func(w *World) {
			w.ControlPlane.Spec.KubeadmConfigSpec.ClusterConfiguration.Etcd.Local.ImageTag = "3.7.3-0"
		}), []string{"kubeadm-config", "create init=false "}},
		{"BC-20: the image of CoreDNS", world(1, func(w *World) {
			w.ControlPlane.Spec.KubeadmConfigSpec.ClusterConfiguration.DNS.ImageTag = "v1.14.6"
			w.ControlPlane.Spec.KubeadmConfigSpec.ClusterConfiguration.DNS.ImageRepository = "mirror"
		}), nothing},
		{"external etcd needs no leadership", world(4, wanted(3), upgradeTo(next), storedConfig(next), externalEtcd, upgraded(3)), []string{"delete m0"}},
	} {
		t.Run(row.name, func(t *testing.T) { assert.Equal(t, row.want, say(Decide(row.world).Actions)) })
	}
}

// externalEtcd has no members on the machines; kubeadm-config says so too.
func externalEtcd(w *World) {
	external := &w.ControlPlane.Spec.KubeadmConfigSpec.ClusterConfiguration.Etcd.External
	external.Endpoints = []string{"https://etcd:2379"}
	w.Etcd = Etcd{}
	for i, m := range w.Machines {
		m.Config = machines.KubeadmConfig(machines.Request{ControlPlane: w.ControlPlane, Cluster: w.Cluster, Name: m.Name, Init: i == 0})
		m.Spec.ReadinessGates = machines.ReadinessGates(w.ControlPlane)
		delete(m.Pods, "etcd")
	}
	w.Joining.Config.Data[kubeadmconfig.Key] += "etcd:\n  external:\n    endpoints: [https://etcd:2379]\n"
}

func TestRolloutConditions(t *testing.T) {
	message := func(w World, conditionType string) string {
		status := Decide(w).Status
		return conditions.Message(statusHolder{&status}, conditionType)
	}
	w := world(3, upgradeTo("v1.37.3"), storedConfig("v1.37.3"), failing(1, "etcd", time.Minute))
	assert.Equal(t, "3 not up-to-date of 3 machines\n* Version v1.37.2, v1.37.3 required\nwaiting for:\n* machine m1: EtcdPodHealthy not true",
		message(w, clusterv1.RollingOutCondition), "the culprit is named")
	w = world(3, upgradeTo("v1.39.0"), storedConfig("v1.39.0"))
	assert.Contains(t, message(w, clusterv1.RollingOutCondition), "cannot be reached in one step")
	w = world(3, upgradeTo("v1.37.3"), func(w *World) { w.Joining = Joining{Problem: "ConfigMap kubeadm-config is missing"} })
	assert.Equal(t, "ConfigMap kubeadm-config is missing", Decide(w).Problem, "an error is retried")
	assert.Contains(t, message(w, clusterv1.RollingOutCondition), "ConfigMap kubeadm-config is missing")
}

// A rollout from any start ends, never takes two machines at a time, never falls below what was asked for, and leaves
// nothing but machines that are up to date. The history is played by a small simulation of what others do.
func TestRolloutsEnd(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 5))
	for range 60 {
		replicas := 1 + 2*random.IntN(3)
		surge := int32(1)
		if replicas >= 3 {
			surge = int32(random.IntN(2))
		}
		w := world(replicas, upgradeTo("v1.38.0"), surgeOf(surge))
		made := 0
		for step := 0; ; step++ {
			require.Less(t, step, 100, "a rollout of %d machines with surge %d does not end", replicas, surge)
			if len(w.outdatedMachines()) == 0 && len(w.Machines) == replicas && len(w.deletingMachines()) == 0 {
				break
			}
			for _, action := range Decide(w).Actions {
				simulate(&w, action, &made)
			}
			require.GreaterOrEqual(t, len(w.Machines), replicas-1+int(surge))
			require.LessOrEqual(t, len(w.Machines), replicas+int(surge))
			require.LessOrEqual(t, len(w.deletingMachines()), 1)
			require.Len(t, w.Etcd.State.Members, len(w.Machines), "members and machines go together")
		}
		assert.Equal(t, replicas, made, "one new machine for each old one")
	}
}

// Conformance: CP-30, CP-32
func TestRolloutsSpreadOverFailureDomains(t *testing.T) {
	w := world(3, upgradeTo("v1.37.3"), storedConfig("v1.37.3"), domainsAre("a", "b", "c"), inDomain(0, "a"), inDomain(1, "b"), inDomain(2, "c"))
	assert.Equal(t, []string{"create init=false a"}, say(Decide(w).Actions))
	made := 0
	seen := map[string]bool{}
	for range 40 {
		for _, action := range Decide(w).Actions {
			simulate(&w, action, &made)
			if a, ok := action.(CreateMachine); ok {
				w.Machines[len(w.Machines)-1].Spec.FailureDomain = a.FailureDomain
				seen[a.FailureDomain] = true
			}
		}
	}
	assert.Len(t, seen, 3)
	assert.Len(t, w.Machines, 3)
	for _, m := range w.Machines {
		delete(seen, m.Spec.FailureDomain)
	}
	assert.Empty(t, seen, "one machine in each domain afterwards")
}

func TestTheBindingOfKubeletAccess(t *testing.T) {
	for version, want := range map[string]bool{"v1.37.2": true, "v1.38.0": false, "v1.38.0-alpha.1": false, "v1.37.9-rc.0+x": true, "nonsense": false} {
		assert.Equal(t, want, needsGrant(version), version)
	}
}
