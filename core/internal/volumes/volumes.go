// Package volumes says which volumes must be detached from a Node before its machine may go: a volume that is attached to
// a machine in its deletion may be lost with it, or be refused to the next Node for minutes.
//
// It serves the controller of Machines. [Attachments] and [PersistentVolumes] read, [Decide] is pure.
package volumes

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/slipway-capi/slipway/core/internal/names"
)

const (
	// orphanPatience is how long a volume is waited for that no PersistentVolume knows. Nothing in Kubernetes uses it, and
	// nobody may ever detach it.
	orphanPatience = 5 * time.Minute
	csiPrefix      = "kubernetes.io/csi/"
)

// World is all that is known when the wait for volumes is decided.
type World struct {
	Now time.Time
	// Began is when the wait began; zero before that.
	Began metav1.Time
	Node  *corev1.Node
	// Attachments are those of the Node; none where they are not to be considered.
	Attachments []storagev1.VolumeAttachment
	// Volumes are all PersistentVolumes, read only if anything is attached.
	Volumes []corev1.PersistentVolume
	// Staying are the pods that the drain leaves on the Node. Their volumes will not be detached, so nobody waits for them.
	Staying []*corev1.Pod
}

// Attached says whether there is anything to wait for, which makes it worth while to find out whose it is.
func (w World) Attached() bool {
	return len(w.Node.Status.VolumesAttached) > 0 || len(w.Attachments) > 0
}

// Wait is what is waited for.
type Wait struct {
	// Message names the claims, or volumes without one, and says since when they are waited for; empty when all is detached.
	Message string
}

// Done says whether the machine may go.
func (w Wait) Done() bool { return w.Message == "" }

// found collects what is attached by what is known of it.
type found struct{ claims, volumes, unknown, orphans []string }

// Decide says which volumes are still to be detached. It is pure: same world, same answer.
func Decide(w World) Wait {
	known := catalogue(w)
	var f found
	for _, a := range w.Attachments {
		switch name := a.Spec.Source.PersistentVolumeName; {
		case name == nil:
			f.unattributed(known, "VolumeAttachment "+a.Name)
		case known.byName[*name] != nil:
			f.attributed(known, known.byName[*name])
		default:
			f.orphans = append(f.orphans, "VolumeAttachment "+a.Name)
		}
	}
	for _, v := range w.Node.Status.VolumesAttached {
		driver, csi := driverOf(v.Name)
		switch {
		case known.byHandle[v.Name] != nil:
			f.attributed(known, known.byHandle[v.Name])
		case !csi || known.migrated[driver]:
			f.unattributed(known, string(v.Name))
		default:
			f.orphans = append(f.orphans, string(v.Name))
		}
	}
	if !w.Began.IsZero() && w.Now.Sub(w.Began.Time) > orphanPatience {
		f.orphans = nil
	}
	return Wait{Message: f.message(w)}
}

func (f *found) attributed(known catalog, pv *corev1.PersistentVolume) {
	claim := pv.Spec.ClaimRef
	switch {
	case claim == nil:
		f.volumes = append(f.volumes, pv.Name)
	case !known.staying[claimKey(pv)]:
		f.claims = append(f.claims, claim.Namespace+"/"+claim.Name)
	}
}

// unattributed volumes have names from which no PersistentVolume can be told. If a pod that stays has such a volume it
// may be this one, and is then not waited for.
func (f *found) unattributed(known catalog, name string) {
	if !known.stayingUnattributed {
		f.unknown = append(f.unknown, name)
	}
}

func (f *found) message(w World) string {
	var lines []string
	add := func(what, suffix string, all []string) {
		if len(all) > 0 {
			lines = append(lines, "* "+names.Of(what, all)+suffix)
		}
	}
	add("PersistentVolumeClaim", "", f.claims)
	add("PersistentVolume", "", f.volumes)
	add("volume", "", f.unknown)
	add("volume", ": no PersistentVolume knows of it, so it is not waited for longer than "+orphanPatience.String(), f.orphans)
	if len(lines) == 0 {
		return ""
	}
	began := w.Began
	if began.IsZero() {
		began = metav1.NewTime(w.Now)
	}
	return fmt.Sprintf("Volumes are attached to Node %s; waiting since %s:\n%s", w.Node.Name, began.UTC().Format(time.RFC3339), strings.Join(lines, "\n"))
}

// catalog is what is known about volumes.
type catalog struct {
	byName   map[string]*corev1.PersistentVolume
	byHandle map[corev1.UniqueVolumeName]*corev1.PersistentVolume
	// migrated are the CSI drivers that serve volumes of older plug-ins, whose handles their PersistentVolumes do not have.
	migrated map[string]bool
	// staying are the claims of pods that stay on the Node.
	staying map[types.NamespacedName]bool
	// stayingUnattributed says that a pod that stays has a volume whose name in the Node's status cannot be told.
	stayingUnattributed bool
}

func catalogue(w World) catalog {
	c := catalog{byName: map[string]*corev1.PersistentVolume{}, byHandle: map[corev1.UniqueVolumeName]*corev1.PersistentVolume{},
		migrated: map[string]bool{}, staying: map[types.NamespacedName]bool{}}
	for _, pod := range w.Staying {
		for _, v := range pod.Spec.Volumes {
			if name := claimOf(pod, v); name != "" {
				c.staying[types.NamespacedName{Namespace: pod.Namespace, Name: name}] = true
			}
			c.stayingUnattributed = c.stayingUnattributed || v.FC != nil || v.ISCSI != nil || v.FlexVolume != nil
		}
	}
	for i := range w.Volumes {
		pv := &w.Volumes[i]
		c.byName[pv.Name] = pv
		if csi := pv.Spec.CSI; csi != nil {
			c.byHandle[corev1.UniqueVolumeName(csiPrefix+csi.Driver+"^"+csi.VolumeHandle)] = pv
			continue
		}
		if driver := pv.Annotations["pv.kubernetes.io/migrated-to"]; driver != "" {
			c.migrated[driver] = true
		}
		c.stayingUnattributed = c.stayingUnattributed || pv.Spec.ClaimRef != nil && c.staying[claimKey(pv)]
	}
	return c
}

func claimKey(pv *corev1.PersistentVolume) types.NamespacedName {
	return types.NamespacedName{Namespace: pv.Spec.ClaimRef.Namespace, Name: pv.Spec.ClaimRef.Name}
}

// claimOf is the claim behind a volume of a pod, if there is one.
func claimOf(pod *corev1.Pod, v corev1.Volume) string {
	switch {
	case v.PersistentVolumeClaim != nil:
		return v.PersistentVolumeClaim.ClaimName
	case v.Ephemeral != nil:
		return pod.Name + "-" + v.Name
	}
	return ""
}

// driverOf is the CSI driver in the name of an attached volume.
func driverOf(name corev1.UniqueVolumeName) (driver string, csi bool) {
	rest, csi := strings.CutPrefix(string(name), csiPrefix)
	driver, _, _ = strings.Cut(rest, "^")
	return driver, csi
}
