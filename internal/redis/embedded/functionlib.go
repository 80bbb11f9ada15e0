package embedded

import (
	"maps"
	"slices"
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// functionChunk is what Redis calls a library of functions in error messages.
const functionChunk = "user_function"

// called is one call of a function.
type called struct {
	name       string
	keys, argv []string
	readOnly   bool // by FCALL_RO
	memory     *memoryLimit
}

// registered is a function that a library has registered.
type registered struct {
	call               *lua.LFunction
	noWrites, allowOOM bool
}

// newLibraryInterpreter makes an interpreter of libraries. What a library keeps between two calls
// is lost, unlike on a real server: it is run anew for each of them.
func newLibraryInterpreter(nested any) *interpreter {
	in := bareInterpreter(nested)
	in.library = true
	lib := in.redis()
	lib["register_function"] = in.lua.NewFunction(in.registerFunction)
	globals := sandbox(in.lua, map[string]library{"redis": lib, "server": lib, "cjson": cjson(in.lua), "math": in.randomness()})
	globals.RawSetString("error", in.lua.NewFunction(in.raiseInFunction(globals.RawGetString("error").(*lua.LFunction).GFunction)))
	return in
}

// raiseInFunction is error, which a library does not have while it is loaded.
func (in *interpreter) raiseInFunction(plain lua.LGFunction) lua.LGFunction {
	return func(l *lua.LState) int {
		if in.loading {
			l.RaiseError("Script attempted to access nonexistent global variable 'error'")
		}
		return plain(l)
	}
}

// register runs a library and returns the names of its functions, or what is wrong with it in Redis'
// words.
func (in *interpreter) register(shared *Shared, code string) (names []string, refusal string) {
	if refusal := in.load(shared, code); refusal != "" {
		return nil, refusal
	}
	if len(in.functions) == 0 {
		return nil, "ERR No functions registered"
	}
	return slices.Sorted(maps.Keys(in.functions)), ""
}

// load runs a library, which registers its functions.
func (in *interpreter) load(shared *Shared, code string) (refusal string) {
	proto, err := shared.library(code)
	if err != nil {
		return "ERR Error compiling function: " + err.Error()
	}
	in.loading, in.functions = true, map[string]registered{}
	in.lua.Push(in.lua.NewFunctionFromProto(proto))
	err = in.lua.PCall(0, 0, nil)
	in.loading = false
	if err != nil {
		in.spoilt = true
		return "ERR Error registering functions: " + describeAlone(err)
	}
	return ""
}

// function runs a function of a library and returns its reply in RESP.
func (in *interpreter) function(shared *Shared, code string, c called, resp3 bool) string {
	in.reply.Resp3 = resp3
	refusal := in.load(shared, code)
	f := in.functions[strings.ToLower(c.name)]
	switch {
	case refusal != "":
	case c.readOnly && !f.noWrites:
		refusal = "ERR Can not execute a script with write flag using *_ro command."
	case c.memory.full.Load() && !f.noWrites && !f.allowOOM:
		refusal = outOfMemory
	}
	if refusal != "" {
		in.reply.WriteError(refusal)
		return in.reply.written()
	}
	in.readOnly = f.noWrites
	c.memory.wrote.Store(f.allowOOM) // it may go on
	in.lua.Push(f.call)
	in.lua.Push(list(in.lua, c.keys))
	in.lua.Push(list(in.lua, c.argv))
	if err := in.lua.PCall(2, 1, nil); err != nil {
		in.spoilt = true
		in.reply.WriteError(describe(err, c.name, functionChunk))
	} else {
		writeReply(in.reply.Peer, in.lua.Get(-1), 0)
		in.lua.SetTop(0)
	}
	in.readOnly = false
	return in.reply.written()
}

// registerFunction is redis.register_function, which only a library that is loaded has.
func (in *interpreter) registerFunction(l *lua.LState) int {
	if !in.loading {
		l.RaiseError("attempt to call field 'register_function' (a nil value)")
	}
	name, f, refusal := registration(l)
	if refusal == "" && in.functions[strings.ToLower(name)].call != nil {
		refusal = "Function already exists in the library"
	}
	if refusal != "" {
		return raise(l, "ERR "+refusal)
	}
	in.functions[strings.ToLower(name)] = f
	return 0
}

// registration reads the arguments of redis.register_function, or says what is wrong with them.
func registration(l *lua.LState) (name string, f registered, refusal string) {
	var given lua.LValue
	switch l.GetTop() {
	case 1:
		t, ok := l.Get(1).(*lua.LTable)
		if !ok {
			return "", f, "calling redis.register_function with a single argument is only applicable to Lua table (representing named arguments)."
		}
		if f, given, refusal = named(t); refusal != "" {
			return "", f, refusal
		}
	case 2:
		given = l.Get(1)
		if f.call, _ = l.Get(2).(*lua.LFunction); f.call == nil {
			return "", f, "second argument to redis.register_function must be a function"
		}
	default:
		return "", f, "wrong number of arguments to redis.register_function"
	}
	if name = lua.LVAsString(given); !isName(name) {
		return "", f, badName
	}
	return name, f, ""
}

// named reads named arguments.
func named(t *lua.LTable) (f registered, name lua.LValue, refusal string) {
	t.ForEach(func(key, value lua.LValue) {
		switch lua.LVAsString(key) {
		case "function_name":
			name = value
		case "description":
		case "callback":
			f.call, _ = value.(*lua.LFunction)
		case "flags":
			if why := f.flag(value); why != "" {
				refusal = why
			}
		default:
			refusal = "unknown argument given to redis.register_function"
		}
	})
	switch {
	case refusal != "":
	case name == nil:
		refusal = "redis.register_function must get a function name argument"
	case f.call == nil:
		refusal = "redis.register_function must get a callback argument"
	}
	return f, name, refusal
}

// flag sets the flags of a function, or says what is wrong with them.
func (f *registered) flag(value lua.LValue) (refusal string) {
	flags, ok := value.(*lua.LTable)
	if !ok {
		return "flags argument to redis.register_function must be a table representing function flags"
	}
	flags.ForEach(func(_, flag lua.LValue) {
		switch lua.LVAsString(flag) {
		case "no-writes":
			f.noWrites = true
		case "allow-oom":
			f.allowOOM = true
		case "allow-stale", "no-cluster", "allow-cross-slot-keys":
		default:
			refusal = "unknown flag given"
		}
	})
	return refusal
}
