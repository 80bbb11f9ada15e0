package oracle

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/certificate/orders"
	"github.com/lockbench/lockbench/internal/testkit/effort"
)

// together is one history of several, each with a key and clients of its own.
func together(all []history) []histories.Event {
	var events []histories.Event
	var processes, workers, attempts int
	for i, h := range all {
		process, worker, attempt := map[int]int{}, map[int]int{}, map[uint64]int{}
		name := strconv.Itoa(i)
		for _, e := range h.events() {
			e.Process = number(process, e.Process, &processes)
			e.Worker = number(worker, e.Worker, &workers)
			if e.Attempt > 0 {
				e.Attempt = uint64(number(attempt, e.Attempt, &attempts)) + 1
			}
			if e.Key != "" {
				e.Key = name
			}
			e.Index = len(events)
			events = append(events, e)
		}
	}
	slices.SortFunc(events, func(a, b histories.Event) int {
		return cmp.Or(cmp.Compare(a.Time, b.Time), cmp.Compare(a.Index, b.Index))
	})
	for i := range events {
		events[i].Index = i
	}
	return events
}

// number is the number of a name, the next one if it has none.
func number[K comparable](numbers map[K]int, name K, next *int) int {
	n, known := numbers[name]
	if !known {
		n = *next
		numbers[name] = n
		*next++
	}
	return n
}

func judge(ctx context.Context, events []histories.Event, p ...checker.Property) checker.Report {
	return checker.Check(ctx, events, checker.Options{Properties: p, Slack: 1}) // the oracle's servers are never late
}

func accused(v checker.Verdict) bool { return v == checker.Fail || v == checker.Disagreement }

// A disagreement is a history of which the checker and the oracle say different things.
type disagreement struct {
	property checker.Property
	ruling   orders.Ruling
	history  history
	n        uint64 // of the seed
	flawless bool   // a sound lock explains it
}

// disagrees reports whether the checker accuses where it must not, or does not where it must.
func disagrees(ctx context.Context, h history, p checker.Property, r orders.Ruling) bool {
	if verdicts(h, newJudge())[p] != r {
		return false
	}
	return wrong(judge(ctx, h.events(), p).Result(p).Verdict, r)
}

// wrong reports whether a verdict is not what it must be.
func wrong(v checker.Verdict, r orders.Ruling) bool {
	return r == orders.MustNot && accused(v) || r == orders.MustFail && v != checker.Fail
}

// A tally is what a comparison found.
type tally struct {
	histories, sound, insane int
	rulings                  map[checker.Property]*[3]int
	asked                    map[checker.Property]int     // how often about what must fail
	count                    map[checker.Property]*[3]int // of disagreements, by what was ruled
	flawless                 map[checker.Property]int     // of these accused, those that a sound lock explains
	wrong                    []disagreement               // the first ones
}

// mostTold is how many disagreements of a kind are shrunk and told.
const mostTold = 150

// compare plays n histories, from first on. Those of which the same properties must not fail are
// judged together, and alone only if one is accused.
func compare(ctx context.Context, seed, first uint64, n int, total *tally) {
	type one struct {
		history
		n uint64
	}
	type set [len(properties)]bool
	alike := map[set][]one{}
	in := newJudge()
	for i := range uint64(n) {
		h, isSound := generate(seed, first+i)
		total.histories++
		if isSound {
			total.sound++
		}
		if !sane(h) {
			total.insane++
			continue
		}
		var acquitted set
		var failing []checker.Property
		for p, r := range verdicts(h, in) {
			total.rulings[p][r]++
			switch r {
			case orders.MustNot:
				acquitted[slices.Index(properties[:], p)] = true
			case orders.MustFail:
				failing = append(failing, p)
			}
		}
		alike[acquitted] = append(alike[acquitted], one{h, first + i})
		if total.asks(failing) {
			total.hold(judge(ctx, h.events(), failing...), disagreement{ruling: orders.MustFail, history: h, n: first + i}, failing)
		}
	}
	for acquitted, group := range alike {
		var which []checker.Property
		for i, p := range properties {
			if acquitted[i] {
				which = append(which, p)
			}
		}
		all := make([]history, len(group))
		for i, o := range group {
			all[i] = o.history
		}
		r := judge(ctx, together(all), which...)
		which = slices.DeleteFunc(which, func(p checker.Property) bool { return !accused(r.Result(p).Verdict) })
		if len(which) == 0 {
			continue
		}
		for _, o := range group {
			total.hold(judge(ctx, o.history.events(), which...), disagreement{ruling: orders.MustNot, history: o.history, n: o.n}, which)
		}
	}
}

// asks reports whether to ask the checker about what must fail: a history at a time, that costs more
// than all else, so one in some is asked about.
func (t *tally) asks(failing []checker.Property) bool {
	const oneIn = 4
	if len(failing) == 0 || t.histories%oneIn != 0 {
		return false
	}
	for _, p := range failing {
		t.asked[p]++
	}
	return true
}

