package effects

import (
	"regexp"
	"strings"

	"github.com/lockbench/lockbench/histories"
)

// A lock may be one field of a hash, with a time to live of its own. Its key comes and goes with the field, as long
// as the hash has no other.

// throughOneField keeps what acts on fields of a hash did to their key if nothing but one field of it is ever
// set, and else makes guesses of them.
func throughOneField(acts []act) {
	field, other := "", false
	for _, a := range acts {
		switch {
		case a.would == looked, a.field == "" && a.would == removed:
		case a.field == "":
			other = true
		default:
			other = other || field != "" && field != a.field
			field = a.field
		}
	}
	for i := range acts {
		a := &acts[i]
		if a.field == "" || a.field == field && !other {
			continue
		}
		if a.sight == absent {
			a.sight = perhaps
		}
		if !a.idle() {
			a.intent, a.would = guessed, guessed
		}
	}
}

// readField reads what follows the key of a command on one field of a hash.
func (c *plainCommand) readField(name string, args []string) {
	switch {
	case name == "HSETEX":
		c.setField(args)
	case name == "HDEL" && len(args) == 1:
		c.does, c.field = removed, args[0]
	case (name == "HGET" || name == "HEXISTS") && len(args) == 1:
		c.field = args[0]
	}
}

// setField reads what follows the key of an HSETEX. One that sets several fields, or only those that are there, is a guess.
func (c *plainCommand) setField(args []string) {
	does, ttl := written, histories.NoTTL
	for i, word := range args {
		switch rest := args[i:]; strings.ToUpper(word) {
		case "FNX":
			does = created
		case "EX", "PX":
			if len(rest) > 1 {
				ttl = units(rest[1], unitOf(strings.ToUpper(word), "EX"))
			}
		case "EXAT", "PXAT":
			ttl = 0
		case "FXX", "KEEPTTL", "NX", "XX":
			return
		case "FIELDS":
			if len(rest) == 4 && rest[1] == "1" {
				c.does, c.field, c.value, c.ttl = does, rest[2], rest[3], ttl
			}
			return
		}
	}
}

// readField reads what stands behind the key in a call on one field of a hash.
func (c *scriptCall) readField(rest string) {
	form := ""
	switch c.command {
	case "HGET", "HEXISTS", "HDEL":
		form = `^\s*,\s*['"]([^'"]+)['"]\s*$`
	case "HSETEX":
		form = `(?i)['"]FIELDS['"]\s*,\s*['"]?1['"]?\s*,\s*['"]([^'"]+)['"]\s*,\s*ARGV\[\d+\]\s*$`
	default:
		return
	}
	if m := regexp.MustCompile(form).FindStringSubmatch(rest); m != nil {
		c.field = m[1]
	}
}

// field is that of a hash which all calls are about; "" if there is none.
func (s scriptText) field() string {
	field := ""
	for _, c := range s.calls {
		if c.command == "TIME" || c.command == "PUBLISH" {
			continue
		}
		if c.field == "" || field != "" && field != c.field {
			return ""
		}
		field = c.field
	}
	return field
}
