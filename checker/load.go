package checker

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/lockbench/lockbench/histories"
)

// What a client that waits for a lock may cost.
const (
	// MostLoad is how many commands per second are too many. A client that polls ten times
	// a second stays far below it, with a lock of five servers too; one that waits for a
	// round trip between two tries, and for nothing else, sends thousands.
	MostLoad = 100
	// shortestWait is the shortest wait that is judged: before it the acquire of a free lock
	// weighs as much as the waiting.
	shortestWait = 100 * time.Millisecond
)

// judgeLoad judges what waiting costs the lock's servers: no acquire that waited sent more
// than MostLoad commands for each second from its invocation to its return, whatever came of
// it. It counts what crossed the wire to the lock's servers on the client's connections, as
// the history has it (histories.Waited); set-up of connections counts.
//
// Waits of less than a tenth of a second are not judged. It is Unknown if there was no other.
func judgeLoad(_ context.Context, rec *record, _ Options) (Result, error) {
	res := Result{Engine: "commands per waiting second"}
	res.count(rec, histories.Waited)

	ops := make(map[uint64]histories.Op)
	for _, o := range rec.calls {
		if o.Invoke.F == histories.Acquire && o.Done {
			ops[o.Invoke.Attempt] = o
		}
	}
	var waited, longest time.Duration
	sent, judged, heavy := 0, 0, 0
	worst := 0.0
	for _, e := range rec.events {
		if e.F != histories.Waited {
			continue
		}
		commands, err := strconv.Atoi(e.Value)
		if err != nil || commands < 0 {
			return res, fmt.Errorf("event %d: a wait sent %q commands, want a number", e.Index, e.Value)
		}
		o, ok := ops[e.Attempt]
		took := o.Complete.Time - o.Invoke.Time
		if !ok || took < shortestWait {
			longest = max(longest, took)
			continue
		}
		judged, sent, waited = judged+1, sent+commands, waited+took
		rate := float64(commands) / took.Seconds()
		if rate <= MostLoad {
			continue
		}
		if heavy++; rate > worst {
			worst = rate
			res.Witness = []int{o.Invoke.Index, o.Complete.Index, e.Index}
			slices.Sort(res.Witness)
			res.Story = fmt.Sprintf("%s waited for %s from %s to %s and sent %d commands meanwhile: %.0f in a second, and more than %d are too many.",
				histories.WorkerName(e.Worker), e.Key, seconds(o.Invoke.Time), seconds(o.Complete.Time), commands, rate, MostLoad)
		}
	}
	if judged == 0 {
		res.Story = fmt.Sprintf("Nobody waited for %s or more, so what waiting costs was not seen; the longest wait took %s.", seconds(shortestWait), seconds(longest))
		return res, nil
	}
	told := fmt.Sprintf("%s took %s together and cost %d commands, %.0f for each second.", count(judged, "wait"), seconds(waited), sent, float64(sent)/waited.Seconds())
	if heavy > 0 {
		res.Verdict = Fail
	} else {
		res.Verdict = Pass
	}
	res.Story = paragraph(res.Story, told)
	return res, nil
}

// waits concerns histories that say what waiting cost.
func waits(rec *record) bool {
	return slices.ContainsFunc(rec.events, func(e histories.Event) bool { return e.F == histories.Waited })
}
