package effects

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lockbench/lockbench/histories"
)

// scriptText is what a script can do, as far as its text tells without executing it.
type scriptText struct {
	calls []scriptCall
	clear bool // every call is one of calls
	// inverts says that it answers nil if it got the lock, and else how long that will take.
	inverts bool
}

// scriptCall is one redis.call of a script.
type scriptCall struct {
	command string
	key     int   // number of KEYS, from 1; 0 if that is not told
	args    []int // numbers of ARGV after the key, from 1
	nx, xx  bool  // among its options
	px, ex  bool
	at      bool   // its time to live is told as an instant, or kept
	field   string // of a hash that it is about, if that is a word
	member  bool   // on members of a sorted set, in the form that is seen through
}

// readScript finds the calls in a script's text.
func readScript(text string) scriptText {
	call := regexp.MustCompile(`redis\.p?call\(\s*['"]([A-Za-z]+)['"]\s*(?:,\s*(?:KEYS\[(\d+)\]|[A-Za-z_]\w*))?`)
	argument, option := regexp.MustCompile(`ARGV\[(\d+)\]`), regexp.MustCompile(`['"]([A-Za-z]+)['"]`)
	names := readMemberNames(text)
	s := scriptText{inverts: regexp.MustCompile(`(?i)return\s+redis\.p?call\(\s*['"]p?ttl['"]`).MatchString(text)}
	for _, m := range call.FindAllStringSubmatchIndex(text, -1) {
		c := scriptCall{command: strings.ToUpper(text[m[2]:m[3]])}
		if m[4] >= 0 {
			c.key, _ = strconv.Atoi(text[m[4]:m[5]])
		}
		rest := untilClosed(text[m[1]:])
		if known, ok := names.read(c.command, rest); ok {
			known.key = c.key
			s.calls = append(s.calls, known)
			continue
		}
		if strings.Contains(rest, "redis.") { // what it is given depends on what another call answers
			c.at = true
			s.calls = append(s.calls, c)
			continue
		}
		for _, a := range argument.FindAllStringSubmatch(rest, -1) {
			n, _ := strconv.Atoi(a[1])
			c.args = append(c.args, n)
		}
		for _, o := range option.FindAllStringSubmatch(rest, -1) {
			switch strings.ToUpper(o[1]) {
			case "NX", "FNX":
				c.nx = true
			case "FXX":
				c.xx = true
			case "PX":
				c.px = true
			case "EX":
				c.ex = true
			case "PXAT", "EXAT", "KEEPTTL":
				c.at = true
			}
		}
		c.readField(rest)
		s.calls = append(s.calls, c)
	}
	s.clear = len(s.calls) > 0 && len(s.calls) == strings.Count(text, "redis.call")+strings.Count(text, "redis.pcall")
	return s
}

// untilClosed is text up to the bracket that closes the one which is open where it begins.
func untilClosed(text string) string {
	depth := 1
	for i := range len(text) {
		switch text[i] {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return text[:i]
			}
		}
	}
	return text
}

// script is the script that a command calls. One whose text is not known has no calls.
func (r *reader) script(words []string) (scriptText, bool) {
	switch words[0] {
	case "EVAL", "EVALSHA", "EVAL_RO", "EVALSHA_RO":
		if len(words) > 2 {
			return r.scripts[strings.ToLower(words[1])], true
		}
	case "FCALL", "FCALL_RO":
		return scriptText{}, len(words) > 2
	}
	return scriptText{}, false
}

// acts are those of a call of the script, on each of its keys that it changes or may change.
func (s scriptText) acts(base act, words []string, reply string) []act {
	n, err := strconv.Atoi(words[2])
	if err != nil || n < 0 || n > len(words)-3 || strings.HasPrefix(trimQuote(reply), "NOSCRIPT") {
		return nil
	}
	keys, args := words[3:3+n], words[3+n:]
	var acts []act
	for i, key := range keys {
		if slices.Contains(keys[:i], key) {
			continue
		}
		a := base
		a.place.Key, a.script, a.args, a.null = key, true, args, reply == "nil"
		s.of(i+1, n).act(&a, reply, args, s.inverts)
		acts = append(acts, a)
	}
	return acts
}

func trimQuote(s string) string { return strings.TrimPrefix(s, `"`) }

// of is the part of the script that concerns its i-th key of n.
func (s scriptText) of(i, n int) scriptText {
	part := scriptText{clear: s.clear}
	for _, c := range s.calls {
		if c.key == i || c.key == 0 && n == 1 {
			part.calls = append(part.calls, c)
		}
		part.clear = part.clear && (c.key > 0 || n == 1 || c.command == "TIME")
	}
	return part
}

