package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/words"
)

// findUnasked finds the commands to the lock's servers that no call of their client sent, such
// as renewals, in order, as far as they came while something happened that is told.
func (t *teller) findUnasked() []histories.Exchange {
	calls := map[string][]histories.Op{}
	for _, o := range t.ops {
		if !o.Fault() {
			who := histories.WorkerName(o.Invoke.Worker)
			calls[who] = append(calls[who], o)
		}
	}
	from, to := t.events[0].Time, t.events[len(t.events)-1].Time
	var found []histories.Exchange
	for _, x := range t.exchanges {
		if x.Node == register || x.Sent < from || x.Sent > to || setup(x.Command) {
			continue
		}
		if !slices.ContainsFunc(calls[x.Client], func(o histories.Op) bool { return sent(o, x, t.keys) }) {
			found = append(found, x)
		}
	}
	slices.SortStableFunc(found, func(a, b histories.Exchange) int { return cmp.Compare(a.Sent, b.Sent) })
	return found
}

// register is the node of the protected register.
const register = "register"

func keysOf(history []histories.Event) map[string]bool {
	keys := map[string]bool{}
	for _, e := range history {
		if e.Key != "" {
			keys[e.Key] = true
		}
	}
	return keys
}

// sent reports whether a call may have sent a command: it was under way, and the command does
// not name another key than the call's.
func sent(o histories.Op, x histories.Exchange, keys map[string]bool) bool {
	if x.Sent < o.Invoke.Time || o.Done && x.Sent >= o.Complete.Time {
		return false
	}
	other := false
	for word := range strings.FieldsSeq(x.Command) {
		if word == o.Invoke.Key {
			return true
		}
		other = other || keys[word]
	}
	return !other
}

// background tells what was sent unasked until an instant. What is the same is told once.
func (t *teller) background(until time.Duration) {
	n := 0
	for n < len(t.unasked) && t.unasked[n].Sent < until {
		n++
	}
	now := t.unasked[:n]
	t.unasked = t.unasked[n:]
	for len(now) > 0 {
		first, times, last := now[0], 0, time.Duration(0)
		now = slices.DeleteFunc(slices.Clone(now), func(x histories.Exchange) bool {
			same := x.Client == first.Client && x.Node == first.Node && x.Command == first.Command && x.Reply == first.Reply && x.Note == first.Note
			if same {
				times, last = times+1, x.Sent
			}
			return same
		})
		what := t.in.Say("in the background")
		if times > 1 {
			what += t.in.Sayf(", %d times until %s", times, words.Instant(last))
		}
		line := fmt.Sprintf("→ %s: %s", show(first.Node), show(first.Command))
		if reply := answer(first, forever, t.in); reply != "" {
			line += "  " + show(reply)
		}
		t.add(Row{First: None, Last: None, At: first.Sent, Who: show(first.Client), What: what, Wire: []string{line}})
	}
}
