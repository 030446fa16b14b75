package kubeadmconfig

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/certificates"
	"github.com/slipway-capi/slipway/contract/ownership"
	"github.com/slipway-capi/slipway/contract/patch"
	bootstrapv1 "github.com/slipway-capi/slipway/providers/bootstrap-kubeadm/api/v1beta2"
	"github.com/slipway-capi/slipway/providers/bootstrap-kubeadm/internal/initlock"
	"github.com/slipway-capi/slipway/providers/bootstrap-kubeadm/internal/token"
)

var (
	// errNotHolder ends a run quietly: another machine initializes the cluster.
	errNotHolder = errors.New("another machine holds the lock of kubeadm init")
	// errOutdated ends a run without a trace: it was decided on a picture older than what this controller wrote itself.
	errOutdated = errors.New("the cache is behind; its update brings the next run")
)

var ownConditions = []string{
	clusterv1.ReadyCondition, clusterv1.PausedCondition, bootstrapv1.KubeadmConfigCertificatesAvailableCondition, bootstrapv1.KubeadmConfigDataSecretAvailableCondition,
}

// act carries a decision out: the actions in order, then the status. If an action fails, what would have been true after
// it is not reported.
func (c *Controller) act(ctx context.Context, w World, d Decision) (reconcile.Result, error) {
	before, locked := w.Config, false
	for _, a := range d.Actions {
		stored, err := c.carryOut(ctx, w, before, a)
		if stored != nil {
			before = stored
		}
		if _, ok := a.(AcquireLock); ok && err == nil {
			locked = true
		}
		if errors.Is(err, errOutdated) {
			return reconcile.Result{}, nil
		}
		if err != nil {
			d = interrupted(w, d, a, err)
			if locked {
				d.Err = errors.Join(d.Err, initlock.GiveUp(ctx, c.Client, c.Live, client.ObjectKeyFromObject(w.Cluster), w.Machine))
			}
			break
		}
	}
	d.Config.Spec, d.Config.ResourceVersion, d.Config.Generation = before.Spec, before.ResourceVersion, before.Generation
	if d.Err == nil {
		d.Config.Status.ObservedGeneration = before.Generation // a newer one than observed is our own
	}
	if err := patch.Begin(c.Client, FieldOwner, before).Finish(ctx, d.Config, patch.Owned(ownConditions...)); err != nil {
		d.Err = errors.Join(d.Err, err)
	}
	if d.Err != nil {
		return reconcile.Result{}, d.Err
	}
	return reconcile.Result{RequeueAfter: d.After}, nil
}

// interrupted is the decision without what its failed action would have brought about.
func interrupted(w World, d Decision, action Action, cause error) Decision {
	out := Decision{Config: w.Config.DeepCopy(), Err: errors.Join(d.Err, cause)}
	out.Config.Labels = d.Config.Labels
	message := seeLogs
	if _, ok := action.(GenerateCertificates); ok {
		out.setCertificates(metav1.ConditionUnknown, clusterv1.InternalErrorReason, seeLogs)
	}
	if errors.Is(cause, errNotHolder) {
		// The Cluster's initialization and the lock's removal wake us; the timer is for a holder that vanished.
		out.Err, out.After, message = d.Err, lockRetry, "Waiting for the control plane to be initialized by another machine"
	}
	out.waiting(message)
	out.summarize()
	return out
}

// lockRetry is how often a machine looks whether the holder of the init lock is still there.
const lockRetry = 30 * time.Second

// carryOut does one action; it returns the config as stored where the action stored it.
func (c *Controller) carryOut(ctx context.Context, w World, before *bootstrapv1.KubeadmConfig, action Action) (*bootstrapv1.KubeadmConfig, error) {
	cluster := client.ObjectKeyFromObject(w.Cluster)
	switch a := action.(type) {
	case PersistSpec:
		if equality.Semantic.DeepEqual(before.Spec, a.Spec) {
			return nil, nil
		}
		out := before.DeepCopy()
		out.Spec = a.Spec
		err := c.Client.Patch(ctx, out, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}), client.FieldOwner(FieldOwner))
		if apierrors.IsConflict(err) {
			return nil, errOutdated
		}
		if err != nil {
			return nil, fmt.Errorf("storing what was filled in: %w", err)
		}
		return out, nil
	case AcquireLock:
		return nil, c.acquire(ctx, w, a)
	case ReleaseLock:
		return nil, c.releaseOnce(ctx, cluster)
	case GenerateCertificates:
		owner := ownership.ControllerReference(w.Config, bootstrapv1.GroupVersion.WithKind("KubeadmConfig"))
		g := certificates.Generation{Algorithm: certificates.Algorithm(w.Config.Spec.ClusterConfiguration.EncryptionAlgorithm), Owner: owner, Now: w.Now,
			CAValidity: time.Duration(w.Config.Spec.ClusterConfiguration.CACertificateValidityPeriodDays) * 24 * time.Hour}
		return nil, certificates.LookupOrGenerate(ctx, c.Client, certificates.Source{Cached: c.Secrets, Live: c.Live}, cluster, ours(w.Certificates), g)
	case EnsureToken:
		remote, err := c.ClusterCache.UncachedClient(ctx, cluster)
		if err != nil {
			return nil, err
		}
		log.FromContext(ctx).Info("Storing bootstrap token", "reason", a.Why.Reason, "because", a.Why.Because)
		return nil, token.Ensure(ctx, remote, a.Token, w.TokenTTL, w.Now)
	case StoreData:
		return nil, c.store(ctx, w, a)
	case OwnCertificate:
		err := certificates.Own(ctx, c.Client, FieldOwner, a.Secret, w.Cluster.Name, ownership.Reference(w.Cluster, clusterv1.GroupVersion.WithKind(clusterv1.ClusterKind)))
		if apierrors.IsConflict(err) {
			return nil, errOutdated // another machine of the control plane was faster
		}
		return nil, client.IgnoreNotFound(err)
	case OwnData:
		secret := a.Secret.DeepCopy()
		if err := notAnothers(secret); err != nil {
			return nil, err
		}
		h := patch.Begin(c.Client, FieldOwner, secret)
		ownership.Ensure(secret, ownership.ControllerReference(w.Config, bootstrapv1.GroupVersion.WithKind("KubeadmConfig")))
		return nil, h.Finish(ctx, secret)
	}
	return nil, fmt.Errorf("unknown action %T", action)
}

