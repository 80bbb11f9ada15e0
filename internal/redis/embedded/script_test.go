package embedded

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2/server"
	"go.uber.org/goleak"
)

// fingerprint describes everything that a script can reach, and what it does.
const fingerprint = `
local seen, out = {}, {}
local function walk(name, t, depth)
  seen[t] = true
  local keys = {}
  for k in pairs(t) do keys[#keys + 1] = tostring(k) end
  table.sort(keys)
  for _, k in ipairs(keys) do
    local v = rawget(t, k)
    local kind = type(v)
    if t[k] ~= v then kind = 'hidden ' .. kind end
    if kind == 'string' or kind == 'number' then kind = kind .. '=' .. tostring(v) end
    if name .. k ~= '_G.KEYS' and name .. k ~= '_G.ARGV' then out[#out + 1] = name .. k .. ':' .. kind end
    if kind == 'table' and not seen[v] then walk(name .. k .. '.', v, depth + 1) end
  end
end
walk('_G.', _G, 0)
for _, v in ipairs({redis, string, table, math, cjson, coroutine, os, _G}) do
  out[#out + 1] = #v .. tostring(getmetatable(v)) .. tostring(rawget(v, 1))
end
for _, v in ipairs({1, true, function() end, cjson.null}) do out[#out + 1] = tostring(getmetatable(v)) end
out[#out + 1] = tostring(getmetatable(nil)) .. tostring(pcall(function() return x end)) .. tostring(redis.x)
out[#out + 1] = ('x'):rep(2) .. #KEYS .. #ARGV .. tostring(KEYS[1]) .. tostring(ARGV.n)
out[#out + 1] = redis.sha1hex('') .. redis.status_reply('s').ok .. redis.error_reply('e').err .. redis.call('PING').ok
out[#out + 1] = cjson.encode(cjson.decode('{"a":[1,null]}')) .. tostring(pcall(error)) .. select('#', 1, 2) .. tonumber('5')
out[#out + 1] = tostring(pcall(redis.call, 'GET')) .. redis.call('GET', 'which')
return table.concat(out, ' ')`

// TestScriptsAreIsolated lets scripts do to the interpreter what they can. It goes on to
// be used, unless the script failed, and shows the next script nothing of it.
func TestScriptsAreIsolated(t *testing.T) {
	m, s := scriptServer(t)
	c := dial(t, m)
	c.want("+OK", "SET", "which", "zero")
	want := c.eval(fingerprint, "0")
	if !strings.Contains(want, "_G.redis.call:function") || !strings.HasSuffix(want, `zero"`) {
		t.Fatal(want)
	}
	scripts := []string{
		"x = 1", "pcall(function() x = 1 end)", "pcall(function() redis.call = nil end)", "pcall(function() redis.call = 1 end)", "pcall(function() redis.x = 1 end)",
		"pcall(function() string.rep = 1 end)",
		"KEYS[1], KEYS.n, ARGV[1], ARGV.n = 1, 2, 3, 4", "pcall(function() KEYS = nil end)", "pcall(function() _G = nil end)",
		"pcall(rawset, _G, 'x', 1)", "pcall(rawset, redis, 'call', 1)", "pcall(table.insert, redis, 1)", "pcall(table.sort, redis)",
		"pcall(setmetatable, _G, {})", "pcall(setmetatable, redis, nil)", "pcall(setmetatable, '', {__index = {}})", "pcall(setmetatable, 1, {})",
		"pcall(setmetatable, nil, {})", "pcall(setmetatable, cjson.null, {})", "pcall(function() getmetatable('').__index = {} end)",
		"for k, v in pairs(_G) do pcall(function() v.x = 1 end) end", "for k, v in pairs(redis) do pcall(rawset, redis, k, 1) end",
		"local f, s = pairs(redis) pcall(function() s.call = nil end)", "loadstring('pcall(function() y = 1 end)')()",
		"coroutine.wrap(function() pcall(function() x = 1 end) coroutine.yield() end)()", "redis.call('SELECT', 5)", "redis.setresp(3)",
		"local co = coroutine.create(function() error('x') end) coroutine.resume(co)", "math.randomseed(5)", "collectgarbage()",
		"local function f() return f() + 1 end pcall(f)", "error({})", "error(nil)", "local t = {} t[1] = t return t",
		"local t = {} for i = 1, 10000 do t[i] = i end return {unpack(t)}",
		`local called = {}
		for name, lib in pairs(_G) do
		  if type(lib) == 'table' and lib ~= _G and lib ~= KEYS and lib ~= ARGV and lib ~= coroutine then
		    for fname, f in pairs(lib) do
		      if type(f) == 'function' then
		        for _, v in ipairs({redis, string, table, _G}) do
		          pcall(f, v) pcall(f, v, 1) pcall(f, v, 1, 1) pcall(f, v, 'call', 1) pcall(f, v, {}) pcall(f, 1, v)
		        end
		      end
		    end
		  elseif type(lib) == 'function' then
		    for _, v in ipairs({redis, string, table, _G}) do
		      pcall(lib, v) pcall(lib, v, 1) pcall(lib, v, 1, 1) pcall(lib, v, 'call', 1) pcall(lib, v, {}) pcall(lib, v, nil)
		    end
		  end
		end`,
	}
	for _, script := range scripts {
		c.eval(script, "1", "key", "argument")
		if got := c.eval(fingerprint, "0"); got != want {
			t.Errorf("after %q\n%s\nwant\n%s", script, got, want)
		}
	}
	if n := len(s.shared.lua.idle); n != 1 {
		t.Errorf("%d interpreters are idle, want the one that is used again and again", n)
	}
}

