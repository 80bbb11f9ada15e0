package node

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/lockbench/lockbench/internal/redis/cluster"
	"github.com/lockbench/lockbench/internal/wire"
)

// How the Sentinels decide. They ping a server once a second, and one that they have just
// turned to they ping for the first time a second later, counting from when they turned: with
// a second or less they take a new master for dead and fail over to the old one.
const (
	quorum          = 2
	downAfter       = 2 * time.Second
	failoverTimeout = 3 * time.Second // twice that between two attempts
	// sentinelPoll is the time between two looks at Sentinels that are not ready yet.
	sentinelPoll = 20 * time.Millisecond
)

// Sentinels are the Redis Sentinels of a cluster. They watch over the first shard: the
// Primary follows what they decide. Methods are safe for concurrent use once Start has
// returned.
//
// Everybody, the Sentinels and their clients too, knows every node by the address of its
// door.
type Sentinels struct {
	names  []string
	shard  []string // the nodes of the first shard
	doors  *Doors
	repl   *Replication
	locate Locate
	links  *Links
	logf   func(format string, args ...any)
	at     map[string]string // addresses announced, by name

	mu       sync.Mutex
	changed  chan struct{} // closed at the next event
	down     time.Time     // when the master was last agreed to be down
	switched time.Time     // when another was last named
}

// NewSentinels returns the Sentinels of these names, which do not run yet.
func NewSentinels(ctx context.Context, names []string, nodes []cluster.Node, doors *Doors, repl *Replication, links *Links, locate Locate, logf func(format string, args ...any)) (*Sentinels, error) {
	s := &Sentinels{
		names: names, doors: doors, repl: repl, links: links, locate: locate, logf: logf,
		at: make(map[string]string), changed: make(chan struct{}),
	}
	for _, n := range nodes {
		if shard, ok := cluster.ShardOf(nodes, n.Name); ok && shard == 0 {
			s.shard = append(s.shard, n.Name)
		}
	}
	for _, name := range append(append([]string{}, names...), s.shard...) {
		host, port, err := doors.Announced(ctx, name)
		if err != nil {
			return nil, err
		}
		s.at[name] = net.JoinHostPort(host, port)
	}
	return s, nil
}

// Addresses are what the Sentinels announce.
func (s *Sentinels) Addresses() []string {
	var addrs []string
	for _, name := range s.names {
		addrs = append(addrs, s.at[name])
	}
	return addrs
}

// Announced is the node that announces addr.
func (s *Sentinels) Announced(addr string) (string, bool) {
	for name, at := range s.at {
		if at == addr {
			return name, true
		}
	}
	return "", false
}

// Start returns once all Sentinels see each other and every replica, and lets the Primary
// follow them from then on. The Sentinels' servers must run.
func (s *Sentinels) Start(ctx context.Context) error {
	for _, name := range s.names {
		if err := s.await(ctx, name); err != nil {
			return err
		}
	}
	for _, name := range s.names {
		s.links.Go(func(ctx context.Context) { s.listen(ctx, name) })
	}
	return nil
}

// await returns once a Sentinel could fail over.
func (s *Sentinels) await(ctx context.Context, name string) error {
	pause := time.NewTicker(sentinelPoll)
	defer pause.Stop()
	for {
		err := s.admin(ctx, name, func(conn *wire.Conn) error { return s.ready(ctx, conn) })
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s is not ready: %w (%w)", name, context.Cause(ctx), err)
		case <-pause.C:
		}
	}
}

// ready returns why a Sentinel could not fail over now, or nil.
func (s *Sentinels) ready(ctx context.Context, conn *wire.Conn) error {
	if _, err := Do(ctx, conn, "SENTINEL", "CKQUORUM", cluster.SentinelMaster); err != nil {
		return err
	}
	others, err := s.table(ctx, conn, "SENTINELS")
	if err != nil {
		return err
	}
	if len(others) != len(s.names)-1 {
		return fmt.Errorf("it knows %d other Sentinels, want %d", len(others), len(s.names)-1)
	}
	replicas, err := s.table(ctx, conn, "REPLICAS")
	if err != nil {
		return err
	}
	if len(replicas) != len(s.shard)-1 {
		return fmt.Errorf("it knows %d replicas, want %d", len(replicas), len(s.shard)-1)
	}
	for _, r := range append(others, replicas...) {
		if f := r["flags"]; strings.Contains(f, "down") || strings.Contains(f, "disconnected") {
			return fmt.Errorf("it sees %s as %s", r["name"], f)
		}
	}
	for _, r := range replicas {
		if r["master-link-status"] != "ok" {
			return fmt.Errorf("it sees the link from the master to %s as %s", r["name"], r["master-link-status"])
		}
	}
	return nil
}

