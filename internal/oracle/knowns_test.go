package oracle

import (
	"slices"
	"time"

	"github.com/lockbench/lockbench/checker"
)

// knownHistories are histories that a checker got wrong once, the smallest of their class.
func knownHistories() []known {
	return slices.Concat(soundHistories(), soundReentries(), ownReleases(), doubleGrants(), forgottenGrants(), falseAnswers(), brokenTokens(), brokenResource(), unusualLeases())
}

// soundHistories are those in which one explanation, at least, breaks no promise.
func soundHistories() []known {
	const (
		truthful = checker.TruthfulReplies
		owners   = checker.Ownership
		honoured = checker.LeaseHonoured
	)
	return []known{
		{name: "an extend meets its own release", want: acquits(truthful),
			history: "A acq 0-1 ok 10s · A ext 10-50 refused · A rel 20-30 ok"},
		{name: "an extend shortens before it returns, and a release is refused", want: acquits(truthful),
			history: "A acq 0-1 ok 10s · A ext(300ms) 1000-3000 ok · A rel 2000-2010 refused"},
		{name: "an extend shortens before it returns, and another is refused", want: acquits(truthful),
			history: "A acq 0-1 ok 10s · A ext(300ms) 1000-3000 ok · A ext 2000-2010 refused"},
		{name: "an extend shortens, and nobody's release ended the hold", want: acquits(owners),
			history: "B acq 0-1 ok 10s · B rel 10-30 ok · A acq 12-13 ok 10s · A ext(300ms) 1000-3000 ok · A rel 2000-2001 refused"},
		{name: "an extend shortens, and another is granted the lock", want: acquits(owners, honoured),
			history: "B acq 0-1 ok 10s · B rel 10-30 ok · A acq 12-13 ok 10s · A ext(300ms) 1000-3000 ok · C acq 2000-2001 ok 10s"},
		{name: "an extend shortens a lease that is over when it returns", want: acquits(honoured),
			history: "A acq 40-50 ok 40ms · A ext(10ms) 50-80 ok · B acq 40-60 ok 1s"},
		{name: "a release of one whom a double grant had let in", want: acquits(owners),
			history: "A acq 0-1 ok 10s · B acq 10-11 ok 10s · A rel 20-21 ok · C acq 30-31 ok 10s"},
		{name: "a release of one who may have been let in beside", want: acquits(owners),
			history: "B acq 0-1 ok 10s · A acq 10-11 info 10s · A rel 20-21 ok · C acq 30-31 ok 10s"},
	}
}

// soundReentries are sound histories of re-entrant locks, which have one count and one lease
// for each holder.
func soundReentries() []known {
	const (
		reentry  = checker.Reentrancy
		owners   = checker.Ownership
		honoured = checker.LeaseHonoured
		twice    = "A acq#1 0-1 ok 10s reenter · A acq#2 2-3 ok 10s reenter · "
	)
	return []known{
		{name: "an extend shortens before it returns, and nothing is counted", want: acquits(reentry),
			history: "A acq 0-1 ok 10s reenter · A ext(300ms) 1000-3000 ok · A count 2000-2010 = 0"},
		{name: "an extend shortens before it returns, and a re-entry is refused", want: acquits(reentry),
			history: "A acq 0-1 ok 10s reenter · A ext(300ms) 1000-3000 ok · B acq 1900-1901 ok 10s reenter · A acq 2000-2010 refused 10s reenter"},
		{name: "an extend of one attempt shortens the lease of both", want: acquits(reentry),
			history: twice + "A ext#2(300ms) 10-20 ok · A count 1000 = 0"},
		{name: "an extend of unknown outcome shortens the lease of both", want: acquits(reentry),
			history: twice + "A ext#2(300ms) 10-20 info · A count 1000 = 0"},
		{name: "another is granted the lock after both", want: acquits(honoured, owners),
			history: twice + "A ext#2(300ms) 10-20 ok · B acq 1000-1001 ok 10s reenter"},
		{name: "another is granted the lock after both, and the extend is unknown", want: acquits(honoured, owners),
			history: twice + "A ext#2(300ms) 10-20 info · B acq 1000-1001 ok 10s reenter"},
		{name: "the lease of both ends after a release of somebody else", want: acquits(owners),
			history: "C acq 0-1 ok 10s reenter · C rel 2-30 ok · A acq#1 4-5 ok 10s reenter · A acq#2 6-7 ok 10s reenter · A ext#2(300ms) 10-20 ok · B acq 1000-1001 ok 10s reenter"},
		{name: "another's release takes one of two entries", want: acquits(reentry),
			history: twice + "B acq 10-11 refused 10s reenter · B rel 20-21 ok · A count 30-31 = 1"},
		{name: "another's release takes one of two entries, and nothing else explains it", want: accuses(owners),
			history: twice + "B acq 10-11 refused 10s reenter · B rel 20-21 ok · A count 30-31 = 1"},
		{name: "an acquire arrives after its refused release", want: acquits(reentry),
			history: "A acq 0-1 info 10s reenter · A rel 2-3 refused · A count 10 = 1"},
		{name: "an attempt is released twice, and its other one then in vain", want: acquits(owners),
			history: "C acq 0-1 ok 10s reenter · C rel 10-30 ok · B acq#2 12-13 ok 10s reenter · B acq#5 14-15 ok 10s reenter · B rel#5 40-41 ok · B rel#5 42-43 ok · B rel#2 44-45 refused"},
		{name: "a release of an unknown re-entry gives the only hold back", want: acquits(honoured, owners),
			history: "A acq#1 0-1 ok 10s reenter · A acq#2 2-3 info 10s reenter · A rel#2 4-5 ok · B acq 10-11 ok 10s reenter"},
		{name: "an unknown release of an unknown re-entry gives the only hold back", want: acquits(honoured, owners),
			history: "A acq#1 0-1 ok 10s reenter · A acq#2 2-3 info 10s reenter · A rel#2 4-5 info · B acq 10-11 ok 10s reenter"},
	}
}

