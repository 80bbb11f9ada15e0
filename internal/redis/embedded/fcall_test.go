package embedded

import (
	"slices"
	"strings"
	"testing"

	"github.com/alicebob/miniredis/v2"
	"github.com/alicebob/miniredis/v2/server"
)

const locksLibrary = `#!lua name=locks
local function release(keys, args)
  if redis.call('GET', keys[1]) == args[1] then
    return redis.call('DEL', keys[1])
  end
  return 0
end
redis.register_function{function_name = 'release', callback = release, flags = {'allow-oom'}}
redis.register_function('echo', function(keys, args) return {keys, args} end)
redis.register_function('write', function(keys, args) return redis.call('SET', keys[1], args[1]) end)
redis.register_function{function_name = 'read', callback = function(keys) return redis.call('GET', keys[1]) end, flags = {'no-writes'}}
redis.register_function{function_name = 'lies', callback = function(keys) return redis.call('SET', keys[1], 'x') end, flags = {'no-writes'}}
redis.register_function('fails', function()
  error('boom')
end)
redis.register_function('refuses', function() return redis.error_reply('MY reason') end)
redis.register_function('globals', function() return KEYS end)
redis.register_function('changes', function() x = 1 end)
redis.register_function('registers', function() redis.register_function('y', function() end) end)
redis.register_function('json', function(keys, args) return cjson.decode(args[1]).a end)
`

// sameFunctions answer alike on a real server and here, in this order.
func sameFunctions() [][]string {
	load := func(header, body string) []string {
		return []string{"FUNCTION", "LOAD", "REPLACE", "#!" + header + "\n" + body}
	}
	const one = "redis.register_function('one', function() return 1 end)"
	cases := [][]string{
		{"FCALL", "release", "1", "k", "a"}, {"FUNCTION", "LOAD", locksLibrary}, {"FUNCTION", "LOAD", locksLibrary},
		{"FUNCTION", "LOAD", "REPLACE", locksLibrary}, {"function", "load", "replace", locksLibrary},
		{"SET", "k", "a"}, {"FCALL", "release", "1", "k", "b"}, {"FCALL", "RELEASE", "1", "k", "a"}, {"fcall", "release", "1", "k", "a"},
		{"FCALL", "echo", "2", "a", "b", "c"}, {"FCALL", "echo", "0"}, {"FCALL", "write", "1", "k", "v"}, {"FCALL", "read", "1", "k"},
		{"HSET", "h", "f", "v"}, {"FCALL", "release", "1", "h", "a"}, {"FCALL", "lies", "1", "k"}, {"FCALL_RO", "lies", "1", "k"}, {"GET", "k"},
		{"FCALL_RO", "read", "1", "k"}, {"FCALL_RO", "release", "1", "k", "a"}, {"FCALL", "fails", "0"}, {"FCALL", "refuses", "0"},
		{"FCALL", "globals", "0"}, {"FCALL", "changes", "0"}, {"FCALL", "registers", "0"}, {"FCALL", "json", "0", `{"a": 7}`},
		{"FCALL"}, {"FCALL", "release"}, {"FCALL_RO", "release"}, {"FCALL", "release", "x"}, {"FCALL", "release", "-1"}, {"FCALL", "release", "3", "a"},
		{"FCALL", "absent", "x"}, {"FCALL_RO", "absent", "0"}, {"EVAL", "return redis.call('FCALL', 'echo', 0)", "0"},
		{"EVAL", "return redis.pcall('FUNCTION', 'FLUSH')", "0"}, {"EVAL", "return redis.register_function == nil", "0"},
		{"SELECT", "3"}, {"FCALL", "write", "1", "k", "three"}, {"SELECT", "0"}, {"GET", "k"},
		{"SCRIPT", "FLUSH"}, {"FCALL", "read", "1", "k"}, {"FLUSHALL"}, {"FCALL", "read", "1", "k"},
		{"FUNCTION", "LOAD"}, {"FUNCTION", "LOAD", "FOO", locksLibrary}, {"FUNCTION", "LOAD", "return 1"}, {"FUNCTION", "LOAD", "#!lua name=x"},
		load("js name=x", one), load("lua", one), load("lua foo=bar", one), load("lua name=a-b", one), load("lua name=", one), load("lua name=a name=b", one),
		load("LUA NAME=upper", one), load("lua name=other", one), {"FUNCTION", "DELETE", "upper"}, load("lua name=other", one), {"FCALL", "one", "0"},
		{"FUNCTION", "DELETE"}, {"FUNCTION", "DELETE", "absent"}, {"FUNCTION", "DELETE", "OTHER"}, {"FUNCTION", "DELETE", "other"}, {"FCALL", "one", "0"},
		load("lua name=x", "return 1"), load("lua name=x", "redis.call('SET', 'a', 'b')"), load("lua name=x", "x = 1"), load("lua name=x", "error('boom')"),
	}
	for _, args := range []string{
		"('a')", "('a', 1)", "(1, function() end)", "('a b', function() end)", "()", "(function() end)", "{function_name = 'a'}", "{callback = function() end}",
		"{function_name = 'a', callback = function() end, flags = {'nope'}}", "{function_name = 'a', callback = function() end, flags = 'no-writes'}",
		"{function_name = 'a', callback = function() end, nope = 1}", "('a', function() end) redis.register_function('a', function() end)",
		"('read', function() end)", "('a', function(...) return select('#', ...) end)",
	} {
		cases = append(cases, load("lua name=x", "redis.register_function"+args))
	}
	return append(cases, [][]string{
		{"FCALL", "a", "1", "x", "y"}, {"FUNCTION", "FLUSH", "FOO"}, {"FUNCTION", "FLUSH", "SYNC", "x"}, {"FUNCTION", "NOPE"}, {"FUNCTION"},
		{"FUNCTION", "FLUSH", "ASYNC"}, {"FCALL", "a", "0"},
	}...)
}

