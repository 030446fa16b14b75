// Package etcd simulates the members of a workload cluster's etcd as far as a control plane controller looks at them:
// membership, leader, status, alarms, and a key that can be read.
package etcd

import (
	"context"
	"crypto/tls"
	"errors"
	"hash/fnv"
	"net"
	"sort"
	"sync"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/status"
)

// version is what members claim to be.
const version = "3.7.3"

// Cluster is the etcd of one workload cluster.
type Cluster struct {
	mu      sync.Mutex
	id      uint64
	members map[string]*member
	leader  uint64
	// lost are the members that do not answer.
	lost map[string]bool
}

type member struct {
	id     uint64
	name   string
	server *grpc.Server
	conns  *listener
}

// New makes an etcd without members; its id comes from the name, so that it survives a restart.
func New(name string) *Cluster { return &Cluster{id: hash(name), members: map[string]*member{}} }

func hash(s string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(s))
	return h.Sum64()
}

// Ensure adds a member that serves with a certificate, unless it exists. The first one is the leader.
func (c *Cluster) Ensure(name string, config *tls.Config) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.members[name] != nil {
		return
	}
	m := &member{id: hash(name), name: name, conns: newListener()}
	m.server = grpc.NewServer(grpc.Creds(credentials.NewTLS(config)), grpc.UnaryInterceptor(c.answers(name)))
	pb.RegisterClusterServer(m.server, &clusterService{cluster: c})
	pb.RegisterMaintenanceServer(m.server, &maintenanceService{cluster: c, member: m})
	pb.RegisterKVServer(m.server, &kvService{cluster: c, member: m})
	c.members[name] = m
	if c.leader == 0 {
		c.elect()
	}
	go func() { _ = m.server.Serve(m.conns) }()
}

// Members are the names of all members, sorted.
func (c *Cluster) Members() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []string
	for name := range c.members {
		out = append(out, name)
	}
	sort.Strings(out)
	return out
}

// Remove takes a member out; the remaining ones choose a leader.
func (c *Cluster) Remove(name string) {
	c.mu.Lock()
	m := c.members[name]
	delete(c.members, name)
	if m != nil && c.leader == m.id {
		c.elect()
	}
	c.mu.Unlock()
	if m != nil {
		go m.server.Stop()
	}
}

// elect makes the first member that answers the leader; without a majority there is none.
func (c *Cluster) elect() {
	c.leader = 0
	if !c.quorum() {
		return
	}
	first := ""
	for name, m := range c.members {
		if !c.lost[name] && (first == "" || name < first) {
			first, c.leader = name, m.id
		}
	}
}

func (c *Cluster) quorum() bool {
	up := 0
	for name := range c.members {
		if !c.lost[name] {
			up++
		}
	}
	return 2*up > len(c.members)
}

// Lose says which members do not answer; all others do.
func (c *Cluster) Lose(names []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lost = map[string]bool{}
	for _, name := range names {
		c.lost[name] = true
	}
	for name, m := range c.members {
		if m.id == c.leader && !c.lost[name] && c.quorum() {
			return // a leader that is up stays
		}
	}
	c.elect()
}

// Leader is the name of the leader, or empty.
func (c *Cluster) Leader() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	for name, m := range c.members {
		if m.id == c.leader {
			return name
		}
	}
	return ""
}

// Broken says why nothing can be stored, or is empty. A cluster without members has its etcd elsewhere.
func (c *Cluster) Broken() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.members) > 0 && !c.quorum() {
		return "etcd has lost its majority"
	}
	return ""
}

// answers lets the calls of a member through unless it is lost.
func (c *Cluster) answers(name string) grpc.UnaryServerInterceptor {
	return func(ctx context.Context, req any, _ *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
		if c.isLost(name) {
			return nil, status.Error(codes.Unavailable, "the member does not answer")
		}
		return handler(ctx, req)
	}
}

func (c *Cluster) isLost(name string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.lost[name]
}