// ownReleases are sound histories in which an attempt's own other call ended its hold.
func ownReleases() []known {
	const (
		owners   = checker.Ownership
		truthful = checker.TruthfulReplies
	)
	return []known{
		{name: "a release meets another one of its attempt", want: acquits(truthful),
			history: "A acq 0-1 ok 10s · A rel 40-80 refused · A rel 50-60 ok"},
		{name: "a release meets an unknown one of its attempt", want: acquits(truthful),
			history: "A acq 0-1 ok 10s · A rel 40-80 refused · A rel 50-60 info"},
		{name: "a reader's release meets another one of its attempt", want: acquits(truthful),
			history: "A acq 0-1 ok 10s read · A rel 40-80 refused · A rel 50-60 ok"},
		{name: "a re-entrant client's release meets another one", want: acquits(truthful),
			history: "A acq 0-1 ok 10s reenter · A rel 40-80 refused · A rel 50-60 ok"},
		{name: "a release that was met is answered after the next holder's", want: acquits(owners),
			history: "A acq 0-1 ok 10s · A rel 40-400 refused · A rel 50-51 info · B acq 70-71 ok 10s · B rel 230-231 ok"},
		{name: "a release that was met is answered after the next one of its client", want: acquits(owners),
			history: "A acq 0-1 ok 10s · A rel 40-400 refused · A rel 50-51 ok · A acq 70-71 ok 10s · A rel 230-231 ok"},
		{name: "a reader extends before it is granted the lock", want: acquits(owners),
			history: "C acq 0-1 ok 10s read · C rel 700-5000 ok · A acq 2700-3500 ok 10s read · A ext 2800-2801 refused"},
		{name: "a release gives the only entry back, as another had run out", want: acquits(checker.Reentrancy),
			history: "B acq#1 0-1 ok 300ms reenter · B acq#2 2000-2001 ok 10s reenter · B ext#1(10s) 2100-2101 ok · B rel#2 2200-2201 ok · B count 2300 = 0"},
		{name: "a release gives the only entry back, as the one that was extended had run out", want: acquits(checker.LeaseHonoured),
			history: "A acq#1 0-1 ok 1s reenter · A acq#2 3800-3801 ok 10s reenter · A ext#1(10s) 5600-5601 ok · A rel#2 5700-5701 ok · B acq 6100-6101 ok 10s reenter"},
		{name: "a release that takes long gives the next entry back", want: acquits(checker.LeaseHonoured),
			history: "C acq#1 0-1 ok 10s reenter · C rel#1 22-2758 ok · C rel#1 42-43 ok · C acq#2 63-64 ok 10s reenter · A acq 3129-3130 ok 10s reenter"},
		{name: "an unknown release arrives after an extend", want: acquits(checker.LeaseHonoured),
			history: "A acq#1 0-1 ok 100ms reenter · A acq#2 330-331 ok 10s reenter · A rel#2 690-691 info · A ext#1(10s) 1654-1655 ok · C acq 1724-1725 ok 10s reenter"},
		{name: "an unknown release arrives when the lease of all had been cut short, and another entered", want: acquits(checker.LeaseHonoured),
			history: "B acq#1 12-13 ok 10s reenter · B rel#1 184-185 info · B acq#2 3397-3398 ok 10s reenter · B ext#2(100ms) 5507-5508 ok · B acq#3 5607-5608 ok 10s reenter · A acq#2 9125-9126 ok 10s reenter"},
		{name: "an extend found the next entry, and a release that meets it came before", want: acquits(checker.TruthfulReplies),
			history: "B acq#1 9-10 ok 300ms reenter · B rel#1 542-1133 refused · B acq#2 553-554 ok 10s reenter · B ext#1(10s) 583-584 ok"},
		{name: "an unknown re-entry keeps the hold and its token", want: acquits(checker.Fencing),
			history: "A acq#1 0-1 ok 10s reenter token 1 · A acq#2 10-11 info 10s reenter · A rel#1 20-21 ok · A acq#3 30-31 ok 10s reenter token 1"},
	}
}

