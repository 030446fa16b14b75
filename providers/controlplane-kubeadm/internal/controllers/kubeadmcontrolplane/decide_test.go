package kubeadmcontrolplane

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/certificates"
	"github.com/slipway-capi/slipway/contract/conditions"
	"github.com/slipway-capi/slipway/contract/kubeconfig"
	bootstrapv1 "github.com/slipway-capi/slipway/providers/bootstrap-kubeadm/api/v1beta2"
	controlplanev1 "github.com/slipway-capi/slipway/providers/controlplane-kubeadm/api/v1beta2"
	"github.com/slipway-capi/slipway/providers/controlplane-kubeadm/internal/etcd"
	"github.com/slipway-capi/slipway/providers/controlplane-kubeadm/internal/kubeadmconfig"
	"github.com/slipway-capi/slipway/providers/controlplane-kubeadm/internal/machines"
	"github.com/slipway-capi/slipway/providers/controlplane-kubeadm/internal/remediation"
)

var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

type change func(*World)

// world is a control plane in perfect health with the given number of machines, all wanted.
func world(count int, changes ...change) World {
	yes, replicas := true, int32(max(count, 1))
	cp := &controlplanev1.KubeadmControlPlane{ObjectMeta: metav1.ObjectMeta{
		Namespace: "ns", Name: "cp", UID: "cp-uid", Generation: 1, Finalizers: []string{controlplanev1.KubeadmControlPlaneFinalizer},
	}}
	cp.Spec.Version, cp.Spec.Replicas = "v1.37.2", &replicas
	cp.Spec.MachineTemplate.Spec.InfrastructureRef = clusterv1.ContractVersionedObjectReference{APIGroup: "infra", Kind: "XTemplate", Name: "t"}
	cp.Status.ObservedGeneration = 1
	cluster := &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "c", UID: "c-uid"}}
	cluster.Spec.ControlPlaneEndpoint = clusterv1.APIEndpoint{Host: "host", Port: 6443}
	cluster.Status.Initialization.InfrastructureProvisioned = &yes
	w := World{
		Now: now, ControlPlane: cp, Cluster: cluster, NextName: "cp-new",
		Certificates: Certificates{CanSign: true},
		Kubeconfig:   Kubeconfig{Exists: true, Ours: true, Expires: now.Add(kubeconfig.Validity), Server: "https://host:6443"},
		Template:     Template{Found: true, OwnedByCluster: true},
		Workload:     Workload{Connected: true, NodesKnown: true, LastSuccess: now, Grace: defaultConditionsGrace},
		Etcd:         Etcd{Managed: true, State: &etcd.State{}},
		Joining:      Joining{Known: true, Granted: true, Config: kubeadmConfig("v1.37.2")},
	}
	for i := range count {
		w.Machines = append(w.Machines, machine(&w, i))
	}
	if count > 0 {
		cp.Status.Initialization.ControlPlaneInitialized = &yes
		w.Etcd.State.Leader = w.Etcd.State.Members[0].ID
	}
	for _, apply := range changes {
		apply(&w)
	}
	return w
}

// kubeadmConfig is the ConfigMap as kubeadm wrote it for a version.
func kubeadmConfig(version string) *corev1.ConfigMap {
	return &corev1.ConfigMap{Data: map[string]string{
		kubeadmconfig.Key: "apiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\nkubernetesVersion: " + version + "\n",
	}}
}

