package checker

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/words"
)

// reading turns the holds of a key into sections.
type reading func(*stretch) []section

// exclusion judges whether the sections of every key could be those of a mutex.
// Two engines decide it, and an answer counts only if both give it. If they
// contradict each other the checker is wrong, and that is a disagreement.
type exclusion struct {
	*record
	read      reading
	interval  func([]section) overlapping
	porcupine func(context.Context, []section, time.Duration) porcupine.CheckResult // nil: the interval engine decides alone
	while     string                                                                // what must not be the case when a grant comes, in the words of the story
	leased    bool                                                                  // it does not apply if nobody asked for a lease that ends
	opt       Options

	grants, overlaps int
	parts, asked     int // of them those about which porcupine was asked
	first            conflicts
	forsaken         bool   // of the first: whose holder was dead, or had walked away
	since            int    // event: if something is missing behind it, that may explain the first
	undecided        string // why nothing is known of a key, if so
}

// exclusionEngines names both.
const exclusionEngines = "porcupine+interval"

func (x *exclusion) observe(ctx context.Context, s *stretch) error {
	sections := x.read(s)
	if len(sections) == 0 {
		return nil
	}
	for i := range sections {
		if sections[i].old = !s.mine(sections[i].grant); !sections[i].old {
			x.grants++
		}
	}
	found := x.interval(sections)
	n, answer := found.n, porcupine.Ok
	switch x.parts++; {
	case x.porcupine != nil && (n > 0 || x.opt.sample(s)):
		x.asked++
		answer = x.porcupine(ctx, sections, x.opt.budget())
		if n > 0 && answer == porcupine.Ok && len(sections) > whole/2 { // no part that it was given has it
			answer = x.porcupine(ctx, found.first.sections(), x.opt.budget())
		}
	case n > 0:
		answer = porcupine.Illegal
	}
	switch {
	case answer == porcupine.Unknown:
		x.undecided = fmt.Sprintf("The porcupine engine gave no answer on %s in its time; the interval engine found %s.", s.key, words.Count(n, "overlap"))
	case answer == porcupine.Ok && n > 0, answer == porcupine.Illegal && n == 0:
		return &disagreement{fmt.Sprintf("on %s porcupine says %s, the interval engine found %s", s.key, answer, words.Count(n, "overlap"))}
	case found.own > 0:
		c := &conflict{witness: found.first.witness(), story: s.tellOverlap(found.first)}
		if x.leased && x.explained(s, c) {
			break
		}
		if x.first.add(s, c); x.first.first == c {
			x.since, x.forsaken = found.first.since(), found.first.forsaken()
		}
		x.overlaps += found.own
	case n == 0 && x.leased:
		x.all(s)
	}
	return nil
}

// explained reports whether something else than a conflict explains as much.
func (x *exclusion) explained(s *stretch, c *conflict) bool {
	counts, either := s.weigh(LeaseHonoured, []*conflict{c})
	x.undecided = cmp.Or(x.undecided, either)
	return len(counts) == 0
}

// all takes grants of which any two can have come one after the other, but not all of them.
func (x *exclusion) all(s *stretch) {
	var found []*conflict
	since := s.from
	if lots := chained(s); lots != nil {
		found = append(found, s.tellChain(lots))
		since = slices.MinFunc(lots, func(a, b lot) int { return a.hold.Invoked.Event - b.hold.Invoked.Event }).hold.Invoked.Event
	}
	found, either := s.weigh(LeaseHonoured, found)
	x.undecided = cmp.Or(x.undecided, either)
	for _, c := range found {
		if !s.mine(c.last()) {
			continue
		}
		x.overlaps++
		if x.first.add(s, c); x.first.first == c {
			x.since = since
		}
	}
}

// sample reports whether both engines judge a stretch that seems quiet.
func (o Options) sample(s *stretch) bool {
	if s.number == 0 || o.Thorough {
		return true
	}
	return rand.New(rand.NewPCG(o.Seed, uint64(s.from))).IntN(sampled) == 0
}

func (x *exclusion) verdict(res *finding) error {
	if x.asked > 0 && x.asked < x.parts {
		res.Engine = fmt.Sprintf("interval, and porcupine on %d of %s", x.asked, words.Count(x.parts, "part"))
	}
	switch {
	case x.leased && x.Leases == 0 && !x.forsaken:
		res.Verdict, res.Story = NotApplicable, "Nobody asked for a lease that ends."
	case x.overlaps > 0:
		res.prove(x.first.first, x.first.first.story)
		if gapped(x.record.opt.Gaps, x.since, x.first.first.last()) {
			defer res.downgrade(x.record.opt.Gaps)
		}
		if x.overlaps > 1 {
			res.Story = paragraph(res.Story, fmt.Sprintf("In all, %s came while %s.", words.Count(x.overlaps, "grant"), x.while))
		}
	case x.undecided != "":
		res.Story = x.undecided
	case x.grants == 0:
		res.Story = "Nobody was granted a lock, so there was nothing to exclude."
	default:
		res.Verdict = Pass
		res.Story = fmt.Sprintf("%s, and none came while %s.", words.Count(x.grants, "grant"), x.while)
	}
	return nil
}

// An overlap is a proof that two sections held one key at once: the second was
// granted while the first was believed in.
type overlap struct {
	first, second *section
	cover         []*section // shared beliefs that cover a surfaced section together with the first
}