// doubleGrants have a grant inside another's lease. It explains all that follows, so that nothing
// else is certainly wrong.
func doubleGrants() []known {
	return []known{
		{name: "a grant over a re-entrant holder, and nothing is counted", want: acquits(checker.Reentrancy),
			history: "B acq 0-1 ok 10s reenter · A acq 200-201 ok 10s reenter · B count 400 = 0"},
		{name: "a grant over a re-entrant holder, and its re-entry is refused", want: acquits(checker.Reentrancy),
			history: "A acq#1 0-1 ok 10s reenter · B acq 200-201 ok 10s reenter · A acq#2 400-401 refused 10s reenter"},
		{name: "a grant over a holder, an extend of its own, and a refusal", want: acquits(checker.Ownership),
			history: "A acq 0-100 ok 10s · C acq 50-51 ok 10s · C ext 60-61 ok · A rel 200-201 refused"},
		{name: "a grant during a release, which is not to blame for the next one", want: acquits(checker.Ownership),
			history: "B acq 0-1 ok 10s · A acq 10-334 ok 10s · B rel 200-201 ok · A acq 338-339 ok 10s"},
		{name: "an extend of who had lost the lock, and the holder's release", want: acquits(checker.Ownership),
			history: "A acq 0-1 ok 1s · B acq 2900-2901 ok · A ext(10s) 3000-3001 ok · B rel 3200-3201 ok · A ext 3400-3401 refused"},
	}
}

// forgottenGrants have a grant that is seen by its effect alone, or one that nothing excuses.
func forgottenGrants() []known {
	exclusion := []checker.Property{checker.StrictExclusion, checker.LeaseExclusion}
	return []known{
		{name: "an accepted extend proves a hold", want: accuses(exclusion...),
			history: "A acq 0-10 info 10s · A ext 20-21 ok · B acq 30-31 ok 10s"},
		{name: "a dead holder without a TTL", want: accuses(checker.LeaseHonoured),
			history: "A acq 0-1 ok · A crash 2 · B acq 10-11 ok"},
		{name: "a grant is over when it returns", want: accuses(checker.LeaseHonoured),
			history: "A acq 0-1 ok 10s · B acq 10-200 ok 50ms"},
		{name: "neither of two leases can have come first", want: accuses(checker.LeaseHonoured),
			history: "B acq 1000-3200 ok 1s · A acq 1500-1501 ok 10s"},
		{name: "a grant that its own release overtook, within another's hold", want: accuses(exclusion...),
			history: "B acq 2-3 ok 10s · A acq 1872-1878 ok 10s · A rel 1873-1874 ok"},
		{name: "a deadline that had passed when it was told, within another's hold", want: accuses(checker.LeaseExclusion),
			history: "B acq 12-1327 ok 10s until 1012 · A acq 14-15 ok 10s"},
		{name: "an extend shows a grant that was over by then", want: accuses(checker.LeaseHonoured),
			history: "A acq 591-592 ok 10s · A acq#2 4016-4017 info 10s · A ext#2(300ms) 4056-4389 ok"},
		{name: "a release that was lost had ended what another release shows", want: acquits(checker.LeaseHonoured),
			history: "A acq 2-3 info 10s · B acq 321-322 ok 10s · A rel 160-161 info · A rel 434-435 ok"},
		{name: "three leases in the time of two", want: accuses(checker.LeaseHonoured),
			history: "A acq 0-75 ok 40ms · B acq 0-75 ok 40ms · C acq 0-75 ok 40ms"},
		{name: "two leases in the time of two", want: acquits(checker.LeaseHonoured),
			history: "A acq 0-75 ok 40ms · B acq 0-75 ok 40ms"},
		{name: "a reader is refused beside a reader", want: accuses(checker.Availability),
			history: "A acq 0-1 ok 10s read · B acq 10-11 refused 10s read · A rel 20-21 ok"},
	}
}

