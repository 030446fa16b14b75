package volumes_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/slipway-capi/slipway/core/internal/volumes"
)

var now = time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)

type change func(*volumes.World)

func attached(names ...corev1.UniqueVolumeName) change {
	return func(w *volumes.World) {
		for _, n := range names {
			w.Node.Status.VolumesAttached = append(w.Node.Status.VolumesAttached, corev1.AttachedVolume{Name: n})
		}
	}
}

// attachment is of a PersistentVolume, or of an inline volume if that has no name.
func attachment(name, volume string) change {
	a := storagev1.VolumeAttachment{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if volume != "" {
		a.Spec.Source.PersistentVolumeName = &volume
	}
	return func(w *volumes.World) { w.Attachments = append(w.Attachments, a) }
}

// csi is a PersistentVolume pv-<claim> with the handle <claim>, bound to the claim apps/<claim>.
func csi(claim string) change {
	pv := corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: "pv-" + claim}}
	pv.Spec.ClaimRef = &corev1.ObjectReference{Namespace: "apps", Name: claim}
	pv.Spec.CSI = &corev1.CSIPersistentVolumeSource{Driver: "disk.example.org", VolumeHandle: claim}
	return func(w *volumes.World) { w.Volumes = append(w.Volumes, pv) }
}

// old is a PersistentVolume of a plug-in that is no CSI driver, or is served by one under another name.
func old(claim, migratedTo string) change {
	pv := corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: "pv-" + claim, Annotations: map[string]string{"pv.kubernetes.io/migrated-to": migratedTo}}}
	pv.Spec.ClaimRef = &corev1.ObjectReference{Namespace: "apps", Name: claim}
	return func(w *volumes.World) { w.Volumes = append(w.Volumes, pv) }
}

func unclaimed(w *volumes.World) { w.Volumes[0].Spec.ClaimRef = nil }

func began(ago time.Duration) change {
	return func(w *volumes.World) { w.Began = metav1.NewTime(now.Add(-ago)) }
}

// staying is a pod that drain skips, with a claim.
func staying(claim string) change {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "apps", Name: "p"}}
	p.Spec.Volumes = []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim}}}}
	return func(w *volumes.World) { w.Staying = append(w.Staying, p) }
}

func stayingWith(v corev1.Volume) change {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "apps", Name: "p"}}
	p.Spec.Volumes = []corev1.Volume{v}
	return func(w *volumes.World) { w.Staying = append(w.Staying, p) }
}

const (
	handleA = "kubernetes.io/csi/disk.example.org^a"
	handleB = "kubernetes.io/csi/disk.example.org^b"
	legacy  = "kubernetes.io/iscsi/10.0.0.1:iqn:0"
	orphan  = ": no PersistentVolume knows of it, so it is not waited for longer than 5m0s"
)

// Conformance: DR-40, DR-41, DR-42, DR-44
func TestWhatIsWaitedFor(t *testing.T) {
	ephemeral := corev1.Volume{Name: "scratch", VolumeSource: corev1.VolumeSource{Ephemeral: &corev1.EphemeralVolumeSource{}}}
	iscsi := corev1.Volume{Name: "v", VolumeSource: corev1.VolumeSource{ISCSI: &corev1.ISCSIVolumeSource{}}}
	for _, c := range []struct {
		name    string
		changes []change
		want    string
	}{
		{"nothing", nil, ""},
		{"nothing attached, though there are volumes", []change{csi("a")}, ""},
		{"in the Node's status", []change{csi("a"), attached(handleA)}, "* PersistentVolumeClaim apps/a"},
		{"by attachment only", []change{csi("a"), attachment("x", "pv-a")}, "* PersistentVolumeClaim apps/a"},
		{"in both is told once", []change{csi("a"), attached(handleA), attachment("x", "pv-a")}, "* PersistentVolumeClaim apps/a"},
		{"several, sorted", []change{csi("b"), csi("a"), attached(handleB, handleA)}, "* PersistentVolumeClaims apps/a, apps/b"},
		{"a volume without claim", []change{csi("a"), unclaimed, attached(handleA)}, "* PersistentVolume pv-a"},
		{"of a pod that stays", []change{csi("a"), attached(handleA), attachment("x", "pv-a"), staying("a")}, ""},
		{"others of the same Node are still waited for", []change{csi("a"), csi("b"), attached(handleA, handleB), staying("a")}, "* PersistentVolumeClaim apps/b"},
		{"made for a pod that stays", []change{csi("p-scratch"), attachment("x", "pv-p-scratch"), stayingWith(ephemeral)}, ""},
		{"no CSI volume", []change{attached(legacy)}, "* volume " + legacy},
		{"no CSI volume, may be that of a pod that stays", []change{attached(legacy), old("a", ""), staying("a")}, ""},
		{"no CSI volume, inline in a pod that stays", []change{attached(legacy), stayingWith(iscsi)}, ""},
		{"no CSI volume, and the pod that stays has a CSI volume", []change{attached(legacy), csi("a"), staying("a")}, "* volume " + legacy},
		{"an inline attachment", []change{attachment("x", "")}, "* volume VolumeAttachment x"},
		{"served by a driver for an older plug-in", []change{attached(handleA), old("c", "disk.example.org"), began(time.Hour)}, "* volume " + handleA},
		{"that of a pod that stays", []change{attached(handleA), old("c", "disk.example.org"), staying("c")}, ""},
		{"nobody knows the volume", []change{attached(handleA)}, "* volume " + handleA + orphan},
		{"nobody knows the volume of an attachment", []change{attachment("x", "pv-lost")}, "* volume VolumeAttachment x" + orphan},
		{"for a while", []change{attached(handleA), attachment("x", "pv-lost"), began(5 * time.Minute)}, "* volumes VolumeAttachment x, " + handleA + orphan},
		{"and then no more", []change{attached(handleA), attachment("x", "pv-lost"), began(5*time.Minute + time.Second)}, ""},
		{"which does not count for those that are known", []change{csi("a"), attached(handleA), began(time.Hour)}, "* PersistentVolumeClaim apps/a"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := volumes.World{Now: now, Node: &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}}}
			for _, f := range c.changes {
				f(&w)
			}
			got := volumes.Decide(w)
			assert.Equal(t, c.want == "", got.Done())
			if c.want != "" {
				since := w.Began.UTC()
				if w.Began.IsZero() {
					since = now
				}
				assert.Equal(t, "Volumes are attached to Node n; waiting since "+since.Format(time.RFC3339)+":\n"+c.want, got.Message)
			}
			w.Now = now.Add(time.Second)
			if !w.Began.IsZero() && c.name != "for a while" {
				assert.Equal(t, got, volumes.Decide(w), "the message does not change with time")
			}
		})
	}
}