// acquire takes the lock of kubeadm init. The lock goes when the cluster is initialized, and our picture of the cluster may
// be older than that: only a look at the API server itself says that nobody has been first. Nor must this machine be the one
// that was: it holds the lock still, and would give it up when its outdated picture makes a write fail.
func (c *Controller) acquire(ctx context.Context, w World, a AcquireLock) error {
	held, err := initlock.Acquire(ctx, c.Client, c.Live, w.Cluster, w.Machine)
	if err != nil {
		return err
	}
	if !held {
		return errNotHolder
	}
	config := &bootstrapv1.KubeadmConfig{}
	if err := c.Live.Get(ctx, client.ObjectKeyFromObject(w.Config), config); err != nil {
		return fmt.Errorf("reading the KubeadmConfig again: %w", err)
	}
	if isTrue(config.Status.Initialization.DataSecretCreated) {
		return errOutdated
	}
	cluster := &clusterv1.Cluster{}
	if err := c.Live.Get(ctx, client.ObjectKeyFromObject(w.Cluster), cluster); err != nil {
		return fmt.Errorf("reading the Cluster again: %w", err)
	}
	if isTrue(cluster.Status.Initialization.ControlPlaneInitialized) {
		return errors.Join(errNotHolder, initlock.GiveUp(ctx, c.Client, c.Live, client.ObjectKeyFromObject(w.Cluster), w.Machine))
	}
	log.FromContext(ctx).Info("Holding the lock of kubeadm init", "reason", a.Why.Reason, "because", a.Why.Because)
	return nil
}

// releaseOnce removes the init lock; after it was seen gone, joins of the same cluster ask no more.
func (c *Controller) releaseOnce(ctx context.Context, cluster client.ObjectKey) error {
	if _, done := c.released.Load(cluster); done {
		return nil
	}
	if err := initlock.Release(ctx, c.Client, c.Live, cluster); err != nil {
		return err
	}
	c.released.Store(cluster, true)
	return nil
}

// store writes the data Secret. An earlier one may exist since storing it and reporting it are two writes.
func (c *Controller) store(ctx context.Context, w World, a StoreData) error {
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.Config.Namespace, Name: w.Config.Name, Labels: map[string]string{clusterv1.ClusterNameLabel: w.Cluster.Name},
			OwnerReferences: []metav1.OwnerReference{ownership.ControllerReference(w.Config, bootstrapv1.GroupVersion.WithKind("KubeadmConfig"))}},
		Type: clusterv1.ClusterSecretType,
		Data: map[string][]byte{"value": a.Content, "format": []byte(a.Format)},
	}
	err := c.Client.Create(ctx, secret, client.FieldOwner(FieldOwner))
	if apierrors.IsAlreadyExists(err) {
		have := &corev1.Secret{}
		if err := c.Live.Get(ctx, client.ObjectKeyFromObject(secret), have); err != nil {
			return fmt.Errorf("reading data Secret: %w", err)
		}
		if err := notAnothers(have); err != nil {
			return err
		}
		before := have.DeepCopy()
		have.Data, have.Labels, have.OwnerReferences = secret.Data, secret.Labels, secret.OwnerReferences
		err = c.Client.Patch(ctx, have, client.MergeFrom(before), client.FieldOwner(FieldOwner))
	}
	if err != nil {
		return fmt.Errorf("storing data Secret %s: %w", secret.Name, err)
	}
	return nil
}

// notAnothers refuses a Secret that has our name by chance and belongs to something else.
func notAnothers(secret *corev1.Secret) error {
	if other := metav1.GetControllerOf(secret); other != nil && other.Kind != "KubeadmConfig" {
		return fmt.Errorf("secret %s is controlled by %s %s", secret.Name, other.Kind, other.Name)
	}
	return nil
}