// hold holds a report against what some properties must be.
func (t *tally) hold(r checker.Report, d disagreement, which []checker.Property) {
	for _, p := range which {
		if !wrong(r.Result(p).Verdict, d.ruling) {
			continue
		}
		d.property = p
		t.count[p][d.ruling]++
		if d.flawless = d.ruling == orders.MustNot && flawless(d.history, newJudge()); d.flawless {
			t.flawless[p]++
		}
		if t.count[p][d.ruling] <= mostTold {
			t.wrong = append(t.wrong, d)
		}
	}
}

func newTally() *tally {
	t := &tally{rulings: map[checker.Property]*[3]int{}, count: map[checker.Property]*[3]int{}, asked: map[checker.Property]int{}, flawless: map[checker.Property]int{}}
	for _, p := range properties {
		t.rulings[p], t.count[p] = new([3]int), new([3]int)
	}
	return t
}

// shape is what a history looks like without its times and names.
func shape(h history) string {
	h = slices.Clone(h)
	slices.SortStableFunc(h, func(a, b call) int { return cmp.Compare(a.inv, b.inv) })
	names := map[int]int{}
	numbers := map[[2]int]int{}
	parts := make([]string, len(h))
	for i, c := range h {
		if _, named := names[c.who]; !named {
			names[c.who] = len(names)
		}
		one := [2]int{c.who, c.attempt}
		if _, numbered := numbers[one]; !numbered {
			numbers[one] = len(numbers)
		}
		parts[i] = fmt.Sprintf("%c %s#%d %s %s", 'A'+rune(names[c.who]), c.f, numbers[one], c.outcome, c.mode)
	}
	return strings.Join(parts, "·")
}

// TestOracle holds the checker against the oracle on random small histories. An accusation where
// the oracle has an explanation fails the test, and so does what the checker does not notice where it has none.
//
// LOCKBENCH_SEED chooses a seed, and LOCKBENCH_DURATION how long to go on with it, see
// make differential.
func TestOracle(t *testing.T) {
	seed, err := strconv.ParseUint(cmp.Or(os.Getenv("LOCKBENCH_SEED"), "20251102"), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	until, err := time.ParseDuration(cmp.Or(os.Getenv("LOCKBENCH_DURATION"), "0s"))
	if err != nil {
		t.Fatal(err)
	}
	const batch = 500
	batches := effort.Count(60, 2000)
	total := newTally()
	started := time.Now()
	for i := 0; until == 0 && i < batches || time.Since(started) < until; i++ {
		compare(t.Context(), seed, uint64(i*batch), batch, total)
	}
	t.Logf("seed %d: %d histories, %d of a sound lock, %d left out, in %v", seed, total.histories, total.sound, total.insane, time.Since(started).Round(time.Millisecond))
	for _, p := range properties {
		r, c := total.rulings[p], total.count[p]
		t.Logf("%-16s must not fail %d, accused %d, of a sound lock %d; must fail %d, missed %d of %d; free %d", p, r[orders.MustNot], c[orders.MustNot], total.flawless[p], r[orders.MustFail], c[orders.MustFail], total.asked[p], r[orders.Free])
		long := until == 0 && !testing.Short()
		if long && (total.asked[p] == 0 || r[orders.MustNot] == 0) {
			t.Errorf("%s: nothing was compared", p)
		}
		if c[orders.MustNot] > 0 || c[orders.MustFail] > 0 {
			t.Errorf("%s: %d histories are accused that must not be (%d of them a sound lock explains), and %d are missed", p, c[orders.MustNot], total.flawless[p], c[orders.MustFail])
		}
	}
	report(t, total.wrong)
}

// report shrinks disagreements and tells the smallest of each shape.
func report(t *testing.T, all []disagreement) {
	type class struct {
		smallest disagreement
		times    int
	}
	classes := map[string]*class{}
	for _, d := range all {
		d.history = shrink(d.history, func(h history) bool {
			return disagrees(t.Context(), h, d.property, d.ruling) && (!d.flawless || flawless(h, newJudge()))
		})
		name := fmt.Sprint(d.ruling, d.flawless) + string(d.property) + shape(d.history)
		if classes[name] == nil {
			classes[name] = &class{smallest: d}
		}
		classes[name].times++
	}
	sorted := slices.SortedFunc(maps.Values(classes), func(a, b *class) int {
		return cmp.Or(cmp.Compare(a.smallest.ruling, b.smallest.ruling), cmp.Compare(a.smallest.property, b.smallest.property),
			-cmp.Compare(a.times, b.times), cmp.Compare(len(a.smallest.history), len(b.smallest.history)))
	})
	for _, c := range sorted {
		d := c.smallest
		res := judge(t.Context(), d.history.events(), d.property).Result(d.property)
		why := ""
		if d.flawless {
			why = " (a sound lock explains it)"
		}
		t.Logf("%s %v%s, and the checker says %v (%d×, history %d): %v\n\t%s", d.property, d.ruling, why, res.Verdict, c.times, d.n, d.history, res.Story)
	}
}
