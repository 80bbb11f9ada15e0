package embedded

import (
	"context"
	"errors"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/alicebob/miniredis/v2/server"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/redis/cluster"
	"github.com/lockbench/lockbench/internal/sim"
)

// node is one in-process server.
type node struct {
	cluster.Node
	source *sim.Source
	shared *Shared
	// clusterMode says that it is a node of a Redis Cluster, with all hash slots.
	clusterMode bool

	mu      sync.Mutex
	redis   *miniredis.Miniredis // nil while the node is down
	clock   wallClock            // the node's own
	running chan struct{}        // closed while the node is not paused
	scripts *scripts
	aof     aof
	memory  memoryLimit

	feeds  []*feed                // see downstream
	master *feed                  // see upstream
	long   longWay                // see LagReplication
	wrote  map[*server.Peer]int64 // by connection: which change its last one was, see wait
	// unsynced are the connections that may have changed something since StopSyncing, see waitAOF.
	unsynced map[*server.Peer]bool
}

func newNode(n cluster.Node, source *sim.Source, shared *Shared) *node {
	running := make(chan struct{})
	close(running)
	return &node{Node: n, source: source, shared: shared, running: running}
}

// start starts the node with data, or empty.
func (n *node) start(data dataset) error {
	m := miniredis.NewMiniRedis()
	// The first Dial makes the server that ServeConn needs.
	conn, err := m.Dial()
	if err != nil {
		return err
	}
	if err := conn.Close(); err != nil {
		return err
	}
	s := newScripts(m, n.shared)
	s.memory = &n.memory
	s.functions.set(data.libraries)
	m.Server().SetPreHook(func(p *server.Peer, cmd string, args ...string) bool {
		return n.hook(s, p, cmd, args)
	})
	n.mu.Lock()
	defer n.mu.Unlock()
	n.clock = wallClock{} // a server starts with the right one
	now := n.clock.show(n.source.Now())
	m.SetTime(now)
	m.ClockTTL(true)
	restore(m, data.keys, now)
	n.memory.full.Store(false)
	n.redis, n.scripts, n.unsynced = m, s, make(map[*server.Peer]bool)
	return nil
}

// code is the scripts and functions that the node knows.
func (n *node) code() *scripts {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.scripts
}

// know lets a node that was just started know scripts.
func (n *node) know(all []string) {
	for _, source := range all {
		n.code().load(n.shared.sha(source), source)
	}
}

func (n *node) now() time.Time {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.clock.show(n.source.Now())
}

func (n *node) server() *miniredis.Miniredis {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.redis
}

func (n *node) isAlive() bool { return n.server() != nil }

func (n *node) accept(c net.Conn, source *sim.Source) error {
	n.mu.Lock() // also against kill, in whose midst the server would be neither there nor gone
	defer n.mu.Unlock()
	if n.redis == nil {
		return refused(n.Name)
	}
	n.redis.Server().ServeConn(&served{Conn: c, node: n, source: source})
	return nil
}

func (n *node) kill() {
	n.flush()
	n.mu.Lock()
	m := n.redis
	n.redis = nil
	n.mu.Unlock()
	n.resume() // what waits for a paused node must see that it died
	if m != nil {
		m.Close()
	}
}

func (n *node) pause() {
	n.mu.Lock()
	defer n.mu.Unlock()
	select {
	case <-n.running:
		n.running = make(chan struct{})
	default: // already paused
	}
}

func (n *node) resume() {
	n.mu.Lock()
	defer n.mu.Unlock()
	select {
	case <-n.running:
	default:
		close(n.running)
	}
}

func (n *node) isPaused() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	select {
	case <-n.running:
		return false
	default:
		return true
	}
}

// tick brings the server's clock, and with it every expiry, up to now.
func (n *node) tick() {
	if m := n.server(); m != nil {
		m.SetTime(n.now())
	}
	if f := n.upstream(); f != nil {
		f.arrive()
	}
}

var (
	errDown   = errors.New("node is down")
	errPaused = errors.New("node is paused")
)

func (n *node) inspect(keys []string) ([]cluster.KeyState, error) {
	n.tick()
	m := n.server()
	if m == nil {
		return nil, errDown
	}
	states := make([]cluster.KeyState, len(keys))
	for i, k := range keys {
		states[i] = cluster.KeyState{Key: k, Exists: m.Exists(k), Type: m.Type(k)}
		if !states[i].Exists {
			continue
		}
		if states[i].TTL = timeToLive(m, k); states[i].TTL == 0 {
			states[i].TTL = histories.NoTTL
		}
		switch states[i].Type {
		case "string":
			states[i].Value, _ = m.Get(k)
		case "hash", "zset":
			states[i].Fields = fields(m, k)
		}
	}
	return states, nil
}

