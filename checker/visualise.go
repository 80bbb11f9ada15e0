package checker

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/story"
	"github.com/lockbench/lockbench/internal/words"
)

// Bounds of what is drawn of a violation.
const (
	mostDrawn      = 60 // holds; each is two operations
	mostDrawnBytes = 200_000
	mostAnnotated  = 60
	drawingSteps   = 100_000 // of the model; counted, so that a drawing does not depend on the machine
)

// ErrNothingToDraw says that Visualise was asked about a result that is no violation of
// exclusion, or not one of the history's.
var ErrNothingToDraw = errors.New("want a violation of mutual exclusion, lease exclusion or lease honoured, with the events that prove it")

// Visualise writes what porcupine draws of a violation: a page of HTML, with a script, of which
// every name from the history was made harmless. res is the result of a property of exclusion
// on events. It shows the holds of the key in the witness's window as an owner-aware mutex is
// asked for them, which of them porcupine could put into an order and where it could not go on,
// and beside them what each holder believed, when its lease ended, and the faults.
func Visualise(w io.Writer, events []histories.Event, res Result) error {
	read := map[Property]reading{StrictExclusion: strictSections, LeaseExclusion: leaseSections, LeaseHonoured: servedSections}[res.Property]
	if read == nil || res.Verdict != Fail || len(res.Witness) == 0 {
		return ErrNothingToDraw
	}
	keys, err := divide(events, Options{spared: math.MaxInt})
	if err != nil {
		return fmt.Errorf("the history cannot be drawn: %w", err)
	}
	for _, key := range keys {
		sections := read(key)
		if slices.ContainsFunc(sections, func(s section) bool { return slices.Contains(res.Witness, s.grant) }) {
			return drawing{events, story.Of(events, nil), res, sections, clockOf(timesOf(events))}.write(w)
		}
	}
	return ErrNothingToDraw
}

// drawing is a violation that is being drawn.
type drawing struct {
	events   []histories.Event
	told     *story.Story
	res      Result
	sections []section // of the key
	clock    []int64   // of events
}

// write draws as many of the holds as fit.
func (d drawing) write(w io.Writer) error {
	all := d.nearest()
	for n := min(mostDrawn, len(all)); ; n /= 2 {
		n = max(n, d.proof(all))
		page, fits, err := d.draw(all[:n])
		if err != nil {
			return err
		}
		if fits || n == d.proof(all) {
			_, err := w.Write(page)
			return err
		}
	}
}

// nearest are the holds within the window, those first that prove the violation, and then those
// that were granted nearest to them.
func (d drawing) nearest() []*section {
	first, last := at(slices.Min(d.res.Witness)), at(slices.Max(d.res.Witness))
	if win := d.res.Window; win != nil {
		first, last = min(first, at(win.First)), max(last, at(win.Last))
	}
	var all []*section
	for i := range d.sections {
		if s := &d.sections[i]; s.call <= last && s.end >= first || d.proves(s) {
			all = append(all, s)
		}
	}
	middle := at(d.res.Witness[0])
	distance := func(s *section) rank {
		if d.proves(s) {
			return -1
		}
		return max(s.granted-middle, middle-s.granted)
	}
	slices.SortStableFunc(all, func(a, b *section) int { return cmp.Compare(distance(a), distance(b)) })
	return all
}

// proves reports whether the witness names the grant of a hold.
func (d drawing) proves(s *section) bool { return slices.Contains(d.res.Witness, s.grant) }

// proof is how many of all, at their beginning, are the proof itself.
func (d drawing) proof(all []*section) int {
	n := 0
	for n < len(all) && d.proves(all[n]) {
		n++
	}
	return n
}

// draw draws some holds, and says whether porcupine came to an end with them and the page is
// not too large.
func (d drawing) draw(chosen []*section) (page []byte, fits bool, err error) {
	sections := make([]section, len(chosen))
	for i, s := range chosen {
		sections[i] = *s
	}
	slices.SortFunc(sections, func(a, b section) int { return cmp.Compare(a.call, b.call) })
	ops := d.operations(sections)

	model := mutex(context.Background())
	if sharing(sections) {
		model = parties(context.Background(), sections)
	}
	steps := drawingSteps
	counted := model
	counted.Step = func(state, input, output any) (bool, any) {
		if steps--; steps < 0 {
			return false, state
		}
		return model.Step(state, input, output)
	}
	answer, info := porcupine.CheckOperationsVerbose(counted, ops, 0)
	if answer == porcupine.Ok {
		return nil, false, fmt.Errorf("porcupine finds an order of the holds that %s says there is none of", d.res.Property)
	}
	info.AddAnnotations(d.beliefs(sections))
	info.AddAnnotations(d.faults(sections))
	model.DescribeOperation = func(input, _ any) string { return describe(sections, input.(step)) }
	model.DescribeState = func(state any) string { return describeState(sections, state) }
	model.DescribeOperationMetadata = func(told any) string { return told.(string) }
	var b bytes.Buffer
	err = porcupine.Visualize(model, info, &b)
	return b.Bytes(), steps >= 0 && b.Len() <= mostDrawnBytes, err
}

