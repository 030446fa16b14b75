package kubeadmconfig

import (
	"errors"
	"fmt"
	"net"
	"sort"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
	"github.com/slipway-capi/slipway/contract/certificates"
	"github.com/slipway-capi/slipway/contract/conditions"
	"github.com/slipway-capi/slipway/contract/decision"
	"github.com/slipway-capi/slipway/contract/labels"
	"github.com/slipway-capi/slipway/contract/paused"
	bootstrapv1 "github.com/slipway-capi/slipway/providers/bootstrap-kubeadm/api/v1beta2"
	"github.com/slipway-capi/slipway/providers/bootstrap-kubeadm/internal/token"
)

// Decide says what to do about a KubeadmConfig, given all that is known about it. It is pure: same world, same decision.
func Decide(w World) Decision {
	d := Decision{Config: w.Config.DeepCopy()}
	stage := StageOf(w)
	if stage == Idle {
		return d
	}
	pause := paused.Condition(w.Cluster, w.Config)
	conditions.Set(d.Config, pause)
	if pause.Status == metav1.ConditionTrue {
		return d
	}
	labels.SetClusterName(d.Config, w.Cluster.Name)
	if w.Secret != nil && !metav1.IsControlledBy(w.Secret, w.Config) {
		d.Actions = append(d.Actions, OwnData{Secret: w.Secret})
	}
	switch stage {
	case WaitInfrastructure:
		d.waiting("Waiting for Cluster status.initialization.infrastructureProvisioned to be true")
	case WaitControlPlane:
		d.waiting("Waiting for Cluster control plane to be initialized")
	case Adopt:
		yes := true
		d.Config.Status.DataSecretName = ownerDataSecret(w)
		d.Config.Status.Initialization.DataSecretCreated = &yes
		d.done(w)
	case Done:
		d.done(w)
		d.ownCertificates(w)
		d.keepToken(w)
	case InitControlPlane:
		d.init(w)
	default:
		d.join(w, stage)
	}
	d.summarize()
	return d
}

// init makes the first machine of a control plane. Exactly one machine gets the lock, and certificates come first:
// kubeadm would make its own where one is missing.
func (d *Decision) init(w World) {
	if w.Machine.DeletionTimestamp != nil {
		d.waiting("The Machine is being deleted")
		return
	}
	if !d.certificates(w, InitControlPlane) || !d.sources(w) {
		return
	}
	spec := &d.Config.Spec
	if spec.ClusterConfiguration.ControlPlaneEndpoint == "" {
		spec.ClusterConfiguration.ControlPlaneEndpoint = injected(w).ControlPlaneEndpoint
	}
	content, err := document(w, spec)
	if err != nil {
		d.broken(err)
		return
	}
	if c := conditions.Get(d.Config, bootstrapv1.KubeadmConfigDataSecretAvailableCondition); c == nil {
		d.waiting("Waiting for the lock of kubeadm init or for the control plane to be initialized")
	}
	d.Actions = append(d.Actions, AcquireLock{Why: decision.Because("FirstControlPlane", "the control plane of cluster %s is not initialized", w.Cluster.Name)},
		PersistSpec{Spec: *spec.DeepCopy()})
	d.store(w, content)
}

// join makes a further machine. What is filled into the spec is stored before anything is made from it.
func (d *Decision) join(w World, stage Stage) {
	d.Actions = append(d.Actions, ReleaseLock{})
	spec := &d.Config.Spec
	if stage == JoinWorker && spec.JoinConfiguration.ControlPlane != nil {
		d.broken(errors.New("joinConfiguration.controlPlane must not be set: the machine is no control plane machine"))
		return
	}
	if stage == JoinControlPlane && spec.JoinConfiguration.ControlPlane == nil {
		spec.JoinConfiguration.ControlPlane = &bootstrapv1.JoinControlPlane{}
	}
	if !d.certificates(w, stage) || !d.discovery(w) || !d.sources(w) {
		return
	}
	content, err := document(w, spec)
	if err != nil {
		d.broken(err)
		return
	}
	d.Actions = append(d.Actions, PersistSpec{Spec: *spec.DeepCopy()})
	// A token that is in the spec but not in the cluster was persisted by a run that ended before storing it.
	if t := spec.JoinConfiguration.Discovery.BootstrapToken.Token; t != "" && w.Remote.Connected && w.Remote.Err == nil && !w.Remote.Token.Exists {
		d.Actions = append(d.Actions, EnsureToken{Token: t, Why: decision.Because("NewToken", "the machine needs a token to join")})
	}
	d.store(w, content)
	d.After = w.TokenTTL / 3
}