func machine(w *World, i int) *Machine {
	name := fmt.Sprintf("m%d", i)
	made := machines.Machine(machines.Request{ControlPlane: w.ControlPlane, Cluster: w.Cluster, Name: name})
	made.UID = types.UID(name)
	made.CreationTimestamp = metav1.NewTime(now.Add(time.Duration(i-100) * time.Hour))
	made.Spec.ProviderID = "x://" + name
	made.Status.NodeRef.Name = name
	m := &Machine{Machine: made, Pods: map[string]*corev1.Pod{}}
	m.Node = &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{controlPlaneNodeLabel: ""}}}
	m.Node.Spec.Taints = []corev1.Taint{{Key: controlPlaneNodeLabel, Effect: corev1.TaintEffectNoSchedule}}
	for _, c := range components {
		pod := &corev1.Pod{}
		pod.Status.Phase = corev1.PodRunning
		pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
		m.Pods[c.name] = pod
	}
	config := machines.KubeadmConfig(machines.Request{ControlPlane: w.ControlPlane, Cluster: w.Cluster, Name: name, Init: i == 0})
	m.Config = config
	w.Etcd.State.Members = append(w.Etcd.State.Members, etcd.Member{ID: uint64(i + 1), Name: name})
	return m
}

func wanted(replicas int32) change {
	return func(w *World) { w.ControlPlane.Spec.Replicas = &replicas }
}

func deleting(i int, reason string) change {
	return func(w *World) {
		at := metav1.NewTime(now.Add(-time.Minute))
		w.Machines[i].DeletionTimestamp = &at
		conditions.Set(w.Machines[i], metav1.Condition{Type: clusterv1.DeletingCondition, Status: metav1.ConditionTrue, Reason: reason, LastTransitionTime: at})
	}
}

const drained = clusterv1.MachineDeletingWaitingForPreTerminateHookReason

func notReady(i int, component string) change {
	return func(w *World) { w.Machines[i].Pods[component].Status.Phase = corev1.PodPending }
}

func joining(i int) change {
	return func(w *World) {
		m := w.Machines[i]
		m.Status.NodeRef.Name, m.Node, m.Spec.ProviderID = "", nil, ""
		w.Etcd.State.Members = append(w.Etcd.State.Members[:i:i], w.Etcd.State.Members[i+1:]...)
	}
}

func unhooked(i int) change {
	return func(w *World) { delete(w.Machines[i].Annotations, machines.CleanupHook) }
}

func domainsAre(names ...string) change {
	return func(w *World) {
		yes := true
		for _, name := range names {
			w.Cluster.Status.FailureDomains = append(w.Cluster.Status.FailureDomains, clusterv1.FailureDomain{Name: name, ControlPlane: &yes})
		}
	}
}

func inDomain(i int, name string) change {
	return func(w *World) { w.Machines[i].Spec.FailureDomain = name }
}

func stray(name string) change {
	return func(w *World) { w.Etcd.State.Members = append(w.Etcd.State.Members, etcd.Member{ID: 99, Name: name}) }
}

func controlPlaneDeleted(w *World) {
	at := metav1.NewTime(now)
	w.ControlPlane.DeletionTimestamp = &at
}

// say renders actions so that rows can be read.
func say(actions []Action) []string {
	list := []string{}
	for _, action := range actions {
		switch a := action.(type) {
		case CreateMachine:
			line := fmt.Sprintf("create init=%v %s", a.Init, a.FailureDomain)
			if record, err := remediation.Parse(a.RemediationFor); err == nil {
				line += " for " + record.Machine
			}
			list = append(list, line)
		case BeginRemediation:
			list = append(list, fmt.Sprintf("begin remediation of %s (%d)", a.Record.Machine, a.Record.RetryCount))
		case NoteExpiry:
			list = append(list, "note expiry of "+a.Machine.Name+" "+a.At)
		case EndRemediation:
			list = append(list, "end remediation")
		case ForgetVerdict:
			list = append(list, "forget verdict on "+a.Machine.Name)
		case DeleteMachine:
			list = append(list, "delete "+a.Machine.Name)
		case ReleaseMachine:
			list = append(list, "release "+a.Machine.Name)
		case RemoveMember:
			list = append(list, fmt.Sprintf("remove member %q", a.Name))
		case MoveLeadership:
			list = append(list, fmt.Sprintf("move leadership from %s to %s", a.From, a.Candidates[0]))
		case StartUpdate:
			list = append(list, "start update of "+a.Machine.Name)
		case CancelUpdate:
			list = append(list, "cancel update of "+a.Machine.Name)
		case UpdateMachine:
			list = append(list, "update "+a.Machine.Name)
		case UpdateKubeadmConfig:
			list = append(list, "kubeadm-config")
		case UpdateKubeProxy:
			list = append(list, "kube-proxy "+a.Image)
		case UpdateCoreDNS:
			list = append(list, "coredns "+a.Upgrade.Image)
		case AdoptMachine:
			list = append(list, "adopt "+a.Machine.Name)
		default:
			list = append(list, fmt.Sprintf("%T", a)[len("kubeadmcontrolplane."):])
		}
	}
	return list
}

