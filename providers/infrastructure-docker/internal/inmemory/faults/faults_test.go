package faults_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/slipway-capi/slipway/providers/infrastructure-docker/internal/inmemory/faults"
)

func TestParse(t *testing.T) {
	for _, tt := range []struct {
		text string
		want faults.Plan
		err  string
	}{
		{text: ""},
		{text: "{}"},
		{text: `{"delay":"50ms","errorRate":0.25,"outage":true,"lostMembers":["a"]}`,
			want: faults.Plan{Delay: metav1.Duration{Duration: 50 * time.Millisecond}, ErrorRate: 0.25, Outage: true, LostMembers: []string{"a"}}},
		{text: `{"failedBoots":[{"machines":"w-*","output":"x"}]}`, want: faults.Plan{FailedBoots: []faults.FailedBoot{{Machines: "w-*", Step: "kubeadm join", Output: "x"}}}},
		{text: `{"failedBoots":[{"machines":"[a"}]}`, err: `failedBoots[0].machines must be a pattern of names such as "workers-*", but is "[a"`},
		{text: `{"failedBoots":[{}]}`, err: "failedBoots[0].machines must be a pattern"},
		{text: `{"errorRate":1.5}`, err: "errorRate must be between 0 and 1, but is 1.5"},
		{text: `{"errorRate":-1}`, err: "errorRate must be between 0 and 1"},
		{text: `{"delay":"-1s"}`, err: "delay must be between 0 and 5m0s, but is -1s"},
		{text: `{"delay":"10m"}`, err: "delay must be between"},
		{text: `{"latency":"1s"}`, err: `must be an object such as`},
		{text: `outage`, err: `must be an object such as`},
	} {
		p, err := faults.Parse(tt.text)
		if tt.err != "" {
			assert.ErrorContains(t, err, tt.err, tt.text)
			continue
		}
		require.NoError(t, err, tt.text)
		assert.True(t, tt.want.Equal(p), tt.text)
	}
}

func TestWhichBootsFail(t *testing.T) {
	p := faults.Plan{FailedBoots: []faults.FailedBoot{{Machines: "w-*", Output: "one"}, {Machines: "*", Output: "other"}}}
	assert.Equal(t, "one", p.Boot("w-1").Output, "the first that fits counts")
	assert.Equal(t, "other", p.Boot("cp").Output)
	assert.Nil(t, faults.Plan{}.Boot("w-1"))
}

// answers sends n requests and counts those that fail.
func failures(i *faults.Injector, n int) int {
	handler := i.Handler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) }))
	failed := 0
	for range n {
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil))
		if w.Code == http.StatusServiceUnavailable {
			failed++
		}
	}
	return failed
}

func TestTheShareOfErrorsIsKept(t *testing.T) {
	for _, rate := range []float64{0, 0.01, 0.1, 0.5, 0.9, 1} {
		i := &faults.Injector{}
		i.Set(faults.Plan{ErrorRate: rate})
		assert.InDelta(t, rate*1000, failures(i, 1000), 1, "rate %v", rate)
	}
	assert.Zero(t, failures(&faults.Injector{}, 10), "no plan, no fault")
}

func TestBroken(t *testing.T) {
	reason := "etcd has no leader"
	i := &faults.Injector{Broken: func() string { return reason }}
	assert.Equal(t, 10, failures(i, 10))
	reason = ""
	assert.Zero(t, failures(i, 10))
}

func TestDelay(t *testing.T) {
	i := &faults.Injector{}
	i.Set(faults.Plan{Delay: metav1.Duration{Duration: time.Hour}})
	reached := false
	handler := i.Handler(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached = true }))
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", nil).WithContext(ctx))
	assert.False(t, reached, "a client that gives up is not kept")

	i.Set(faults.Plan{Delay: metav1.Duration{Duration: 20 * time.Millisecond}})
	start := time.Now()
	handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", nil))
	assert.True(t, reached)
	assert.GreaterOrEqual(t, time.Since(start), 20*time.Millisecond)
}
