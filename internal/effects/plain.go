package effects

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lockbench/lockbench/histories"
)

// plainCommand is a command that is no script.
type plainCommand struct {
	keys  []string
	does  intent // if it does anything
	value string
	ttl   time.Duration
	// refusal are the replies that say that it did nothing, and of looks that there is no key.
	refusal []string
	// field is that of a hash which it is about; "": the key as a whole, or several.
	field string
	// compared is the value that the key must have for it to do anything; "": it need not have any.
	compared string
}

// readCommand reads a command. ok is false for one that touches no key that it names.
func readCommand(words []string) (c plainCommand, ok bool) {
	name, args := words[0], words[1:]
	if len(args) == 0 || !keyed(name) {
		return c, false
	}
	c = plainCommand{keys: args[:1], refusal: []string{"0"}}
	arg := func(i int) string {
		if i < len(args) {
			return args[i]
		}
		return ""
	}
	switch name {
	case "SET":
		c.set(args, arg(1))
	case "SETNX":
		c.does, c.value, c.ttl = created, arg(1), histories.NoTTL
	case "SETEX", "PSETEX":
		c.does, c.value, c.ttl = written, arg(2), units(arg(1), unitOf(name, "SETEX"))
	case "GETSET":
		c.does, c.value, c.ttl, c.refusal = written, arg(1), histories.NoTTL, nil
	case "DEL", "UNLINK":
		c.does, c.keys = removed, args
	case "DELIFEQ":
		c.does, c.compared = removed, arg(1)
	case "DELEX":
		c.does, c.compared = removed, arg(2)
		if len(args) > 1 && !strings.EqualFold(arg(1), "IFEQ") {
			c.does, c.compared = guessed, ""
		}
	case "GETDEL":
		c.does, c.refusal = removed, []string{"nil"}
	case "EXPIRE", "PEXPIRE":
		c.does, c.ttl = prolonged, units(arg(1), unitOf(name, "EXPIRE"))
		if c.ttl <= 0 {
			c.does = removed
		}
	case "EXPIREAT", "PEXPIREAT", "GETEX":
		c.does = prolonged
		if name == "GETEX" {
			c.refusal = []string{"nil"}
		}
	case "PERSIST":
		c.does, c.ttl = prolonged, histories.NoTTL
		c.refusal = nil // 0 may mean that it had none
	case "GET", "EXISTS", "TTL", "PTTL", "TYPE", "STRLEN", "GETRANGE", "HGET", "HEXISTS", "HGETALL", "HLEN", "HKEYS", "HVALS", "HMGET", "HTTL", "HPTTL",
		"ZSCORE", "ZCARD", "ZRANGE", "LRANGE", "LLEN", "SCARD", "SMEMBERS", "SISMEMBER", "EXPIRETIME", "PEXPIRETIME", "WATCH", "DUMP", "TOUCH", "OBJECT":
		c.does = looked
		c.keys, c.refusal = look(name, args)
	}
	c.readField(name, args[1:])
	return c, true
}

// set reads a SET.
func (c *plainCommand) set(args []string, value string) {
	option := func(name string) bool {
		return len(args) > 2 && slices.ContainsFunc(args[2:], func(w string) bool { return strings.EqualFold(w, name) })
	}
	c.does, c.value, c.ttl, c.refusal = written, value, setTTL(args), []string{"nil"}
	switch compared := setIf(args); {
	case option("IFNE") || compared != "" && option("GET"):
		c.does, c.ttl = guessed, 0
	case compared != "":
		c.compared = compared
		if compared == c.value {
			c.does = prolonged
		}
	case option("GET") && (option("NX") || option("XX")):
		c.does, c.ttl = guessed, 0 // a value is an answer of both
	case option("GET"):
		c.refusal = nil
	case option("NX"):
		c.does = created
		if option("KEEPTTL") {
			c.ttl = histories.NoTTL // that of a key which was not there
		}
	}
}

// look returns the keys that a command looks at, and the replies that say that there is none.
func look(name string, args []string) (keys, refusal []string) {
	switch name {
	case "GET", "HGET":
		return args[:1], []string{"nil"}
	case "TTL", "PTTL":
		return args[:1], []string{"-2"}
	case "EXISTS", "HEXISTS":
		return args[:1], []string{"0"}
	case "OBJECT":
		return args[min(1, len(args)):], nil
	case "WATCH":
		return args, nil
	}
	return args[:1], nil
}

// keyed reports whether the first argument of a command is a key, or may be one.
func keyed(name string) bool {
	switch name {
	case "PING", "ECHO", "AUTH", "HELLO", "SELECT", "QUIT", "CLIENT", "CONFIG", "INFO", "COMMAND", "UNWATCH", "SCRIPT", "FUNCTION",
		"SUBSCRIBE", "UNSUBSCRIBE", "PSUBSCRIBE", "PUNSUBSCRIBE", "SSUBSCRIBE", "SUNSUBSCRIBE", "PUBLISH", "SPUBLISH", "PUBSUB",
		"WAIT", "WAITAOF", "TIME", "ROLE", "CLUSTER", "READONLY", "READWRITE", "ASKING", "DBSIZE", "KEYS", "SCAN", "RANDOMKEY",
		"SLOWLOG", "LATENCY", "MEMORY", "SENTINEL":
		return false
	}
	return true
}

// intent is what the command did by its reply.
func (c plainCommand) intent(reply string, keys int) intent {
	switch {
	case c.does == looked:
		return looked
	case errorReply(reply):
		return failed
	case reply == "" || c.does == guessed:
		return guessed
	case slices.Contains(c.refusal, reply):
		return failed
	case c.does == removed && keys > 1 && reply != strconv.Itoa(keys):
		return guessed // of several keys some
	}
	return c.does
}

// sight is what a reply that changed nothing shows.
func (c plainCommand) sight(reply string) presence {
	none := slices.Contains(c.refusal, reply)
	switch {
	case reply == "" || errorReply(reply) || c.refusal == nil:
		return perhaps
	case none && c.compared != "": // there may be none, or another's
		return perhaps
	case none && (c.does == created || c.does == written):
		return there
	case none:
		return absent
	case c.does == looked:
		return there
	}
	return perhaps
}

// setIf is the value that the key must have for a SET with IFEQ; "" without it.
func setIf(args []string) string {
	for i := 2; i+1 < len(args); i++ {
		switch strings.ToUpper(args[i]) {
		case "IFEQ":
			return args[i+1]
		case "PX", "EX", "PXAT", "EXAT":
			i++
		}
	}
	return ""
}

// setTTL reads the options of SET: histories.NoTTL if there is none, 0 if it is told as an instant or not at all.
func setTTL(args []string) time.Duration {
	for i := 2; i < len(args); i++ {
		switch strings.ToUpper(args[i]) {
		case "PX", "EX":
			if i+1 < len(args) {
				return units(args[i+1], unitOf(strings.ToUpper(args[i]), "EX"))
			}
		case "PXAT", "EXAT", "KEEPTTL":
			return 0
		}
	}
	return histories.NoTTL
}

// unitOf is a second if a command is the one that counts in them, and else a millisecond.
func unitOf(name, seconds string) time.Duration {
	if name == seconds {
		return time.Second
	}
	return time.Millisecond
}

// units is a number of units, or 0 if it is none or too large.
func units(word string, unit time.Duration) time.Duration {
	n, err := strconv.ParseInt(word, 10, 64)
	if err != nil || n > int64(endless/4)/int64(unit) || n < -int64(endless/4)/int64(unit) {
		return 0
	}
	return time.Duration(n) * unit
}
