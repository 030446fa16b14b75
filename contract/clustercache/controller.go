package clustercache

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
)

// unlabelledInterval is how often a kubeconfig Secret without the cluster-name label is looked for: such a Secret is
// not in the manager's cache, so no event announces it.
const unlabelledInterval = 10 * time.Second

// reconciler is the controller's side of the cache.
type reconciler struct {
	*clusterCache
	cached client.Reader
	live   client.Reader
}

func (c *clusterCache) register(mgr ctrl.Manager) error {
	r := &reconciler{clusterCache: c, cached: mgr.GetCache(), live: mgr.GetAPIReader()}
	if err := mgr.Add(manager.RunnableFunc(r.untilStop)); err != nil {
		return err
	}
	skipNameValidation := true
	return ctrl.NewControllerManagedBy(mgr).Named("clustercache").
		For(&clusterv1.Cluster{}).
		Watches(&corev1.Secret{}, handler.EnqueueRequestsFromMapFunc(kubeconfigToCluster),
			builder.WithPredicates(predicate.NewPredicateFuncs(isKubeconfig))).
		WithOptions(controller.Options{
			MaxConcurrentReconciles: c.options.Concurrency,
			SkipNameValidation:      &skipNameValidation,
		}).
		Complete(r)
}

// untilStop ends all connections when the manager stops.
func (r *reconciler) untilStop(ctx context.Context) error {
	<-ctx.Done()
	r.stop()
	return nil
}

func isKubeconfig(object client.Object) bool {
	return strings.HasSuffix(object.GetName(), kubeconfigSuffix)
}

func kubeconfigToCluster(_ context.Context, object client.Object) []reconcile.Request {
	name := strings.TrimSuffix(object.GetName(), kubeconfigSuffix)
	return []reconcile.Request{{NamespacedName: client.ObjectKey{Namespace: object.GetNamespace(), Name: name}}}
}

// Reconcile takes the steps that are due for one cluster's connection; a failed step waits with back-off.
func (r *reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	for {
		v, kubeconfig, err := r.observe(ctx, request.NamespacedName)
		if err != nil {
			return reconcile.Result{}, fmt.Errorf("observing: %w", err)
		}
		next, wait := decide(v)
		if next == stepWait {
			return reconcile.Result{RequeueAfter: r.patience(request.NamespacedName, wait)}, nil
		}
		if !r.begin(v) {
			return reconcile.Result{RequeueAfter: spread(crowded)}, nil
		}
		r.act(ctx, request.NamespacedName, v, next, kubeconfig)
		r.end(v)
		if next == stepForget {
			return reconcile.Result{}, nil
		}
	}
}

// begin takes one of the workers for suspect clusters if it is one; it says whether there was one. Never do all workers
// wait for clusters that are dead.
func (r *reconciler) begin(v view) bool {
	if !v.suspect() {
		return true
	}
	select {
	case r.suspects <- struct{}{}:
		return true
	default:
		return false
	}
}

func (r *reconciler) end(v view) {
	if v.suspect() {
		<-r.suspects
	}
}

func (r *reconciler) observe(ctx context.Context, key client.ObjectKey) (view, []byte, error) {
	v := view{Now: r.now()}
	cluster := &clusterv1.Cluster{}
	if err := r.cached.Get(ctx, key, cluster); apierrors.IsNotFound(err) {
		return v, nil, nil
	} else if err != nil {
		return v, nil, fmt.Errorf("reading Cluster %s: %w", key, err)
	}
	v.Exists, v.UID = true, cluster.UID
	if provisioned := cluster.Status.Initialization.InfrastructureProvisioned; provisioned != nil {
		v.Provisioned = *provisioned
	}
	kubeconfig, err := r.kubeconfig(ctx, key, v.Provisioned)
	if err != nil {
		return v, nil, err
	}
	if len(kubeconfig) > 0 {
		v.Kubeconfig = fingerprint(kubeconfig)
	}
	e := r.entryFor(key)
	e.mu.RLock()
	defer e.mu.RUnlock()
	v.TriedWith, v.NextAttempt, v.NextProbe, v.Failures = e.tried, e.nextAttempt, e.nextProbe, e.health.ConsecutiveFailures
	if e.connection != nil {
		v.Connected, v.ConnectionUID, v.ConnectedWith = true, e.connection.uid, *e.connection.source.Load()
	}
	return v, kubeconfig, nil
}

// kubeconfig reads the Secret from the manager's cache. A user's Secret without the label is found only by a live read.
func (r *reconciler) kubeconfig(ctx context.Context, key client.ObjectKey, provisioned bool) ([]byte, error) {
	secret := &corev1.Secret{}
	name := client.ObjectKey{Namespace: key.Namespace, Name: key.Name + kubeconfigSuffix}
	err := r.cached.Get(ctx, name, secret)
	if apierrors.IsNotFound(err) && provisioned && r.liveReadDue(key) {
		err = r.live.Get(ctx, name, secret)
	}
	if err != nil && !apierrors.IsNotFound(err) {
		return nil, fmt.Errorf("reading Secret %s: %w", name, err)
	}
	return secret.Data[kubeconfigKey], nil
}

func (r *reconciler) liveReadDue(key client.ObjectKey) bool {
	e := r.entryFor(key)
	e.mu.Lock()
	defer e.mu.Unlock()
	if now := r.now(); now.Before(e.nextLiveRead) {
		return false
	} else if e.nextLiveRead = now.Add(unlabelledInterval); e.connection != nil {
		return false
	}
	return true
}

