package wire

import (
	"net/url"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	hooks "github.com/slipway-capi/slipway/contract/api/runtime/hooks/v1alpha1"
	"github.com/slipway-capi/slipway/contract/extension/hook"
)

// Labels are the same for both series. code is the HTTP status or "<error>" when there was none; status is Success or Failure, or empty
// when the answer was no response of the hook.
var labels = []string{"code", "host", "group", "version", "hook", "status"}

var (
	requests = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "capi_runtime_sdk_requests_total",
		Help: "Requests to runtime extensions.",
	}, labels)
	durations = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name:                        "capi_runtime_sdk_request_duration_seconds",
		Help:                        "How long requests to runtime extensions took.",
		Buckets:                     []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30},
		NativeHistogramBucketFactor: 1.1, NativeHistogramMaxBucketNumber: 100, NativeHistogramMinResetDuration: time.Hour,
	}, labels)
)

func init() { metrics.Registry.MustRegister(requests, durations) }

// count adds a request that has ended. A code of zero means that no HTTP answer came.
func (c *Client) count(d hook.Definition, code int, status string, took time.Duration) {
	text := "<error>"
	if code != 0 {
		text = strconv.Itoa(code)
	}
	host := ""
	if at, err := url.Parse(c.endpoint.URL); err == nil {
		host = at.Host
	}
	values := []string{text, host, hooks.GroupVersion.Group, hooks.GroupVersion.Version, d.Name, status}
	requests.WithLabelValues(values...).Inc()
	durations.WithLabelValues(values...).Observe(took.Seconds())
}
