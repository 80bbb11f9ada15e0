package anomalies

import (
	"slices"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/histories"
)

// rule says which causes show an anomaly: those for which all holds that it names.
type rule struct {
	Anomaly
	breaks []checker.Property  // one of these is explained; nil: any
	by     []checker.CauseKind // the cause is of one of these kinds; nil: any
	call   histories.F         // a call of this sort is among the evidence, and ended with end; empty: no matter
	end    histories.Type
	when   func(Run, checker.Cause) bool // of the run; nil: no matter
}

// holds reports whether a cause shows the anomaly.
func (u rule) holds(r Run, c checker.Cause) bool {
	breaks := func(p checker.Property) bool { return slices.Contains(u.breaks, p) }
	return (u.breaks == nil || slices.ContainsFunc(c.Properties, breaks)) &&
		(u.by == nil || slices.Contains(u.by, c.Kind)) &&
		(u.call == "" || r.rests(c, u.call, u.end)) &&
		(u.when == nil || u.when(r, c))
}

// The properties that somebody else's grant breaks.
func exclusion() []checker.Property {
	return []checker.Property{checker.StrictExclusion, checker.LeaseExclusion, checker.LeaseHonoured, checker.ResourceSafety, checker.CounterSafety}
}

// table has the rules. Of those that hold the first one names the anomaly, so that what says more stands before what says less.
func table() []rule {
	kinds := func(all ...checker.CauseKind) []checker.CauseKind { return all }
	broken := func(all ...checker.Property) []checker.Property { return all }
	lateTold := Anomaly{"A04", "late told", "The holder is told a later end of its lease than its key has, hears that it was lost when it was, or is told that it still holds when it does not."}
	lateGrant := Anomaly{"A08", "late grant", "A command of an acquire whose call has given up takes the lock for nobody: an orphan."}
	resurrects := Anomaly{"A09", "renewal resurrects", "An extend or a renewal makes the key again that had ended or was released."}
	spurious := Anomaly{"A17", "spurious refusal", "A call is refused although the lock was free, or although the server did what was asked."}
	silent := Anomaly{"A19", "silent loss at release", "A release says that it worked, and had reached no server or deleted nothing."}
	return []rule{
		{Anomaly: Anomaly{"A20", "starvation", "Who waits is overtaken more often than the lock promises."}, breaks: broken(checker.Fairness)},
		{Anomaly: Anomaly{"A21", "spin", "A wait sends commands without a pause."}, breaks: broken(checker.Load), by: kinds(checker.Spinning)},
		{Anomaly: Anomaly{"A12", "hang on a hung server", "A server that does not answer keeps the lock from everybody, or a call from returning."}, breaks: broken(checker.Availability), by: kinds(checker.Seen), when: hung},
		{Anomaly: Anomaly{"A15", "server-clock grant", "The lock is granted to another as the clock of a server is wrong, and not as the lease is over."}, breaks: exclusion(), by: kinds(checker.ServerForgot), when: clock},
		{Anomaly: Anomaly{"A07", "split grant", "The lock is granted with its key on no majority of the masters."}, by: kinds(checker.Minority)},
		{Anomaly: Anomaly{"A14", "token prefix", "A holder is let in on the key of another whose token begins with its own."}, by: kinds(checker.TokenPrefix)},
		{Anomaly: Anomaly{"A10", "shared-object release", "The release of one thread ends the hold of another that has its identity from the same object."}, by: kinds(checker.ReleasedAnothers), when: threads},
		{Anomaly: Anomaly{"A01", "foreign release", "A release, or a clean-up, ends the hold of somebody else."}, by: kinds(checker.ReleasedAnothers)},
		{Anomaly: Anomaly{"A02", "foreign renewal", "An extend or a renewal gives the key of another a new time to live."}, by: kinds(checker.ExtendedAnothers)},
		{Anomaly: resurrects, by: kinds(checker.Revived)},
		{Anomaly: lateGrant, by: kinds(checker.LateCommand), call: histories.Acquire, end: histories.Fail},
		{Anomaly: lateGrant, by: kinds(checker.LateCommand), call: histories.Acquire, end: histories.Info},
		{Anomaly: resurrects, by: kinds(checker.LateCommand), when: renews},
		{Anomaly: lateTold, by: kinds(checker.DeadlineTooLate, checker.GrantedLate)},
		{Anomaly: lateTold, by: kinds(checker.FalseDone, checker.NothingAsked), call: histories.Verify, end: histories.OK},
		{Anomaly: lateTold, by: kinds(checker.LeaseOutlived), when: func(r Run, c checker.Cause) bool { return r.Renews && r.told(c) }},
		{Anomaly: Anomaly{"A03", "lost lease untold", "A lock that renews its leases lets one end, and its holder goes on without being told."}, by: kinds(checker.LeaseOutlived), when: renews},
		{Anomaly: Anomaly{"A06", "zombie write", "Who has outlived its lease writes to what the lock protects."}, breaks: broken(checker.ResourceSafety, checker.CounterSafety), by: kinds(checker.LeaseOutlived)},
		{Anomaly: Anomaly{"A05", "immortal lock", "The key is left without an end, or is renewed for a holder that is gone."}, by: kinds(checker.NoExpiry, checker.KeptRenewing)},
		{Anomaly: Anomaly{"A11", "retry loses own lock", "An acquire that is sent again meets its own key, and is refused."}, breaks: broken(checker.TruthfulReplies, checker.DeadlockFreedom, checker.Availability), by: kinds(checker.MetOwnKey), call: histories.Acquire, end: histories.Fail},
		{Anomaly: Anomaly{"A13", "zero-TTL delete", "An extend by nothing, or by less, deletes the holder's own key."}, by: kinds(checker.OwnKeyDeleted), call: histories.Extend, end: histories.OK},
		{Anomaly: Anomaly{"A16", "surprising default lease", "The key is given another time to live than was asked for."}, by: kinds(checker.LeaseTooShort, checker.LeaseTooLong)},
		{Anomaly: Anomaly{"A18", "refused yet keeps something", "An acquire is refused, and leaves a key behind or changes that of another."}, by: kinds(checker.KeyLeftBehind, checker.Trespassed)},
		{Anomaly: silent, by: kinds(checker.NotReleased)},
		{Anomaly: silent, by: kinds(checker.FalseDone, checker.NothingAsked, checker.Unanswered), call: histories.Release, end: histories.OK},
		{Anomaly: spurious, breaks: broken(checker.TruthfulReplies), by: kinds(checker.FalseRefusal)},
		{Anomaly: spurious, breaks: broken(checker.TruthfulReplies, checker.Availability), by: kinds(checker.ServerRefused, checker.NothingAsked), call: histories.Acquire, end: histories.Fail},
	}
}