func (r *reconciler) act(ctx context.Context, key client.ObjectKey, v view, next step, kubeconfig []byte) {
	switch next {
	case stepForget:
		r.drop(key, "the Cluster is gone")
		r.forget(key)
		dropMetrics(key)
	case stepDrop:
		r.drop(key, "the Cluster was replaced by another one of the same name")
		r.forget(key)
	case stepRenew:
		r.renew(ctx, key, v, kubeconfig)
	case stepConnect:
		r.connect(ctx, key, v, kubeconfig)
	case stepProbe:
		r.probe(ctx, key, v)
	case stepWait:
	}
}

func (r *reconciler) connect(ctx context.Context, key client.ObjectKey, v view, kubeconfig []byte) {
	connection, err := r.options.connect(ctx, r.base, key, v.UID, kubeconfig)
	e := r.entryFor(key)
	if err != nil {
		r.failed(ctx, e, key, v, err)
		return
	}
	e.mu.Lock()
	now := r.now()
	e.connection, e.attempts, e.tried, e.announced = connection, 0, "", 0
	e.health = HealthState{LastProbe: now, LastProbeSuccess: now}
	e.nextProbe = now.Add(spread(r.options.Probe.Interval))
	watches := maps.Clone(e.watches)
	e.mu.Unlock()
	for _, spec := range watches {
		if err := connection.watch(spec); err != nil {
			ctrl.LoggerFrom(ctx).Error(err, "Restarting a watch") // the controller asks again when the event of the connection comes
		}
	}
	connectionUp.WithLabelValues(key.Name, key.Namespace).Set(1)
	ctrl.LoggerFrom(ctx).Info("Connected to the workload cluster")
	r.events.connectionMade(key, v.UID)
}

// failed notes an attempt that did not lead to a connection and when to try again.
func (r *reconciler) failed(ctx context.Context, e *entry, key client.ObjectKey, v view, cause error) {
	e.mu.Lock()
	now := r.now()
	if e.tried != v.Kubeconfig {
		e.attempts = 0
	}
	e.attempts++
	e.tried = v.Kubeconfig
	e.health.LastProbe = now
	e.health.ConsecutiveFailures++
	e.nextAttempt = now.Add(r.options.Reconnect.delay(e.attempts, !e.health.LastProbeSuccess.IsZero()))
	e.mu.Unlock()
	ctrl.LoggerFrom(ctx).V(4).Info("No connection yet", "cause", cause.Error())
	r.announceOutage(e, key, v)
}

// renew follows a changed kubeconfig: in place while the server is the same, else by a new connection.
func (r *reconciler) renew(ctx context.Context, key client.ObjectKey, v view, kubeconfig []byte) {
	connection, err := r.connected(key)
	if err != nil {
		return
	}
	if err := connection.renew(ctx, kubeconfig); err != nil {
		reason := "the new kubeconfig does not work"
		if errors.Is(err, errOtherServer) {
			reason = "the kubeconfig names another server"
		}
		r.drop(key, reason)
	}
}

func (r *reconciler) probe(ctx context.Context, key client.ObjectKey, v view) {
	connection, err := r.connected(key)
	if err != nil {
		return
	}
	err = connection.probe(ctx)
	countProbe(key, err)
	e := r.entryFor(key)
	e.mu.Lock()
	now := r.now()
	e.health.LastProbe, e.nextProbe = now, now.Add(spread(r.options.Probe.Interval))
	if err == nil {
		e.health.LastProbeSuccess, e.health.ConsecutiveFailures = now, 0
		e.announced = 0
	} else {
		e.health.ConsecutiveFailures++
	}
	failures := e.health.ConsecutiveFailures
	e.mu.Unlock()
	switch {
	case apierrors.IsUnauthorized(err):
		r.drop(key, "the credentials are refused")
	case failures >= r.options.Probe.Failures:
		r.drop(key, fmt.Sprintf("%d probes in a row failed", failures))
	}
	if err != nil {
		r.announceOutage(e, key, v)
	}
}

// drop ends a connection; the next step may make another one at once.
func (r *reconciler) drop(key client.ObjectKey, reason string) {
	e := r.entryFor(key)
	e.mu.Lock()
	connection := e.connection
	e.connection, e.nextAttempt = nil, time.Time{}
	e.mu.Unlock()
	if connection == nil {
		return
	}
	connection.close()
	connectionUp.WithLabelValues(key.Name, key.Namespace).Set(0)
	ctrl.Log.WithName("clustercache").Info("Disconnected from the workload cluster",
		"Cluster", key.String(), "reason", reason)
	r.events.connectionLost(key, connection.uid)
}

// announceOutage tells subscribers that probes have been failing for as long as they asked for.
func (r *reconciler) announceOutage(e *entry, key client.ObjectKey, v view) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.health.LastProbeSuccess.IsZero() {
		return
	}
	outage := r.now().Sub(e.health.LastProbeSuccess)
	r.events.failing(key, v.UID, e.announced, outage)
	e.announced = outage
}

// patience shortens a wait so that the next announcement of an outage is not late.
func (r *reconciler) patience(key client.ObjectKey, wait time.Duration) time.Duration {
	e := r.lookup(key)
	if e == nil {
		return wait
	}
	e.mu.RLock()
	defer e.mu.RUnlock()
	if e.health.ConsecutiveFailures == 0 || e.health.LastProbeSuccess.IsZero() {
		return wait
	}
	outage := r.now().Sub(e.health.LastProbeSuccess)
	next := r.events.nextFailing(outage)
	if next > 0 && (wait == 0 || next-outage < wait) {
		return next - outage
	}
	return wait
}

// spread moves a deadline by up to a tenth, so that the probes of many clusters do not march in step.
func spread(d time.Duration) time.Duration {
	return d - time.Duration(rand.Int64N(int64(d)/10+1))
}
