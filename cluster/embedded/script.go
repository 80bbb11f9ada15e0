package embedded

import (
	"crypto/sha1"
	"encoding/hex"
	"strconv"
	"strings"
	"sync"

	"github.com/alicebob/miniredis/v2"
	"github.com/alicebob/miniredis/v2/server"
	lua "github.com/yuin/gopher-lua"
)

// scripts runs the EVAL and EVALSHA of one server in its place, since miniredis builds
// a Lua state for every call, which costs forty times as much as the script.
//
// What scripts knows miniredis knows too. Whatever scripts does not know or does not
// want, such as a script inside MULTI, is left to miniredis, which is slower and
// words errors its own way.
type scripts struct {
	redis *miniredis.Miniredis
	srv   *server.Server
	pool  *interpreters

	mu    sync.Mutex
	known map[string]*lua.FunctionProto // by SHA1; nil: nothing is known any more

	random drand48 // guarded by redis
}

func newScripts(m *miniredis.Miniredis, pool *interpreters) *scripts {
	return &scripts{redis: m, srv: m.Server(), pool: pool, known: map[string]*lua.FunctionProto{}, random: newDrand48(firstSeed)}
}

// serve runs before every command and says whether it has answered it.
func (s *scripts) serve(p *server.Peer, cmd string, args []string) bool {
	switch cmd {
	case "EVAL", "EVALSHA", "SCRIPT":
	default:
		return false
	}
	conn := stateOf(p)
	plain := !conn.nested && !conn.multi && !conn.subscribed
	switch {
	case cmd == "SCRIPT":
		return s.script(p, args, plain)
	case len(args) < 2 || !plain:
		return false
	}
	n, err := strconv.Atoi(args[1])
	if err != nil || n < 0 || n > len(args)-2 {
		return false
	}
	keys, argv := args[2:2+n], args[2+n:]
	if cmd == "EVALSHA" {
		return s.run(p, conn.db, strings.ToLower(args[0]), keys, argv)
	}
	sha := sha1Hex(args[0])
	if !s.knows(sha) {
		s.srv.Dispatch(discard(), []string{"SCRIPT", "LOAD", args[0]})
	}
	return s.run(p, conn.db, sha, keys, argv)
}

// script keeps what is known in step with miniredis.
func (s *scripts) script(p *server.Peer, args []string, plain bool) bool {
	switch {
	case len(args) == 0:
	case strings.EqualFold(args[0], "FLUSH"):
		s.forget(plain)
	case strings.EqualFold(args[0], "LOAD") && len(args) == 2 && plain:
		sha := sha1Hex(args[1])
		if s.knows(sha) {
			p.WriteBulk(sha)
			return true
		}
		if proto, err := s.pool.compile(sha, args[1]); err == nil {
			s.learn(sha, proto)
		}
	}
	return false
}

func (s *scripts) knows(sha string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.known[sha] != nil
}

func (s *scripts) learn(sha string, proto *lua.FunctionProto) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known != nil {
		s.known[sha] = proto
	}
}

// forget is for a FLUSH that happens now or, inside of MULTI, at a time that cannot be
// seen: then nothing may be known any more.
func (s *scripts) forget(now bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case !now:
		s.known = nil
	case s.known != nil:
		clear(s.known)
	}
}

// run runs a known script. Holding miniredis' lock makes it atomic.
func (s *scripts) run(p *server.Peer, db int, sha string, keys, argv []string) bool {
	s.mu.Lock()
	proto := s.known[sha]
	s.mu.Unlock()
	if proto == nil {
		return false
	}
	in := s.pool.get(s.srv)
	if in == nil {
		return false
	}
	s.redis.Lock()
	in.attach(s.srv, db, &s.random)
	reply := in.run(sha, proto, keys, argv, p.Resp3)
	s.redis.Unlock()
	s.pool.put(in)
	p.WriteRaw(reply) // not under the lock: a long reply is sent at once, and looks at the data
	return true
}

func sha1Hex(s string) string {
	sum := sha1.Sum([]byte(s))
	return hex.EncodeToString(sum[:])
}
