package locks_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2/server"
	"github.com/redis/go-redis/v9"

	"github.com/lockbench/lockbench/locks"
)

// skewed is a clock that is ahead of the others.
type skewed struct {
	clock
	ahead time.Duration
}

func (c skewed) Now() time.Time { return c.clock.Now().Add(c.ahead) }

// script watches the commands that a server gets, and steps in.
type script struct {
	mu       sync.Mutex
	commands []string
	peers    []*server.Peer
	before   map[string]func(*server.Peer) bool
}

// follow records what node gets from now on. HELLO and PING are left out.
func follow(node *faulty) *script {
	s := &script{before: map[string]func(*server.Peer) bool{}}
	node.Server().SetPreHook(func(peer *server.Peer, command string, args ...string) bool {
		if command == "HELLO" || command == "PING" {
			return false
		}
		s.mu.Lock()
		if strings.HasPrefix(command, "EVAL") {
			args = args[1:] // the script or its digest
		}
		s.commands = append(s.commands, strings.Join(append([]string{command}, args...), " "))
		s.peers = append(s.peers, peer)
		do := s.before[command]
		delete(s.before, command)
		s.mu.Unlock()
		return do != nil && do(peer)
	})
	return s
}

// once runs do before the server executes the next such command.
func (s *script) once(command string, do func()) {
	s.answer(command, func(*server.Peer) bool { do(); return false })
}

// answer lets do answer the next such command, if it returns true.
func (s *script) answer(command string, do func(*server.Peer) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.before[command] = do
}

// take returns the commands since the last take.
func (s *script) take() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	taken := s.commands
	s.commands, s.peers = nil, nil
	return taken
}

// names returns the names of the commands since the last take.
func (s *script) names() string {
	var names []string
	for _, c := range s.take() {
		name, _, _ := strings.Cut(c, " ")
		names = append(names, name)
	}
	return strings.Join(names, " ")
}

// connections counts the connections that the commands since the last take came on.
func (s *script) connections() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	seen := map[*server.Peer]bool{}
	for _, p := range s.peers {
		seen[p] = true
	}
	return len(seen)
}

// another is the surroundings of one more client of the same server.
func another(t *testing.T, node *faulty, name string) locks.Env {
	env := seeded(name)
	env.Nodes = append(env.Nodes, node.client(t))
	return env
}

// takeIdle lets somebody else take, for good, whatever connection is idle after each
// command of client: two commands in a row get the same one only if it is pinned.
func takeIdle(t *testing.T, client *redis.Client) {
	client.AddHook(&idleTaker{t: t, client: client})
}

type idleTaker struct {
	t      *testing.T
	client *redis.Client
	taking bool
}

func (h *idleTaker) DialHook(next redis.DialHook) redis.DialHook { return next }

func (h *idleTaker) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		err := next(ctx, cmd)
		h.take()
		return err
	}
}

func (h *idleTaker) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		err := next(ctx, cmds)
		h.take()
		return err
	}
}

func (h *idleTaker) take() {
	if h.taking {
		return
	}
	h.taking = true
	defer func() { h.taking = false }()
	conn := h.client.Conn()
	h.t.Cleanup(func() { _ = conn.Close() })
	if err := conn.Ping(h.t.Context()).Err(); err != nil {
		h.t.Error(err)
	}
}