// Conformance: CP-12, CP-30, CP-31, CP-32, CP-33, CP-35, CP-88, CP-89, CP-93, CP-94
func TestDecide(t *testing.T) {
	nothing := []string{}
	for _, row := range []struct {
		name  string
		world World
		want  []string
	}{
		{"all is well", world(3), nothing},
		{"paused", world(0, func(w *World) { w.ControlPlane.Annotations = map[string]string{clusterv1.PausedAnnotation: ""} }), nothing},
		{"finalizer and certificates come first", world(0, func(w *World) {
			w.ControlPlane.Finalizers = nil
			w.Cluster.Status.Initialization.InfrastructureProvisioned = nil
			w.Certificates = Certificates{Missing: []certificates.Purpose{"ca", "sa"}}
			w.Kubeconfig = Kubeconfig{}
		}), []string{"AddFinalizer", "GenerateCertificates"}},
		{"first machine and kubeconfig in one run", world(0, func(w *World) {
			w.Certificates = Certificates{Missing: []certificates.Purpose{"ca"}}
			w.Kubeconfig = Kubeconfig{}
		}), []string{"GenerateCertificates", "create init=true ", "WriteKubeconfig"}},
		{"no second start of a cluster that ran", world(0, func(w *World) {
			yes := true
			w.ControlPlane.Status.Initialization.ControlPlaneInitialized = &yes
		}), nothing},
		{"authorities are never made again", world(3, func(w *World) { w.Certificates = Certificates{Missing: []certificates.Purpose{"ca"}} }), nothing},
		{"no template", world(0, func(w *World) { w.Template = Template{Missing: true} }), nothing},
		{"kubeconfig half used", world(1, func(w *World) { w.Kubeconfig.Expires = now.Add(kubeconfig.Validity/2 - time.Hour) }), []string{"WriteKubeconfig"}},
		{"kubeconfig leads elsewhere", world(1, func(w *World) { w.Kubeconfig.Server = "https://old:6443" }), []string{"WriteKubeconfig"}},
		{"the user's kubeconfig is left alone", world(1, func(w *World) { w.Kubeconfig = Kubeconfig{Exists: true} }), nothing},
		{"somebody else's machines", world(1, wanted(3), func(w *World) { w.Foreign = []string{"x"} }), nothing},

		{"up", world(1, wanted(3)), []string{"create init=false "}},
		{"up into the emptiest domain", world(2, wanted(3), domainsAre("b", "a", "c"), inDomain(0, "a"), inDomain(1, "c")), []string{"create init=false b"}},
		{"up: first by name among equals", world(1, wanted(3), domainsAre("c", "b", "a"), inDomain(0, "a")), []string{"create init=false b"}},
		{"up waits for the joining machine", world(2, wanted(3), joining(1)), nothing},
		{"up waits for every component", world(1, wanted(3), notReady(0, "kube-scheduler")), nothing},
		{"up waits for etcd", world(1, wanted(3), func(w *World) { w.Etcd = Etcd{Managed: true, Problem: "dead"} }), nothing},
		{"up waits for the learner", world(2, wanted(3), func(w *World) { w.Etcd.State.Members[1].Learner = true }), nothing},
		{"up waits for a deletion", world(2, wanted(3), deleting(1, "DrainingNode")), nothing},
		{"up waits for the topology", world(1, wanted(3), func(w *World) { w.Cluster.Spec.Topology.Version = "v1.38.0" }), nothing},
		{"up without connection", world(1, wanted(3), func(w *World) { w.Workload = Workload{}; w.Etcd.State = nil }), nothing},

		{"down: oldest first, leadership moves before", world(3, wanted(1)), []string{"move leadership from m0 to m2", "delete m0"}},
		{"down: a mark wins", world(3, wanted(1), func(w *World) { w.Machines[1].Annotations[clusterv1.DeleteMachineAnnotation] = "" }), []string{"delete m1"}},
		{"down: unknown domain first", world(3, wanted(1), domainsAre("a"), inDomain(0, "a"), inDomain(1, "gone"), inDomain(2, "a")), []string{"delete m1"}},
		{"down: fullest domain", world(3, wanted(1), domainsAre("a", "b"), inDomain(0, "a"), inDomain(1, "b"), inDomain(2, "b")), []string{"delete m1"}},
		{"down waits while another one is broken", world(3, wanted(1), notReady(2, "etcd")), nothing},
		{"down past the broken one itself", world(3, wanted(1), notReady(0, "kube-scheduler")), []string{"move leadership from m0 to m2", "delete m0"}},
		{"never down to nothing", world(3, wanted(0)), nothing},
		{"down waits without a leader", world(3, wanted(1), func(w *World) { w.Etcd.State.Leader = 0 }), nothing},

		{"release: drain not over", world(3, deleting(1, "DrainingNode")), nothing},
		{"release: member, then hook", world(3, deleting(1, drained)), []string{`remove member "m1"`, "release m1"}},
		{"release: leader", world(3, deleting(0, drained)), []string{"move leadership from m0 to m2", `remove member "m0"`, "release m0"}},
		{"release: quorum would be lost", world(3, deleting(1, drained), notReady(2, "etcd"), func(w *World) { w.Etcd.State.Members[2].Alarms = []string{"CORRUPT"} }), nothing},
		{"release: one at a time", world(3, deleting(1, drained), deleting(2, drained), unhooked(2)), nothing},
		{"release: other hooks first", world(3, deleting(1, drained), func(w *World) {
			w.Machines[1].Annotations[clusterv1.PreTerminateDeleteHookAnnotationPrefix+"/other"] = ""
		}), nothing},
		{"release: the last machine", world(1, deleting(0, drained)), []string{"release m0"}},
		{"release: never a node", world(2, joining(1), deleting(1, drained)), []string{"release m1"}},
		{"release: member already gone", world(3, deleting(1, drained), func(w *World) {
			w.Etcd.State.Members = append(w.Etcd.State.Members[:1:1], w.Etcd.State.Members[2])
		}), []string{"release m1"}},
		{"release: etcd cannot be asked", world(3, deleting(1, drained), func(w *World) { w.Etcd.State = nil }), nothing},

		{"BC-16: the rest of a failed join goes", world(3, wanted(5), stray("")), []string{`remove member ""`}},
		{"BC-16: not while a machine is joining", world(4, wanted(5), joining(3), stray("")), nothing},
		{"a stray with a name goes while quorum holds", world(3, stray("gone")), []string{`remove member "gone"`}},
		{"a stray stays when quorum is thin", world(3, stray("gone"), func(w *World) {
			w.Etcd.State.Members[0].Alarms, w.Etcd.State.Members[1].Alarms = []string{"NOSPACE"}, []string{"NOSPACE"}
		}), nothing},

		{"delete: workers first", world(3, controlPlaneDeleted, func(w *World) { w.Others = []string{"Machine worker"} }), nothing},
		{"delete: all at once, whatever their health", world(3, controlPlaneDeleted, notReady(0, "etcd"), func(w *World) { w.Etcd.State = nil }), []string{"delete m0", "delete m1", "delete m2"}},
		{"delete: hooks never block", world(2, controlPlaneDeleted, deleting(0, drained), deleting(1, drained), unhooked(1)), []string{"delete m0"}},
		{"delete: done", world(0, controlPlaneDeleted), []string{"RemoveFinalizer"}},

		{"nothing moves while a machine is updated in place", world(1, wanted(3), running(0)), nothing},
		{"in place: label", world(2, func(w *World) { w.ControlPlane.Spec.MachineTemplate.Metadata.Labels = map[string]string{"a": "b"} }), []string{"update m0", "update m1"}},
		{"in place: a removed key shows in the generation", world(1, func(w *World) { w.ControlPlane.Generation = 2 }), []string{"update m0"}},
		{"in place: labels of others stay", world(1, func(w *World) { w.Machines[0].Labels["theirs"] = "x" }), nothing},
		{"adoption", world(0, func(w *World) {
			m := machine(w, 0)
			w.Orphans = []*Machine{m}
		}), []string{"adopt m0"}},
		{"adoption: too old", world(0, func(w *World) {
			m := machine(w, 0)
			m.Spec.Version = "v1.35.0"
			w.Orphans = []*Machine{m}
		}), []string{"Warn"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			decision := Decide(row.world)
			assert.Equal(t, row.want, say(decision.Actions))
			again := Decide(row.world)
			assert.Equal(t, decision, again, "same world, same decision")
		})
	}
}