// operations are the acquires and ends of sections, on the run's clock in nanoseconds. An end
// that nobody answered is drawn as short as it may be, see short.
func (d drawing) operations(sections []section) []porcupine.Operation {
	lanes := lanesOf(sections)
	var ops []porcupine.Operation
	for _, op := range operations(sections) {
		s := &sections[op.section]
		if r, released := accepted(s.hold); op.end && (!released || op.returned != at(r.Returned.Event)) {
			op.returned = op.call + 1
		}
		ops = append(ops, porcupine.Operation{
			ClientId: lanes[s.hold.Worker], Input: op.step, Call: d.instant(op.call), Return: d.instant(op.returned),
			Metadata: d.tell(s, op.end),
		})
	}
	return ops
}

// lanesOf numbers the workers of sections from 0 on, as porcupine's lanes are.
func lanesOf(sections []section) map[int]int {
	workers := make(map[int]bool)
	for i := range sections {
		workers[sections[i].hold.Worker] = true
	}
	lanes := make(map[int]int)
	for lane, worker := range sortedKeys(workers) {
		lanes[worker] = lane
	}
	return lanes
}

// timesOf are the times of events.
func timesOf(events []histories.Event) []time.Duration {
	times := make([]time.Duration, len(events))
	for i := range events {
		times[i] = events[i].Time
	}
	return times
}

// clockOf are the times of events in nanoseconds, moved apart where they are the same or next to
// each other, so that they keep the order of the events and leave room for gaps.
func clockOf(times []time.Duration) []int64 {
	clock := make([]int64, len(times))
	for i, t := range times {
		clock[i] = int64(t)
		if i > 0 {
			clock[i] = max(clock[i], clock[i-1]+2)
		}
	}
	return clock
}

// when is the time of an event as stories tell it.
func (d drawing) when(event int) string { return words.Seconds(d.events[event].Time) }

// instant is a rank as a time of the clock.
func (d drawing) instant(r rank) int64 {
	i := int(r / 2)
	switch {
	case i >= len(d.clock):
		return d.clock[len(d.clock)-1] + 1
	case r%2 == 0:
		return d.clock[i] - 1
	}
	return d.clock[i]
}

// Colours of annotations.
const (
	beliefColour = "#dbe7f6"
	proofColour  = "#f7c5c0"
	faultColour  = "#f3e3b8"
)

// beliefs are what each holder believed, and the deadlines that it was told.
func (d drawing) beliefs(sections []section) []porcupine.Annotation {
	var all []porcupine.Annotation
	_, horizon := d.span(sections)
	told := map[uint64]story.Belief{} // by attempt
	for _, b := range d.told.Beliefs() {
		told[b.Attempt] = b
	}
	for i := range sections {
		s := &sections[i]
		if s.surfaced {
			continue
		}
		who, colour, to := histories.WorkerName(s.hold.Worker), beliefColour, horizon
		if d.proves(s) {
			colour = proofColour
		}
		if s.end != never {
			to = d.instant(s.end)
		}
		verb := "believes that it holds "
		if s.owed {
			verb = "has a lease of "
		}
		all = append(all, porcupine.Annotation{
			Tag: who + " holds", Start: d.instant(s.granted), End: to, BackgroundColor: colour, Description: who,
			Details: who + " " + verb + inert(s.hold.Key) + ", from " + d.when(s.grant),
		})
		for _, l := range told[s.hold.Attempt].Leases() {
			from := max(d.instant(s.granted), int64(l.From))
			if int64(l.To) <= from {
				continue
			}
			all = append(all, porcupine.Annotation{
				Tag: who + " lease", Start: from, End: int64(l.To), BackgroundColor: "#eef0f2", Description: "until " + words.Seconds(l.End),
				Details: fmt.Sprintf("The lock told %s that its lease ends at %s", who, words.Seconds(l.End)),
			})
		}
	}
	return all[:min(len(all), 2*mostDrawn)]
}

// span is from where to where holds are drawn.
func (d drawing) span(sections []section) (from, to int64) {
	from = d.instant(sections[0].call)
	for i := range sections {
		to = max(to, d.instant(sections[i].granted))
		if end := sections[i].end; end != never {
			to = max(to, d.instant(end))
		}
	}
	if win := d.res.Window; win != nil {
		to = max(to, int64(win.To))
	}
	return from, to + 1
}

// faults are those that were in force meanwhile.
func (d drawing) faults(sections []section) []porcupine.Annotation {
	from, to := d.span(sections)
	var all []porcupine.Annotation
	for _, f := range d.told.Faults() {
		begin, end := int64(f.Invoke.Time), to
		if f.Over() {
			end = min(int64(f.Complete.Time), to)
		}
		if begin > to || end < from {
			continue
		}
		if len(all) == mostAnnotated {
			break
		}
		name := inert(f.Name())
		all = append(all, porcupine.Annotation{
			Tag: "fault: " + name, Start: max(begin, from), End: end, BackgroundColor: faultColour, Description: name,
			Details: fmt.Sprintf("%s: %s. Event %d at %s", name, inert(f.Invoke.Value), f.Invoke.Index, words.Seconds(f.Invoke.Time)),
		})
	}
	return all
}
