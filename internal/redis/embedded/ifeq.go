package embedded

import (
	"bufio"
	"slices"
	"strconv"
	"strings"

	"github.com/alicebob/miniredis/v2/server"

	"github.com/lockbench/lockbench/internal/wire"
)

// condition is a command that does something if a key has a value, or has another one.
type condition struct {
	key, value string
	not        bool     // if it has another value, or is not there
	then       []string // the command without its condition
	else0      bool     // the answer is 0, and not nil, if nothing was done
	get        bool     // the answer is what the key held
}

const syntaxError = "ERR syntax error"

// conditional reports whether it has answered a command that miniredis does not know: DELEX of Redis
// 8.4, DELIFEQ of Valkey 9.0, and SET with IFEQ or IFNE of Valkey 8.1 and Redis 8.4.
func (s *scripts) conditional(p *server.Peer, cmd string, args []string) bool {
	var c condition
	var refusal string
	switch cmd {
	case "DELIFEQ":
		c, refusal = delIfEq(args)
	case "DELEX":
		if len(args) == 1 {
			s.srv.Dispatch(p, []string{"DEL", args[0]}) // without a condition it is that
			return true
		}
		c, refusal = delEx(args)
	case "SET":
		at := conditionAt(args)
		if at < 0 {
			return false
		}
		c, refusal = setIf(args, at)
	default:
		return false
	}
	conn := stateOf(p)
	if refusal == "" && conn.multi {
		refusal = notSimulated + cmd + " with a condition in a transaction"
	}
	if refusal != "" {
		if conn.multi {
			spoil(s.srv, p)
		}
		p.WriteError(refusal)
		return true
	}
	var reply string
	s.atomically(p, conn, func(do func(...string) string) { reply = c.answer(do) })
	if reply == "" {
		p.WriteNull()
	} else {
		p.WriteRaw(reply)
	}
	return true
}

// atomically calls f with what executes a command and returns its reply in RESP. No other client's
// comes between.
func (s *scripts) atomically(p *server.Peer, conn connState, f func(do func(...string) string)) {
	if conn.nested { // the script has the lock
		inner := newMemory()
		inner.Ctx = p.Ctx
		f(func(args ...string) string {
			s.srv.Dispatch(inner.Peer, args)
			return inner.written()
		})
		return
	}
	in := s.shared.lua.get(s.srv, false)
	if in == nil {
		f(func(...string) string { return "-" + notSimulated + "conditions, with this version of miniredis\r\n" })
		return
	}
	s.redis.Lock()
	in.attach(s.srv, conn.db, &s.random)
	f(func(args ...string) string {
		in.dispatch(args)
		return in.caller.buf.String()
	})
	s.redis.Unlock()
	s.shared.lua.put(in)
}

// answer does what the command is to do, and returns its reply in RESP; "" is a nil.
func (c condition) answer(do func(...string) string) string {
	held := do("GET", c.key)
	was, err := wire.ReadReply(bufio.NewReader(strings.NewReader(held)))
	if err != nil || was.Err() != nil {
		return held
	}
	equal := !was.Null && was.Text() == c.value
	if equal != c.not {
		return nilOr(do(c.then...))
	}
	switch {
	case c.get:
		return nilOr(held)
	case c.else0:
		return ":0\r\n"
	}
	return ""
}

// nilOr is a reply, or "" for a nil.
func nilOr(reply string) string {
	if reply == "$-1\r\n" {
		return ""
	}
	return reply
}

// delIfEq reads DELIFEQ key value.
func delIfEq(args []string) (c condition, refusal string) {
	if len(args) != 2 {
		return c, "ERR wrong number of arguments for 'delifeq' command"
	}
	return condition{key: args[0], value: args[1], then: []string{"DEL", args[0]}, else0: true}, ""
}

// delEx reads DELEX key IFEQ value, or IFNE.
func delEx(args []string) (c condition, refusal string) {
	if len(args) != 3 {
		return c, "ERR wrong number of arguments for 'delex' command"
	}
	c = condition{key: args[0], value: args[2], then: []string{"DEL", args[0]}, else0: true}
	switch strings.ToUpper(args[1]) {
	case "IFEQ":
	case "IFNE":
		c.not = true
	case "IFDEQ", "IFDNE":
		refusal = notSimulated + "DELEX with a digest"
	default:
		refusal = "ERR Invalid condition. Use IFEQ, IFNE, IFDEQ, or IFDNE"
	}
	return c, refusal
}

// conditionAt is where the condition of a SET is, or -1 if it has none.
func conditionAt(args []string) int {
	for i := 2; i < len(args); i++ {
		switch strings.ToUpper(args[i]) {
		case "IFEQ", "IFNE":
			return i
		case "EX", "PX", "EXAT", "PXAT":
			i++
		}
	}
	return -1
}

// setIf reads a SET whose condition is at that place.
func setIf(args []string, at int) (c condition, refusal string) {
	if at+1 >= len(args) {
		return c, syntaxError
	}
	rest := slices.Concat(args[:at], args[at+2:])
	c = condition{key: args[0], value: args[at+1], not: strings.EqualFold(args[at], "IFNE"), then: append([]string{"SET"}, rest...)}
	expiries := 0
	for i := 2; i < len(rest); i++ {
		switch strings.ToUpper(rest[i]) {
		case "GET":
			c.get = true
		case "KEEPTTL":
			expiries++
		case "EX", "PX", "EXAT", "PXAT":
			expiries++
			if i++; i >= len(rest) {
				return c, syntaxError
			}
			if why := expiry(rest[i]); why != "" {
				refusal = why
			}
		default: // NX, XX and a second condition, too
			return c, syntaxError
		}
	}
	if expiries > 1 {
		return c, syntaxError
	}
	return c, refusal
}

// expiry says what is wrong with when a key is to end.
func expiry(word string) string {
	n, err := strconv.ParseInt(word, 10, 64)
	switch {
	case err != nil:
		return "ERR value is not an integer or out of range"
	case n <= 0:
		return "ERR invalid expire time in 'set' command"
	}
	return ""
}
