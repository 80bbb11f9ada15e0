package checker

import (
	"context"
	"fmt"
	"slices"

	"github.com/lockbench/lockbench/histories"
)

// judgeLottery judges that no round of a lottery has two winners: of the draws of one key
// and one round, which is their Value, at most one was accepted. Whoever draws has the lock
// and has seen that the round had not been drawn.
//
// A draw of unknown outcome accuses nobody, and a round that nobody won is none of this
// judge's business: a client may have given up, and what a lock refuses to everybody is a
// matter of deadlock freedom.
func judgeLottery(_ context.Context, rec *record, _ Options) (Result, error) {
	res := Result{Engine: "count by round"}
	res.count(rec, histories.Draw)

	type round struct{ key, number string }
	won := make(map[round]histories.Op)
	winners := make(map[int]bool)
	twice := 0
	for _, o := range rec.calls {
		if o.Invoke.F != histories.Draw || o.Outcome() != histories.OK {
			continue
		}
		winners[o.Invoke.Worker] = true
		r := round{o.Invoke.Key, o.Invoke.Value}
		first, drawn := won[r]
		if !drawn {
			won[r] = o
			continue
		}
		if twice++; twice == 1 {
			res.Witness = []int{first.Complete.Index, o.Complete.Index}
			slices.Sort(res.Witness)
			res.Story = fmt.Sprintf("%s and %s both won round %s of %s, at %s and at %s.",
				histories.WorkerName(first.Invoke.Worker), histories.WorkerName(o.Invoke.Worker), r.number, r.key,
				seconds(first.Complete.Time), seconds(o.Complete.Time))
		}
	}
	switch {
	case twice > 0:
		res.Verdict = Fail
		res.Story = paragraph(res.Story, fmt.Sprintf("In all, %s too many in %s.", count(twice, "prize"), count(len(won), "round")))
	case len(won) == 0:
		res.Story = "Nobody is known to have won anything."
	default:
		res.Verdict = Pass
		res.Story = fmt.Sprintf("%s had one winner each; %s won.", count(len(won), "round"), count(len(winners), "client"))
	}
	return res, nil
}
