package kubeadmcontrolplane

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	controlplanev1 "github.com/slipway-capi/slipway/providers/controlplane-kubeadm/api/v1beta2"
)

type proposal func(*controlplanev1.KubeadmControlPlane)

func propose(w World, changes ...proposal) *controlplanev1.KubeadmControlPlane {
	proposed := w.ControlPlane.DeepCopy()
	for _, change := range changes {
		change(proposed)
	}
	return proposed
}

// tell renders a preview so that rows can be read.
func tell(p Preview) []string {
	lines := []string{}
	for _, m := range p.Machines {
		line := m.Name + " " + string(m.Fate)
		for _, field := range m.Because {
			line += fmt.Sprintf(" %s %s→%s", field.Path, field.From, field.To)
		}
		lines = append(lines, line)
	}
	if p.Added > 0 {
		lines = append(lines, fmt.Sprintf("%d added", p.Added))
	}
	return lines
}

func version(v string) proposal {
	return func(cp *controlplanev1.KubeadmControlPlane) { cp.Spec.Version = v }
}

func replicas(n int32) proposal {
	return func(cp *controlplanev1.KubeadmControlPlane) { cp.Spec.Replicas = &n }
}

// assessed worlds carry conditions as the controller has stored them.
func assessed(w World) World {
	assessMachines(&w)
	for _, m := range w.Machines {
		m.judged = false
	}
	return w
}

// Conformance: CP-80
func TestForesee(t *testing.T) {
	labelled := func(labels map[string]string) proposal {
		return func(cp *controlplanev1.KubeadmControlPlane) { cp.Spec.MachineTemplate.Metadata.Labels = labels }
	}
	for _, row := range []struct {
		name      string
		world     World
		proposals []proposal
		want      []string
	}{
		{"nothing", world(2), nil, []string{"m0 untouched", "m1 untouched"}},
		{"version", world(2), []proposal{version("v1.37.3")}, []string{
			"m0 replaced spec.version v1.37.2→v1.37.3", "m1 replaced spec.version v1.37.2→v1.37.3"}},
		{"label", world(1), []proposal{labelled(map[string]string{"a": "b"})}, []string{"m0 in place metadata.labels.a →b"}},
		{"label taken away", world(1, func(w *World) {
			labelled(map[string]string{"a": "b"})(w.ControlPlane)
			w.Machines[0].Labels["a"] = "b"
		}), []proposal{labelled(nil)}, []string{"m0 in place metadata.labels.a b→"}},
		{"timeout", world(1), []proposal{func(cp *controlplanev1.KubeadmControlPlane) {
			ten := int32(10)
			cp.Spec.MachineTemplate.Spec.Deletion.NodeDrainTimeoutSeconds = &ten
		}}, []string{`m0 in place spec.deletion {"nodeDeletionTimeoutSeconds":10}→{"nodeDeletionTimeoutSeconds":10,"nodeDrainTimeoutSeconds":10}`}},
		{"BC-20: CoreDNS", world(1), []proposal{func(cp *controlplanev1.KubeadmControlPlane) {
			cp.Spec.KubeadmConfigSpec.ClusterConfiguration.DNS.ImageTag = "v1.14.6"
		}}, []string{"m0 untouched"}},
		{"BC-20: etcd", world(1), []proposal{func(cp *controlplanev1.KubeadmControlPlane) {
			cp.Spec.KubeadmConfigSpec.ClusterConfiguration.Etcd.Local.ImageTag = "3.7.3-0"
		}}, []string{`m0 replaced spec.kubeadmConfigSpec.clusterConfiguration.etcd.local.imageTag →"3.7.3-0"`}},
		{"secret content is not told", world(1), []proposal{func(cp *controlplanev1.KubeadmControlPlane) {
			cp.Spec.KubeadmConfigSpec.PreKubeadmCommands = []string{"echo password"}
		}}, []string{"m0 replaced spec.kubeadmConfigSpec.preKubeadmCommands →(not shown)"}},
		{"template", world(1, func(w *World) {
			w.Machines[0].Spec.InfrastructureRef.Kind = "X"
			w.Machines[0].Infra = &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{
				clusterv1.TemplateClonedFromNameAnnotation: "t", clusterv1.TemplateClonedFromGroupKindAnnotation: "XTemplate.infra",
			}, Labels: map[string]string{}}}
		}), []proposal{func(cp *controlplanev1.KubeadmControlPlane) {
			cp.Spec.MachineTemplate.Spec.InfrastructureRef.Name = "t2"
		}},
			[]string{"m0 replaced spec.machineTemplate.spec.infrastructureRef XTemplate.infra t→XTemplate.infra t2"}},
		{"up", world(1), []proposal{replicas(3)}, []string{"m0 untouched", "2 added"}},
		{"down", world(3), []proposal{replicas(1)}, []string{"m0 removed spec.replicas 3→1", "m1 removed spec.replicas 3→1", "m2 untouched"}},
		{"down and upgrade", world(3), []proposal{replicas(1), version("v1.37.3")}, []string{
			"m0 removed spec.version v1.37.2→v1.37.3 spec.replicas 3→1", "m1 removed spec.version v1.37.2→v1.37.3 spec.replicas 3→1",
			"m2 replaced spec.version v1.37.2→v1.37.3"}},
		{"going already", world(3, deleting(1, "DrainingNode")), nil, []string{"m0 untouched", "m1 removed", "m2 untouched"}},
		{"a mark makes a machine go along with a rollout", world(2, upgraded(0), annotated(1, clusterv1.DeleteMachineAnnotation)),
			[]proposal{version("v1.37.3")}, []string{
				"m1 replaced spec.version v1.37.2→v1.37.3 metadata.annotations.cluster.x-k8s.io/delete-machine →",
				"m0 replaced spec.version v1.37.2→v1.37.3"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			before := row.world.ControlPlane.DeepCopy()
			assert.Equal(t, row.want, tell(Foresee(row.world, propose(row.world, row.proposals...))))
			assert.Equal(t, before, row.world.ControlPlane, "a preview changes nothing")
		})
	}
}