// looks reports whether a call changes nothing.
func (c scriptCall) looks() bool {
	switch c.command {
	case "GET", "EXISTS", "TTL", "PTTL", "HGET", "HEXISTS", "HLEN", "HGETALL", "TYPE", "GETRANGE", "STRLEN",
		"ZSCORE", "ZCARD", "ZCOUNT", "ZRANGE", "ZREVRANGE", "ZRANGEBYSCORE":
		return true
	}
	return false
}

// act sets what the calls of one key did, by the script's reply.
func (s scriptText) act(a *act, reply string, args []string, inverts bool) {
	makes := false
	if a.member = s.ofMembers(); a.member {
		a.compares = true
		if a.would, a.value, a.ttl = s.onMembers(args); !s.clear {
			a.would = guessed
		}
	} else {
		makes = s.plain(a, args)
	}
	a.intent = a.would
	if a.would == guessed || a.would == looked {
		return
	}
	did, told := tells(reply, inverts && makes)
	switch {
	case !told:
		a.intent = guessed
	case !did:
		a.intent = failed
	}
}

// plain sets what calls that are on no members would do to their key, and says whether they make it.
func (s scriptText) plain(a *act, args []string) (makes bool) {
	var grows, frees, other, onlyNew bool
	a.field = s.field()
	for _, c := range s.calls {
		switch c.command {
		case "SET", "SETNX", "PSETEX", "SETEX":
			makes = true
			onlyNew = onlyNew || c.command == "SETNX" || c.nx
			a.value, a.ttl = c.given(args)
		case "HSET", "HSETNX", "HINCRBY":
			makes = true
		case "HSETEX":
			makes, onlyNew = makes || c.nx, onlyNew || c.nx
			grows = grows || c.xx && a.compares
			other = other || a.field == "" || !c.nx && (!c.xx || !a.compares) // it writes over what is there
			a.value, a.ttl = c.given(args)
		case "HDEL":
			frees, other = frees || a.field != "", other || a.field == ""
		case "EXPIRE", "PEXPIRE", "PEXPIREAT", "EXPIREAT", "PERSIST":
			grows = true
			a.ttl = 0
			if c.command == "PEXPIRE" || c.command == "EXPIRE" {
				_, ttl := c.given(args)
				a.ttl = max(ttl, 0)
			}
		case "DEL", "UNLINK":
			frees = true
		case "PUBLISH", "TIME":
		default:
			a.compares = a.compares || c.looks()
			other = other || !c.looks()
		}
	}
	switch {
	case !s.clear || other || frees && (makes || grows):
		a.would = guessed
	case makes && onlyNew && !grows:
		a.would = created
	case makes:
		a.would = createdOrGrew
	case grows:
		a.would = prolonged
	case frees:
		a.would = removed
	default:
		a.would = looked
	}
	return makes
}

// tells says what a script did by its reply: a positive number and OK mean that it did what it
// was to do, 0, a negative number and nil that it did not; or the other way round. An error may
// have come half-way.
func tells(reply string, inverts bool) (did, told bool) {
	n, err := strconv.ParseInt(reply, 10, 64)
	switch {
	case reply == "nil":
		return inverts, true
	case reply == "OK":
		return true, true
	case err != nil:
		return false, false
	case inverts:
		return false, true
	}
	return n > 0, true
}

// given are the value and the TTL that a call gave its key: "" and 0 if they are not arguments.
func (c scriptCall) given(args []string) (value string, ttl time.Duration) {
	arg := func(i int) string {
		if 0 <= i && i < len(c.args) && 0 < c.args[i] && c.args[i] <= len(args) {
			return args[c.args[i]-1]
		}
		return ""
	}
	switch c.command {
	case "EXPIRE", "PEXPIRE":
		return "", units(arg(0), unitOf(c.command, "EXPIRE"))
	case "SETEX", "PSETEX":
		return arg(1), units(arg(0), unitOf(c.command, "SETEX"))
	case "SETNX":
		return arg(0), histories.NoTTL
	}
	what, long := 0, 1
	if c.command == "HSETEX" {
		what, long = len(c.args)-1, 0
	}
	switch {
	case c.px:
		return arg(what), units(arg(long), time.Millisecond)
	case c.ex:
		return arg(what), units(arg(long), time.Second)
	}
	if c.at || len(c.args) > 1 { // its options may be among the arguments
		return arg(what), 0
	}
	return arg(what), histories.NoTTL
}