// TestScriptsAreAtomic runs without the slots of virtual time, so that connections
// really meet.
func TestScriptsAreAtomic(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	m, s := scriptServer(t)
	defer m.Close()
	const writers, rounds = 4, 100
	const both = `local a, b = redis.call('GET', KEYS[1]), redis.call('GET', KEYS[2])
if a ~= b then return redis.error_reply('TORN ' .. tostring(a) .. ' ' .. tostring(b)) end
redis.call('SET', KEYS[1], (a or 0) + 1)
return redis.call('INCR', KEYS[2])`
	var wg sync.WaitGroup
	for range writers {
		script, pair, loop := dial(t, m), dial(t, m), both
		wg.Go(func() {
			for range rounds {
				if got := script.eval(loop, "2", "a", "b"); got[0] != ':' {
					t.Error(got)
				}
			}
		})
		wg.Go(func() {
			for range rounds {
				if got := pair.do("MGET", "a", "b"); got != "[nil nil]" {
					var a, b string
					if _, err := fmt.Sscanf(got, "[%s %s", &a, &b); err != nil || a != strings.TrimSuffix(b, "]") {
						t.Errorf("read %s in the middle of a script", got)
					}
				}
			}
		})
	}
	// The clock may not move inside a script either, and no key may expire.
	wg.Go(func() {
		for i := range rounds {
			m.SetTime(time.Date(2026, 1, 1, 0, 0, i, 0, time.UTC))
		}
	})
	clock := dial(t, m)
	wg.Go(func() {
		for range rounds {
			if got := clock.eval("local t, u = redis.call('TIME'), redis.call('TIME') return t[1] == u[1]", "0"); got != ":1" {
				t.Errorf("the time moved inside a script: %s", got)
			}
		}
	})
	wg.Wait()
	dial(t, m).want(fmt.Sprintf(`[%q %[1]q]`, fmt.Sprint(writers*rounds)), "MGET", "a", "b")
	if n := len(s.shared.lua.idle); n > 2*writers+1 {
		t.Errorf("%d interpreters for %d connections", n, 2*writers+1)
	}
}

// TestLongReplies: a reply longer than the server's buffers is sent at once.
func TestLongReplies(t *testing.T) {
	m, _ := scriptServer(t)
	c := dial(t, m)
	if got := c.eval("return ('x'):rep(100000)", "0"); len(got) != 100002 {
		t.Errorf("%d bytes", len(got))
	}
	if got := c.eval("local t = {} t[1] = t return t", "0"); !strings.Contains(got, "lua stack limit") {
		t.Errorf("a table in itself: %.100s", got)
	}
}

func TestRESP3(t *testing.T) {
	m, _ := scriptServer(t)
	c := dial(t, m)
	c.do("HELLO", "3")
	for script, want := range map[string]string{
		"return false": "_", "return true": ":1", "return {1, false}": "[:1 _]", "return redis.call('HGETALL', 'absent')": "[]",
	} {
		if got := c.eval(script, "0"); got != want {
			t.Errorf("%s answered %s, want %s", script, got, want)
		}
	}
}

// TestStateOf pins the names that stateOf reads.
func TestStateOf(t *testing.T) {
	m := plainServer(t)
	var got connState
	m.Server().SetPreHook(func(p *server.Peer, cmd string, _ ...string) bool {
		if cmd == "PING" || cmd == "SUBSCRIBE" {
			got = stateOf(p)
		}
		return false
	})
	if got := stateOf(discard()); got != (connState{}) {
		t.Errorf("a connection's first command: %+v", got)
	}
	c := dial(t, m)
	for _, tc := range []struct {
		args []string
		want connState
	}{
		{[]string{"PING"}, connState{}},
		{[]string{"SELECT", "7"}, connState{}},
		{[]string{"PING"}, connState{db: 7}},
		{[]string{"EVAL", "return redis.call('PING')", "0"}, connState{db: 7, nested: true}},
		{[]string{"MULTI"}, connState{db: 7, nested: true}},
		{[]string{"PING"}, connState{db: 7, multi: true}},
		{[]string{"EXEC"}, connState{db: 7, multi: true}},
		{[]string{"PING"}, connState{db: 7}},
		{[]string{"SUBSCRIBE", "x"}, connState{db: 7}},
		{[]string{"SUBSCRIBE", "x"}, connState{db: 7, subscribed: true}},
	} {
		c.do(tc.args...)
		if got != tc.want {
			t.Errorf("%v: %+v, want %+v", tc.args, got, tc.want)
		}
	}
}