// forsaken reports whether the holder of the first had died or walked away when the second was granted, and
// never told of a deadline.
func (o overlap) forsaken() bool {
	h := o.first.hold
	return (h.End == histories.Crash || h.End == histories.Abandon) && h.Ended.Event < o.second.grant && h.Deadline == 0
}

// witness returns the events that prove both grants, in order.
func (o overlap) witness() []int {
	if s := o.second; s.surfaced {
		from := int(s.call / 2)
		if r, ok := accepted(s.hold); ok && !s.late() {
			from = r.Invoked.Event
		}
		w := []int{o.first.grant, from, s.grant}
		for _, s := range o.cover {
			w = append(w, s.grant)
		}
		slices.Sort(w)
		return slices.Compact(w)
	}
	return []int{o.first.grant, o.second.grant}
}

// sections are those that cannot have come one after the other.
func (o overlap) sections() []section {
	all := []section{*o.first, *o.second}
	for _, s := range o.cover {
		all = append(all, *s)
	}
	return all
}

// since is the first event of the attempts of o. Had something been missing since, it could have ended
// one of them, or answered its acquire.
func (o overlap) since() int {
	from := min(o.first.hold.Invoked.Event, o.second.hold.Invoked.Event)
	for _, s := range o.cover {
		from = min(from, s.hold.Invoked.Event)
	}
	return from
}

// tellOverlap tells an overlap in plain English.
func (r *stretch) tellOverlap(o overlap) string {
	first, second := histories.WorkerName(o.first.hold.Worker), histories.WorkerName(o.second.hold.Worker)
	if o.second.late() {
		over := r.when(int(o.second.end / 2))
		if o.second.ended == expired || o.second.ended == deadline {
			over = words.Seconds(max(o.second.until, r.timeOf(o.second.call)))
		}
		return fmt.Sprintf("%s's acquire of %s, invoked at %s, was known to be granted at %s, when its hold was over, which cannot have been before %s; from then to that answer the key was %s's, from %s on.",
			second, o.first.hold.Key, r.when(int(o.second.call/2)), r.when(o.second.grant), over, first, r.when(o.first.grant))
	}
	if o.second.surfaced && len(o.cover) > 0 {
		return fmt.Sprintf("%s's acquire of %s had no known outcome, but its release answered OK at %s, so it had held the lock; %s held it from %s, and with %s there was no instant of that release at which nobody believed to hold it.",
			second, o.first.hold.Key, r.when(o.second.grant), first, r.when(o.first.grant), words.Count(len(o.cover), "other holder"))
	}
	if o.second.surfaced && o.first.owed {
		return fmt.Sprintf("%s's acquire of %s had no known outcome, but its release answered OK at %s, so it had held the lock; %s was granted it at %s, and its lease certainly ran during all of that release.",
			second, o.first.hold.Key, r.when(o.second.grant), first, r.when(o.first.grant))
	}
	if o.second.surfaced {
		return fmt.Sprintf("%s's acquire of %s had no known outcome, but its release answered OK at %s, so it had held the lock; %s held it from %s and believed so during all of that release; %s.",
			second, o.first.hold.Key, r.when(o.second.grant), first, r.when(o.first.grant), r.tellEnd(o.first))
	}
	got := "was granted it"
	if o.second.extended {
		got = "had it extended"
	}
	if first == second {
		got += " again"
	}
	if o.first.owed {
		return fmt.Sprintf("%s's lease of %s%s, granted at %s, certainly ran until %s, but %s %s%s at %s, %s too early.",
			first, o.first.hold.Key, tellMode(o.first), r.when(o.first.grant), words.Seconds(o.first.until),
			second, got, tellMode(o.second), r.when(o.second.grant), words.Seconds(o.first.until-r.of(o.second.grant)))
	}
	return fmt.Sprintf("%s held %s%s from %s and still believed so when %s %s%s at %s; %s.",
		first, o.first.hold.Key, tellMode(o.first), r.when(o.first.grant), second, got, tellMode(o.second), r.when(o.second.grant), r.tellEnd(o.first))
}

// tellMode tells of a section that it was a reader's.
func tellMode(s *section) string {
	if s.hold.Mode == histories.Shared {
		return " for reading"
	}
	return ""
}

// tellEnd tells how the belief of a section ended.
func (r *stretch) tellEnd(s *section) string {
	name := histories.WorkerName(s.hold.Worker)
	switch s.ended {
	case histories.Release:
		return fmt.Sprintf("%s did not ask to release it before %s", name, words.Seconds(s.hold.Ended.Time))
	case histories.Lost:
		return fmt.Sprintf("%s was not told that it was lost before %s", name, words.Seconds(s.hold.Ended.Time))
	case histories.Abandon:
		return fmt.Sprintf("%s did not walk away before %s", name, words.Seconds(s.hold.Ended.Time))
	case histories.Crash:
		return fmt.Sprintf("%s did not crash before %s", name, words.Seconds(s.hold.Ended.Time))
	case expired:
		return fmt.Sprintf("%s's lease certainly ran until %s", name, words.Seconds(s.until))
	case deadline:
		return fmt.Sprintf("%s had been told that its lease ran until %s", name, words.Seconds(s.until))
	}
	return fmt.Sprintf("%s had not given it up when the history ended at %s", name, words.Seconds(r.record.last.Time))
}