// falseAnswers have a release or an extend whose answer cannot be true.
func falseAnswers() []known {
	const truthful = checker.TruthfulReplies
	return []known{
		{name: "not yours, long after an unknown acquire", want: accuses(truthful),
			history: "A acq 0-1 info 1s · B acq 60000-60001 ok 10s · B rel 61000-61001 refused"},
		{name: "not yours, long after a reader's unknown acquire", want: accuses(truthful),
			history: "A acq 0-1 info 1s read · B acq 60000-60001 ok 10s read · B rel 61000-61001 refused"},
		{name: "not yours, beside an acquire that is granted later", want: accuses(truthful),
			history: "B acq 0-1 ok 10s · A acq 100-20000 ok 10s · B rel 1000-1001 refused"},
		{name: "not yours", want: accuses(truthful),
			history: "B acq 0-1 ok 10s · B rel 1000-1001 refused"},
		{name: "done, and it had been refused", want: accuses(truthful),
			history: "A acq 0-1 ok 10s · B acq 10-11 refused 10s · B rel 20-21 ok"},
		{name: "extended, and it had been refused", want: accuses(truthful),
			history: "A acq 0-1 ok 10s · B acq 10-11 refused 10s · B ext 20-21 ok"},
		{name: "done after an unknown extend, with another's grant between", want: doubts(truthful),
			history: "A acq 0-1 ok 1s · A ext(10s) 100-110 info · B acq 5000-5001 ok 10s · A rel 6000-6001 ok"},
		{name: "done after an unknown extend that was too short", want: accuses(truthful),
			history: "A acq 0-1 ok 1s · A ext 100-110 info · B acq 5000-5001 ok 10s · A rel 6000-6001 ok"},
		{name: "a reader has released its only hold, and is told done again", want: accuses(truthful),
			history: "A acq 0-1 ok 10s read · A rel 10-11 ok · A rel 20-21 ok"},
		{name: "a re-entrant client has released its only hold, and is told done again", want: accuses(truthful),
			history: "A acq 0-1 ok 10s reenter · A rel 10-11 ok · A rel 20-21 ok"},
	}
}

// brokenTokens have acquires whose order shows in what else happened.
func brokenTokens() []known {
	return []known{
		{name: "a lower token after a release", want: accuses(checker.Fencing),
			history: "A acq 0-10 ok 10s token 5 · B acq 5-50 ok 10s token 3 · A rel 30-31 ok"},
		{name: "a lower token in an acquire that was let in beside, and may have come first", want: acquits(checker.Fencing),
			history: "A acq 0-10 ok 10s token 5 · B acq 5-50 ok 10s token 3 · B rel 60-61 ok"},
		{name: "a token again after the last release", want: accuses(checker.Fencing),
			history: "A acq 0-1 ok 10s reenter token 5 · A rel 2-3 ok · A acq 4-5 ok 10s reenter token 5"},
		{name: "a re-entry keeps its token", want: acquits(checker.Fencing),
			history: "A acq 0-1 ok 10s reenter token 5 · A acq 4-5 ok 10s reenter token 5"},
	}
}

// brokenResource have versions of the resource that the writes do not account for.
func brokenResource() []known {
	return []known{
		{name: "an unknown write accounts for two versions", want: accuses(checker.ResourceSafety),
			history: "A acq 0-1 ok 10s · A read 2 ok v0 · A write 4 info v0 · A write 6 ok v1 · A write 8 ok v3"},
		{name: "an unknown write accounts for one version", want: acquits(checker.ResourceSafety),
			history: "A acq 0-1 ok 10s · A read 2 ok v0 · A write 4 info v0 · A write 6 ok v1 · A write 8 ok v2"},
		{name: "a version that nobody wrote", want: accuses(checker.ResourceSafety), open: true,
			history: "A acq 0-1 ok 10s · A read 2 ok v0 · A write 4 ok v0 · A rel 6 ok · B acq 8 ok 10s · B read 10 ok v3 · B write 12 ok v3 · B rel 14 ok"},
	}
}

// unusualLeases have a lease that no sum may overflow.
func unusualLeases() []known {
	const (
		unix  = 1_790_000_000 * time.Second
		ever  = "9223372036854775807ns"
		taken = "A acq 0-1 ok " + ever
	)
	return []known{
		{name: "a lease for ever, and another is granted the lock", at: unix, want: accuses(checker.LeaseHonoured),
			history: taken + " · B acq 10-11 ok 10s"},
		{name: "a lease for ever, and its release is refused", at: unix, want: accuses(checker.TruthfulReplies),
			history: taken + " · A rel 10-11 refused"},
		{name: "a lease for ever, and another is refused", at: unix, want: acquits(checker.Availability),
			history: taken + " · B acq 10-11 refused 10s"},
		{name: "a lease for ever from the start, and another is refused", want: acquits(checker.Availability),
			history: taken + " · B acq 10-11 refused 10s"},
	}
}
