package kubeadmcontrolplane

import (
	"path"
	"reflect"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/slipway-capi/slipway/contract/decision"
	controlplanev1 "github.com/slipway-capi/slipway/providers/controlplane-kubeadm/api/v1beta2"
	"github.com/slipway-capi/slipway/providers/controlplane-kubeadm/internal/coredns"
	"github.com/slipway-capi/slipway/providers/controlplane-kubeadm/internal/image"
	"github.com/slipway-capi/slipway/providers/controlplane-kubeadm/internal/kubeadmconfig"
)

const kubeProxy = "kube-proxy"

// updateAddons brings kube-proxy and CoreDNS to the wanted images, each for itself: trouble with one is reported and
// holds up nothing else.
func updateAddons(w World, p *plan) {
	if !w.Addons.Known {
		return
	}
	p.addons = &addonReport{}
	if w.Addons.Problem != "" {
		p.addons.troubles = append(p.addons.troubles, w.Addons.Problem)
		p.again(time.Minute)
		return
	}
	for _, update := range []func(World, *plan) error{updateKubeProxy, updateCoreDNS} {
		if err := update(w, p); err != nil {
			p.addons.troubles = append(p.addons.troubles, err.Error())
		}
	}
	if len(p.addons.pending) > 0 {
		p.again(time.Second) // nothing tells that it is done
	}
}

// addonReport is what came of looking at the addons.
type addonReport struct {
	troubles []string
	// pending names the addons that are being updated.
	pending []string
}

func skips(w World, annotation string) bool {
	_, skip := w.ControlPlane.Annotations[annotation]
	return skip
}

func updateKubeProxy(w World, p *plan) error {
	if w.Addons.Proxy == nil || skips(w, controlplanev1.SkipKubeProxyAnnotation) {
		return nil
	}
	container := containerNamed(w.Addons.Proxy.Spec.Template.Spec.Containers, kubeProxy)
	if container == nil {
		return nil
	}
	current, err := image.Parse(container.Image)
	if err != nil {
		return err
	}
	target := current
	target.Tag = image.VersionTag(w.ControlPlane.Spec.Version)
	if repository := w.ControlPlane.Spec.KubeadmConfigSpec.ClusterConfiguration.ImageRepository; repository != "" {
		target.Repository = path.Clean(repository)
	}
	if target == current {
		return nil
	}
	p.addons.pending = append(p.addons.pending, kubeProxy)
	p.do(UpdateKubeProxy{Image: target.String(), Why: decision.Because("UpdateKubeProxy", "kube-proxy runs from %s, %s is wanted", current, target)})
	return nil
}

func containerNamed(list []corev1.Container, name string) *corev1.Container {
	for i := range list {
		if list[i].Name == name {
			return &list[i]
		}
	}
	return nil
}

// updateCoreDNS follows the tag and the repository that the user sets. A new Kubernetes version alone never moves
// CoreDNS, because its Corefile may be the user's own.
func updateCoreDNS(w World, p *plan) error {
	configuration := w.ControlPlane.Spec.KubeadmConfigSpec.ClusterConfiguration
	absent := w.Addons.DNS == nil || w.Addons.Corefile == nil
	if absent || skips(w, controlplanev1.SkipCoreDNSAnnotation) || reflect.ValueOf(configuration).IsZero() {
		return nil
	}
	wanted := coredns.Wanted{Repository: configuration.DNS.ImageRepository, Tag: configuration.DNS.ImageTag}
	if wanted.Repository == "" {
		wanted.Repository = configuration.ImageRepository
	}
	upgrade, err := coredns.Decide(w.Addons.DNS, w.Addons.Corefile, wanted)
	if err != nil || upgrade == nil {
		return err
	}
	action := UpdateCoreDNS{Upgrade: *upgrade, Config: w.Addons.Config,
		Why: decision.Because("UpdateCoreDNS", "CoreDNS is to run from %s", upgrade.Image)}
	if w.Addons.Config != nil {
		if action.Document, err = kubeadmconfig.SetDNS(w.Addons.Config.Data[kubeadmconfig.Key], configuration.DNS); err != nil {
			return err
		}
	}
	p.addons.pending = append(p.addons.pending, coredns.Name)
	p.do(action)
	return nil
}