// Connect opens a connection to a member, as a client sees it.
func (c *Cluster) Connect(name string) (net.Conn, error) {
	c.mu.Lock()
	m := c.members[name]
	c.mu.Unlock()
	if m == nil {
		return nil, errors.New("no such member")
	}
	if c.isLost(name) {
		return nil, errors.New("the member does not answer")
	}
	return m.conns.dial()
}

func (c *Cluster) header(m *member) *pb.ResponseHeader {
	h := &pb.ResponseHeader{ClusterId: c.id, Revision: 1, RaftTerm: 2}
	if m != nil {
		h.MemberId = m.id
	}
	return h
}

func (c *Cluster) list() []*pb.Member {
	var out []*pb.Member
	for _, m := range c.members {
		out = append(out, &pb.Member{ID: m.id, Name: m.name, PeerURLs: []string{"https://" + m.name + ":2380"}, ClientURLs: []string{"https://" + m.name + ":2379"}})
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Name < out[j].Name })
	return out
}

type clusterService struct {
	pb.UnimplementedClusterServer
	cluster *Cluster
}

// MemberList answers with all members.
func (s *clusterService) MemberList(context.Context, *pb.MemberListRequest) (*pb.MemberListResponse, error) {
	s.cluster.mu.Lock()
	defer s.cluster.mu.Unlock()
	return &pb.MemberListResponse{Header: s.cluster.header(nil), Members: s.cluster.list()}, nil
}

// MemberRemove takes a member out of the list; its process stays until its machine goes.
func (s *clusterService) MemberRemove(_ context.Context, req *pb.MemberRemoveRequest) (*pb.MemberRemoveResponse, error) {
	c := s.cluster
	c.mu.Lock()
	defer c.mu.Unlock()
	for name, m := range c.members {
		if m.id == req.ID {
			delete(c.members, name)
			if c.leader == m.id {
				c.elect()
			}
			return &pb.MemberRemoveResponse{Header: c.header(nil), Members: c.list()}, nil
		}
	}
	return nil, rpctypes.ErrGRPCMemberNotFound
}

type maintenanceService struct {
	pb.UnimplementedMaintenanceServer
	cluster *Cluster
	member  *member
}

// Status tells version and leader.
func (s *maintenanceService) Status(context.Context, *pb.StatusRequest) (*pb.StatusResponse, error) {
	s.cluster.mu.Lock()
	defer s.cluster.mu.Unlock()
	return &pb.StatusResponse{Header: s.cluster.header(s.member), Version: version, DbSize: 1 << 20, Leader: s.cluster.leader, RaftIndex: 10, RaftTerm: 2, RaftAppliedIndex: 10}, nil
}

// Alarm knows no alarms.
func (s *maintenanceService) Alarm(context.Context, *pb.AlarmRequest) (*pb.AlarmResponse, error) {
	s.cluster.mu.Lock()
	defer s.cluster.mu.Unlock()
	return &pb.AlarmResponse{Header: s.cluster.header(s.member)}, nil
}

// MoveLeader makes another member the leader; only the leader may be asked.
func (s *maintenanceService) MoveLeader(_ context.Context, req *pb.MoveLeaderRequest) (*pb.MoveLeaderResponse, error) {
	c := s.cluster
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.leader != s.member.id {
		return nil, rpctypes.ErrGRPCNotLeader
	}
	for _, m := range c.members {
		if m.id == req.TargetID {
			c.leader = m.id
			return &pb.MoveLeaderResponse{Header: c.header(s.member)}, nil
		}
	}
	return nil, rpctypes.ErrGRPCBadLeaderTransferee
}

type kvService struct {
	pb.UnimplementedKVServer
	cluster *Cluster
	member  *member
}

// Range finds no key, which is an answer and thus a sign of health.
func (s *kvService) Range(context.Context, *pb.RangeRequest) (*pb.RangeResponse, error) {
	s.cluster.mu.Lock()
	defer s.cluster.mu.Unlock()
	if s.cluster.leader == 0 {
		return nil, rpctypes.ErrGRPCNoLeader
	}
	return &pb.RangeResponse{Header: s.cluster.header(s.member)}, nil
}