// BC-18, BC-20 and what else must not replace machines: nothing but the listed causes makes a machine outdated.
func TestOutdated(t *testing.T) {
	const v = "Version v1.37.2, v1.37.3 required"
	for _, row := range []struct {
		name   string
		change change
		want   []string
	}{
		{"nothing changed", func(*World) {}, nil},
		{"version", func(w *World) { w.ControlPlane.Spec.Version = "v1.37.3" }, []string{v}},
		{"BC-18: new default", func(w *World) { w.ControlPlane.Spec.KubeadmConfigSpec.Format = "cloud-config" }, nil},
		{"BC-20: DNS tag", func(w *World) { w.ControlPlane.Spec.KubeadmConfigSpec.ClusterConfiguration.DNS.ImageTag = "v1.14.6" }, nil},
		{"BC-20: DNS repository", func(w *World) {
			w.ControlPlane.Spec.KubeadmConfigSpec.ClusterConfiguration.DNS.ImageRepository = "r"
		}, nil},
		{"BC-20: etcd tag", func(w *World) {
			w.ControlPlane.Spec.KubeadmConfigSpec.ClusterConfiguration.Etcd.Local.ImageTag = "3.7.3"
		}, []string{"KubeadmConfig is not up-to-date"}},
		{"labels and timeouts", func(w *World) {
			ten := int32(10)
			w.ControlPlane.Spec.MachineTemplate.Metadata.Labels = map[string]string{"a": "b"}
			w.ControlPlane.Spec.MachineTemplate.Spec.Deletion.NodeDrainTimeoutSeconds = &ten
		}, nil},
		{"config unknown", func(w *World) {
			w.Machines[0].Config, w.ControlPlane.Spec.KubeadmConfigSpec.Verbosity = nil, new(int32)
		}, nil},
		{"rollout.after in the future", func(w *World) { w.ControlPlane.Spec.Rollout.After = metav1.NewTime(now.Add(time.Hour)) }, nil},
		{"BC-01: rollout.after in the second of creation", func(w *World) { w.ControlPlane.Spec.Rollout.After = w.Machines[0].CreationTimestamp }, nil},
		{"rollout.after passed", func(w *World) { w.ControlPlane.Spec.Rollout.After = metav1.NewTime(now.Add(-time.Hour)) },
			[]string{"KubeadmControlPlane spec.rollout.after expired"}},
		{"certificates end", func(w *World) {
			w.ControlPlane.Spec.Rollout.Before.CertificatesExpiryDays = 30
			w.Machines[0].Status.CertificatesExpiryDate = metav1.NewTime(now.Add(29 * 24 * time.Hour))
		}, []string{"Certificates will expire soon"}},
		{"certificates' end unknown", func(w *World) { w.ControlPlane.Spec.Rollout.Before.CertificatesExpiryDays = 30 }, nil},
		{"template without record", func(w *World) { w.Machines[0].Infra = &metav1.PartialObjectMetadata{} }, nil},
		{"other template", func(w *World) {
			w.Machines[0].Infra = &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{
				clusterv1.TemplateClonedFromNameAnnotation: "old", clusterv1.TemplateClonedFromGroupKindAnnotation: "XTemplate.infra",
			}}}
		}, []string{"X is not up-to-date"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			w := world(1, row.change)
			w.Machines[0].Spec.InfrastructureRef.Kind = "X"
			var got []string
			for _, c := range outdated(w, w.Machines[0]) {
				got = append(got, c.short)
			}
			assert.Equal(t, row.want, got)
			for _, action := range Decide(w).Actions {
				assert.NotContains(t, fmt.Sprintf("%T", action), "DeleteMachine", "being outdated alone deletes nothing")
			}
		})
	}
}

