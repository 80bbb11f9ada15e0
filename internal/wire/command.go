package wire

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Command is one client command as seen on the wire.
type Command struct {
	Name     string   // upper case
	Args     []string // after the name
	Conn     int      // connection on the link, from 1
	Seq      int      // command on the link, from 1
	Database int      // that the connection had selected when the command arrived
}

func newCommand(words [][]byte, conn int) *Command {
	c := &Command{Name: upper(string(words[0])), Conn: conn}
	if len(words) > 1 {
		c.Args = make([]string, len(words)-1)
		for i, w := range words[1:] {
			c.Args[i] = string(w)
		}
	}
	return c
}

// Key is the first key of the command, of a script the first of its KEYS. It is
// "" for a command without a key.
func (c Command) Key() string {
	if i := c.keyIndex(); i >= 0 && i < len(c.Args) {
		return c.Args[i]
	}
	return ""
}

// Keys are all keys of the command, of a script its KEYS. Of a command that is not known to
// have several they are the first alone.
func (c Command) Keys() []string {
	first := c.keyIndex()
	if first < 0 || first >= len(c.Args) {
		return nil
	}
	last := first
	switch c.Name {
	case "EVAL", "EVALSHA", "EVAL_RO", "EVALSHA_RO", "FCALL", "FCALL_RO":
		last = first + c.scriptKeys() - 1
	case "DEL", "UNLINK", "EXISTS", "TOUCH", "MGET", "WATCH", "SINTER", "SUNION", "SDIFF", "PFCOUNT":
		last = len(c.Args) - 1
	case "RENAME", "RENAMENX", "COPY", "SMOVE", "LMOVE", "RPOPLPUSH":
		last = min(first+1, len(c.Args)-1)
	case "MSET", "MSETNX":
		var keys []string
		for i := 0; i < len(c.Args); i += 2 {
			keys = append(keys, c.Args[i])
		}
		return keys
	}
	return c.Args[first : last+1]
}

// On reports whether one of the command's keys, in that database, is one of keys.
func (c Command) On(database int, keys []string) bool {
	if c.Database != database {
		return false
	}
	return slices.ContainsFunc(c.Keys(), func(key string) bool { return slices.Contains(keys, key) })
}

// Reads reports whether the command changes no key, whatever there is. A name that is not listed may
// change one, as scripts may.
func (c Command) Reads() bool {
	switch c.Name {
	case "GET", "MGET", "GETRANGE", "STRLEN", "EXISTS", "TYPE", "TTL", "PTTL", "EXPIRETIME", "PEXPIRETIME", "TOUCH", "OBJECT", "DUMP",
		"HGET", "HMGET", "HGETALL", "HEXISTS", "HLEN", "HKEYS", "HVALS", "HSTRLEN", "HTTL", "HPTTL", "SMEMBERS", "SISMEMBER", "SMISMEMBER", "SCARD",
		"ZSCORE", "ZMSCORE", "ZRANGE", "ZRANGEBYSCORE", "ZREVRANGE", "ZRANK", "ZREVRANK", "ZCARD", "ZCOUNT", "LRANGE", "LLEN", "LINDEX", "LPOS",
		"WATCH", "EVAL_RO", "EVALSHA_RO", "FCALL_RO", "SORT_RO", "BITCOUNT", "GETBIT", "MEMORY":
		return true
	}
	return c.keyIndex() < 0
}

