package kubeadmcontrolplane

import (
	"context"
	"fmt"
	"math/rand/v2"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/certificates"
	"github.com/slipway-capi/slipway/contract/contractversion"
	"github.com/slipway-capi/slipway/contract/external"
	"github.com/slipway-capi/slipway/contract/kubeconfig"
	"github.com/slipway-capi/slipway/contract/labels"
	"github.com/slipway-capi/slipway/contract/ownership"
	bootstrapv1 "github.com/slipway-capi/slipway/providers/bootstrap-kubeadm/api/v1beta2"
	controlplanev1 "github.com/slipway-capi/slipway/providers/controlplane-kubeadm/api/v1beta2"
	"github.com/slipway-capi/slipway/providers/controlplane-kubeadm/internal/machines"
)

var clusterGroupKind = clusterv1.GroupVersion.WithKind("Cluster").GroupKind()

// observe reads everything that matters. It returns nil while the control plane has no Cluster: then nothing is done.
func (c *Controller) observe(ctx context.Context, controlPlane *controlplanev1.KubeadmControlPlane) (*World, []certificates.Entry, error) {
	w := &World{Now: c.Now(), ControlPlane: controlPlane}
	cluster, err := sight{reader: c.Client}.owner(ctx, controlPlane)
	if err != nil {
		return nil, nil, err
	}
	if cluster == nil && w.deleting() {
		cluster = remainder(controlPlane)
	}
	if cluster == nil {
		return nil, nil, nil
	}
	w.Cluster = cluster
	if err := c.observeMachines(ctx, w); err != nil {
		return nil, nil, err
	}
	set := c.observeCertificates(ctx, w)
	if err := c.observeKubeconfig(ctx, w); err != nil {
		return nil, nil, err
	}
	if w.deleting() {
		if err := c.observeOthers(ctx, w); err != nil {
			return nil, nil, err
		}
		return w, nil, c.confirmEmpty(ctx, w)
	}
	c.observeTemplate(ctx, w)
	c.observeWorkload(ctx, w)
	c.observeEtcd(ctx, w, set)
	c.observeExpiry(ctx, w, set)
	c.observeJoining(ctx, w)
	c.observeAddons(ctx, w)
	w.NextName, w.NameProblem = nextName(w)
	return w, set, c.observeUpdate(ctx, w)
}

// sight reads what belongs to a control plane in the management cluster; plans look through it too.
type sight struct {
	reader   client.Reader
	resolver *contractversion.Resolver
}

// owner finds the Cluster by owner reference: the core sets it when the Cluster really refers to this control plane.
func (s sight) owner(ctx context.Context, controlPlane *controlplanev1.KubeadmControlPlane) (*clusterv1.Cluster, error) {
	reference := ownership.Of(controlPlane, clusterGroupKind)
	if reference == nil {
		return nil, nil
	}
	cluster := &clusterv1.Cluster{}
	err := s.reader.Get(ctx, client.ObjectKey{Namespace: controlPlane.Namespace, Name: reference.Name}, cluster)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading Cluster %s: %w", reference.Name, err)
	}
	return cluster, nil
}

// remainder stands for a Cluster that is gone: the deletion of its control plane needs no more than the name.
func remainder(controlPlane *controlplanev1.KubeadmControlPlane) *clusterv1.Cluster {
	name := labels.ClusterName(controlPlane)
	if reference := ownership.Of(controlPlane, clusterGroupKind); reference != nil {
		name = reference.Name
	}
	return &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: controlPlane.Namespace, Name: name}}
}

func (c *Controller) observeMachines(ctx context.Context, w *World) error {
	look := sight{reader: c.Client, resolver: c.Resolver}
	list, err := look.listMachines(ctx, w)
	if err != nil {
		return err
	}
	found, err := c.memory.correct(ctx, c.Live, w.ControlPlane, list)
	if err != nil {
		return err
	}
	sortOut(w, found)
	if w.deleting() {
		return nil // what belongs to a machine may be gone, or unreadable, and does not matter any more
	}
	return look.observeParts(ctx, w)
}

