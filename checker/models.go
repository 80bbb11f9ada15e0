package checker

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/lockbench/lockbench/histories"
)

// Linearizability is what a history of a plain data type is judged by: there is one order of
// its calls that the data type would answer the same way, and in which no call comes before
// one that returned before it began.
const Linearizability Property = "linearizability"

// A Model is a data type that a history is held against.
type Model string

// The models. Each judges every key by itself. A lock that knows its owner takes the worker for
// it: what a client holds, it holds under a new process as well.
const (
	// Register is a register: read, write, and cas, whose value is the pair of what was expected
	// and what is set. It holds nothing at first, or what follows it behind a colon, as in
	// register:5; see Initially. An ok read of nil found nothing.
	Register Model = "register"
	// Mutex is a lock that does not know its owner: acquire and release, which of every lock may
	// be called lock and unlock, too.
	Mutex Model = "mutex"
	// OwnerMutex is a lock that only its holder can release, and that the holder does not get
	// again before.
	OwnerMutex Model = "owner-mutex"
	// ReentrantFenced is a lock that its holder gets again, and is free when the holder has
	// released it as often. Every acquire has a token: one that found the lock free a higher
	// one than any before, a re-entry that of the hold.
	ReentrantFenced Model = "reentrant-fenced"
	// ReentrantFencedRaised is the same, but a re-entry has a higher token than any before, too.
	ReentrantFencedRaised Model = "reentrant-fenced-raised"
	// ReadWriteLock is a lock that many hold whose acquire has the value read, or one alone with
	// the value write or none. A reader may acquire it several times and releases as often.
	ReadWriteLock Model = "rwlock"
	// Semaphore is followed by a colon and a number: so many permits there are, and only who
	// has one can release one.
	Semaphore Model = "semaphore"
	// Counter is a number that is 0 at first: add, whose value may be negative, and read.
	Counter Model = "counter"
)

// Models returns the models; semaphore stands without its number.
func Models() []Model {
	return []Model{Register, Mutex, OwnerMutex, ReentrantFenced, ReentrantFencedRaised, ReadWriteLock, Semaphore, Counter}
}

// Initially returns the model of a register that holds a value at first, as an Event's Value has
// it; of independent keys, each of them. Nil, written so or as an empty string, is nothing. Other
// models begin in a state of their own, which is an error.
func (m Model) Initially(value string) (Model, error) {
	if m != Register {
		return "", fmt.Errorf("model %s begins in a state of its own, want model %s for an initial value", m, Register)
	}
	if value == "" || value == "nil" {
		return m, nil
	}
	return m + ":" + Model(value), nil
}

// mostPermits is how many permits a semaphore may have.
const mostPermits = 1_000_000

// Family is the model without its number or initial value.
func (m Model) Family() Model {
	family, _, _ := strings.Cut(string(m), ":")
	return Model(family)
}

// datatype is how the model acts. The error says what it should have been.
func (m Model) datatype() (datatype, error) {
	family, number, numbered := strings.Cut(string(m), ":")
	if family == string(Semaphore) {
		n, err := strconv.Atoi(number)
		if err != nil || n < 1 || n > mostPermits {
			return datatype{}, fmt.Errorf("model %s needs its number of permits, from 1 to %d, such as semaphore:2", m, mostPermits)
		}
		return semaphoreType(n), nil
	}
	if family == string(Register) {
		return registerType(number), nil
	}
	types := map[Model]func() datatype{
		Mutex: mutexType, OwnerMutex: ownerMutexType, ReentrantFenced: keptTokenType,
		ReentrantFencedRaised: raisedTokenType, ReadWriteLock: readWriteType, Counter: counterType,
	}
	d, known := types[m]
	switch {
	case known:
		return d(), nil
	case numbered && slices.Contains(Models(), Model(family)):
		return datatype{}, fmt.Errorf("model %s has no number, found %q", family, number)
	}
	return datatype{}, fmt.Errorf("there is no such model, want one of %v", Models())
}

