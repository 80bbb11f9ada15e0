package checker

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

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

// Valid returns what is wrong with the name of a model, if anything.
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
	report.Verdict = res.Verdict.Merge()
	return report
}