// keyIndex is where in Args the first key is, or -1. A name that is not listed
// has its key first, as most commands have.
func (c Command) keyIndex() int {
	switch c.Name {
	case "PING", "ECHO", "AUTH", "HELLO", "SELECT", "SWAPDB", "QUIT", "RESET", "CLIENT", "CONFIG", "INFO",
		"COMMAND", "MULTI", "EXEC", "DISCARD", "UNWATCH", "SCRIPT", "FUNCTION", "SUBSCRIBE", "UNSUBSCRIBE",
		"PSUBSCRIBE", "PUNSUBSCRIBE", "SSUBSCRIBE", "SUNSUBSCRIBE", "PUBLISH", "SPUBLISH", "PUBSUB", "WAIT",
		"WAITAOF", "TIME", "ROLE", "REPLICAOF", "SLAVEOF", "REPLCONF", "PSYNC", "SYNC", "MONITOR", "ACL",
		"CLUSTER", "READONLY", "READWRITE", "ASKING", "DBSIZE", "FLUSHDB", "FLUSHALL", "KEYS", "SCAN",
		"RANDOMKEY", "SAVE", "BGSAVE", "BGREWRITEAOF", "LASTSAVE", "SHUTDOWN", "SLOWLOG", "LATENCY", "MODULE",
		"FAILOVER", "LOLWUT", "SENTINEL", "DEBUG":
		return -1
	case "EVAL", "EVALSHA", "EVAL_RO", "EVALSHA_RO", "FCALL", "FCALL_RO":
		if c.scriptKeys() == 0 {
			return -1
		}
		return 2
	case "OBJECT", "MEMORY", "XGROUP", "XINFO", "BITOP",
		"ZUNION", "ZINTER", "ZDIFF", "ZINTERCARD", "SINTERCARD", "LMPOP", "ZMPOP":
		return 1
	case "BLMPOP", "BZMPOP", "MIGRATE":
		return 2
	case "XREAD", "XREADGROUP":
		i := slices.IndexFunc(c.Args, func(a string) bool { return strings.EqualFold(a, "STREAMS") })
		if i < 0 {
			return -1
		}
		return i + 1
	}
	return 0
}

// isScript reports whether Args are a script, a number of keys, the keys, and more.
func (c Command) isScript() bool {
	switch c.Name {
	case "EVAL", "EVALSHA", "EVAL_RO", "EVALSHA_RO", "FCALL", "FCALL_RO":
		return len(c.Args) >= 2
	}
	return false
}

func (c Command) scriptKeys() int {
	if !c.isScript() {
		return 0
	}
	n, err := strconv.Atoi(c.Args[1])
	if err != nil || n < 0 {
		return 0
	}
	return min(n, len(c.Args)-2)
}

// String is the command for people: SET orders/42 3f9a… NX PX 3000. Keys are
// kept, long values, scripts and digests are shortened, the number of a script's
// keys is left out, passwords are hidden, and control characters are escaped.
func (c Command) String() string {
	const shown = 16
	var b strings.Builder
	b.WriteString(printable(truncate(c.Name, 24)))
	key, keys := c.keyIndex(), 1
	if c.isScript() {
		keys = c.scriptKeys()
	}
	secret := c.Name == "AUTH"
	for i, a := range c.Args {
		if i == 1 && c.isScript() {
			continue
		}
		if i == shown {
			fmt.Fprintf(&b, " … +%d", len(c.Args)-shown)
			break
		}
		b.WriteByte(' ')
		switch {
		case secret:
			b.WriteString("***")
		case key >= 0 && i >= key && i < key+keys:
			b.WriteString(printable(truncate(a, 64)))
		default:
			b.WriteString(abbreviate(a))
		}
		secret = secret || c.Name == "HELLO" && strings.EqualFold(a, "AUTH")
	}
	return b.String()
}

// Abbreviate shows a value as String shows those of a command.
func Abbreviate(value string) string { return abbreviate(value) }

// abbreviate shortens a value of more than 12 characters: a digest or a random
// token to its first four, anything else to its first eleven. Decimal numbers
// stay whole, since a cut number is a wrong number.
func abbreviate(s string) string {
	const longest = 12
	decimal, digest := true, true
	for i := range len(s) {
		ch := s[i]
		isDigit := ch >= '0' && ch <= '9'
		decimal = decimal && (isDigit || i == 0 && ch == '-')
		digest = digest && (isDigit || ch >= 'a' && ch <= 'f' || ch >= 'A' && ch <= 'F' || ch == '-')
	}
	switch {
	case decimal && len(s) <= 20:
		return printable(s)
	case digest && len(s) > longest:
		return printable(s[:4] + "…")
	case utf8.RuneCountInString(s) > longest:
		return printable(truncate(s, longest))
	}
	return printable(s)
}