// Valid says what is wrong with the name of a model, if anything.
func (m Model) Valid() error {
	_, err := m.datatype()
	return err
}

// CheckModel judges a history by linearizability as a model. Unlike Check it knows nothing of
// locks, attempts and leases, so it judges histories of any origin.
//
// A call that failed did not happen. One of unknown outcome may have happened at any time
// after it began, or not at all: models let a call without an answer pass without effect where
// it cannot have one, and it need not come before the end. Faults are left aside. What is
// called must be what the model has, and a process makes one call at a time; a history in
// which that is not so is not judged. Where all values are tuples of Jepsen's independent
// keys each key is judged by itself; where that is not clear, and it matters, the verdict is
// Unknown.
func CheckModel(ctx context.Context, events []histories.Event, model Model, opt Options) Report {
	var report Report
	start := opt.now()
	d, err := model.datatype()
	d.noun = cmp.Or(d.noun, string(model))
	res := Result{Engine: "porcupine"}
	if err == nil {
		err = d.judge(ctx, events, opt, &res)
	}
	if err != nil {
		report.HarnessErrors = []string{fmt.Sprintf("the history cannot be judged as a %s: %v", d.noun, err)}
		res.Story = "The history was not judged."
	}
	res.Property, res.Took = Linearizability, opt.now()-start
	report.Results = []Result{res}
	report.Verdict = Merge(res.Verdict)
	return report
}

// An action is a call as a model sees it. a, b and n are its arguments, or what it returned.
type action struct {
	f       histories.F
	a, b    string
	n       int64
	owner   int  // of a lock
	unknown bool // whether it happened
}

// A deed is an action with its place in the history.
type deed struct {
	action
	process  int
	key      string
	call, at int // events; at is noEvent if it has no known outcome
}

// noEvent is later than every event.
const noEvent = math.MaxInt

// A datatype is how a model acts.
type datatype struct {
	noun  string // "register"
	init  any
	read  func(histories.Op) (action, error)
	step  func(state any, do action) (bool, any)
	tells func(action) string // what a process did: "wrote 3"
	idle  func(action) bool   // without an outcome it has no effect
	// helps leaves out those of free, which may have happened or not, that can be of no help
	// to kept. Nil: all can.
	helps func(kept, free []deed) []deed
}

func (d datatype) linearize(ctx context.Context, events []histories.Event, opt Options, res *Result) error {
	deeds, err := d.deeds(events, res)
	if err != nil {
		return err
	}
	byKey := make(map[string][]deed)
	for _, x := range deeds {
		byKey[x.key] = append(byKey[x.key], x)
	}
	if len(byKey) == 0 {
		res.Story = "No call succeeded, so nothing was put to the test."
		return nil
	}
	judged, undecided := 0, ""
	for _, key := range sortedKeys(byKey) {
		switch d.check(ctx, byKey[key], noEvent, opt) {
		case porcupine.Ok:
			judged += len(byKey[key])
		case porcupine.Illegal:
			res.Verdict = Fail
			res.Witness, res.Story = d.explain(ctx, key, byKey[key], opt)
			res.Window = within(func(i int) time.Duration { return events[i].Time }, res.Witness)
			return nil
		default:
			if ctx.Err() != nil {
				res.Story = fmt.Sprintf("Not judged: %v.", context.Cause(ctx))
				return nil
			}
			// Another key may be illegal, and that decides.
			undecided = cmp.Or(undecided, fmt.Sprintf("The search for an order of %s%s did not end within %v.", count(len(byKey[key]), "call"), ofKey(key), opt.budget()))
		}
	}
	if undecided != "" {
		res.Story = undecided
		return nil
	}
	res.Verdict = Pass
	res.Story = fmt.Sprintf("%s, in an order that a %s can have answered so.", count(judged, "call"), d.noun)
	return nil
}

func ofKey(key string) string {
	if key == "" {
		return ""
	}
	return " of " + key
}

