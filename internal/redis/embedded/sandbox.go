package embedded

import (
	"maps"
	"math"
	"slices"

	lua "github.com/yuin/gopher-lua"
)

const (
	callDepth     = 4000    // of Lua functions; Lua 5.1: 20000, but gopher-lua's traces take the square of it
	firstRegistry = 1 << 10 // slots for locals and temporaries; grown in steps
	maxRegistry   = 1 << 18
)

// library is what a global table holds.
type library map[string]lua.LValue

// newState is a Lua state with the parts of the standard library that scripts may use.
func newState() *lua.LState {
	l := lua.NewState(lua.Options{
		SkipOpenLibs:        true,
		CallStackSize:       callDepth,
		MinimizeStackMemory: true,
		RegistrySize:        firstRegistry,
		RegistryMaxSize:     maxRegistry,
		RegistryGrowStep:    4 * firstRegistry,
	})
	for name, open := range map[string]lua.LGFunction{
		lua.BaseLibName: lua.OpenBase, lua.CoroutineLibName: lua.OpenCoroutine, lua.TabLibName: lua.OpenTable,
		lua.StringLibName: lua.OpenString, lua.MathLibName: lua.OpenMath,
	} {
		l.Push(l.NewFunction(open))
		l.Push(lua.LString(name))
		l.Call(1, 0)
	}
	return l
}

// sandbox replaces the environment of l by one that scripts can read and not change,
// so that nothing passes from one script to the next. libs are added to the libraries
// of l. It returns the table behind _G, for KEYS and ARGV.
//
// As in Redis 7 every library is read-only. gopher-lua has no such tables: a script
// sees an empty one whose metatable leads to the contents, and the functions that
// write past metatables are replaced.
func sandbox(l *lua.LState, libs map[string]library) *lua.LTable {
	fronts := fronts{}
	all := l.G.Global
	globals := pick(all, "assert", "getmetatable", "ipairs", "load", "loadstring", "rawequal", "select",
		"tonumber", "tostring", "type", "unpack", "xpcall", "_VERSION")
	maps.Copy(globals, functions(l, map[string]lua.LGFunction{
		"collectgarbage": collectgarbage,
		"error":          raiseError,
		"next":           fronts.next,
		"pairs":          fronts.pairs,
		"pcall":          pcall(original(all, "pcall")),
		"rawget":         fronts.rawget,
		"rawset":         fronts.guard(original(all, "rawset")),
		"setmetatable":   fronts.guard(original(all, "setmetatable")),
	}))

	standard := map[string]library{"os": functions(l, map[string]lua.LGFunction{"clock": clock})}
	for _, name := range []string{lua.CoroutineLibName, lua.MathLibName, lua.StringLibName, lua.TabLibName} {
		standard[name] = pick(all.RawGetString(name).(*lua.LTable))
	}
	delete(standard[lua.StringLibName], "__index")
	standard[lua.MathLibName]["huge"] = lua.LNumber(math.Inf(1))
	for _, name := range []string{"insert", "remove", "sort"} {
		f := original(all.RawGetString(lua.TabLibName).(*lua.LTable), name)
		standard[lua.TabLibName][name] = l.NewFunction(fronts.guard(f))
	}
	for name, lib := range libs {
		if standard[name] == nil {
			standard[name] = library{}
		}
		maps.Copy(standard[name], lib)
	}
	for _, name := range slices.Sorted(maps.Keys(standard)) {
		front, _ := fronts.add(l, standard[name], nil)
		globals[name] = front
	}

	methods, _ := fronts.add(l, library{"__index": globals[lua.StringLibName]}, nil)
	l.SetMetatable(lua.LString(""), table(l, library{
		"__index":     fronts[globals[lua.StringLibName].(*lua.LTable)],
		"__metatable": methods,
	}))
	front, behind := fronts.add(l, globals, func(l *lua.LState) int {
		l.RaiseError("Script attempted to access nonexistent global variable '%s'", l.Get(2).String())
		return 0
	})
	behind.RawSetString("_G", front)
	l.Env = front
	return behind
}

