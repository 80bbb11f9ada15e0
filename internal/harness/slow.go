package harness

import (
	"strings"
	"time"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/story"
)

// Slow reports whether a real server left a client without an answer for longer than a twentieth of the lease, and 50 ms at least, while no fault
// was in force. That is how long Redlock waits for one server. A lock with time-outs of its own then meets lost replies that nobody had
// planned, and what it is caught in need not be what the run is about.
func (r Result) Slow() bool {
	if histories.VirtualTime(r.Meta.Backend) || len(r.Events) == 0 {
		return false
	}
	most := max(r.Config.TTL/20, 50*time.Millisecond)
	end := r.Events[len(r.Events)-1].Time
	faults := story.Of(r.Events, nil).Faults()
	for _, x := range r.Exchanges {
		until := x.Replied
		if until == 0 {
			until = end
		}
		if until-x.Sent > most && x.Note == "" && !blocks(x) && !disturbed(faults, x.Sent, until) {
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

// disturbed reports whether a fault was in force at some time between two.
func disturbed(faults []story.Fault, from, to time.Duration) bool {
	for _, f := range faults {
		if f.Invoke.Time <= to && (!f.Over() || f.Complete.Time >= from) {
			return true
		}
	}
	return false
}
