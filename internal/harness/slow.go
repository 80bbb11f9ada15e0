package harness

import (
	"strings"
	"time"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/story"
	"github.com/lockbench/lockbench/nemesis"
)

// Slow reports whether a real server left a client without an answer for longer than a fortieth of the lease, and 25 ms at least, while no fault
// was in force that could have been why. Redlock waits twice as long for one server, and half of that may go by in a client, where nobody looks. A lock
// with time-outs of its own then meets lost replies that nobody had planned, and what it is caught in need not be what the run is about.
func (r Result) Slow() bool {
	if histories.VirtualTime(r.Meta.Backend) || len(r.Events) == 0 {
		return false
	}
	most := max(r.Config.TTL/40, 25*time.Millisecond)
	end := r.Events[len(r.Events)-1].Time
	faults := story.Of(r.Events, nil).Faults()
	for _, x := range r.Exchanges {
		until := x.Replied
		if until == 0 {
			until = end
		}
		if until-x.Sent > most && x.Note == "" && !blocks(x) && !disturbed(faults, x.Sent, until, x.Replied != 0) {
			return true
		}
	}
	return false
}

// blocks reports whether a server may take its time with a command.
func blocks(x histories.Exchange) bool {
	verb, _, _ := strings.Cut(x.Command, " ")
	switch strings.ToUpper(verb) {
	case "WAIT", "WAITAOF", "BLPOP", "BRPOP", "BLMOVE", "BZPOPMIN", "BZPOPMAX", "XREAD", "XREADGROUP":
		return true
	}
	return false
}

// disturbed reports whether a fault may have held up what went on between two, by whose end there was an answer or not.
func disturbed(faults []story.Fault, from, to time.Duration, answered bool) bool {
	for _, f := range faults {
		ended := f.Over() && f.Complete.Time < to
		switch {
		case f.Invoke.Time > to || f.Over() && f.Complete.Time < from: // not in force
		case answered && f.Invoke.Time <= from && !ended && stops(f.Invoke.F):
		default:
			return true
		}
	}
	return false
}

// stops reports whether a fault stops all that it strikes while it lasts. What was sent and answered meanwhile it did not strike.
func stops(f histories.F) bool {
	switch f {
	case nemesis.PartitionF, nemesis.OneWayF, nemesis.IsolateF, nemesis.HoldF:
		return true
	}
	return false
}