func (s sight) listMachines(ctx context.Context, w *World) ([]clusterv1.Machine, error) {
	list := &clusterv1.MachineList{}
	err := s.reader.List(ctx, list, client.InNamespace(w.ControlPlane.Namespace),
		client.MatchingLabels{clusterv1.ClusterNameLabel: w.Cluster.Name}, client.HasLabels{clusterv1.MachineControlPlaneLabel})
	if err != nil {
		return nil, fmt.Errorf("listing machines: %w", err)
	}
	return list.Items, nil
}

// sortOut tells the control plane's machines from those that nobody or somebody else controls.
func sortOut(w *World, found []clusterv1.Machine) {
	for i := range found {
		machine := &Machine{Machine: &found[i]}
		switch controller := metav1.GetControllerOf(machine); {
		case controller == nil || (controller.UID != w.ControlPlane.UID && isNameOf(controller, w.ControlPlane)):
			w.Orphans = append(w.Orphans, machine)
		case controller.UID == w.ControlPlane.UID:
			w.Machines = append(w.Machines, machine)
		default:
			w.Foreign = append(w.Foreign, machine.Name)
		}
	}
	sortMachines(w.Machines)
	sortMachines(w.Orphans)
}

// isNameOf: after a restore or a move a reference names this control plane but carries the UID of its former self.
func isNameOf(reference *metav1.OwnerReference, controlPlane *controlplanev1.KubeadmControlPlane) bool {
	group := schema.FromAPIVersionAndKind(reference.APIVersion, reference.Kind).GroupKind()
	return group == machines.ControlPlaneGVK.GroupKind() && reference.Name == controlPlane.Name
}

// observeParts reads what belongs to the machines. Missing parts stay unknown.
func (s sight) observeParts(ctx context.Context, w *World) error {
	for _, m := range w.Machines {
		if err := s.observePartsOf(ctx, m); err != nil {
			return err
		}
	}
	return nil
}

func (s sight) observePartsOf(ctx context.Context, m *Machine) error {
	m.Config, m.Infra = nil, nil
	if err := s.observeConfig(ctx, m); err != nil {
		return err
	}
	return s.observeInfra(ctx, m)
}

func (s sight) observeConfig(ctx context.Context, m *Machine) error {
	ref := m.Spec.Bootstrap.ConfigRef
	if ref.Kind != "KubeadmConfig" {
		return nil
	}
	config := &bootstrapv1.KubeadmConfig{}
	err := s.reader.Get(ctx, client.ObjectKey{Namespace: m.Namespace, Name: ref.Name}, config)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading KubeadmConfig %s: %w", ref.Name, err)
	}
	m.Config = config
	return nil
}

func (s sight) observeInfra(ctx context.Context, m *Machine) error {
	ref := m.Spec.InfrastructureRef
	gvk, _, err := s.resolver.GVK(ctx, schema.GroupKind{Group: ref.APIGroup, Kind: ref.Kind})
	if err != nil {
		return fmt.Errorf("reading %s %s: %w", ref.Kind, ref.Name, err)
	}
	infra := &metav1.PartialObjectMetadata{}
	infra.SetGroupVersionKind(gvk)
	err = s.reader.Get(ctx, client.ObjectKey{Namespace: m.Namespace, Name: ref.Name}, infra)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading %s %s: %w", ref.Kind, ref.Name, err)
	}
	infra.SetGroupVersionKind(gvk)
	m.Infra = infra
	return nil
}

// observeOthers lists what a control plane must outlive.
func (c *Controller) observeOthers(ctx context.Context, w *World) error {
	inCluster := []client.ListOption{
		client.InNamespace(w.ControlPlane.Namespace), client.MatchingLabels{clusterv1.ClusterNameLabel: w.Cluster.Name},
	}
	list := &clusterv1.MachineList{}
	if err := c.Client.List(ctx, list, inCluster...); err != nil {
		return fmt.Errorf("listing machines: %w", err)
	}
	for _, m := range list.Items {
		if !labels.IsControlPlane(m.Labels) {
			w.Others = append(w.Others, "Machine "+m.Name)
		}
	}
	pools := &clusterv1.MachinePoolList{}
	if err := c.Client.List(ctx, pools, inCluster...); err != nil {
		return fmt.Errorf("listing machine pools: %w", err)
	}
	for _, pool := range pools.Items {
		w.Others = append(w.Others, "MachinePool "+pool.Name)
	}
	return nil
}

