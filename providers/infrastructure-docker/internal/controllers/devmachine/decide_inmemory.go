package devmachine

import (
	"hash/fnv"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/bootstrapreport"
	"github.com/slipway-capi/slipway/contract/conditions"
	infrav1 "github.com/slipway-capi/slipway/providers/infrastructure-docker/api/v1beta2"
	"github.com/slipway-capi/slipway/providers/infrastructure-docker/internal/inmemory/cloud"
)

// restoreWait is how long to wait for the simulated cluster after a restart; nothing in the API tells when it is there.
const restoreWait = 100 * time.Millisecond

// uninitialized is what kubelets of workers register with, until the core has synced the Node.
var uninitialized = corev1.Taint{Key: "node.cluster.x-k8s.io/uninitialized", Effect: corev1.TaintEffectNoSchedule}

// phase is one step of a simulated machine; each begins when the one before it is done.
type phase struct {
	condition string
	component *infrav1.InMemoryComponent
	actions   []Action
}

// inMemory goes through the phases of a simulated machine: VM, Node, and for control planes etcd and API server.
func (d *Decision) inMemory(w World) {
	m := d.DevMachine
	phases := phasesOf(w)
	if reason, message, waiting := waits(w); waiting {
		d.set(infrav1.DevMachineInMemoryVMProvisionedCondition, false, reason, message)
		d.follow(phases, 0)
		return
	}
	if !w.InMemory.Exists || (w.controlPlane() && w.InMemory.Authorities == nil) {
		d.Err = w.InMemory.Err
		d.look(restoreWait)
		return
	}
	began := time.Time{}
	for i, p := range phases {
		if i == 1 && d.boot(w) {
			d.follow(phases, i)
			return
		}
		done, since, left := progress(w, p, began)
		if !done {
			d.set(p.condition, false, infrav1.DevMachineInMemoryVMWaitingForStartupTimeoutReason, "")
			d.look(left)
			d.follow(phases, i)
			return
		}
		d.Actions = append(d.Actions, p.actions...)
		if !conditions.IsTrue(m, p.condition) {
			d.set(p.condition, true, clusterv1.ProvisionedReason, "")
			since = w.Now
		}
		if i <= 1 {
			began = since // the delays of etcd and of the API server both count from the Node
		}
		if i == 0 {
			d.provisioned(w)
		}
	}
	d.follow(phases, len(phases))
}

// boot says whether the first boot fails, and tells why. One that has failed is not done again, whatever the plan says
// later; one that has made a Node cannot fail any more.
func (d *Decision) boot(w World) bool {
	m := d.DevMachine
	failed := conditions.IsTrue(m, bootstrapreport.ConditionType)
	if conditions.IsTrue(m, infrav1.DevMachineInMemoryNodeProvisionedCondition) || (!failed && w.InMemory.Boot == nil) {
		return false
	}
	if !failed {
		e := bootstrapreport.Execution{Step: w.InMemory.Boot.Step, Status: 1, Output: w.InMemory.Boot.Output}
		report := bootstrapreport.Diagnose(e, bootstrapreport.Redactor{})
		d.blackBox(&report)
	}
	d.set(infrav1.DevMachineInMemoryNodeProvisionedCondition, false, bootstrapreport.ConditionType, conditions.Message(m, bootstrapreport.ConditionType))
	return true
}

// progress says whether a phase is over, since when, and if not how long it still takes. A phase without duration is
// over at once; one with a duration begins when its condition is first written.
func progress(w World, p phase, before time.Time) (done bool, since time.Time, left time.Duration) {
	c := conditions.Get(w.DevMachine, p.condition)
	if c != nil && c.Status == metav1.ConditionTrue {
		return true, c.LastTransitionTime.Time, 0
	}
	total := duration(w, p)
	if total == 0 {
		return true, w.Now, 0
	}
	began := before
	if began.IsZero() {
		began = w.Now
		if c != nil && c.Reason == infrav1.DevMachineInMemoryVMWaitingForStartupTimeoutReason {
			began = c.LastTransitionTime.Time
		}
	}
	left = total - w.Now.Sub(began)
	return left <= 0, w.Now, left
}

// duration is drawn once per machine and phase: the same machine takes the same time, whoever asks and how often.
func duration(w World, p phase) time.Duration {
	if p.component == nil {
		return 0
	}
	base := p.component.Provisioning.StartupDuration.Duration
	jitter, err := strconv.ParseFloat(p.component.Provisioning.StartupJitter, 64)
	if err != nil || jitter <= 0 {
		return base
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(string(w.DevMachine.UID) + p.condition))
	const resolution = 1 << 20
	share := float64(h.Sum64()%resolution) / resolution
	return base + time.Duration(share*jitter*float64(base))
}

func phasesOf(w World) []phase {
	m, spec := w.DevMachine, w.DevMachine.Spec.Backend.InMemory
	version := w.version()
	node := cloud.Node{Name: m.Name, ProviderID: providerID(m.Name), Version: version, ControlPlane: w.controlPlane()}
	if !node.ControlPlane {
		node.Taints = []corev1.Taint{uninitialized}
	}
	out := []phase{
		{condition: infrav1.DevMachineInMemoryVMProvisionedCondition, component: spec.VM},
		{condition: infrav1.DevMachineInMemoryNodeProvisionedCondition, component: spec.Node, actions: []Action{EnsureNode{Node: node}}},
	}
	if w.controlPlane() {
		out = append(out,
			phase{condition: infrav1.DevMachineInMemoryEtcdProvisionedCondition, component: spec.Etcd, actions: []Action{EnsureEtcd{Name: m.Name, Version: version}}},
			phase{condition: infrav1.DevMachineInMemoryAPIServerProvisionedCondition, component: spec.APIServer, actions: []Action{EnsureAPIServer{Name: m.Name, Version: version}}})
	}
	return out
}

func providerID(name string) string { return "in-memory://" + name }

// follow says of the phases after the present one what they wait for, and sums up.
func (d *Decision) follow(phases []phase, present int) {
	var types []string
	for i, p := range phases {
		types = append(types, p.condition)
		if i <= present || conditions.IsTrue(d.DevMachine, p.condition) {
			continue
		}
		reason := infrav1.DevMachineInMemoryNodeWaitingForVMProvisionedReason
		if i > 1 && present >= 1 {
			reason = infrav1.DevMachineInMemoryEtcdWaitingForNodeProvisionedReason
		}
		d.set(p.condition, false, reason, "")
	}
	d.summarize(types...)
}

// provisioned reports the machine with its first phase: the Node comes later.
func (d *Decision) provisioned(w World) {
	m, yes := d.DevMachine, true
	m.Spec.ProviderID = providerID(m.Name)
	m.Status.Initialization.Provisioned = &yes
	m.Status.Addresses = []clusterv1.MachineAddress{{Type: clusterv1.MachineHostName, Address: m.Name}}
	m.Status.FailureDomain = w.Machine.Spec.FailureDomain
}
