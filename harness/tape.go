package harness

import (
	"fmt"
	"sync"
	"time"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/wire"
)

// tape keeps what crosses the wire, for the report. Nothing is judged by it.
type tape struct {
	on bool

	mu   sync.Mutex
	kept []*histories.Exchange
	more int // that there was no room for
}

// tapeLength is how many exchanges are kept. That is the whole of a scenario, and some
// minutes of random load; a run of hours would otherwise fill the memory.
const tapeLength = 50_000

type exchangeID struct{ conn, seq int }

// watch keeps what crosses link from now on.
func (t *tape) watch(client, node string, link *wire.Link, now func() time.Duration) {
	if !t.on {
		return
	}
	open := map[exchangeID]*histories.Exchange{}
	link.Observe(func(e wire.Event) {
		t.mu.Lock()
		defer t.mu.Unlock()
		id := exchangeID{e.Command.Conn, e.Command.Seq}
		x := open[id]
		if x == nil && len(t.kept) == tapeLength {
			if e.Kind == wire.Sent {
				t.more++
			}
			return
		}
		if x == nil {
			x = &histories.Exchange{Sent: now(), Client: client, Node: node, Conn: id.conn, Seq: id.seq, Command: e.Command.String()}
			open[id] = x
			t.kept = append(t.kept, x)
		}
		switch e.Kind {
		case wire.Replied:
			x.Replied, x.Reply = now(), e.Reply
		case wire.Held:
			x.Note = what(e) + " held"
		case wire.Released:
			x.Note = what(e) + " held, then let go"
		case wire.Dropped:
			x.Note = what(e) + " dropped"
		case wire.Executed:
			x.Note = "executed twice, at first " + e.Reply
		}
	})
}

// what says which half of an exchange a fault hit.
func what(e wire.Event) string {
	if e.Reply != "" {
		return "reply"
	}
	return "command"
}

// note says what is missing; empty if nothing is.
func (t *tape) note() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.more == 0 {
		return ""
	}
	return fmt.Sprintf("of the %d commands that crossed the wire the first %d are kept", len(t.kept)+t.more, len(t.kept))
}

func (t *tape) exchanges() []histories.Exchange {
	t.mu.Lock()
	defer t.mu.Unlock()
	all := make([]histories.Exchange, len(t.kept))
	for i, x := range t.kept {
		all[i] = *x
	}
	histories.SortExchanges(all)
	return all
}