func (d *Decision) store(w World, content []byte) {
	yes := true
	d.Actions = append(d.Actions, StoreData{Content: content, Format: formatOf(&d.Config.Spec)})
	d.Config.Status.DataSecretName = d.Config.Name
	d.Config.Status.Initialization.DataSecretCreated = &yes
	d.done(w)
}

// certificateRetry is how often missing certificates are looked for: a Secret that a user supplies need not have the label by
// which it would be watched.
const certificateRetry = 30 * time.Second

// certificates says whether the key pairs that the machine needs are there. With a control plane object they are awaited,
// since that object makes them. Without one they are made here, but only for the first machine: for a later one, a new
// authority would be another one than the cluster's.
func (d *Decision) certificates(w World, stage Stage) bool {
	if w.Certificates.Err != nil {
		d.setCertificates(metav1.ConditionUnknown, clusterv1.InternalErrorReason, seeLogs)
		d.fail(w.Certificates.Err)
		return false
	}
	missing := missingCertificates(w.Certificates, stage)
	if len(missing) == 0 {
		d.setCertificates(metav1.ConditionTrue, clusterv1.AvailableReason, "")
		return true
	}
	message := "Waiting for the certificates " + strings.Join(missing, ", ")
	d.setCertificates(metav1.ConditionFalse, clusterv1.NotAvailableReason, message)
	d.waiting(message)
	d.After = certificateRetry
	if w.Cluster.Spec.ControlPlaneRef.Name == "" && stage == InitControlPlane && len(ours(w.Certificates)) > 0 {
		d.Actions = append(d.Actions, GenerateCertificates{})
	}
	return false
}

// ownCertificates gives the Secrets of certificates that lost their owner to the Cluster: those whose type says that they
// were made here. The config that made them may be gone, as any machine may.
func (d *Decision) ownCertificates(w World) {
	if !makesCertificates(w) {
		return
	}
	for _, secret := range certificates.Secrets(w.Certificates.Set) {
		if secret.Type == clusterv1.ClusterSecretType && len(secret.OwnerReferences) == 0 && secret.DeletionTimestamp.IsZero() {
			d.Actions = append(d.Actions, OwnCertificate{Secret: secret})
		}
	}
}

// ours are the missing pairs that can be made here; those of an external etcd only its owner has.
func ours(view CertificatesView) []certificates.Entry {
	var out []certificates.Entry
	for _, e := range view.Set {
		if e.Pair == nil && !e.External {
			out = append(out, e)
		}
	}
	return out
}

// missingCertificates: a worker trusts the cluster's authority and needs no key of it; a control plane machine that joins
// signs with all of them, except for those of an external etcd.
func missingCertificates(view CertificatesView, stage Stage) []string {
	var missing []string
	for _, p := range view.Missing {
		missing = append(missing, string(p))
	}
	for _, e := range view.Set {
		if stage == JoinControlPlane && e.Pair != nil && len(e.Pair.Key) == 0 && !e.External {
			missing = append(missing, string(e.Purpose)+" (private key)")
		}
	}
	sort.Strings(missing)
	return missing
}

func (d *Decision) setCertificates(status metav1.ConditionStatus, reason, message string) {
	conditions.Set(d.Config, metav1.Condition{Type: bootstrapv1.KubeadmConfigCertificatesAvailableCondition, Status: status, Reason: reason, Message: message})
}

// seeLogs is the message where the cause may hold what not everybody should read.
const seeLogs = "Please check the logs of the bootstrap manager"

// discovery fills in how the machine finds and trusts the cluster; what the user set is respected, part by part.
func (d *Decision) discovery(w World) bool {
	discovery := &d.Config.Spec.JoinConfiguration.Discovery
	if discovery.File.KubeConfigPath != "" {
		return true
	}
	t := &discovery.BootstrapToken
	if t.APIServerEndpoint == "" {
		e := w.Cluster.Spec.ControlPlaneEndpoint
		if e.Host == "" || e.Port == 0 {
			d.waiting("Waiting for Cluster spec.controlPlaneEndpoint to be set")
			return false
		}
		t.APIServerEndpoint = net.JoinHostPort(e.Host, strconv.Itoa(int(e.Port)))
	}
	if len(t.CACertHashes) == 0 && !isTrue(t.UnsafeSkipCAVerification) {
		hashes, err := caHashes(certificates.Find(w.Certificates.Set, certificates.ClusterCA))
		if err != nil {
			d.broken(err)
			return false
		}
		t.CACertHashes = hashes
	}
	if t.Token == "" {
		if !w.Remote.Connected {
			d.waiting("Waiting for a connection to the workload cluster, to create a bootstrap token")
			return false
		}
		t.Token = w.NewToken
	}
	return true
}

