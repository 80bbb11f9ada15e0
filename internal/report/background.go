package report

import (
	"fmt"
	"slices"
	"time"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/words"
)

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