// table asks for what a Sentinel knows about the master's replicas or other Sentinels.
func (s *Sentinels) table(ctx context.Context, conn *wire.Conn, what string) ([]map[string]string, error) {
	reply, err := Do(ctx, conn, "SENTINEL", what, cluster.SentinelMaster)
	if err != nil {
		return nil, err
	}
	var rows []map[string]string
	for _, e := range reply.Elems {
		row := make(map[string]string)
		for i := 0; i+1 < len(e.Elems); i += 2 {
			row[e.Elems[i].Text()] = e.Elems[i+1].Text()
		}
		rows = append(rows, row)
	}
	return rows, nil
}

func (s *Sentinels) admin(ctx context.Context, name string, f func(*wire.Conn) error) error {
	addr, _, err := s.locate(name)
	if err != nil {
		return err
	}
	return Admin(ctx, addr, f)
}

// listen follows what a Sentinel says until ctx ends.
func (s *Sentinels) listen(ctx context.Context, name string) {
	for {
		err := s.hear(ctx, name)
		if ctx.Err() != nil {
			return
		}
		s.logf("listen to %s: %v", name, err)
		select {
		case <-ctx.Done():
			return
		case <-time.After(sentinelPoll):
		}
	}
}

// hear follows one connection to a Sentinel.
func (s *Sentinels) hear(ctx context.Context, name string) error {
	addr, _, err := s.locate(name)
	if err != nil {
		return err
	}
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", addr)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() }) // wakes the reader
	defer stop()
	if _, err := conn.Write(wire.AppendCommand(nil, "SUBSCRIBE", "+odown", "+switch-master")); err != nil {
		return err
	}
	replies := bufio.NewReader(conn)
	for {
		reply, err := wire.ReadReply(replies)
		if err != nil {
			return err
		}
		if len(reply.Elems) == 3 && reply.Elems[0].Text() == "message" {
			s.event(reply.Elems[1].Text(), strings.Fields(reply.Elems[2].Text()))
		}
	}
}

// event takes in what a Sentinel said.
//
//	+odown          master <name> <ip> <port> #quorum n/m
//	+switch-master  <name> <old ip> <old port> <new ip> <new port>
func (s *Sentinels) event(channel string, words []string) {
	now := time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case channel == "+odown" && len(words) > 1 && words[0] == "master":
		s.down = now
	case channel == "+switch-master" && len(words) == 5:
		node, ok := s.Announced(net.JoinHostPort(words[3], words[4]))
		if !ok {
			s.logf("the Sentinels named a master that nobody knows: %v", words)
			return
		}
		if s.repl.Primary(0) == node {
			return // another Sentinel said so before
		}
		s.switched = now
		s.repl.elected(node, s.shard)
	default:
		return
	}
	close(s.changed)
	s.changed = make(chan struct{})
}

// elected notes that Sentinels made node the master of all others in its shard.
func (r *Replication) elected(node string, shard []string) {
	if f := r.latest(node); f != nil {
		r.promoted(f)
	}
	r.lead(node)
	for _, other := range shard {
		if other != node {
			r.follows(other, node)
		}
	}
}

// lastLook is when node was about to be killed or stopped; now, if that never happened.
func (r *Replication) lastLook(node string) time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	if at, ok := r.last[node]; ok {
		delete(r.last, node) // it is of no use for what happens to the node next
		return at
	}
	return time.Now()
}

// settle returns once node says that it is a master, and notes how much of the old one's
// stream it had when it became one: it remembers.
func (r *Replication) settle(ctx context.Context, conn *wire.Conn, node string) error {
	if err := awaitRole(ctx, conn, "master"); err != nil {
		return err
	}
	next, err := Info(ctx, conn, "replication", "second_repl_offset") // the first byte that is its own
	f := r.latest(node)
	if err != nil || f == nil || next <= 0 {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.have = next - 1
	f.sent = max(f.sent, f.have)
	return nil
}

// Elected returns once the Sentinels have put another node than old in charge, and it
// says itself that it is a master.
func (s *Sentinels) Elected(ctx context.Context, old string) (cluster.Election, error) {
	ctx, cancel := s.links.Bound(ctx)
	defer cancel()
	began := s.repl.lastLook(old)
	for {
		s.mu.Lock()
		node, changed := s.repl.Primary(0), s.changed
		e := cluster.Election{Node: node, Down: max(0, s.down.Sub(began)), Switched: max(0, s.switched.Sub(began))}
		s.mu.Unlock()
		if node != old {
			return e, s.repl.admin(ctx, node, func(conn *wire.Conn) error { return s.repl.settle(ctx, conn, node) })
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return cluster.Election{}, fmt.Errorf("the Sentinels still say that %s is the master: %w", old, context.Cause(ctx))
		}
	}
}
