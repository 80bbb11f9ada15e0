package oracle

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/effort"
	"github.com/lockbench/lockbench/histories"
)

// together is one history of several, each with a key and clients of its own.
func together(all []history) []histories.Event {
	var events []histories.Event
	for i, h := range all {
		for _, e := range h.events() {
			e.Worker += 10 * i
			e.Process += 10_000 * i
			if e.Attempt > 0 {
				e.Attempt += uint64(1000 * i)
			}
			if e.Key != "" {
				e.Key = strconv.Itoa(i)
			}
			events = append(events, e)
		}
	}
	slices.SortStableFunc(events, func(a, b histories.Event) int { return cmp.Compare(a.Time, b.Time) })
	for i := range events {
		events[i].Index = i
	}
	return events
}

// judge is what the checker says of a property.
func judge(ctx context.Context, events []histories.Event, p checker.Property) checker.Result {
	return checker.Check(ctx, events, checker.Options{Properties: []checker.Property{p}}).Result(p)
}

// A disagreement is a history of which the checker and the oracle say different things.
type disagreement struct {
	property checker.Property
	ruling   ruling
	history  history
	n        uint64 // of the seed
}

// disagrees says that the checker accuses where it must not, or does not where it must.
func disagrees(ctx context.Context, h history, p checker.Property, r ruling) bool {
	if verdicts(h)[p] != r {
		return false
	}
	v := judge(ctx, h.events(), p).Verdict
	return r == mustNot && (v == checker.Fail || v == checker.Disagreement) || r == mustFail && v != checker.Fail
}

// A tally is what a comparison found.
type tally struct {
	histories, damaged int
	rulings            map[checker.Property]*[3]int
	accused, missed    []disagreement
	misses             map[checker.Property]int
	asked              map[checker.Property]int // of those that must fail
}

// compare plays the histories from first on, n of them.
func compare(ctx context.Context, seed, first uint64, n int, total *tally) {
	acquitted := map[checker.Property][]int{}
	all := make([]history, n)
	for i := range all {
		h, damaged := generate(seed, first+uint64(i))
		all[i] = h
		total.histories++
		if damaged {
			total.damaged++
		}
		if damaged && !sane(h) {
			continue
		}
		for p, r := range verdicts(h) {
			total.rulings[p][r]++
			switch r {
			case mustNot:
				acquitted[p] = append(acquitted[p], i)
			case mustFail:
				total.asked[p]++
				if v := judge(ctx, h.events(), p).Verdict; v != checker.Fail {
					total.misses[p]++
					total.missed = append(total.missed, disagreement{p, r, h, first + uint64(i)})
				}
			}
		}
	}
	for p, which := range acquitted {
		batch := make([]history, len(which))
		for i, j := range which {
			batch[i] = all[j]
		}
		if v := judge(ctx, together(batch), p).Verdict; v != checker.Fail && v != checker.Disagreement {
			continue
		}
		for _, j := range which {
			if v := judge(ctx, all[j].events(), p).Verdict; v == checker.Fail || v == checker.Disagreement {
				total.accused = append(total.accused, disagreement{p, mustNot, all[j], first + uint64(j)})
			}
		}
	}
}

func newTally() *tally {
	t := &tally{rulings: map[checker.Property]*[3]int{}, misses: map[checker.Property]int{}, asked: map[checker.Property]int{}}
	for _, p := range judged() {
		t.rulings[p] = new([3]int)
	}
	return t
}

// shape is what a history looks like without its times.
func shape(h history) string {
	parts := make([]string, len(h))
	for i, c := range h {
		answer := c.outcome.String()
		parts[i] = fmt.Sprintf("%c %s#%d %s %s", 'A'+rune(c.who), c.f, c.attempt, answer, c.mode)
	}
	return strings.Join(parts, "·")
}

// TestOracle holds the checker against the oracle on random small histories. An accusation where
// the oracle has an explanation fails the test. What the checker does not notice is counted.
//
// LOCKBENCH_SEED and LOCKBENCH_DURATION choose a seed and how long to go on.
func TestOracle(t *testing.T) {
	seed, err := strconv.ParseUint(cmp.Or(os.Getenv("LOCKBENCH_SEED"), "20251102"), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	const batch = 100
	batches := effort.Count(300, 3000)
	until, err := time.ParseDuration(cmp.Or(os.Getenv("LOCKBENCH_DURATION"), "0s"))
	if err != nil {
		t.Fatal(err)
	}
	total := newTally()
	started := time.Now()
	for i := 0; until == 0 && i < batches || time.Since(started) < until; i++ {
		compare(t.Context(), seed, uint64(i*batch), batch, total)
	}
	t.Logf("seed %d: %d histories, %d of them damaged, in %v", seed, total.histories, total.damaged, time.Since(started).Round(time.Millisecond))
	for _, p := range judged() {
		r := total.rulings[p]
		t.Logf("%-18s must not fail %d, must fail %d, free %d; missed %d of %d", p, r[mustNot], r[mustFail], r[free], total.misses[p], total.asked[p])
	}
	report(t, total.missed, t.Logf)
	report(t, total.accused, t.Errorf)
}

// report shrinks disagreements and tells the smallest of each shape.
func report(t *testing.T, all []disagreement, tell func(string, ...any)) {
	type class struct {
		smallest disagreement
		times    int
	}
	classes := map[string]*class{}
	const most = 150 // of each property
	seen := map[checker.Property]int{}
	for _, d := range all {
		if seen[d.property]++; seen[d.property] > most {
			continue
		}
		d.history = shrink(d.history, func(h history) bool { return disagrees(t.Context(), h, d.property, d.ruling) })
		name := string(d.property) + " " + shape(d.history)
		if classes[name] == nil {
			classes[name] = &class{smallest: d}
		}
		classes[name].times++
	}
	var sorted []*class
	for _, c := range classes {
		sorted = append(sorted, c)
	}
	slices.SortFunc(sorted, func(a, b *class) int {
		return cmp.Or(cmp.Compare(a.smallest.property, b.smallest.property), -cmp.Compare(a.times, b.times), cmp.Compare(len(a.smallest.history), len(b.smallest.history)))
	})
	for _, c := range sorted {
		d := c.smallest
		res := judge(t.Context(), d.history.events(), d.property)
		tell("%s: the checker says %v, the oracle that it %v (%d×, history %d): %v\n\t%s", d.property, res.Verdict, d.ruling, c.times, d.n, d.history, res.Story)
	}
}
