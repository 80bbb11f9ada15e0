package embedded

import (
	"math"
	"strconv"

	"github.com/alicebob/miniredis/v2/server"
	lua "github.com/yuin/gopher-lua"
)

// maxNesting bounds a reply: a table may contain itself.
const maxNesting = 1000

// writeReply converts what a script returned.
func writeReply(p *server.Peer, value lua.LValue, nesting int) {
	if nesting > maxNesting {
		p.WriteError("ERR reached lua stack limit")
		return
	}
	switch v := value.(type) {
	case lua.LBool:
		if v {
			p.WriteInt(1)
		} else {
			p.WriteNull()
		}
	case lua.LNumber:
		p.WriteInt(truncate(float64(v)))
	case lua.LString:
		p.WriteBulk(string(v))
	case *lua.LTable:
		if err, ok := errField(v); ok {
			p.WriteError(err)
			return
		}
		if status, ok := v.RawGetString("ok").(lua.LString); ok {
			p.WriteInline(string(status))
			return
		}
		n := 0 // the first nil ends an array
		for v.RawGetInt(n+1) != lua.LNil {
			n++
		}
		p.WriteLen(n)
		for i := range n {
			writeReply(p, v.RawGetInt(i+1), nesting+1)
		}
	default:
		p.WriteNull()
	}
}

// truncate is C's conversion on x86, on every machine.
func truncate(f float64) int {
	if f > math.MinInt64 && f < math.MaxInt64 {
		return int(f)
	}
	return math.MinInt64
}

// fromReply converts the reply to a command that a script called.
func fromReply(l *lua.LState, reply any) lua.LValue {
	switch r := reply.(type) {
	case int:
		return lua.LNumber(r)
	case string:
		return lua.LString(r)
	case server.Simple:
		return field(l, "ok", string(r))
	case []any:
		t := l.CreateTable(len(r), 0)
		for _, e := range r {
			t.Append(fromReply(l, e))
		}
		return t
	default:
		return lua.LFalse // a nil
	}
}

// field is a table with one field: a status or an error.
func field(l *lua.LState, name, text string) *lua.LTable {
	t := l.CreateTable(0, 1)
	t.RawSetString(name, lua.LString(text))
	return t
}

// argument is a number as redis.call sends it: like printf's %.17g.
func argument(n lua.LNumber) string {
	f := float64(n)
	if f != 0 && f > -1e17 && f < 1e17 && f == math.Trunc(f) {
		return strconv.FormatInt(int64(f), 10)
	}
	return strconv.FormatFloat(f, 'g', 17, 64)
}