// deeds are the calls that happened or may have, in order of invocations. Events are named by
// their place.
func (d datatype) deeds(events []histories.Event, res *Result) ([]deed, error) {
	clients := make([]histories.Event, 0, len(events))
	for i, e := range events {
		if e.Process > histories.Nemesis {
			e.Index = i
			clients = append(clients, e)
		}
	}
	ops, err := histories.Pair(clients)
	if err != nil {
		return nil, err
	}
	res.Checked = len(clients)
	deeds := make([]deed, 0, len(ops))
	for _, o := range ops {
		o.Invoke.F = callOf(o.Invoke.F)
		unknown := o.Outcome() == histories.Info
		if unknown {
			res.Unknowns++
		}
		if o.Outcome() == histories.Fail {
			continue
		}
		do, err := d.read(o)
		if err != nil {
			return nil, fmt.Errorf("event %d: %w", o.Invoke.Index, err)
		}
		x := deed{action: do, process: o.Invoke.Process, key: o.Invoke.Key, call: o.Invoke.Index, at: o.Complete.Index}
		if unknown {
			x.unknown, x.at = true, noEvent
			if d.idle(do) {
				continue
			}
		}
		deeds = append(deeds, x)
	}
	return deeds, nil
}

// check looks for an order of the deeds that began before event end; what returned after it
// counts as unknown.
func (d datatype) check(ctx context.Context, deeds []deed, end int, opt Options) porcupine.CheckResult {
	begun := make([]deed, 0, len(deeds))
	for _, x := range deeds {
		if x.call > end {
			break
		}
		if x.at > end {
			x.unknown, x.at = true, noEvent
			if d.idle(x.action) {
				continue
			}
		}
		begun = append(begun, x)
	}
	ops, init := turns(begun, d.init)
	result := porcupine.CheckOperationsTimeout(d.model(ctx, init), ops, opt.budget())
	if ctx.Err() != nil {
		return porcupine.Unknown
	}
	return result
}

// model is the datatype as porcupine asks for it. It takes no more steps when ctx ends.
func (d datatype) model(ctx context.Context, init queued) porcupine.Model {
	return porcupine.Model{
		Init: func() any { return init },
		Step: func(state, input, _ any) (bool, any) {
			if ctx.Err() != nil {
				return false, state
			}
			now, do := state.(queued), input.(turn)
			served, ok := now.serve(do)
			if !ok {
				return false, state
			}
			legal, next := d.step(now.data, do.action)
			return legal, queued{next, served}
		},
	}
}

// Of calls that are the same and that never returned, one that began earlier can stand in for one
// that began later. So they have their effects, if any, in the order in which they began, and no
// other order need be tried: they queue.

// A turn is an action with its place in a queue; queue is -1 if it stands in none.
type turn struct {
	action
	queue int
	place uint32
}

// queued is the state of a datatype, and how many of each queue have had their turn, in 4 bytes
// each.
type queued struct {
	data   any
	served string
}

// serve lets a turn come, if it may come now.
func (q queued) serve(do turn) (string, bool) {
	if do.queue < 0 {
		return q.served, true
	}
	next := []byte(q.served)
	mine := next[4*do.queue:]
	if binary.BigEndian.Uint32(mine) != do.place {
		return "", false
	}
	binary.BigEndian.PutUint32(mine, do.place+1)
	return string(next), true
}

// turns are the deeds as operations, and the state before them.
func turns(deeds []deed, init any) ([]porcupine.Operation, queued) {
	alike := make(map[action]int)
	for _, x := range deeds {
		if x.at == noEvent {
			alike[x.action]++
		}
	}
	type queue struct {
		number int
		length uint32
	}
	queues := make(map[action]*queue)
	ops := make([]porcupine.Operation, 0, len(deeds))
	for _, x := range slices.SortedStableFunc(slices.Values(deeds), func(a, b deed) int { return cmp.Compare(a.call, b.call) }) {
		do := turn{action: x.action, queue: -1}
		if x.at == noEvent && alike[x.action] > 1 {
			q := queues[x.action]
			if q == nil {
				q = &queue{number: len(queues)}
				queues[x.action] = q
			}
			do.queue, do.place = q.number, q.length
			q.length++
		}
		op := porcupine.Operation{Input: do, Call: int64(x.call), Return: math.MaxInt64}
		if x.at != noEvent {
			op.Return = int64(x.at)
		}
		ops = append(ops, op)
	}
	return ops, queued{init, string(make([]byte, 4*len(queues)))}
}