// truncate cuts s to at most n characters, the last of them "…". A byte that is
// not UTF-8 counts as a character.
func truncate(s string, n int) string {
	count, cut := 0, 0
	for i := range s {
		if count == n-1 {
			cut = i
		}
		if count == n {
			return s[:cut] + "…"
		}
		count++
	}
	return s
}

// printable quotes s if it is empty or holds a space, a quote, or a character
// that a terminal might obey.
func printable(s string) string {
	q := strconv.Quote(s)
	if s == "" || strings.ContainsRune(s, ' ') || q[1:len(q)-1] != s {
		return q
	}
	return s
}

func upper(s string) string {
	b := []byte(s)
	for i, ch := range b {
		if ch >= 'a' && ch <= 'z' {
			b[i] = ch - 'a' + 'A'
		}
	}
	return string(b)
}

// isWord reports whether b is the upper-case word, in any case.
func isWord(b []byte, word string) bool {
	if len(b) != len(word) {
		return false
	}
	for i, ch := range b {
		if ch >= 'a' && ch <= 'z' {
			ch -= 'a' - 'A'
		}
		if ch != word[i] {
			return false
		}
	}
	return true
}

// endsMatching reports whether replies can no longer be matched to commands after
// this one, so that the connection must be copied as it is. UNSUBSCRIBE belongs
// here because it answers once per channel.
func endsMatching(words [][]byte) bool {
	if len(words) == 0 {
		return false
	}
	name := words[0]
	switch len(name) {
	case 4:
		return isWord(name, "SYNC")
	case 5:
		return isWord(name, "PSYNC")
	case 6:
		return isWord(name, "CLIENT") && len(words) > 2 && isWord(words[1], "REPLY") &&
			(isWord(words[2], "OFF") || isWord(words[2], "SKIP"))
	case 7:
		return isWord(name, "MONITOR")
	case 9:
		return isWord(name, "SUBSCRIBE")
	case 10:
		return isWord(name, "PSUBSCRIBE") || isWord(name, "SSUBSCRIBE")
	case 11:
		return isWord(name, "UNSUBSCRIBE")
	case 12:
		return isWord(name, "PUNSUBSCRIBE") || isWord(name, "SUNSUBSCRIBE")
	}
	return false
}

const blanks = " \t\r\n\v\f\x00"

// splitInline splits a line by the rules of redis-cli: words between spaces,
// "double quotes" with escapes, 'single quotes' with \' only.
func splitInline(line []byte) ([][]byte, error) {
	words := [][]byte{}
	b := line
	for {
		b = bytes.TrimLeft(b, blanks)
		if len(b) == 0 {
			return words, nil
		}
		word := []byte{}
		var quote byte
		for len(b) > 0 {
			ch := b[0]
			b = b[1:]
			if quote == 0 {
				if strings.IndexByte(blanks, ch) >= 0 {
					break
				}
				if ch == '"' || ch == '\'' {
					quote = ch
					continue
				}
				word = append(word, ch)
				continue
			}
			switch {
			case ch == quote:
				if len(b) > 0 && strings.IndexByte(blanks, b[0]) < 0 {
					return nil, syntaxError("a space after a closing quote", line)
				}
				quote = 0
			case ch == '\\' && quote == '\'' && len(b) > 0 && b[0] == '\'':
				word, b = append(word, '\''), b[1:]
			case ch == '\\' && quote == '"' && len(b) > 0:
				word, b = unescape(word, b)
			default:
				word = append(word, ch)
			}
		}
		if quote != 0 {
			return nil, syntaxError("a closing quote", line)
		}
		words = append(words, word)
	}
}

// unescape appends the character that follows a backslash in double quotes.
func unescape(word, b []byte) (longer, rest []byte) {
	if b[0] == 'x' && len(b) >= 3 {
		if v, err := strconv.ParseUint(string(b[1:3]), 16, 8); err == nil {
			return append(word, byte(v)), b[3:]
		}
	}
	ch := b[0]
	if i := strings.IndexByte("nrtba", ch); i >= 0 {
		ch = "\n\r\t\b\a"[i]
	}
	return append(word, ch), b[1:]
}
