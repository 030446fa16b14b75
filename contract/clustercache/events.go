package clustercache

import (
	"context"
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	clusterv1 "github.com/slipway-capi/slipway/contract/api/core/v1beta2"
)

// SourceOption refines the events of a Source.
type SourceOption func(*subscriber)

// WithProbeFailure asks for one more event per outage, when probes have been failing for the given time. Connections
// end after a few failed probes already; this one is for decisions that are taken later.
func WithProbeFailure(after time.Duration) SourceOption {
	return func(s *subscriber) { s.failingFor = append(s.failingFor, after) }
}

// broker hands events to any number of subscribers. Publishing never blocks: what a subscriber has not taken yet is
// kept as a set of clusters, so a slow one costs memory for at most one event per cluster.
type broker struct {
	mu          sync.Mutex
	subscribers []*subscriber
	connected   map[client.ObjectKey]types.UID
}

func newBroker() *broker { return &broker{connected: map[client.ObjectKey]types.UID{}} }

type subscriber struct {
	name       string
	handler    handler.EventHandler
	failingFor []time.Duration

	mu      sync.Mutex
	pending map[client.ObjectKey]types.UID
	wake    chan struct{}
}

func (b *broker) source(name string, h handler.EventHandler, options []SourceOption) source.Source {
	s := &subscriber{name: name, handler: h, pending: map[client.ObjectKey]types.UID{}, wake: make(chan struct{}, 1)}
	for _, option := range options {
		option(s)
	}
	return brokerSource{broker: b, subscriber: s}
}

type brokerSource struct {
	broker     *broker
	subscriber *subscriber
}

// Start implements source.Source. A late subscriber hears of the connections that exist already.
func (s brokerSource) Start(ctx context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
	s.broker.mu.Lock()
	defer s.broker.mu.Unlock()
	s.broker.subscribers = append(s.broker.subscribers, s.subscriber)
	for key, uid := range s.broker.connected {
		s.subscriber.add(key, uid)
	}
	go s.subscriber.run(ctx, queue)
	return nil
}

// String names the source in logs.
func (s brokerSource) String() string {
	return fmt.Sprintf("cluster connections for %s", s.subscriber.name)
}

func (b *broker) connectionMade(key client.ObjectKey, uid types.UID) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.connected[key] = uid
	b.publishLocked(key, uid)
}

func (b *broker) connectionLost(key client.ObjectKey, uid types.UID) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.connected, key)
	b.publishLocked(key, uid)
}

func (b *broker) publishLocked(key client.ObjectKey, uid types.UID) {
	for _, s := range b.subscribers {
		s.add(key, uid)
	}
}

// failing tells those subscribers whose patience ended between the two durations.
func (b *broker) failing(key client.ObjectKey, uid types.UID, before, now time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, s := range b.subscribers {
		for _, after := range s.failingFor {
			if before < after && now >= after {
				s.add(key, uid)
			}
		}
	}
}

// nextFailing is the shortest patience of a subscriber that is longer than the outage so far; zero if there is none.
func (b *broker) nextFailing(outage time.Duration) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	var next time.Duration
	for _, s := range b.subscribers {
		for _, after := range s.failingFor {
			if after > outage && (next == 0 || after < next) {
				next = after
			}
		}
	}
	return next
}

func (s *subscriber) add(key client.ObjectKey, uid types.UID) {
	s.mu.Lock()
	s.pending[key] = uid
	s.mu.Unlock()
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

func (s *subscriber) take() map[client.ObjectKey]types.UID {
	s.mu.Lock()
	defer s.mu.Unlock()
	taken := s.pending
	s.pending = map[client.ObjectKey]types.UID{}
	return taken
}

func (s *subscriber) run(ctx context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.wake:
		}
		for key, uid := range s.take() {
			cluster := &clusterv1.Cluster{}
			cluster.Namespace, cluster.Name, cluster.UID = key.Namespace, key.Name, uid
			s.handler.Generic(ctx, event.GenericEvent{Object: cluster}, queue)
		}
	}
}
