package manager

import (
	"errors"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

// Users' dashboards know what controllers do under the names of this API; controller-runtime counts it under its own.
func init() {
	metrics.Registry.MustRegister(
		alias("capi_reconcile_total", prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "controller_runtime_reconcile_total", Help: "Total number of reconciliations per controller",
		}, []string{"controller", "result"}), "controller", "result"),
		alias("capi_reconcile_time_seconds", prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "controller_runtime_reconcile_time_seconds", Help: "Length of time per reconciliation per controller",
		}, []string{"controller"}), "controller"),
	)
}

// alias shows a registered metric a second time under another name. It is found by its twin: the registry refuses that and says whose twin it is.
func alias(name string, twin prometheus.Collector, labels ...string) prometheus.Collector {
	var known prometheus.AlreadyRegisteredError
	source := twin
	if err := metrics.Registry.Register(twin); errors.As(err, &known) {
		source = known.ExistingCollector
	}
	return renamed{source: source, desc: prometheus.NewDesc(name, "Reconciles of a controller, as controller_runtime tells them.", labels, nil)}
}

type renamed struct {
	source prometheus.Collector
	desc   *prometheus.Desc
}

// Describe implements prometheus.Collector.
func (r renamed) Describe(to chan<- *prometheus.Desc) { to <- r.desc }

// Collect implements prometheus.Collector.
func (r renamed) Collect(to chan<- prometheus.Metric) {
	from := make(chan prometheus.Metric)
	go func() {
		defer close(from)
		r.source.Collect(from)
	}()
	for m := range from {
		to <- renamedMetric{Metric: m, desc: r.desc}
	}
}

type renamedMetric struct {
	prometheus.Metric
	desc *prometheus.Desc
}

// Desc implements prometheus.Metric.
func (m renamedMetric) Desc() *prometheus.Desc { return m.desc }