// explain finds the first answer that no order explains. Every beginning of a linearizable
// history is linearizable, so it lies where beginnings cease to be.
func (d datatype) explain(ctx context.Context, key string, deeds []deed, opt Options) ([]int, string) {
	var answers []deed
	for _, x := range deeds {
		if !x.unknown {
			answers = append(answers, x)
		}
	}
	slices.SortFunc(answers, func(a, b deed) int { return a.at - b.at })
	legal, illegal := -1, len(answers)-1
	for illegal-legal > 1 {
		middle := (legal + illegal) / 2
		switch d.check(ctx, deeds, answers[middle].at, opt) {
		case porcupine.Ok:
			legal = middle
		case porcupine.Illegal:
			illegal = middle
		default: // no budget to look closer: what is known is true all the same
			legal = illegal
		}
	}
	culprit := answers[illegal]
	story := fmt.Sprintf("Process %d %s%s (events %d to %d), and no order of the calls up to then explains that.",
		culprit.process, d.tells(culprit.action), ofKey(key), culprit.call, culprit.at)
	before, lead := d.before(deeds, culprit), "The last before it that could:"
	if core := d.core(ctx, deeds, culprit); core != nil {
		before = slices.DeleteFunc(core, func(x deed) bool { return x.call == culprit.call })
		lead = "These calls alone rule it out, whatever became of the others:"
		if len(before) == 0 {
			lead, story = "", story+" No call up to then can have led to it."
		}
	}
	witness := []int{culprit.call, culprit.at}
	var told []string
	for _, x := range before {
		where := fmt.Sprintf("event %d, not known to have returned by then", x.call)
		if x.at <= culprit.at {
			where = fmt.Sprintf("events %d to %d", x.call, x.at)
			witness = append(witness, x.at)
		}
		witness = append(witness, x.call)
		told = append(told, fmt.Sprintf("process %d %s (%s)", x.process, d.tells(x.action), where))
	}
	if more := len(told) - mostTold; more > 0 {
		told = append([]string{fmt.Sprintf("%d more", more)}, told[more:]...)
	}
	if len(told) > 0 {
		story = paragraph(story, lead, strings.Join(told, "; ")+".")
	}
	slices.Sort(witness)
	return slices.Compact(witness), story
}

// mostTold is how many calls a story tells.
const mostTold = 5

// before returns the last calls that could change what the culprit met.
func (d datatype) before(deeds []deed, culprit deed) []deed {
	const most = 3
	var found []deed
	for _, x := range slices.Backward(deeds) {
		if x.call < culprit.at && x.call != culprit.call && !d.idle(x.action) {
			found = append(found, x)
		}
		if len(found) == most {
			break
		}
	}
	slices.Reverse(found)
	return found
}

func alwaysActs(action) bool { return false }

func mutexType() datatype {
	return datatype{
		noun: "mutex",
		init: false,
		read: func(o histories.Op) (action, error) {
			if f := o.Invoke.F; f != histories.Acquire && f != histories.Release {
				return action{}, fmt.Errorf("the call is %q, want acquire or release", f)
			}
			return action{f: o.Invoke.F}, nil
		},
		step: func(state any, do action) (bool, any) {
			locked := do.f == histories.Acquire
			if state == any(locked) {
				return do.unknown, state
			}
			return true, locked
		},
		tells: func(do action) string {
			if do.f == histories.Acquire {
				return "was granted the lock"
			}
			return "released the lock"
		},
		idle: alwaysActs,
	}
}
