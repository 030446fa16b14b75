package etcd

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
)

// ErrLastMember is returned when the only member is to be removed.
var ErrLastMember = errors.New("the last etcd member cannot be removed")

// Member is one member of an etcd cluster.
type Member struct {
	ID uint64
	// Name is the name of the node; empty until the member has started for the first time.
	Name    string
	Learner bool
	// Alarms are the kinds of alarm the member has raised, sorted: CORRUPT, NOSPACE.
	Alarms []string
}

// State is what an etcd cluster says about itself.
type State struct {
	ClusterID uint64
	// Leader is the ID of the leading member; 0 while there is none.
	Leader uint64
	// Members are sorted by name, then ID.
	Members []Member
}

// Member returns the member of a name, or nil.
func (s *State) Member(name string) *Member {
	for i := range s.Members {
		if s.Members[i].Name == name && name != "" {
			return &s.Members[i]
		}
	}
	return nil
}

// Dialer opens a connection to the etcd member on a node.
type Dialer func(ctx context.Context, node string) (net.Conn, error)

// Options says how to reach the members.
type Options struct {
	Dial Dialer
	// TLS has the client certificate and the trust; nil speaks plain text (tests).
	TLS *tls.Config
	// DialTimeout and CallTimeout bound every step; defaults 10 s and 15 s.
	DialTimeout, CallTimeout time.Duration
	// Log takes what the client library has to say; nil drops it.
	Log *zap.Logger
}

// Client speaks to the etcd cluster through one of its members.
type Client struct {
	node     string
	endpoint string
	timeout  time.Duration
	client   *clientv3.Client
}

// Connect opens a client through the member on the node. It fails if the member does not answer.
func Connect(ctx context.Context, node string, options Options) (*Client, error) {
	name := "etcd-" + node
	endpoint := "http://" + name + ":2379"
	config := clientv3.Config{
		DialTimeout: orElse(options.DialTimeout, 10*time.Second),
		Logger:      options.logger(),
		DialOptions: []grpc.DialOption{
			grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return options.Dial(ctx, node) }),
			grpc.WithAuthority(name),
		},
	}
	if options.TLS != nil {
		config.TLS = options.TLS.Clone()
		config.TLS.ServerName = name
		endpoint = "https://" + name + ":2379"
	}
	config.Endpoints = []string{endpoint}
	client, err := clientv3.New(config)
	if err != nil {
		return nil, fmt.Errorf("making an etcd client for node %s: %w", node, err)
	}
	return &Client{node: node, endpoint: endpoint, timeout: orElse(options.CallTimeout, 15*time.Second), client: client}, nil
}

func (o Options) logger() *zap.Logger {
	if o.Log == nil {
		return zap.NewNop()
	}
	return o.Log
}

// ConnectAny opens a client through the first of the nodes whose member answers and returns the state it told.
func ConnectAny(ctx context.Context, nodes []string, options Options) (*Client, *State, error) {
	var failures []error
	for _, node := range nodes {
		client, err := Connect(ctx, node, options)
		if err != nil {
			failures = append(failures, err)
			continue
		}
		state, err := client.State(ctx)
		if err == nil {
			return client, state, nil
		}
		client.Close()
		failures = append(failures, err)
	}
	if len(failures) == 0 {
		return nil, nil, errors.New("no node with an etcd member to ask")
	}
	return nil, nil, errors.Join(failures...)
}

// Close ends the connection.
func (c *Client) Close() { _ = c.client.Close() }

// State reads members, leader and alarms.
func (c *Client) State(ctx context.Context) (*State, error) {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	status, err := c.client.Status(ctx, c.endpoint)
	if err != nil {
		return nil, c.fail("reading the status", err)
	}
	members, err := c.client.MemberList(ctx)
	if err != nil {
		return nil, c.fail("listing members", err)
	}
	alarms, err := c.client.AlarmList(ctx)
	if err != nil {
		return nil, c.fail("listing alarms", err)
	}
	state := &State{Leader: status.Leader}
	if members.Header != nil {
		state.ClusterID = members.Header.ClusterId
	}
	for _, m := range members.Members {
		state.Members = append(state.Members, Member{
			ID: m.ID, Name: m.Name, Learner: m.IsLearner, Alarms: alarmsOf(m.ID, alarms.Alarms),
		})
	}
	slices.SortFunc(state.Members, func(a, b Member) int {
		return strings.Compare(fmt.Sprintf("%s/%020d", a.Name, a.ID), fmt.Sprintf("%s/%020d", b.Name, b.ID))
	})
	return state, nil
}

func alarmsOf(id uint64, alarms []*etcdserverpb.AlarmMember) []string {
	var kinds []string
	for _, alarm := range alarms {
		if alarm.MemberID == id && alarm.Alarm != etcdserverpb.AlarmType_NONE {
			kinds = append(kinds, alarm.Alarm.String())
		}
	}
	slices.Sort(kinds)
	return slices.Compact(kinds)
}

// MoveLeader hands leadership to another member. The client must be connected through the leader.
func (c *Client) MoveLeader(ctx context.Context, to uint64) error {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	if _, err := c.client.MoveLeader(ctx, to); err != nil {
		return c.fail("moving the leadership", err)
	}
	return nil
}

// RemoveMember takes a member out of the cluster. A member that is gone already is no error.
func (c *Client) RemoveMember(ctx context.Context, id uint64) error {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	members, err := c.client.MemberList(ctx)
	if err != nil {
		return c.fail("listing members", err)
	}
	isVictim := func(m *etcdserverpb.Member) bool { return m.ID == id }
	if !slices.ContainsFunc(members.Members, isVictim) {
		return nil
	}
	if len(members.Members) == 1 {
		return ErrLastMember
	}
	if _, err := c.client.MemberRemove(ctx, id); err != nil && !errors.Is(err, rpctypes.ErrMemberNotFound) {
		return c.fail("removing a member", err)
	}
	return nil
}

func (c *Client) fail(doing string, err error) error {
	return fmt.Errorf("%s through the etcd member on node %s: %w", doing, c.node, err)
}

func orElse(value, fallback time.Duration) time.Duration {
	if value > 0 {
		return value
	}
	return fallback
}
