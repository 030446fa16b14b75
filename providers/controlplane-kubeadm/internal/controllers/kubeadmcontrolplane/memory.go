package kubeadmcontrolplane

import (
	"context"
	"fmt"
	"maps"
	"strconv"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	controlplanev1 "github.com/slipway-capi/slipway/providers/controlplane-kubeadm/api/v1beta2"
)

// memory knows what this controller wrote and the cache may not show yet. Counting machines on a stale cache would
// create one too many, or delete two.
type memory struct {
	mu sync.Mutex
	// written holds, per control plane and machine name, the least that must be visible.
	written map[types.UID]map[string]expectation
	// addons holds, per cluster, when its addons were seen as wanted, and what was wanted then.
	addons map[types.UID]addonLook
}

type addonLook struct {
	wanted string
	at     time.Time
}

type expectation struct {
	uid      types.UID
	deleting bool
	// version is the resource version of the write; empty if it does not matter.
	version string
}

// met says whether a machine in the cache shows what was written.
func (e expectation) met(m *clusterv1.Machine) bool {
	if m.UID != e.uid {
		return true
	}
	return (!e.deleting || !m.DeletionTimestamp.IsZero()) && !older(m.ResourceVersion, e.version)
}

// older compares resource versions, which the API server counts up.
func older(seen, written string) bool {
	a, errA := strconv.ParseUint(seen, 10, 64)
	b, errB := strconv.ParseUint(written, 10, 64)
	return errA == nil && errB == nil && a < b
}

func newMemory() *memory {
	return &memory{written: map[types.UID]map[string]expectation{}, addons: map[types.UID]addonLook{}}
}

func (m *memory) forget(controlPlane, cluster types.UID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.written, controlPlane)
	delete(m.addons, cluster)
}

// addonsWanted changes whenever the wanted images may.
func addonsWanted(w *World) string {
	cp := w.ControlPlane
	return fmt.Sprint(cp.UID, cp.Generation, skips(*w, controlplanev1.SkipCoreDNSAnnotation), skips(*w, controlplanev1.SkipKubeProxyAnnotation))
}

func (m *memory) addonsDue(w *World) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	last, ok := m.addons[w.Cluster.UID]
	return !ok || last.wanted != addonsWanted(w) || w.Now.Sub(last.at) > addonsGood
}

func (m *memory) addonsSeen(w *World) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.addons[w.Cluster.UID] = addonLook{wanted: addonsWanted(w), at: w.Now}
}

// addonsChanged asks for another look.
func (m *memory) addonsChanged(cluster *clusterv1.Cluster) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.addons, cluster.UID)
}

func (m *memory) expect(controlPlane *controlplanev1.KubeadmControlPlane, name string, e expectation) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.written[controlPlane.UID] == nil {
		m.written[controlPlane.UID] = map[string]expectation{}
	}
	m.written[controlPlane.UID][name] = e
}

func (m *memory) expected(controlPlane *controlplanev1.KubeadmControlPlane) map[string]expectation {
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.written[controlPlane.UID])
}

func (m *memory) fulfilled(controlPlane *controlplanev1.KubeadmControlPlane, name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.written[controlPlane.UID], name)
	if len(m.written[controlPlane.UID]) == 0 {
		delete(m.written, controlPlane.UID)
	}
}

// correct compares a cached list with what was written and reads live what the cache does not show.
func (m *memory) correct(ctx context.Context, live client.Reader, controlPlane *controlplanev1.KubeadmControlPlane, list []clusterv1.Machine) ([]clusterv1.Machine, error) {
	for name, e := range m.expected(controlPlane) {
		at := -1
		for i := range list {
			if list[i].Name == name {
				at = i
			}
		}
		if at >= 0 && e.met(&list[at]) {
			m.fulfilled(controlPlane, name)
			continue
		}
		current := clusterv1.Machine{}
		err := live.Get(ctx, client.ObjectKey{Namespace: controlPlane.Namespace, Name: name}, &current)
		switch {
		case apierrors.IsNotFound(err):
			m.fulfilled(controlPlane, name)
			if at >= 0 {
				list = append(list[:at], list[at+1:]...)
			}
		case err != nil:
			return nil, fmt.Errorf("reading machine %s: %w", name, err)
		case at >= 0:
			list[at] = current
		default:
			list = append(list, current)
		}
	}
	return list, nil
}