// Conformance: CP-84
func TestPodConditions(t *testing.T) {
	waiting := corev1.ContainerStatus{State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}}}
	failed := waiting
	failed.LastTerminationState.Terminated = &corev1.ContainerStateTerminated{ExitCode: 1}
	for _, row := range []struct {
		name   string
		status corev1.PodStatus
		want   string
	}{
		{"pending", corev1.PodStatus{Phase: corev1.PodPending}, "False/Provisioning"},
		{"running, probes", corev1.PodStatus{Phase: corev1.PodRunning}, "False/Provisioning"},
		{"running, waiting", corev1.PodStatus{Phase: corev1.PodRunning, ContainerStatuses: []corev1.ContainerStatus{waiting}}, "False/Provisioning"},
		{"running, waiting after a crash", corev1.PodStatus{Phase: corev1.PodRunning, ContainerStatuses: []corev1.ContainerStatus{failed}}, "False/Failed"},
		{"ready", corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}}, "True/Running"},
		{"failed", corev1.PodStatus{Phase: corev1.PodFailed}, "False/Failed"},
		{"unknown", corev1.PodStatus{Phase: corev1.PodUnknown}, "Unknown/InspectionFailed"},
	} {
		t.Run(row.name, func(t *testing.T) {
			c := judgePod(&corev1.Pod{Status: row.status}, "x")
			assert.Equal(t, row.want, string(c.Status)+"/"+c.Reason)
		})
	}
}

