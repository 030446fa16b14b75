package clustercache

import (
	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

var (
	connectionUp = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "capi_cluster_cache_connection_up",
		Help: "1 while there is a connection to the workload cluster, else 0.",
	}, []string{"cluster_name", "cluster_namespace"})

	probeUp = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "capi_cluster_cache_healthcheck",
		Help: "1 if the last probe of the workload cluster succeeded, else 0.",
	}, []string{"cluster_name", "cluster_namespace"})

	probesTotal = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "capi_cluster_cache_healthchecks_total",
		Help: "Probes of the workload cluster by result.",
	}, []string{"cluster_name", "cluster_namespace", "status"})
)

func init() {
	metrics.Registry.MustRegister(connectionUp, probeUp, probesTotal)
}

func countProbe(key client.ObjectKey, err error) {
	up, status := 1.0, "success"
	if err != nil {
		up, status = 0, "error"
	}
	probeUp.WithLabelValues(key.Name, key.Namespace).Set(up)
	probesTotal.WithLabelValues(key.Name, key.Namespace, status).Inc()
}

func dropMetrics(key client.ObjectKey) {
	connectionUp.DeleteLabelValues(key.Name, key.Namespace)
	probeUp.DeleteLabelValues(key.Name, key.Namespace)
	probesTotal.DeletePartialMatch(prometheus.Labels{"cluster_name": key.Name, "cluster_namespace": key.Namespace})
}
