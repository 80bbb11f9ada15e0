package embedded

import (
	"strconv"
	"strings"

	"github.com/alicebob/miniredis/v2/server"
)

// notSimulated is the answer to what of functions is not simulated.
const notSimulated = "ERR lockbench's servers in virtual time do not simulate this; use real servers: "

// function answers FCALL, FCALL_RO and FUNCTION with LOAD, DELETE and FLUSH. What miniredis'
// own scripts call is refused as Redis does, and so are transactions, which Redis queues.
func (s *scripts) function(p *server.Peer, cmd string, args []string) {
	switch conn := stateOf(p); {
	case conn.nested:
		p.WriteError(notFromScripts)
	case conn.multi:
		spoil(s.srv, p)
		p.WriteError(notSimulated + cmd + " in a transaction")
	case cmd == "FUNCTION":
		s.manage(p, args)
	default:
		s.fcall(p, conn.db, cmd, args)
	}
}

// fcall calls a function.
func (s *scripts) fcall(p *server.Peer, db int, cmd string, args []string) {
	if len(args) < 2 {
		p.WriteError("ERR wrong number of arguments for '" + strings.ToLower(cmd) + "' command")
		return
	}
	code, ok := s.functions.find(args[0])
	n, err := strconv.Atoi(args[1])
	switch {
	case !ok:
		p.WriteError("ERR Function not found")
		return
	case err != nil:
		p.WriteError("ERR Bad number of keys provided")
		return
	case n > len(args)-2:
		p.WriteError("ERR Number of keys can't be greater than number of args")
		return
	case n < 0:
		p.WriteError("ERR Number of keys can't be negative")
		return
	}
	wanted := called{name: args[0], keys: args[2 : 2+n], argv: args[2+n:], readOnly: cmd == "FCALL_RO", memory: s.memory}
	reply := s.inLibrary(db, func(in *interpreter) string { return in.function(s.shared, code, wanted, p.Resp3) })
	p.WriteRaw(reply) // not under the lock, see run
}

// inLibrary runs f with an interpreter of libraries. Holding miniredis' lock makes it atomic.
func (s *scripts) inLibrary(db int, f func(*interpreter) string) string {
	in := s.shared.lua.get(s.srv, true)
	if in == nil {
		return "-" + notSimulated + "functions, with this version of miniredis\r\n"
	}
	s.redis.Lock()
	in.attach(s.srv, db, &s.random)
	reply := f(in)
	s.redis.Unlock()
	s.shared.lua.put(in)
	return reply
}

// manage answers FUNCTION.
func (s *scripts) manage(p *server.Peer, args []string) {
	if len(args) == 0 {
		p.WriteError("ERR wrong number of arguments for 'function' command")
		return
	}
	rest := args[1:]
	switch sub := strings.ToUpper(args[0]); sub {
	case "LOAD":
		s.loadLibrary(p, rest)
	case "DELETE":
		switch {
		case len(rest) != 1:
			p.WriteError("ERR wrong number of arguments for 'function|delete' command")
		case s.functions.remove(rest[0]):
			p.WriteOK()
		default:
			p.WriteError("ERR Library not found")
		}
	case "FLUSH":
		switch {
		case len(rest) > 1:
			p.WriteError("ERR unknown subcommand or wrong number of arguments for '" + args[0] + "'. Try FUNCTION HELP.")
		case len(rest) == 1 && !strings.EqualFold(rest[0], "SYNC") && !strings.EqualFold(rest[0], "ASYNC"):
			p.WriteError("ERR FUNCTION FLUSH only supports SYNC|ASYNC option")
		default:
			s.functions.set(nil)
			p.WriteOK()
		}
	case "DUMP", "HELP", "KILL", "LIST", "RESTORE", "STATS":
		p.WriteError(notSimulated + "FUNCTION " + sub)
	default:
		p.WriteError("ERR unknown subcommand '" + args[0] + "'. Try FUNCTION HELP.")
	}
}

// loadLibrary answers FUNCTION LOAD.
func (s *scripts) loadLibrary(p *server.Peer, args []string) {
	if len(args) == 0 {
		p.WriteError("ERR wrong number of arguments for 'function|load' command")
		return
	}
	if s.memory.full.Load() {
		p.WriteError(outOfMemory)
		return
	}
	replace := false
	for _, option := range args[:len(args)-1] {
		if !strings.EqualFold(option, "REPLACE") {
			p.WriteError("ERR Unknown option given: " + option)
			return
		}
		replace = true
	}
	code := args[len(args)-1]
	name, refusal := header(code)
	if refusal == "" && !replace {
		if _, there := s.functions.all()[name]; there {
			refusal = "ERR Library '" + name + "' already exists"
		}
	}
	lib := functionLibrary{code: code}
	if refusal == "" {
		refusal = s.inLibrary(0, func(in *interpreter) (why string) {
			lib.names, why = in.register(s.shared, code)
			return why
		})
	}
	if refusal == "" {
		refusal = s.functions.add(name, lib, replace)
	}
	if refusal != "" {
		p.WriteError(refusal)
		return
	}
	p.WriteBulk(name)
}
