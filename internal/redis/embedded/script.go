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

const noScript = "NOSCRIPT No matching script. Please use EVAL."

// scripts runs the EVAL and EVALSHA of one server in its place, since miniredis builds
// a Lua state for every call, which costs forty times as much as the script.
//
// Whatever scripts does not want, such as a script inside MULTI, is left
// to miniredis, which is slower and words errors its own way. Only then miniredis is told
// what scripts knows, since it would parse every script anew on every server.
type scripts struct {
	redis  *miniredis.Miniredis
	srv    *server.Server
	shared *Shared

	mu     sync.Mutex
	known  map[string]*lua.FunctionProto // by SHA1; nil: nothing is known any more
	untold []string                      // the sources of those that miniredis does not know
	more   bool                          // miniredis may know more: what a MULTI has queued, and what does not compile
	teller *server.Peer                  // loads them into miniredis

	functions functionStore
	memory    *memoryLimit // of the server

	random drand48 // guarded by redis
}

func newScripts(m *miniredis.Miniredis, shared *Shared) *scripts {
	return &scripts{redis: m, srv: m.Server(), shared: shared, known: map[string]*lua.FunctionProto{},
		teller: discard(), random: newDrand48(firstSeed), memory: new(memoryLimit)}
}

// serve runs before every command and says whether it has answered it.
func (s *scripts) serve(p *server.Peer, cmd string, args []string) bool {
	switch cmd {
	case "EVAL", "EVALSHA", "SCRIPT":
	case "SET", "DELEX", "DELIFEQ":
		return s.conditional(p, cmd, args)
	case "FCALL", "FCALL_RO", "FUNCTION":
		s.function(p, cmd, args)
		return true
	case "EXEC": // miniredis runs what was queued
		s.mu.Lock()
		more := s.more
		s.mu.Unlock()
		if more { // it may have become known since
			s.tell()
		}
		return false
	default:
		return false
	}
	if p == s.teller {
		return false
	}
	conn := stateOf(p)
	if s.answer(p, conn, cmd, args) {
		return true
	}
	if !conn.nested { // else miniredis' lock is held
		s.tell()
	}
	if conn.multi {
		s.mu.Lock()
		s.more = true
		s.mu.Unlock()
	}
	return false
}

// tell loads into miniredis what it does not know yet.
func (s *scripts) tell() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, source := range s.untold {
		s.srv.Dispatch(s.teller, []string{"SCRIPT", "LOAD", source})
	}
	s.untold = nil
}

// answer reports whether it has answered a command that has to do with scripts.
func (s *scripts) answer(p *server.Peer, conn connState, cmd string, args []string) bool {
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
	sha := s.shared.sha(args[0])
	s.load(sha, args[0])
	return s.run(p, conn.db, sha, keys, argv)
}

// script loads a script and flushes all of them; the rest is left to miniredis.
func (s *scripts) script(p *server.Peer, args []string, plain bool) bool {
	switch {
	case len(args) == 0:
	case strings.EqualFold(args[0], "FLUSH"):
		s.forget(plain)
	case strings.EqualFold(args[0], "LOAD") && len(args) == 2 && plain:
		sha := s.shared.sha(args[1])
		if s.load(sha, args[1]) {
			p.WriteBulk(sha)
			return true
		}
	}
	return false
}

// load reports whether the script is known now. One that does not compile is not.
func (s *scripts) load(sha, source string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known == nil || s.known[sha] != nil {
		return s.known != nil
	}
	proto, err := s.shared.script(sha, source)
	if err != nil {
		s.more = true
		return false
	}
	s.known[sha] = proto
	s.untold = append(s.untold, source)
	return true
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
		s.untold = nil
	}
}

// run runs a known script, and refuses one that miniredis cannot know either. Holding miniredis' lock makes it atomic.
func (s *scripts) run(p *server.Peer, db int, sha string, keys, argv []string) bool {
	s.mu.Lock()
	proto, all := s.known[sha], s.known != nil && !s.more
	s.mu.Unlock()
	switch {
	case proto == nil && all:
		p.WriteError(noScript)
		return true
	case proto == nil:
		return false
	}
	in := s.shared.lua.get(s.srv, false)
	if in == nil {
		return false
	}
	s.redis.Lock()
	in.attach(s.srv, db, &s.random)
	reply := in.run(sha, proto, keys, argv, p.Resp3)
	s.redis.Unlock()
	s.shared.lua.put(in)
	p.WriteRaw(reply) // not under the lock: a long reply is sent at once, and looks at the data
	return true
}

func sha1Hex(s string) string {
	sum := sha1.Sum([]byte(s))
	return hex.EncodeToString(sum[:])
}