// TestFunctionsAnswerLikeRedis compares with a real server, word for word.
func TestFunctionsAnswerLikeRedis(t *testing.T) {
	theirs := dialReal(t)
	m, _ := scriptServer(t)
	ours := dial(t, m)
	for _, args := range sameFunctions() {
		if got, want := ours.do(args...), theirs.do(args...); got != want {
			t.Errorf("%q\nhere  %s\nRedis %s", args, got, want)
		}
	}
}

// TestFunctionsDiffer holds what is answered otherwise than by Redis.
func TestFunctionsDiffer(t *testing.T) {
	theirs := dialReal(t)
	m, _ := scriptServer(t)
	ours := dial(t, m)
	const count = "#!lua name=counts\nlocal n = 0\nredis.register_function('count', function() n = n + 1 return n end)"
	for _, c := range []*client{ours, theirs} {
		c.want(`"counts"`, "FUNCTION", "LOAD", count)
		c.want(":1", "FCALL", "count", "0")
	}
	ours.want(":1", "FCALL", "count", "0") // a library keeps nothing between two calls
	theirs.want(":2", "FCALL", "count", "0")
	for _, c := range []*client{ours, theirs} {
		c.want("+OK", "MULTI")
	}
	theirs.want("+QUEUED", "FCALL", "count", "0")
	ours.want("-"+notSimulated+"FCALL in a transaction", "FCALL", "count", "0")
	ours.want("-EXECABORT Transaction discarded because of previous errors.", "EXEC")
	ours.want("-"+notSimulated+"FUNCTION LIST", "FUNCTION", "LIST")
}

// TestFunctionsInFullMemory: a function is refused as a whole, unless it says allow-oom or no-writes.
func TestFunctionsInFullMemory(t *testing.T) {
	theirs := dialReal(t)
	m, s := functionsInFullMemory(t)
	ours := dial(t, m)
	for _, c := range []*client{ours, theirs} {
		c.want(`"locks"`, "FUNCTION", "LOAD", locksLibrary)
		c.want("+OK", "SET", "k", "a")
		c.want("+OK", "SET", "l", "b")
	}
	s.memory.full.Store(true)
	theirs.want("+OK", "CONFIG", "SET", "maxmemory", "1")
	for _, args := range [][]string{
		{"SET", "k", "v"}, {"FCALL", "write", "1", "k", "v"}, {"FCALL", "echo", "0"}, {"FCALL", "read", "1", "k"}, {"FCALL_RO", "read", "1", "k"},
		{"FCALL", "release", "1", "k", "a"}, {"FCALL", "release", "1", "l", "c"}, {"FUNCTION", "LOAD", "REPLACE", locksLibrary}, {"FUNCTION", "DELETE", "locks"},
	} {
		if got, want := ours.do(args...), theirs.do(args...); got != want {
			t.Errorf("%q\nhere  %s\nRedis %s", args, got, want)
		}
	}
}

// functionsInFullMemory is scriptServer with a limit of memory.
func functionsInFullMemory(t *testing.T) (*miniredis.Miniredis, *scripts) {
	t.Helper()
	m, s := scriptServer(t)
	m.Server().SetPreHook(func(p *server.Peer, cmd string, args ...string) bool {
		return s.memory.refuses(m.Server(), p, cmd, args) || s.serve(p, cmd, args)
	})
	return m, s
}

// TestLibraries looks at the store alone: a change never shows in what was handed out before.
func TestLibraries(t *testing.T) {
	var f functionStore
	if refusal := f.add("a", functionLibrary{code: "1", names: []string{"x"}}, false); refusal != "" {
		t.Error(refusal)
	}
	before := f.all()
	for _, tc := range []struct {
		name, function string
		replace        bool
		want           string
	}{
		{"a", "y", false, "already exists"}, {"b", "x", true, "Function x already exists"}, {"a", "y", true, ""}, {"b", "x", false, ""},
	} {
		refusal := f.add(tc.name, functionLibrary{code: "2", names: []string{tc.function}}, tc.replace)
		if !strings.Contains(refusal, tc.want) || (refusal == "") != (tc.want == "") {
			t.Errorf("add %s with %s: %q, want %q", tc.name, tc.function, refusal, tc.want)
		}
	}
	if len(before) != 1 || !slices.Equal(before["a"].names, []string{"x"}) {
		t.Errorf("handed out were %v", before)
	}
	if code, ok := f.find("Y"); !ok || code != "2" {
		t.Errorf("found %q, %v", code, ok)
	}
	if !f.remove("a") || f.remove("a") || len(f.all()) != 1 {
		t.Errorf("left are %v", f.all())
	}
}
