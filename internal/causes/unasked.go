package causes

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/effects"
	"github.com/lockbench/lockbench/internal/words"
)

// granted explains that an acquire was accepted which no server had granted.
func (s *scene) granted(o *histories.Op) *checker.Cause {
	if o == nil || o.Outcome() != histories.OK {
		return nil
	}
	return cmp.Or(s.nothingAsked(o), s.unanswered(o), s.falseDone(o))
}

// nothingAsked explains that a call was answered with success or refusal and sent no command, or
// none that was on the lock's key.
func (s *scene) nothingAsked(o *histories.Op) *checker.Cause {
	if o == nil || !o.Done || o.Outcome() == histories.Info || s.Exchanges == nil || s.thread(o.Invoke.Worker) {
		return nil
	}
	if len(s.effectsOf(o)) > 0 || len(s.exchangesOf(o)) > 0 {
		return s.askedElsewhere(o)
	}
	what := "accepted"
	if o.Outcome() == histories.Fail {
		what = "refused"
	}
	why, events := s.meanwhile(o)
	return s.cause(checker.NothingAsked, fmt.Sprintf("%s's %s at event %d was %s, and had sent no command to a server%s.",
		histories.WorkerName(o.Invoke.Worker), o.Invoke.F, o.Complete.Index, what, why), nil, append(events, o.Invoke.Index, o.Complete.Index)...)
}

// askedElsewhere explains that a release or an extend was accepted whose commands were all on keys,
// or in a database, where no acquire of the lock ever looked.
func (s *scene) askedElsewhere(o *histories.Op) *checker.Cause {
	if o.Invoke.F == histories.Acquire || o.Outcome() != histories.OK {
		return nil
	}
	home := s.home(o.Invoke.Key)
	var away *effect
	latest := -1
	for _, i := range s.exchangesOf(o) {
		words := s.Exchanges[i].Words
		for _, e := range s.of[i] {
			if slices.Contains(home, e.Place) {
				return nil
			}
			away = e
		}
		named := slices.ContainsFunc(home, func(p histories.Place) bool { return slices.Contains(words, p.Key) })
		if len(words) == 0 || named && len(s.of[i]) == 0 {
			return nil // it may have been on the key
		}
		latest = i
	}
	if latest < 0 || len(home) == 0 {
		return nil
	}
	c := s.shown(latest)
	where := fmt.Sprintf("none of its commands was on the lock's key, %s", home[0].Key)
	if away != nil && away.DB != home[0].DB {
		where = fmt.Sprintf("it had asked database %d, and the lock is in database %d", away.DB, home[0].DB)
	}
	cause := s.cause(checker.NothingAsked, fmt.Sprintf("%s's %s at event %d was accepted, and %s: %s.",
		histories.WorkerName(o.Invoke.Worker), o.Invoke.F, o.Complete.Index, where, quoted(c)), nil, o.Invoke.Index, o.Complete.Index)
	cause.Commands = []checker.CauseCommand{c}
	return cause
}

// errored explains that a call was accepted whose commands were all answered with errors.
func (s *scene) errored(o *histories.Op) *checker.Cause {
	sent := s.exchangesOf(o)
	if len(sent) == 0 || o.Outcome() != histories.OK || slices.ContainsFunc(sent, func(i int) bool { return !failed(s.shown(i).Reply) }) {
		return nil
	}
	c := s.shown(sent[len(sent)-1])
	return &checker.Cause{Kind: checker.ServerRefused, Events: []int{o.Invoke.Index, o.Complete.Index}, Commands: []checker.CauseCommand{c},
		Sentence: fmt.Sprintf("%s's %s at event %d was accepted, and %s had answered it with an error: %s.", c.Client, o.Invoke.F, o.Complete.Index, c.Node, quoted(c))}
}

// home is where acquires of the lock on key looked for it.
func (s *scene) home(key string) []histories.Place {
	var all []histories.Place
	for i := range s.effects {
		if e := &s.effects[i]; e.call.is(histories.Acquire) && e.call.op.Invoke.Key == key && !slices.Contains(all, e.Place) {
			all = append(all, e.Place)
		}
	}
	return all
}

// unanswered explains that a call was accepted before any server had answered it.
func (s *scene) unanswered(o *histories.Op) *checker.Cause {
	sent := s.exchangesOf(o)
	if !o.Done || len(sent) == 0 || s.thread(o.Invoke.Worker) ||
		slices.ContainsFunc(sent, func(i int) bool { return 0 < s.Exchanges[i].Replied && s.Exchanges[i].Replied <= o.Complete.Time }) {
		return nil
	}
	c := s.shown(sent[len(sent)-1])
	why, events := s.meanwhile(o)
	cause := s.cause(checker.Unanswered, fmt.Sprintf("%s's %s at event %d was accepted, and no server had answered it%s: %s.",
		histories.WorkerName(o.Invoke.Worker), o.Invoke.F, o.Complete.Index, why, c.Command), nil, append(events, o.Invoke.Index, o.Complete.Index)...)
	cause.Commands = []checker.CauseCommand{c}
	return cause
}

// meanwhile names the fault that was in force on a call's client, if there was one.
func (s *scene) meanwhile(o *histories.Op) (string, []int) {
	for i := range s.faults {
		f := &s.faults[i]
		ended := f.Done && f.Complete.Type != histories.Info && f.Complete.Time < o.Invoke.Time
		if slices.Contains(s.ClientFaults, f.Invoke.F) && f.Invoke.Node == histories.WorkerName(o.Invoke.Worker) && f.Invoke.Time <= o.Complete.Time && !ended {
			return fmt.Sprintf(" (%s at event %d)", faultName(f), f.Invoke.Index), []int{f.Invoke.Index}
		}
	}
	return "", nil
}

// revived explains that an extend of a, whose key had ended, set it anew.
func (s *scene) revived(a *histories.Hold, m *effect, ended time.Duration) *checker.Cause {
	for _, e := range s.places[m.at][m.n+1:] {
		if e.Kind == effects.Takes && e.call.is(histories.Extend) && e.call.attempt == a.Attempt && e.call.op.Outcome() == histories.OK {
			return s.cause(checker.Revived, fmt.Sprintf("%s's extend was accepted at event %d, when its key had ended at %s, and set it anew: %s.",
				s.who(e), last(e.call.op), words.Seconds(ended), s.quote(e)), []*effect{e, m})
		}
	}
	return nil
}
