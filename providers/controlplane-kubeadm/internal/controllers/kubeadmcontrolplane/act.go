package kubeadmcontrolplane

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/certificates"
	"github.com/slipway-capi/slipway/contract/decision"
	"github.com/slipway-capi/slipway/contract/external"
	"github.com/slipway-capi/slipway/contract/kubeconfig"
	"github.com/slipway-capi/slipway/contract/ownership"
	"github.com/slipway-capi/slipway/contract/patch"
	controlplanev1 "github.com/slipway-capi/slipway/providers/controlplane-kubeadm/api/v1beta2"
	"github.com/slipway-capi/slipway/providers/controlplane-kubeadm/internal/machines"
)

const (
	// fieldOwner owns what this controller applies to Machines and the specs of their objects.
	fieldOwner = "capi-kubeadmcontrolplane"
	// metadataFieldOwner owns labels and annotations of the objects of a machine.
	metadataFieldOwner = "capi-kubeadmcontrolplane-metadata"
)

// act carries a decision out. The first action that fails ends the actions, but conditions are written in every case.
func (c *Controller) act(ctx context.Context, w *World, set []certificates.Entry, d Decision) error {
	run := &run{Controller: c, world: w, certificates: set}
	failure := run.doAll(ctx, d)
	failure = errors.Join(failure, run.reportOnMachines(ctx, d))
	if failure != nil {
		d.Status.ObservedGeneration = w.ControlPlane.Status.ObservedGeneration
	}
	return errors.Join(failure, run.report(ctx, d.Status))
}

// run is one execution of a decision.
type run struct {
	*Controller
	world        *World
	certificates []certificates.Entry
	// released is set when the finalizer is gone: nothing more can be written then.
	released bool
}

// doAll ends at the first failure, except that addons are updated each for itself.
func (r *run) doAll(ctx context.Context, d Decision) error {
	var failures []error
	for _, action := range d.Actions {
		err := r.do(ctx, action)
		if err == nil {
			continue
		}
		failures = append(failures, err)
		if !isAddon(action) {
			remediationFailed(d, action)
			break
		}
	}
	return errors.Join(failures...)
}

func isAddon(action Action) bool {
	switch action.(type) {
	case UpdateKubeProxy, UpdateCoreDNS:
		return true
	}
	return false
}

func (r *run) do(ctx context.Context, action Action) error {
	switch a := action.(type) {
	case AddFinalizer:
		return r.setFinalizer(ctx, controllerutil.AddFinalizer)
	case RemoveFinalizer:
		r.released = true
		r.forget()
		return r.setFinalizer(ctx, controllerutil.RemoveFinalizer)
	case GenerateCertificates:
		return r.generateCertificates(ctx)
	case WriteKubeconfig:
		return r.writeKubeconfig(ctx, a)
	case OwnTemplate:
		return r.ownTemplate(ctx)
	case OwnSecret:
		return r.named(ctx, a.Why, r.ownSecret(ctx, a.Secret), "FailedOwnSecret")
	case AdoptMachine:
		return r.adoptMachine(ctx, a)
	case UpdateMachine:
		return r.updateMachine(ctx, a)
	case CreateMachine:
		return r.named(ctx, a.Why, r.createMachine(ctx, a), failureReason(a))
	case DeleteMachine:
		return r.named(ctx, a.Why, r.deleteMachine(ctx, a), deletionFailure(a))
	case StartUpdate:
		return r.named(ctx, a.Why, r.startUpdate(ctx, a), "FailedStartInPlaceUpdate")
	case CancelUpdate:
		return r.named(ctx, a.Why, r.cancelUpdate(ctx, a), "FailedCancelInPlaceUpdate")
	case MoveLeadership:
		return r.moveLeadership(ctx, a)
	case RemoveMember:
		return r.removeMember(ctx, a)
	case ReleaseMachine:
		return r.named(ctx, a.Why, r.unhook(ctx, a.Machine), "FailedRelease")
	case UpdateKubeadmConfig:
		return r.named(ctx, a.Why, r.updateKubeadmConfig(ctx, a.Config, a.Document), "FailedUpdateKubeadmConfig")
	case GrantKubeletAccess:
		return r.named(ctx, a.Why, r.grantKubeletAccess(ctx), "FailedGrantKubeletAccess")
	case UpdateKubeProxy:
		return r.named(ctx, a.Why, r.updateKubeProxy(ctx, a), "FailedUpdateKubeProxy")
	case UpdateCoreDNS:
		return r.named(ctx, a.Why, r.updateCoreDNS(ctx, a), "FailedUpdateCoreDNS")
	case NoteExpiry:
		return r.noteExpiry(ctx, a)
	case BeginRemediation:
		return r.recordRemediation(ctx, a.Record.String())
	case EndRemediation:
		return r.recordRemediation(ctx, "")
	case ForgetVerdict:
		return r.forgetVerdict(ctx, a.Machine)
	case Warn:
		r.Recorder.Eventf(r.world.ControlPlane, nil, corev1.EventTypeWarning, a.Reason, "Reconcile", "%s", a.Because)
		return nil
	}
	return fmt.Errorf("unknown action %T", action)
}

// forget drops what is remembered of a cluster whose control plane goes.
func (r *run) forget() {
	r.etcd.forget(r.world.Cluster.UID)
	r.memory.forget(r.world.ControlPlane.UID, r.world.Cluster.UID)
}

func failureReason(a CreateMachine) string {
	if a.Init {
		return "FailedInitialization"
	}
	return "FailedScaleUp"
}

func deletionFailure(a DeleteMachine) string {
	if a.Remediates {
		return "FailedRemediation"
	}
	return "FailedScaleDown"
}