// fields are what a hash or a sorted set holds, by name. A score is written as Redis writes it.
func fields(m *miniredis.Miniredis, key string) []cluster.Field {
	var fields []cluster.Field
	if m.Type(key) == "hash" {
		names, _ := m.HKeys(key) // it is a hash
		for _, name := range names {
			fields = append(fields, cluster.Field{Name: name, Value: m.HGet(key, name)})
		}
	} else {
		names, _ := m.ZMembers(key) // it is a sorted set; SortedSet returns miniredis' own map, and commands may be under way
		for _, name := range names {
			score, _ := m.ZScore(key, name)
			fields = append(fields, cluster.Field{Name: name, Value: strconv.FormatFloat(score, 'f', -1, 64)})
		}
	}
	slices.SortFunc(fields, func(a, b cluster.Field) int { return strings.Compare(a.Name, b.Name) })
	return fields
}

// hook runs before every command, also before those that a script calls, and then
// with the server's lock held: it must not touch the server's data. It says whether it
// has answered the command.
func (n *node) hook(s *scripts, p *server.Peer, cmd string, args []string) bool {
	if f := n.upstream(); f != nil && f.following() && isWrite(cmd) {
		p.WriteError("READONLY You can't write against a read only replica.")
		return true
	}
	if n.clusterMode && refusesSlots(s.srv, p, cmd, args) {
		return true
	}
	if n.memory.refuses(s.srv, p, cmd, args) {
		return true
	}
	if keepsWatch(s.srv, p, cmd, args) {
		return true
	}
	if cmd == "WAIT" && len(args) == 2 {
		if stateOf(p).nested { // a script of miniredis' own, see scripts
			p.WriteError(notFromScripts)
			return true
		}
		replicas, err1 := strconv.Atoi(args[0])
		ms, err2 := strconv.Atoi(args[1])
		if err1 != nil || err2 != nil || ms < 0 {
			return false // miniredis words the error
		}
		p.WriteInt(n.wait(p, replicas, time.Duration(ms)*time.Millisecond))
		return true
	}
	if cmd == "WAITAOF" {
		n.waitAOF(p, args)
		return true
	}
	n.note(s.srv, p, cmd)
	n.noteUnsynced(s.srv, p, cmd)
	return s.serve(p, cmd, args)
}

// isWrite reports whether a replica must refuse cmd. Scripts count as writes, as the
// scripts of locks do write.
func isWrite(cmd string) bool {
	switch cmd {
	case "SET", "SETNX", "SETEX", "PSETEX", "GETSET", "GETDEL", "GETEX", "APPEND",
		"INCR", "INCRBY", "DECR", "DECRBY", "DEL", "UNLINK",
		"EXPIRE", "PEXPIRE", "EXPIREAT", "PEXPIREAT", "PERSIST",
		"HSET", "HSETNX", "HDEL", "HINCRBY", "HSETEX", "HEXPIRE", "HPERSIST", "LPUSH", "RPUSH", "LPOP", "RPOP",
		"SADD", "SREM", "ZADD", "ZREM", "FLUSHALL", "FLUSHDB", "EVAL", "EVALSHA", "FCALL", "FUNCTION", "DELEX", "DELIFEQ":
		return true
	}
	return false
}

// served is the server's side of a connection. The server's clock moves where bytes
// are read, and a change sets out for the replicas where its reply is written.
type served struct {
	net.Conn
	node   *node
	source *sim.Source
}

func (s *served) Read(p []byte) (int, error) {
	n, err := s.Conn.Read(p)
	s.node.mu.Lock()
	running := s.node.running
	s.node.mu.Unlock()
	select {
	case <-running:
	default: // the node is paused
		<-running
		// All that waited wake at one instant. Each goes on at one of its own, or the order
		// of their commands would be left to chance.
		_ = s.source.Sleep(context.Background(), 1)
	}
	if n > 0 {
		s.node.tick()
	}
	return n, err
}

func (s *served) Write(p []byte) (int, error) {
	n, err := s.Conn.Write(p)
	s.node.answered()
	return n, err
}