// sources says whether all texts from Secrets could be read.
func (d *Decision) sources(w World) bool {
	if w.Sources.FileErr != nil {
		d.broken(w.Sources.FileErr)
		return false
	}
	if w.Sources.UserErr != nil {
		d.waiting("A password of users could not be read from its Secret")
		d.fail(w.Sources.UserErr)
		return false
	}
	return true
}

// keepToken extends the token until the machine has joined. A token that was cleaned away while the machine boots is
// made again with the same text, since that is what the machine has; a pool's next members get a new one.
func (d *Decision) keepToken(w World) {
	text := d.Config.Spec.JoinConfiguration.Discovery.BootstrapToken.Token
	if text == "" || joined(w) && w.Machine != nil || !w.Remote.Connected {
		return
	}
	if w.Remote.Err != nil {
		d.fail(w.Remote.Err)
		return
	}
	if w.Machine == nil && w.Secret != nil && (!w.Remote.Token.Exists || joined(w) && w.Remote.Token.Expires.Sub(w.Now) < w.TokenTTL/2) {
		d.rotate(w)
		return
	}
	extend, again := token.Due(w.Remote.Token, w.TokenTTL, w.Now)
	if w.Machine == nil && joined(w) {
		extend = false
	}
	if extend {
		d.Actions = append(d.Actions, EnsureToken{Token: text, Why: decision.Because("KeepToken", "the machine has not joined yet")})
	}
	d.After = again
}

// rotate gives a pool a new token and rewrites its data, for members that are still to come (BC-14).
func (d *Decision) rotate(w World) {
	d.Config.Spec.JoinConfiguration.Discovery.BootstrapToken.Token = w.NewToken
	if !d.certificates(w, JoinWorker) || !d.sources(w) {
		return
	}
	content, err := document(w, &d.Config.Spec)
	if err != nil {
		d.broken(err)
		return
	}
	d.Actions = append(d.Actions, PersistSpec{Spec: *d.Config.Spec.DeepCopy()},
		EnsureToken{Token: w.NewToken, Why: decision.Because("RotateToken", "the token of pool %s ends or is gone", w.Pool.Name)},
		StoreData{Content: content, Format: formatOf(&d.Config.Spec)})
	d.After = w.TokenTTL / 3
}

// done says that the data is there, and what of the configuration the machine's kubeadm has no words for.
func (d *Decision) done(w World) {
	d.setCertificates(metav1.ConditionTrue, clusterv1.AvailableReason, "")
	conditions.Set(d.Config, metav1.Condition{Type: bootstrapv1.KubeadmConfigDataSecretAvailableCondition, Status: metav1.ConditionTrue, Reason: clusterv1.AvailableReason, Message: ignored(w)})
}

func ignored(w World) string {
	fields := w.Config.Spec.Ignored(version(w), controlPlane(w))
	if len(fields) == 0 {
		return ""
	}
	return "kubeadm of Kubernetes " + version(w) + " ignores " + strings.Join(fields, ", ")
}

func (d *Decision) waiting(message string) {
	conditions.Set(d.Config, metav1.Condition{Type: bootstrapv1.KubeadmConfigDataSecretAvailableCondition, Status: metav1.ConditionFalse, Reason: clusterv1.NotAvailableReason, Message: message})
}

// broken is a mistake in the config or its sources: it is told, and tried again with back-off. Trying again at once does not
// make a document smaller.
func (d *Decision) broken(err error) {
	d.waiting(err.Error())
	if errors.As(err, &tooLargeError{}) {
		d.After = tooLargeRetry
		return
	}
	d.fail(err)
}

func (d *Decision) fail(err error) { d.Err = errors.Join(d.Err, err) }

func (d *Decision) summarize() {
	conditions.Set(d.Config, conditions.Summary(d.Config, clusterv1.ReadyCondition, conditions.SummaryOptions{
		For:      []string{bootstrapv1.KubeadmConfigCertificatesAvailableCondition, bootstrapv1.KubeadmConfigDataSecretAvailableCondition},
		Optional: []string{bootstrapv1.KubeadmConfigCertificatesAvailableCondition},
	}))
	if d.Err == nil {
		d.Config.Status.ObservedGeneration = d.Config.Generation
	}
}

func caHashes(ca *certificates.KeyPair) ([]string, error) {
	if ca == nil {
		return nil, errors.New("the cluster's certificate authority is missing")
	}
	list, err := certificates.ParseCertificates(ca.Cert)
	if err != nil {
		return nil, fmt.Errorf("the cluster's certificate authority cannot be read: %w", err)
	}
	var out []string
	for _, c := range list {
		out = append(out, publicKeyHash(c.RawSubjectPublicKeyInfo))
	}
	return out, nil
}