// Conformance: CP-85
func TestAvailable(t *testing.T) {
	alarm := func(i int) change { return func(w *World) { w.Etcd.State.Members[i].Alarms = []string{"NOSPACE"} } }
	initializedLongAgo := func(w *World) {
		setCondition(&w.ControlPlane.Status, now.Add(-time.Hour), initializedCondition(*w))
	}
	for _, row := range []struct {
		name  string
		world World
		want  string
	}{
		{"healthy", world(3), "True/Available"},
		{"not initialized", world(0), "False/NotAvailable"},
		{"one of three broken", world(3, notReady(0, "kube-apiserver")), "True/Available"},
		{"all broken", world(1, notReady(0, "kube-apiserver")), "False/NotAvailable"},
		{"one of three members out of space", world(3, alarm(0)), "True/Available"},
		{"two of three members out of space", world(3, alarm(0), alarm(1)), "False/NotAvailable"},
		{"deleting", world(3, controlPlaneDeleted), "False/NotAvailable"},
		{"certificate lost", world(3, func(w *World) { w.Certificates = Certificates{Missing: []certificates.Purpose{"ca"}} }), "False/NotAvailable"},
		{"members unread, just initialized", world(1, func(w *World) { w.Etcd.State = nil }), "False/NotAvailable"},
		{"members unread, later", world(1, initializedLongAgo, func(w *World) { w.Etcd.State = nil }), "Unknown/InspectionFailed"},
		{"the joining machine's member counts", world(2, joining(1), stray("m1")), "True/Available"},
	} {
		t.Run(row.name, func(t *testing.T) {
			status := Decide(row.world).Status
			c := conditions.Get(statusHolder{&status}, clusterv1.AvailableCondition)
			require.NotNil(t, c)
			assert.Equal(t, row.want, string(c.Status)+"/"+c.Reason, c.Message)
		})
	}
}