// rests reports whether a call of a sort that ended in one way is among the evidence of a cause.
func (r Run) rests(c checker.Cause, f histories.F, end histories.Type) bool {
	return slices.ContainsFunc(r.evidence(c), func(e histories.Event) bool { return e.F == f && e.Type == end })
}

// evidence are the events that a cause rests on.
func (r Run) evidence(c checker.Cause) []histories.Event {
	return slices.DeleteFunc(slices.Clone(r.Events), func(e histories.Event) bool { return !slices.Contains(c.Events, e.Index) })
}

// hit reports whether one of some faults was in the run.
func (r Run) hit(faults []histories.F) bool {
	return slices.ContainsFunc(r.Events, func(e histories.Event) bool {
		return e.Process == histories.Nemesis && slices.Contains(faults, e.F)
	})
}

// told reports whether a client of which a cause tells was told that its lease is lost.
func (r Run) told(c checker.Cause) bool {
	of := r.evidence(c)
	return slices.ContainsFunc(r.Events, func(lost histories.Event) bool {
		return lost.F == histories.Lost && slices.ContainsFunc(of, func(e histories.Event) bool { return e.Worker == lost.Worker })
	})
}

func hung(r Run, _ checker.Cause) bool   { return r.hit(r.HungFaults) }
func clock(r Run, _ checker.Cause) bool  { return r.hit(r.ClockFaults) }
func renews(r Run, _ checker.Cause) bool { return r.Renews }

// threads reports whether the clients of which a cause tells are threads of one process.
func threads(r Run, c checker.Cause) bool {
	of := r.evidence(c)
	return len(of) > 0 && !slices.ContainsFunc(of, func(e histories.Event) bool { return e.Worker < 0 || e.Worker >= r.Threads })
}