func TestForeseeNamesTheBlocker(t *testing.T) {
	w := assessed(world(3, notReady(1, "kube-scheduler")))
	assert.Equal(t, []string{"machine m1: SchedulerPodHealthy not true"}, Foresee(w, propose(w, version("v1.37.3"))).Blocked)
	assert.Empty(t, Foresee(w, propose(w)).Blocked, "nothing is to be done, so nothing is in the way")
	w.Foreign = []string{"x"}
	assert.Equal(t, []string{"control plane machines x are controlled by somebody else"}, Foresee(w, propose(w, replicas(5))).Blocked)
}

// What is foreseen is what happens: the controller is played until nothing is left to be done.
//
// Conformance: CP-80
func TestForesightComesTrue(t *testing.T) {
	random := rand.New(rand.NewPCG(11, 2))
	for round := range 60 {
		w := assessed(world([]int{1, 3, 5}[random.IntN(3)], surgeOf(1)))
		if random.IntN(4) == 0 {
			annotated(random.IntN(len(w.Machines)), clusterv1.DeleteMachineAnnotation)(&w)
		}
		var changes []proposal
		if random.IntN(2) == 0 {
			changes = append(changes, version("v1.37.3"))
		}
		if random.IntN(2) == 0 {
			changes = append(changes, replicas([]int32{1, 3, 5}[random.IntN(3)]))
		}
		proposed := propose(w, changes...)
		preview := Foresee(w, proposed)
		stay, replaced := []string{}, 0
		for _, m := range preview.Machines {
			switch m.Fate {
			case Untouched, InPlace:
				stay = append(stay, m.Name)
			case Replaced:
				replaced++
			}
		}
		w.ControlPlane = proposed
		made := 0
		for step := 0; ; step++ {
			require.Less(t, step, 100)
			pass(&w, time.Minute)
			actions := Decide(w).Actions
			if len(actions) == 0 {
				break
			}
			for _, action := range actions {
				simulate(&w, action, &made)
			}
		}
		left := []string{}
		for _, m := range w.Machines {
			if slices.ContainsFunc(preview.Machines, func(p PreviewedMachine) bool { return p.Name == m.Name }) {
				left = append(left, m.Name)
			}
		}
		slices.Sort(stay)
		slices.Sort(left)
		assert.Equal(t, stay, left, "round %d: %v", round, tell(preview))
		assert.Equal(t, replaced+preview.Added, made, "round %d: %v", round, tell(preview))
	}
}
