package clustercache

import (
	"os"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Options says how workload clusters are reached. The zero value is good for production.
type Options struct {
	// Concurrency is the number of clusters that are connected or probed at the same time; default 100.
	Concurrency int
	// QPS and Burst limit the requests to one workload cluster; default 20 and 30.
	QPS   float32
	Burst int
	// UserAgent names the manager to the workload clusters; default is the name of the binary.
	UserAgent string
	// Scheme holds the kinds that clients of workload clusters know; default is client-go's.
	Scheme *runtime.Scheme
	// ByObject narrows what is cached per kind, as in controller-runtime. A kind named here is cached, even if
	// it is one of those that otherwise never are.
	ByObject map[client.Object]cache.ByObject
	// Identity is the Pod of this manager. A workload cluster that holds it is the cluster the manager runs in, and
	// is reached at its in-cluster address. Default: POD_NAMESPACE, POD_NAME and POD_UID of the environment.
	Identity Identity
	// Probe is the rhythm of the health probes.
	Probe ProbeOptions
	// Reconnect is the rhythm of the attempts to connect.
	Reconnect ReconnectOptions

	// inCluster is the configuration of the cluster that the manager runs in.
	inCluster func() (*rest.Config, error)
}

// Identity is the Pod a manager runs in.
type Identity struct{ Namespace, Name, UID string }

func (i Identity) known() bool { return i.Namespace != "" && i.Name != "" && i.UID != "" }

// ProbeOptions is the rhythm of health probes.
type ProbeOptions struct {
	// Interval between two probes; default 10 s.
	Interval time.Duration
	// Timeout of a probe and of each request of an attempt to connect; default 5 s.
	Timeout time.Duration
	// Failures in a row that end a connection; default 5.
	Failures int
}

// ReconnectOptions is the rhythm of the attempts to connect. After a connection was lost the delay starts at First and
// doubles up to Max. Before the first connection somebody waits for a cluster that is just booting, so there it grows by
// an eighth only: the connection is late by no more than an eighth of the time the cluster took to boot.
type ReconnectOptions struct {
	// First delay; default 100 ms.
	First time.Duration
	// Max is the longest delay; default 10 s.
	Max time.Duration
}

// requestTimeout ends every request but a watch, and the wait for a cache that does not sync: a dead cluster must not
// hold the workers of a controller.
const requestTimeout = 10 * time.Second

func (o Options) withDefaults() Options {
	setDefault(&o.Concurrency, 100)
	setDefault(&o.QPS, 20)
	setDefault(&o.Burst, 30)
	setDefault(&o.UserAgent, rest.DefaultKubernetesUserAgent())
	setDefault(&o.Scheme, scheme.Scheme)
	setDefault(&o.Probe.Interval, 10*time.Second)
	setDefault(&o.Probe.Timeout, 5*time.Second)
	setDefault(&o.Probe.Failures, 5)
	setDefault(&o.Reconnect.First, 100*time.Millisecond)
	setDefault(&o.Reconnect.Max, 10*time.Second)
	if o.inCluster == nil {
		o.inCluster = rest.InClusterConfig
	}
	setDefault(&o.Identity, Identity{
		Namespace: os.Getenv("POD_NAMESPACE"), Name: os.Getenv("POD_NAME"), UID: os.Getenv("POD_UID"),
	})
	return o
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// neverCached are the kinds that are too many or too big to be kept for every workload cluster.
func (o Options) neverCached() []client.Object {
	var kinds []client.Object
	for _, kind := range []client.Object{
		&corev1.ConfigMap{}, &corev1.Secret{}, &corev1.Pod{}, &corev1.PersistentVolume{},
		&appsv1.DaemonSet{}, &appsv1.Deployment{}, &storagev1.VolumeAttachment{},
	} {
		if !o.narrowed(kind) {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

func (o Options) narrowed(kind client.Object) bool {
	wanted, _, err := scheme.Scheme.ObjectKinds(kind)
	if err != nil {
		return false
	}
	for object := range o.ByObject {
		if have, _, err := scheme.Scheme.ObjectKinds(object); err == nil && have[0] == wanted[0] {
			return true
		}
	}
	return false
}