// table has its contents in the order of their names, so that pairs shows every run
// the same order.
func table(l *lua.LState, lib library) *lua.LTable {
	t := l.CreateTable(0, len(lib))
	for _, name := range slices.Sorted(maps.Keys(lib)) {
		t.RawSetString(name, lib[name])
	}
	return t
}

func functions(l *lua.LState, from map[string]lua.LGFunction) library {
	lib := library{}
	for name, f := range from {
		lib[name] = l.NewFunction(f)
	}
	return lib
}

// pick takes the given entries of a table, or all.
func pick(from *lua.LTable, names ...string) library {
	lib := library{}
	from.ForEach(func(k, v lua.LValue) {
		if name := k.String(); len(names) == 0 || slices.Contains(names, name) {
			lib[name] = v
		}
	})
	return lib
}

func original(from *lua.LTable, name string) lua.LGFunction {
	return from.RawGetString(name).(*lua.LFunction).GFunction
}

// fronts are the read-only tables, each with the table behind it.
type fronts map[*lua.LTable]*lua.LTable

const readOnly = "Attempt to modify a readonly table"

// add makes a read-only table. missing is called for what it does not hold.
func (f fronts) add(l *lua.LState, lib library, missing lua.LGFunction) (front, behind *lua.LTable) {
	front, behind = l.NewTable(), table(l, lib)
	front.Metatable = table(l, library{
		"__index":     behind,
		"__newindex":  l.NewFunction(func(l *lua.LState) int { l.RaiseError(readOnly); return 0 }),
		"__metatable": lua.LFalse,
	})
	if missing != nil {
		behind.Metatable = table(l, library{"__index": l.NewFunction(missing)})
	}
	f[front] = behind
	return front, behind
}

// of is the table behind v if v is read-only.
func (f fronts) of(v lua.LValue) *lua.LTable {
	if t, ok := v.(*lua.LTable); ok {
		return f[t]
	}
	return nil
}

// guard keeps a function that changes its first argument to plain tables.
func (f fronts) guard(change lua.LGFunction) lua.LGFunction {
	return func(l *lua.LState) int {
		if f.of(l.CheckTable(1)) != nil {
			l.Error(lua.LString(readOnly), 0)
		}
		return change(l)
	}
}

func (f fronts) rawget(l *lua.LState) int {
	t := l.CheckTable(1)
	if behind := f[t]; behind != nil {
		t = behind
	}
	l.Push(t.RawGet(l.CheckAny(2)))
	return 1
}

func (f fronts) next(l *lua.LState) int {
	t := l.CheckTable(1)
	if behind := f[t]; behind != nil {
		t = behind
	}
	key, value := t.Next(l.Get(2))
	l.Push(key)
	if key == lua.LNil {
		return 1
	}
	l.Push(value)
	return 2
}

func (f fronts) pairs(l *lua.LState) int {
	t := l.CheckTable(1)
	l.Push(l.NewFunction(f.next))
	l.Push(t)
	l.Push(lua.LNil)
	return 3
}

// pcall hands over the text of an error that redis.call raised, as Redis 7.0 does.
func pcall(plain lua.LGFunction) lua.LGFunction {
	return func(l *lua.LState) int {
		n := plain(l)
		if n == 2 && l.Get(-2) == lua.LFalse {
			if text, ok := errField(l.Get(-1)); ok {
				l.Pop(1)
				l.Push(lua.LString(text))
			}
		}
		return n
	}
}

// raiseError is error as in Lua 5.1: it takes anything, and a number as a string.
func raiseError(l *lua.LState) int {
	v := l.Get(1)
	if n, ok := v.(lua.LNumber); ok {
		v = lua.LString(n.String())
	}
	l.Error(v, l.OptInt(2, 1))
	return 0
}

// collectgarbage does not disturb Go's collector.
func collectgarbage(l *lua.LState) int {
	l.Push(lua.LNumber(0))
	return 1
}

// clock is os.clock of Redis 7.4: in virtual time a script takes no time.
func clock(l *lua.LState) int {
	l.Push(lua.LNumber(0))
	return 1
}
