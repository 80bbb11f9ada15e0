package picture

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lockbench/lockbench/histories"
)

// read takes one exchange.
func (g *ledger) read(x histories.Exchange) {
	words := strings.Fields(x.Command)
	key := g.key(words)
	if x.Note == histories.CommandDropped || strings.HasPrefix(x.Reply, `"`) || len(words) == 0 {
		return // it did nothing
	}
	id, at, reply := x.Node+"\x00"+key, executed(x), x.Reply
	verb := strings.ToUpper(words[0])
	line := x.Node + "\x00" + x.Client + "\x00" + strconv.Itoa(x.Conn)
	if verb == "EXEC" {
		q := g.queued[line]
		delete(g.queued, line)
		if q != nil && strings.HasPrefix(reply, "[1") {
			g.remove(x.Node+"\x00"+g.key(q), at, g.in.Say("deleted by %s"), x.Client)
		}
		return
	}
	if key == "" {
		return
	}
	switch verb {
	case "SET", "SETNX", "GETSET":
		if len(words) >= 3 {
			g.set(id, x, key, verb, words)
		}
	case "HSETEX":
		if len(words) > 3 && strings.EqualFold(words[2], "FNX") { // the field's value comes last
			g.set(id, x, key, "SETNX", append([]string{"SETNX", key, words[len(words)-1]}, words[3:]...))
		}
	case "DEL", "UNLINK":
		g.deleted(id, x, line, words)
	case "DELEX", "DELIFEQ":
		g.deletedOwn(id, x, words[len(words)-1])
	case "GET", "EXISTS":
		if reply == "nil" || reply == "0" {
			g.gone(id, at)
		} else if reply != "" { // somebody saw it
			g.sign(id, at)
		}
	case "EXPIRE", "PEXPIRE":
		if reply == "1" && len(words) > 2 {
			unit := time.Millisecond
			if verb == "EXPIRE" {
				unit = time.Second
			}
			g.prolong(id, at, "", number(words[2], unit))
		}
	case "EVAL", "EVALSHA", "FCALL":
		g.scripted(id, x, key, words)
	}
}

// set reads a command that stores a token, if it did.
func (g *ledger) set(id string, x histories.Exchange, key, verb string, words []string) {
	at, reply := executed(x), x.Reply
	dropped := reply == "" // it was executed, and nobody saw the reply
	option := func(name string) bool {
		return slices.ContainsFunc(words[3:], func(w string) bool { return strings.EqualFold(w, name) })
	}
	onlyNew := verb == "SETNX" || option("NX")
	switch {
	case option("IFEQ") && reply == "OK" && g.prolong(id, at, words[2], ttlOf(words[3:])):
	case option("IFEQ") && reply == "nil": // there is none, or another's
	case (verb == "GETSET" || option("GET") && !onlyNew) && !dropped:
		g.remove(id, at, g.in.Say("overwritten by %s"), x.Client)
		g.take(id, x, key, words[2], ttlOf(words[3:]), false)
	case reply == "OK" || reply == "1" && verb == "SETNX":
		if onlyNew {
			g.gone(id, at)
		} else {
			g.remove(id, at, g.in.Say("overwritten by %s"), x.Client)
		}
		g.take(id, x, key, words[2], ttlOf(words[3:]), false)
	case dropped && !g.holds(id, at):
		h := g.take(id, x, key, words[2], ttlOf(words[3:]), false)
		h.unsure = true
	default:
		g.sign(id, at)
	}
}

// deleted reads a command that deletes a key: by now, by its EXEC, or perhaps.
func (g *ledger) deleted(id string, x histories.Exchange, line string, words []string) {
	switch x.Reply {
	case "1":
		g.remove(id, executed(x), g.in.Say("deleted by %s"), x.Client)
	case "0":
		g.gone(id, executed(x))
	case "QUEUED":
		g.queued[line] = words
	case "":
		for _, h := range g.now[id] {
			h.unsure = true
		}
	}
}

// deletedOwn reads a command that deletes a key if it holds a token.
func (g *ledger) deletedOwn(id string, x histories.Exchange, token string) {
	switch x.Reply {
	case "1":
		g.release(id, executed(x), token, x.Client, false)
	case "":
		for _, h := range g.now[id] {
			h.unsure = h.unsure || h.token == token
		}
	}
}

// scripted reads what a script did by the call that sent it and by its reply.
func (g *ledger) scripted(id string, x histories.Exchange, key string, words []string) {
	o, calling := g.call(x)
	at, reply := executed(x), x.Reply
	token, ttl := "", time.Duration(0)
	for _, w := range words[2:] {
		switch {
		case strings.Contains(w, key):
		case number(w, time.Millisecond) >= 100*time.Millisecond && number(w, time.Millisecond) < 24*time.Hour:
			ttl = number(w, time.Millisecond)
		case token == "" && len(w) > 2:
			token = w
		}
	}
	switch {
	case calling && o.Invoke.F == histories.Acquire && ttl == 0 && reply == "1" && g.owns(id, x.Client, token):
		g.release(id, at, token, x.Client, false) // it cleans up behind itself
	case calling && o.Invoke.F == histories.Acquire:
		if !o.Done || o.Complete.Type == histories.Info {
			if reply == "" && !g.holds(id, at) {
				g.take(id, x, key, token, o.Invoke.TTL, true).unsure = true
			}
			return
		}
		if o.Complete.Type == histories.OK && reply != "0" && reply != "-1" {
			if o.Invoke.Mode() == histories.Exclusive {
				g.gone(id, at)
			}
			if o.Invoke.Mode() != histories.Exclusive && g.reenter(id, at, token, x.Client, o.Invoke.TTL) {
				return // entered again
			}
			g.take(id, x, key, token, o.Invoke.TTL, true)
		}
	case calling && o.Invoke.F == histories.Release:
		switch {
		case reply == "1" || reply == "OK":
			g.release(id, at, token, x.Client, false)
		case reply == "nil" && o.Done && o.Complete.Type == histories.OK: // the call alone says so
			g.release(id, at, token, x.Client, true)
		}
	case reply == "1" && ttl > 0:
		g.prolong(id, at, token, ttl)
	}
}

// key is that of the history's keys which a command names first.
func (g *ledger) key(words []string) string {
	for _, w := range words[min(1, len(words)):] {
		if g.keys[w] {
			return w
		}
		if i := strings.LastIndexByte(w, ':'); i > 0 && (g.keys[w[i+1:]] || g.keys[w[:i]]) {
			if g.keys[w[i+1:]] {
				return w[i+1:]
			}
			return w[:i]
		}
	}
	return ""
}

// ttlOf reads the options of SET.
func ttlOf(words []string) time.Duration {
	for i := 0; i+1 < len(words); i++ {
		switch strings.ToUpper(words[i]) {
		case "PX":
			return number(words[i+1], time.Millisecond)
		case "EX":
			return number(words[i+1], time.Second)
		}
	}
	return 0
}

func number(word string, unit time.Duration) time.Duration {
	n, err := strconv.ParseInt(word, 10, 64)
	if err != nil || n < 0 || n > int64(1<<62)/int64(unit) {
		return 0
	}
	return time.Duration(n) * unit
}