// named records why something was done, or that it failed.
func (r *run) named(ctx context.Context, why decision.Why, err error, failed string) error {
	if err != nil {
		if r.world.deleting() {
			failed = "FailedDelete"
		}
		r.Recorder.Eventf(r.world.ControlPlane, nil, corev1.EventTypeWarning, failed, why.Reason, "%v", err)
		return err
	}
	ctrl.LoggerFrom(ctx).Info("Acted on the control plane", "reason", why.Reason, "because", why.Because)
	r.Recorder.Eventf(r.world.ControlPlane, nil, corev1.EventTypeNormal, why.Reason, why.Reason, "%s", why.Because)
	return nil
}

func (r *run) setFinalizer(ctx context.Context, change func(client.Object, string) bool) error {
	helper := patch.Begin(r.Client, fieldOwner, r.world.ControlPlane)
	change(r.world.ControlPlane, controlplanev1.KubeadmControlPlaneFinalizer)
	if err := helper.Finish(ctx, r.world.ControlPlane); err != nil {
		return fmt.Errorf("changing the finalizer: %w", err)
	}
	return nil
}

func (r *run) algorithm() certificates.Algorithm {
	return certificates.Algorithm(r.world.ControlPlane.Spec.KubeadmConfigSpec.ClusterConfiguration.EncryptionAlgorithm)
}

func (r *run) generateCertificates(ctx context.Context) error {
	days := r.world.ControlPlane.Spec.KubeadmConfigSpec.ClusterConfiguration.CACertificateValidityPeriodDays
	err := certificates.LookupOrGenerate(ctx, r.Client, r.secrets(), client.ObjectKeyFromObject(r.world.Cluster), r.certificates,
		certificates.Generation{
			Algorithm: r.algorithm(), CAValidity: validity(days), Now: r.world.Now,
			Owner: ownership.ControllerReference(r.world.ControlPlane, machines.ControlPlaneGVK),
		})
	if err != nil {
		return fmt.Errorf("providing certificates: %w", err)
	}
	return nil
}

func (r *run) writeKubeconfig(ctx context.Context, a WriteKubeconfig) error {
	ca := certificates.Find(r.certificates, certificates.ClusterCA)
	if ca == nil {
		return fmt.Errorf("writing the kubeconfig: %w", certificates.ErrMissing)
	}
	key := client.ObjectKeyFromObject(r.world.Cluster)
	content, err := kubeconfig.Generate(key.Name, r.world.Cluster.Spec.ControlPlaneEndpoint, *ca, r.algorithm(), r.world.Now)
	if err != nil {
		return fmt.Errorf("making the kubeconfig: %w", err)
	}
	secret := kubeconfig.ToSecret(key, content, ownership.ControllerReference(r.world.ControlPlane, machines.ControlPlaneGVK))
	if !a.Renew {
		// AlreadyExists: the cache is behind; the next look judges what is there.
		if err := r.Client.Create(ctx, secret); err != nil && !apierrors.IsAlreadyExists(err) {
			return fmt.Errorf("creating Secret %s: %w", secret.Name, err)
		}
		return nil
	}
	existing := secret.DeepCopy()
	existing.Data = nil
	if err := r.Client.Patch(ctx, secret, client.MergeFrom(existing), client.FieldOwner(fieldOwner)); err != nil {
		return fmt.Errorf("renewing Secret %s: %w", secret.Name, err)
	}
	return nil
}

// ownSecret takes a Secret over that may have gone meanwhile.
func (r *run) ownSecret(ctx context.Context, secret *corev1.Secret) error {
	owner := ownership.ControllerReference(r.world.ControlPlane, machines.ControlPlaneGVK)
	return client.IgnoreNotFound(certificates.Own(ctx, r.Client, fieldOwner, secret, r.world.Cluster.Name, owner))
}

func (r *run) ownTemplate(ctx context.Context) error {
	ref := r.world.ControlPlane.Spec.MachineTemplate.Spec.InfrastructureRef
	template, err := external.Get(ctx, r.Client, r.Resolver, ref, r.world.ControlPlane.Namespace)
	if err != nil {
		return err
	}
	helper := patch.Begin(r.Client, fieldOwner, template.Unstructured)
	ownership.Ensure(template, ownership.Reference(r.world.Cluster, clusterv1.GroupVersion.WithKind("Cluster")))
	if err := helper.Finish(ctx, template.Unstructured); err != nil {
		return fmt.Errorf("owning %s %s: %w", ref.Kind, ref.Name, err)
	}
	return nil
}

// withEtcd does something through the first of the nodes whose member answers.
func (r *run) withEtcd(ctx context.Context, nodes []string, do func(EtcdClient) error) error {
	options, err := r.etcdOptions(ctx, r.world, r.certificates)
	if err != nil {
		return err
	}
	connection, _, err := r.ConnectEtcd(ctx, nodes, options)
	if err != nil {
		return err
	}
	defer connection.Close()
	r.etcd.keep(r.world.Cluster.UID, nil) // whatever comes of it, the picture is old now
	return do(connection)
}

func (r *run) moveLeadership(ctx context.Context, a MoveLeadership) error {
	err := r.withEtcd(ctx, []string{a.From}, func(connection EtcdClient) error {
		var failures []error
		for _, candidate := range a.Candidates {
			member := r.world.Etcd.State.Member(candidate)
			err := connection.MoveLeader(ctx, member.ID)
			if err == nil {
				return nil
			}
			failures = append(failures, err)
		}
		return errors.Join(failures...)
	})
	return r.named(ctx, a.Why, err, "FailedMoveLeadership")
}

func (r *run) removeMember(ctx context.Context, a RemoveMember) error {
	err := r.withEtcd(ctx, a.Through, func(connection EtcdClient) error { return connection.RemoveMember(ctx, a.ID) })
	return r.named(ctx, a.Why, err, "FailedRemoveMember")
}
