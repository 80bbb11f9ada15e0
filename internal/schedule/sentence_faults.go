package schedule

import (
	"fmt"
	"strings"
)

// starts is the sentence of a fault that begins.
func (p Step) starts(who string) string {
	f := faultNamed(p.What)
	if p.Reply {
		return p.filled(f.beginsOnReply, who)
	}
	return p.filled(f.begins, who)
}

// stops is the sentence of a fault that ends.
func (p Step) stops(who string) string { return p.filled(faultNamed(p.What).ends, who) }

// filled is a sentence about the step's fault, with the words of the step in it.
func (p Step) filled(sentence, who string) string {
	return strings.NewReplacer("{client}", who, "{server}", servers(p.On), "{servers}", from(p.On), "{nth}", numbered(p.Replica),
		"{by}", p.By.english(), "{times}", fmt.Sprint(p.Times)).Replace(sentence)
}

// from names the servers that somebody is cut off from.
func from(on []string) string {
	if len(on) == 0 {
		return "the lock's servers"
	}
	return servers(on)
}

func numbered(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" %d", n)
}