// TestWhoRunsAScript tells the slow way from the fast one, whose replies are alike.
func TestWhoRunsAScript(t *testing.T) {
	m, s := scriptServer(t)
	c := dial(t, m)
	const script = "return redis.call('PING')"
	ran := func(args ...string) bool {
		t.Helper()
		s.shared.lua.idle = nil
		c.do(args...)
		return len(s.shared.lua.idle) == 1
	}
	for _, tc := range []struct {
		args []string
		here bool
	}{
		{[]string{"EVALSHA", sha1Hex(script), "0"}, false}, // unknown
		{[]string{"EVAL", script, "0"}, true},
		{[]string{"EVALSHA", sha1Hex(script), "0"}, true},
		{[]string{"SCRIPT", "FLUSH"}, false},
		{[]string{"EVALSHA", sha1Hex(script), "0"}, false},
		{[]string{"SCRIPT", "LOAD", script}, false},
		{[]string{"EVALSHA", sha1Hex(script), "0"}, true},
		{[]string{"MULTI"}, false},
		{[]string{"EVALSHA", sha1Hex(script), "0"}, false},
		{[]string{"EXEC"}, false},
		{[]string{"EVALSHA", sha1Hex(script), "0"}, true},
		{[]string{"EVALSHA", sha1Hex(script), "nonsense"}, false},
	} {
		if got := ran(tc.args...); got != tc.here {
			t.Errorf("%v ran here: %v, want %v", tc.args, got, tc.here)
		}
	}
}

// TestScriptsLeftToMiniredis asks miniredis for scripts that were loaded here.
func TestScriptsLeftToMiniredis(t *testing.T) {
	const script = "return 7"
	sha := sha1Hex(script)
	for name, steps := range map[string][][]string{
		"exists after a load":         {{"SCRIPT", "LOAD", script}, {"SCRIPT", "EXISTS", sha}, {"1"}},
		"exists after an eval":        {{"EVAL", script, "0"}, {"SCRIPT", "EXISTS", sha}, {"1"}},
		"queued":                      {{"SCRIPT", "LOAD", script}, {"MULTI"}, {"EVALSHA", sha, "0"}, {"EXEC"}, {"7"}},
		"loaded once it was queued":   {{"MULTI"}, {"EVALSHA", sha, "0"}, {"other: SCRIPT", "LOAD", script}, {"EXEC"}, {"7"}},
		"flushed":                     {{"SCRIPT", "LOAD", script}, {"SCRIPT", "FLUSH"}, {"SCRIPT", "EXISTS", sha}, {"0"}},
		"the flush is discarded":      {{"SCRIPT", "LOAD", script}, {"MULTI"}, {"SCRIPT", "FLUSH"}, {"DISCARD"}, {"EVALSHA", sha, "0"}, {"7"}},
		"the flush is carried out":    {{"SCRIPT", "LOAD", script}, {"MULTI"}, {"SCRIPT", "FLUSH"}, {"EXEC"}, {"SCRIPT", "EXISTS", sha}, {"0"}},
		"loaded after a queued flush": {{"MULTI"}, {"SCRIPT", "FLUSH"}, {"EXEC"}, {"SCRIPT", "LOAD", script}, {"SCRIPT", "EXISTS", sha}, {"1"}},
	} {
		t.Run(name, func(t *testing.T) {
			m, _ := scriptServer(t)
			c, other := dial(t, m), dial(t, m)
			var got string
			for _, args := range steps[:len(steps)-1] {
				if first, ok := strings.CutPrefix(args[0], "other: "); ok {
					other.do(append([]string{first}, args[1:]...)...)
				} else {
					got = c.do(args...)
				}
			}
			if want := steps[len(steps)-1][0]; !strings.Contains(got, want) {
				t.Errorf("%q: the last reply is %q, want %s in it", steps, got, want)
			}
		})
	}
}

// runScript measures the compare-and-delete of a lock that is taken.
func runScript(b *testing.B, c *server.Server) {
	b.Helper()
	out := newMemory()
	c.Dispatch(out.Peer, []string{"SET", "orders/42", "token"})
	c.Dispatch(out.Peer, []string{"SCRIPT", "LOAD", compareAndDelete})
	out.written()
	args := []string{"EVALSHA", sha1Hex(compareAndDelete), "1", "orders/42", "other"}
	b.ReportAllocs()
	for b.Loop() {
		c.Dispatch(out.Peer, args)
		if got := out.written(); got != ":0\r\n" {
			b.Fatal(got)
		}
	}
}

// Compare the two: what running scripts here saves.
func BenchmarkScript(b *testing.B) {
	b.Run("here", func(b *testing.B) {
		m, _ := scriptServer(b)
		runScript(b, m.Server())
	})
	b.Run("miniredis", func(b *testing.B) { runScript(b, plainServer(b).Server()) })
}

// BenchmarkFirstScript is what the first script of a cluster costs.
func BenchmarkFirstScript(b *testing.B) {
	srv := plainServer(b).Server()
	ctx := nestedContext(srv)
	b.ReportAllocs()
	for b.Loop() {
		newInterpreter(cloneContext(ctx))
	}
}