// Conformance: CP-78
func TestShortOutagesKeepConditions(t *testing.T) {
	offline := func(since, watched time.Duration) change {
		return func(w *World) {
			assessMachines(w)
			w.Workload = Workload{LastSuccess: now.Add(-since), Watched: now.Add(-watched), Grace: 5 * time.Minute}
			if since == 0 {
				w.Workload.LastSuccess = time.Time{}
			}
			w.Etcd = Etcd{Managed: true}
		}
	}
	initializedAt := func(since time.Duration) change {
		return func(w *World) {
			setCondition(&w.ControlPlane.Status, now.Add(-since), positive(controlplanev1.KubeadmControlPlaneInitializedCondition, "Initialized", ""))
		}
	}
	for _, row := range []struct {
		name  string
		world World
		kept  bool
		again time.Duration
	}{
		{"short outage", world(1, offline(time.Minute, time.Hour)), true, 4 * time.Minute},
		{"long outage", world(1, offline(5*time.Minute, time.Hour)), false, 0},
		{"the manager has just started", world(1, offline(0, time.Minute)), true, 4 * time.Minute},
		{"the manager never got a connection", world(1, offline(0, time.Hour)), false, 0},
		{"just initialized", world(1, offline(0, time.Hour), initializedAt(2*time.Minute)), true, 3 * time.Minute},
	} {
		t.Run(row.name, func(t *testing.T) {
			d := Decide(row.world)
			for _, c := range d.MachineConditions["m0"] {
				if c.Type != clusterv1.MachineUpToDateCondition {
					assert.Equal(t, row.kept, c.Status == metav1.ConditionTrue, c.Type)
					assert.Equal(t, row.kept, c.Reason != clusterv1.ConnectionDownReason, c.Type)
				}
			}
			c := conditions.Get(statusHolder{&d.Status}, controlplanev1.KubeadmControlPlaneEtcdClusterHealthyCondition)
			require.NotNil(t, c)
			assert.Equal(t, row.kept, c.Reason != clusterv1.ConnectionDownReason)
			assert.Equal(t, row.again, d.Requeue, "the end of the grace is not missed")
			assert.Empty(t, say(d.Actions))
		})
	}
}

// Conformance: CP-79
func TestHangingDeletionsAreTold(t *testing.T) {
	message := func(ago time.Duration) string {
		w := world(3, wanted(1), deleting(0, "DrainingNode"), func(w *World) {
			at := metav1.NewTime(now.Add(-ago))
			w.Machines[0].DeletionTimestamp = &at
			c := conditions.Get(w.Machines[0], clusterv1.DeletingCondition)
			c.Message = "Pod ns/stuck cannot be evicted"
			conditions.Set(w.Machines[0], *c)
		})
		status := Decide(w).Status
		return conditions.Message(statusHolder{&status}, clusterv1.ScalingDownCondition)
	}
	assert.NotContains(t, message(14*time.Minute), "stuck")
	assert.Contains(t, message(15*time.Minute), "machine m0, which has been deleted for more than 15 minutes: Pod ns/stuck cannot be evicted")
}

func TestTaintsAreExpectedAsConfigured(t *testing.T) {
	none := []corev1.Taint{}
	w := world(1, func(w *World) {
		w.Machines[0].Node.Spec.Taints = nil
		w.Machines[0].Config.Spec.InitConfiguration = bootstrapv1.InitConfiguration{}
	})
	assert.Equal(t, metav1.ConditionFalse, labelsCondition(w, w.Machines[0]).Status)
	w.Machines[0].Config.Spec.InitConfiguration.NodeRegistration.Taints = &none
	assert.Equal(t, metav1.ConditionTrue, labelsCondition(w, w.Machines[0]).Status)
}
