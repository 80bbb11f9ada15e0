package checker

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/words"
)

// disturb takes back what a run cannot say that did not go as it should, for reasons that are
// not the lock's:
//
//   - A run that ended before its time, because a call did not return, virtual time stood still,
//     a server ended by itself, or a step could not be played as the machine stood still, has
//     shown nothing to hold: every Pass becomes Unknown. After the death of a server a Fail does,
//     too.
//   - While lockbench or the machine stood still, every client did, and the servers' clocks may
//     have gone on. A Fail becomes Unknown if what proves it overlaps with the stall or with what
//     it leaves behind, which is over a lease and the slack later. A Fail of before or of after
//     stays, and so does a call that did not return: its limit does not run while nobody does. A Pass does, too: nothing broke, stall or not. But that a lock did not break that
//     ought to is then Unknown; see Compare.
func (r *Report) disturb(rec *record, opt Options, proofs map[Property]frame) {
	for _, e := range rec.Incidents {
		why := disturbance(e)
		r.Disturbed = append(r.Disturbed, why)
		ended := e.F != histories.Stall || e.Err != ""
		for i := range r.Results {
			res := &r.Results[i]
			switch {
			case res.Verdict == Pass && ended,
				res.Verdict == Fail && e.F == histories.Died,
				res.Verdict == Fail && e.F == histories.Stall && !rec.hangs(res.Witness) && proofs[res.Property].overlaps(e, plus(rec.longest, opt.slack())):
				res.Verdict, res.Witness, res.Attempts, res.Window = Unknown, nil, nil, nil
				res.Story = fmt.Sprintf("Not judged, and not the lock's fault: %s.", why)
			}
		}
	}
}

// hangs reports whether a witness is a call that did not return.
func (r *record) hangs(witness []int) bool {
	return len(witness) == 1 && slices.ContainsFunc(r.Incidents, func(e histories.Event) bool {
		return e.F == histories.Hung && e.Index == witness[0]
	})
}

// overlaps reports whether what proves a violation has anything to do with a stall or with what it leaves
// behind.
func (f frame) overlaps(stall histories.Event, left time.Duration) bool {
	return f.to >= stall.Time-stall.TTL && f.from <= plus(stall.Time, left)
}

// disturbance says what happened.
func disturbance(e histories.Event) string {
	why, where, _ := strings.Cut(e.Err, "\n")
	switch e.F {
	case histories.Hung:
		return "the run ended before its time, as a call did not return"
	case histories.Standstill:
		text := why
		if where != "" {
			text += standing(where)
		}
		return text + "; play it in real time, on --backend process"
	case histories.Died:
		return fmt.Sprintf("server %s ended by itself (%s)", e.Node, why)
	}
	text := fmt.Sprintf("lockbench, or the machine, stood still for %s until %s", words.Seconds(e.TTL), words.Seconds(e.Time))
	if why != "" {
		text += ", and so " + why
	}
	return text + "; play it again"
}
