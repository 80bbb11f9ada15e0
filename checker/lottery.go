package checker

import (
	"context"
	"fmt"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/words"
)

// SingleWinner is what judgeLottery judges.
const SingleWinner Property = "single-winner"

func singleWinnerSpec() spec {
	return spec{
		property:   SingleWinner,
		definition: "no round of a lottery is won twice (workload lottery)",
		judge:      judgeLottery,
		concerns:   calls(histories.Draw),
		engine:     "count by round",
		counts:     []histories.F{histories.Draw},
	}
}

// judgeLottery judges that no round of a lottery has two winners: of the draws of one key
// and one round, which is their Value, at most one was accepted. Whoever draws has the lock
// and has seen that the round had not been drawn.
//
// A draw of unknown outcome accuses nobody, and a round that nobody won is none of this
// judge's business: a client may have given up, and what a lock refuses to everybody is a
// matter of deadlock freedom.
func judgeLottery(*record, Options) judge {
	return &lottery{won: make(map[round]*histories.Op), winners: make(map[int]bool)}
}

type lottery struct {
	won     map[round]*histories.Op
	winners map[int]bool // workers
	twice   conflicts
}

type round struct{ key, number string }

func (l *lottery) observe(_ context.Context, s *stretch) error {
	for _, o := range s.calls {
		if o.Invoke.F != histories.Draw || o.Outcome() != histories.OK {
			continue
		}
		if !s.mine(o.Complete.Index) {
			continue
		}
		l.winners[o.Invoke.Worker] = true
		r := round{s.key, o.Invoke.Value}
		first, drawn := l.won[r]
		if !drawn {
			l.won[r] = o
			continue
		}
		l.twice.add(s, &conflict{
			witness: []int{first.Complete.Index, o.Complete.Index}, called: []called{calledBy(first)},
			story: fmt.Sprintf("%s and %s both won round %s of %s, at %s and at %s.",
				histories.WorkerName(first.Invoke.Worker), histories.WorkerName(o.Invoke.Worker), r.number, r.key,
				words.Seconds(first.Complete.Time), words.Seconds(o.Complete.Time)),
		})
	}
	return nil
}

func (l *lottery) verdict(res *finding) error {
	switch twice := l.twice; {
	case twice.n > 0:
		res.prove(twice.first, paragraph(twice.first.story, fmt.Sprintf("In all, %s too many in %s.", words.Count(twice.n, "prize"), words.Count(len(l.won), "round"))))
	case len(l.won) == 0:
		res.Story = "Nobody is known to have won anything."
	default:
		res.Verdict = Pass
		res.Story = fmt.Sprintf("%s had one winner each; %s won.", words.Count(len(l.won), "round"), words.Count(len(l.winners), "client"))
	}
	return nil
}
