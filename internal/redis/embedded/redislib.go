package embedded

import (
	"strings"

	"github.com/alicebob/miniredis/v2/server"
	lua "github.com/yuin/gopher-lua"
)

// redis is the library of the same name. Wordings are those of Redis 7.0.
func (in *interpreter) redis() library {
	lib := functions(in.lua, map[string]lua.LGFunction{
		"call":               in.call,
		"pcall":              in.pcall,
		"error_reply":        errorReply,
		"status_reply":       statusReply,
		"sha1hex":            sha1hex,
		"log":                log,
		"setresp":            setresp,
		"set_repl":           func(*lua.LState) int { return 0 }, // whole data sets are replicated
		"replicate_commands": func(l *lua.LState) int { l.Push(lua.LTrue); return 1 },
	})
	for level, name := range []string{"LOG_DEBUG", "LOG_VERBOSE", "LOG_NOTICE", "LOG_WARNING"} {
		lib[name] = lua.LNumber(level)
	}
	return lib
}

// call is redis.call: an error ends the script.
func (in *interpreter) call(l *lua.LState) int {
	if in.loading {
		l.RaiseError("Script attempted to access nonexistent global variable 'call'")
	}
	reply, refusal := in.command(l)
	if refusal != "" {
		return raise(l, refusal)
	}
	l.Push(reply)
	return 1
}

// pcall is redis.pcall: an error is a result.
func (in *interpreter) pcall(l *lua.LState) int {
	if in.loading {
		l.RaiseError("Script attempted to access nonexistent global variable 'pcall'")
	}
	reply, refusal := in.command(l)
	if refusal != "" {
		reply = field(l, "err", refusal)
	}
	l.Push(reply)
	return 1
}

// command executes the command on the stack. The second result is why it failed.
func (in *interpreter) command(l *lua.LState) (lua.LValue, string) {
	args := make([]string, l.GetTop())
	if len(args) == 0 {
		return nil, "ERR Please specify at least one argument for this redis lib call"
	}
	for i := range args {
		switch v := l.Get(i + 1).(type) {
		case lua.LString:
			args[i] = string(v)
		case lua.LNumber:
			args[i] = argument(v)
		default:
			return nil, "ERR Lua redis lib command arguments must be strings or integers"
		}
	}
	name := strings.ToUpper(args[0])
	if refusal := forbidden(name, args); refusal != "" {
		return nil, refusal
	}
	if in.readOnly && (isWrite(name) || needsMemory(name)) {
		return nil, "ERR Write commands are not allowed from read-only scripts."
	}
	if name == "SELECT" {
		in.db = -1
	}
	in.dispatch(args)
	reply, err := server.ParseReply(in.reader)
	if err != nil {
		return nil, fromScript(err.Error())
	}
	return fromReply(l, reply), ""
}

// dispatch executes a command; reader then holds its reply and nothing else.
func (in *interpreter) dispatch(args []string) {
	in.caller.buf.Reset()
	in.srv.Dispatch(in.caller.Peer, args)
	in.caller.Flush()
	in.reader.Reset(in.caller.buf)
}

// fromScript words what miniredis answers to a client as Redis answers to a script.
func fromScript(text string) string {
	switch {
	case strings.HasPrefix(text, "ERR unknown command"):
		return "ERR Unknown Redis command called from script"
	case strings.HasPrefix(text, "ERR wrong number of arguments for '"):
		return "ERR Wrong number of args calling Redis command from script"
	}
	return text
}

const notFromScripts = "ERR This Redis command is not allowed from script"

// forbidden refuses what Redis does not let scripts call. It also keeps out what would
// sleep or wait for the server's lock while the script holds it.
func forbidden(name string, args []string) string {
	switch name {
	case "ACL", "AUTH", "BGREWRITEAOF", "BGSAVE", "BLMOVE", "BLMPOP", "BLPOP", "BRPOP", "BRPOPLPUSH",
		"BZMPOP", "BZPOPMAX", "BZPOPMIN", "CLIENT", "CONFIG", "DEBUG", "DISCARD", "EVAL", "EVALSHA",
		"EVALSHA_RO", "EVAL_RO", "EXEC", "FAILOVER", "FCALL", "FCALL_RO", "FUNCTION", "HELLO", "LATENCY",
		"MODULE", "MONITOR", "MULTI", "PSUBSCRIBE", "PSYNC", "PUNSUBSCRIBE", "QUIT", "REPLCONF",
		"REPLICAOF", "RESET", "ROLE", "SAVE", "SCRIPT", "SHUTDOWN", "SLAVEOF", "SSUBSCRIBE", "SUBSCRIBE",
		"SUNSUBSCRIBE", "SYNC", "UNSUBSCRIBE", "UNWATCH", "WAIT", "WATCH":
		return notFromScripts
	case "XREAD", "XREADGROUP":
		for _, a := range args[1:] {
			switch strings.ToUpper(a) {
			case "BLOCK":
				return "ERR " + args[0] + " command is not allowed with BLOCK option from scripts"
			case "STREAMS":
				return ""
			}
		}
	}
	return ""
}

// raise ends the script with an error that is the server's and not the script's.
func raise(l *lua.LState, text string) int {
	l.Error(field(l, "err", text), 1)
	return 0
}

func errorReply(l *lua.LState) int {
	text, ok := l.Get(1).(lua.LString)
	if !ok || l.GetTop() != 1 {
		text = "ERR wrong number or type of arguments"
	}
	msg := strings.TrimPrefix(string(text), "-")
	if !strings.Contains(msg, " ") {
		msg = "ERR " + msg
	}
	l.Push(field(l, "err", msg))
	return 1
}

func statusReply(l *lua.LState) int {
	if text, ok := l.Get(1).(lua.LString); ok && l.GetTop() == 1 {
		l.Push(field(l, "ok", string(text)))
	} else {
		l.Push(field(l, "err", "ERR wrong number or type of arguments"))
	}
	return 1
}

func sha1hex(l *lua.LState) int {
	if l.GetTop() != 1 {
		return raise(l, "ERR wrong number of arguments")
	}
	l.Push(lua.LString(sha1Hex(lua.LVAsString(l.Get(1)))))
	return 1
}

// log checks its arguments; there is no log.
func log(l *lua.LState) int {
	if l.GetTop() < 2 {
		return raise(l, "ERR redis.log() requires two arguments or more.")
	}
	level, ok := l.Get(1).(lua.LNumber)
	switch {
	case !ok:
		return raise(l, "ERR First argument must be a number (log level).")
	case level < 0 || level > 3:
		return raise(l, "ERR Invalid debug level.")
	}
	return 0
}

// setresp checks its argument; commands are always answered in RESP2.
func setresp(l *lua.LState) int {
	if l.GetTop() != 1 {
		return raise(l, "ERR redis.setresp() requires one argument.")
	}
	if v := l.Get(1); v != lua.LNumber(2) && v != lua.LNumber(3) {
		return raise(l, "ERR RESP version must be 2 or 3.")
	}
	return 0
}
