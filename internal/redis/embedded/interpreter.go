package embedded

import (
	"bufio"
	"errors"
	"strconv"
	"strings"
	"sync"

	"github.com/alicebob/miniredis/v2/server"
	lua "github.com/yuin/gopher-lua"
)

// chunkName is what Redis calls a script in error messages.
const chunkName = "user_script"

// interpreters is a pool.
type interpreters struct {
	mu        sync.Mutex
	idle      []*interpreter // of scripts
	libraries []*interpreter // idle ones of libraries of functions
	nested    any            // the context of peers that belong to a script
}

// kind is where idle interpreters are. The caller holds p.mu.
func (p *interpreters) kind(library bool) *[]*interpreter {
	if library {
		return &p.libraries
	}
	return &p.idle
}

// get returns an interpreter of scripts, or of libraries of functions. Without an idle one it makes one, for which miniredis
// runs a script on srv. It is nil if that shows nothing, as with another version.
func (p *interpreters) get(srv *server.Server, library bool) *interpreter {
	p.mu.Lock()
	defer p.mu.Unlock()
	idle := p.kind(library)
	if n := len(*idle); n > 0 {
		in := (*idle)[n-1]
		*idle = (*idle)[:n-1]
		return in
	}
	if p.nested == nil {
		if p.nested = nestedContext(srv); p.nested == nil {
			return nil
		}
	}
	if library {
		return newLibraryInterpreter(cloneContext(p.nested))
	}
	return newInterpreter(cloneContext(p.nested))
}

func (p *interpreters) put(in *interpreter) {
	if in.spoilt {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	idle := p.kind(in.library)
	*idle = append(*idle, in)
}

// interpreter is a Lua state that runs one script after another. Nothing that a script
// does to it is seen by the next.
type interpreter struct {
	lua     *lua.LState
	globals *lua.LTable // what the read-only _G shows
	spoilt  bool        // a script failed in it: not to be used again

	srv    *server.Server
	random *drand48
	caller memory // issues the commands of the script
	db     int    // the database of caller; -1: a script has changed it
	reader *bufio.Reader
	reply  memory

	library   bool                  // it is one of libraries
	loading   bool                  // a library registers its functions
	functions map[string]registered // of the library that was loaded last, by name in small letters
	readOnly  bool                  // what runs has said that it does not write
}

// newInterpreter makes an interpreter of scripts.
func newInterpreter(nested any) *interpreter {
	in := bareInterpreter(nested)
	in.globals = sandbox(in.lua, map[string]library{
		"redis":  in.redis(),
		"server": in.redis(),
		"cjson":  cjson(in.lua),
		"math":   in.randomness(),
	})
	return in
}

// bareInterpreter makes an interpreter without an environment.
func bareInterpreter(nested any) *interpreter {
	in := &interpreter{
		lua:    newState(),
		caller: newMemory(),
		db:     -1,
		reply:  newMemory(),
	}
	in.reader = bufio.NewReader(in.caller.buf)
	in.caller.Ctx = nested
	return in
}

// attach lets the next script run on srv, in database db.
func (in *interpreter) attach(srv *server.Server, db int, random *drand48) {
	in.srv, in.random = srv, random
	if in.db != db {
		in.dispatch([]string{"SELECT", strconv.Itoa(db)})
		in.db = db
	}
}

// run runs a script and returns its reply in RESP.
func (in *interpreter) run(sha string, proto *lua.FunctionProto, keys, argv []string, resp3 bool) string {
	in.globals.RawSetString("KEYS", list(in.lua, keys))
	in.globals.RawSetString("ARGV", list(in.lua, argv))
	in.lua.Push(in.lua.NewFunctionFromProto(proto))
	in.reply.Resp3 = resp3
	if err := in.lua.PCall(0, 1, nil); err != nil {
		in.spoilt = true
		in.reply.WriteError(describe(err, sha, chunkName))
	} else {
		writeReply(in.reply.Peer, in.lua.Get(-1), 0)
		in.lua.SetTop(0)
	}
	return in.reply.written()
}

func list(l *lua.LState, values []string) *lua.LTable {
	t := l.CreateTable(len(values), 0)
	for _, v := range values {
		t.Append(lua.LString(v))
	}
	return t
}

// describe words the error that ended a script as Redis 7.0 does. script is its digest, or the name of a function; chunk
// is what Redis calls where that comes from.
func describe(err error, script, chunk string) string {
	text := describeAlone(err)
	var raised *lua.ApiError
	if !errors.As(err, &raised) {
		return text
	}
	_, at, found := strings.Cut(raised.StackTrace, "\t"+chunk+":")
	if line, _, ok := strings.Cut(at, ":"); found && ok {
		text += " script: " + script + ", on @" + chunk + ":" + line + "."
	}
	return text
}

// describeAlone is describe without where that was.
func describeAlone(err error) string {
	var raised *lua.ApiError
	if !errors.As(err, &raised) {
		return "ERR " + err.Error()
	}
	if text, ok := errField(raised.Object); ok {
		return text
	}
	return "ERR " + raised.Object.String()
}

// errField is the text of a table that stands for an error.
func errField(v lua.LValue) (string, bool) {
	if t, ok := v.(*lua.LTable); ok {
		s, ok := t.RawGetString("err").(lua.LString)
		return string(s), ok
	}
	return "", false
}
