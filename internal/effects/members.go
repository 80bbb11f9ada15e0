package effects

import (
	"regexp"
	"strconv"
	"time"
)

// A lock may keep its holders as members of a sorted set, each with the instant at which its hold ends, in milliseconds of the server's clock.
// Scripts of that form are seen through: they look at members, purge those that have ended, add one that ends some time after now, remove one,
// and have the key end with the last that is left. Whatever differs from that is not.

// memberNames are the names in such a script that tell what it does.
type memberNames struct {
	clock    bool            // it asks the server for the time
	argument map[string]int  // stands for an argument, by its number from 1, all the time
	last     map[string]bool // is when the last member ends
}

func readMemberNames(text string) memberNames {
	n := memberNames{argument: map[string]int{}, last: map[string]bool{}}
	n.clock = regexp.MustCompile(`redis\.call\(\s*['"]TIME['"]`).MatchString(text)
	once := func(name string) bool {
		return len(regexp.MustCompile(`\b`+name+`\s*=[^=]`).FindAllString(text, -1)) == 1
	}
	for _, m := range regexp.MustCompile(`local\s+(\w+)\s*=\s*(?:tonumber\(\s*)?ARGV\[(\d+)\]\s*\)?\s*(?:\n|;|$)`).FindAllStringSubmatch(text, -1) {
		if once(m[1]) {
			n.argument[m[1]], _ = strconv.Atoi(m[2])
		}
	}
	for _, m := range regexp.MustCompile(`local\s+(\w+)\s*=\s*redis\.call\(\s*['"]ZREVRANGE['"]\s*,\s*[\w\[\]]+\s*,\s*0\s*,\s*0\s*,\s*['"]WITHSCORES['"]\s*\)\s*\[2\]\s*(?:\n|;|$)`).FindAllStringSubmatch(text, -1) {
		n.last[m[1]] = once(m[1])
	}
	return n
}

// read reads a call on members by what stands after its key. ok is false for one that is not of the form.
func (n memberNames) read(command, rest string) (c scriptCall, ok bool) {
	c = scriptCall{command: command, member: true}
	word := `(?:(\w+)|"[^"]*"|'[^']*')\s*$` // a name, or a word of the script
	switch command {
	case "ZADD":
		m := regexp.MustCompile(`^\s*,\s*(\w+)\s*\+\s*(\w+)\s*,\s*` + word).FindStringSubmatch(rest)
		if m == nil || !n.clock || n.argument[m[1]] > 0 || n.argument[m[2]] == 0 || m[3] != "" && n.argument[m[3]] == 0 {
			return c, false
		}
		c.args = []int{n.argument[m[2]], n.argument[m[3]]} // for how long, and who; 0: a word
		return c, true
	case "ZREMRANGEBYSCORE":
		m := regexp.MustCompile(`^\s*,\s*["']?(?:-inf|0)["']?\s*,\s*(\w+)\s*$`).FindStringSubmatch(rest)
		return c, m != nil && n.clock && n.argument[m[1]] == 0
	case "ZREM":
		m := regexp.MustCompile(`^\s*,\s*` + word).FindStringSubmatch(rest)
		return c, m != nil && (m[1] == "" || n.argument[m[1]] > 0)
	case "PEXPIREAT":
		m := regexp.MustCompile(`^\s*,\s*(\w+)\s*$`).FindStringSubmatch(rest)
		return c, m != nil && n.last[m[1]]
	}
	return c, false
}

// ofMembers reports whether a script adds or removes members in the form that is seen through.
func (s scriptText) ofMembers() bool {
	for _, c := range s.calls {
		if c.member {
			return true
		}
	}
	return false
}

// onMembers is what such a script does to its key if it does anything, and for whom and how long: guessed if that cannot be told.
func (s scriptText) onMembers(args []string) (would intent, member string, ttl time.Duration) {
	var adds, removes, ends bool
	for _, c := range s.calls {
		switch {
		case c.looks(), c.command == "TIME", c.command == "PUBLISH", c.member && c.command == "ZREMRANGEBYSCORE": // the last that has ended took the key with it
		case !c.member:
			return guessed, "", 0
		case c.command == "ZADD":
			adds = true
			if who, long := c.added(args); who != "" {
				member, ttl = who, long
			}
		case c.command == "ZREM":
			removes = true
		case c.command == "PEXPIREAT":
			ends = true
		}
	}
	switch {
	case adds && ends && !removes && member != "":
		return createdOrGrew, member, ttl
	case removes && !adds:
		return removed, "", 0
	case !adds && !removes && !ends:
		return looked, "", 0
	}
	return guessed, "", 0
}

// added are whom a call adds, and for how long: "" for a word of the script.
func (c scriptCall) added(args []string) (member string, ttl time.Duration) {
	arg := func(n int) string {
		if 0 < n && n <= len(args) {
			return args[n-1]
		}
		return ""
	}
	return arg(c.args[1]), units(arg(c.args[0]), time.Millisecond)
}