// confirmEmpty looks past the cache before a control plane without machines is let go. Orphans go with it.
func (c *Controller) confirmEmpty(ctx context.Context, w *World) error {
	if len(w.Machines) > 0 {
		return nil
	}
	list := &clusterv1.MachineList{}
	err := c.Live.List(ctx, list, client.InNamespace(w.ControlPlane.Namespace), client.HasLabels{clusterv1.MachineControlPlaneLabel})
	if err != nil {
		return fmt.Errorf("listing machines: %w", err)
	}
	for i := range list.Items {
		if metav1.IsControlledBy(&list.Items[i], w.ControlPlane) {
			w.Machines = append(w.Machines, &Machine{Machine: &list.Items[i]})
		}
	}
	sortMachines(w.Machines)
	return nil
}

func certificateSet(controlPlane *controlplanev1.KubeadmControlPlane) []certificates.Entry {
	configuration := controlPlane.Spec.KubeadmConfigSpec.ClusterConfiguration
	var externalEtcd *certificates.ExternalEtcd
	if !machines.ManagedEtcd(controlPlane) {
		e := configuration.Etcd.External
		externalEtcd = &certificates.ExternalEtcd{CAFile: e.CAFile, CertFile: e.CertFile, KeyFile: e.KeyFile}
	}
	return certificates.ForControlPlane(configuration.CertificatesDir, externalEtcd)
}

func (c *Controller) secrets() certificates.Source {
	return certificates.Source{Cached: c.Cached, Live: c.Live}
}

func (c *Controller) observeCertificates(ctx context.Context, w *World) []certificates.Entry {
	set := certificateSet(w.ControlPlane)
	missing, err := certificates.Lookup(ctx, c.secrets(), client.ObjectKeyFromObject(w.Cluster), set)
	w.Secrets = certificates.Secrets(set)
	if err != nil {
		w.Certificates.Problem = err.Error()
		return set
	}
	w.Certificates.Missing = missing
	ca := certificates.Find(set, certificates.ClusterCA)
	w.Certificates.CanSign = ca != nil && len(ca.Key) > 0
	return set
}

func (c *Controller) observeKubeconfig(ctx context.Context, w *World) error {
	if !w.endpointSet() && !w.deleting() {
		return nil
	}
	key := kubeconfig.SecretKey(client.ObjectKeyFromObject(w.Cluster))
	secret := &corev1.Secret{}
	err := c.Cached.Get(ctx, key, secret)
	if apierrors.IsNotFound(err) {
		err = c.Live.Get(ctx, key, secret)
	}
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading Secret %s: %w", key, err)
	}
	w.Secrets = append(w.Secrets, certificates.WithoutData(secret))
	w.Kubeconfig.Exists, w.Kubeconfig.Ours = true, secret.Type == clusterv1.ClusterSecretType
	state, err := kubeconfig.Inspect(secret.Data[kubeconfig.SecretDataKey])
	if err != nil {
		w.Kubeconfig.Problem = "the kubeconfig cannot be read"
		return nil
	}
	w.Kubeconfig.Expires, w.Kubeconfig.Server = state.Expires, state.Server
	return nil
}

func (c *Controller) observeTemplate(ctx context.Context, w *World) {
	ref := w.ControlPlane.Spec.MachineTemplate.Spec.InfrastructureRef
	object, err := external.Get(ctx, c.Client, c.Resolver, ref, w.ControlPlane.Namespace)
	switch {
	case err == nil:
		w.Template.Found = true
		w.Template.OwnedByCluster = ownership.Has(object, ownership.Reference(w.Cluster, clusterv1.GroupVersion.WithKind("Cluster")))
	case external.IsNotFound(err):
		w.Template.Missing = true
	default:
		w.Template.Problem = err.Error()
	}
}

// random has no vowels, so that no words come out.
func random() string {
	const letters = "bcdfghjklmnpqrstvwxz2456789"
	out := make([]byte, machines.RandomLength)
	for i := range out {
		out[i] = letters[rand.IntN(len(letters))]
	}
	return string(out)
}

func nextName(w *World) (name, problem string) {
	name, err := machines.Name(w.ControlPlane.Spec.MachineNaming.Template, w.Cluster.Name, w.ControlPlane.Name, random())
	if err != nil {
		return "", err.Error()
	}
	return name, ""
}
