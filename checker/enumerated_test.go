package checker

import "testing"

// enumerated is try, but for that a history is so small that little happens in it: a verdict of
// unknown for that alone is a pass.
func enumerated(t *testing.T, property Property, trials []trial) {
	t.Helper()
	for i := range trials {
		c := &trials[i]
		if c.want == Pass && len(Check(t.Context(), script(t, c.history), Options{}).Vacuous) > 0 {
			c.want = Unknown
			c.story = "Vacuous"
		}
	}
	try(t, property, trials)
}

// Small histories of which an enumeration of every order and instant says whether a lock that keeps
// the property can have brought them about. Leases are long where it does not say otherwise.

func TestEnumeratedReplies(t *testing.T) {
	enumerated(t, TruthfulReplies, []trial{
		{
			name: "ok: an extend that meets its own release",
			history: `
				A acquire 0 1 ok ttl=10000
				A extend 10 50 fail proc=1
				A release 20 30 ok`,
			want: Pass,
		},
		{
			name: "ok: a release refused while an extend shortens",
			history: `
				A acquire 0 1 ok ttl=10000
				A extend 1000 3000 ok ttl=300 proc=1
				A release 2000 2010 fail`,
			want: Pass,
		},
		{
			name: "ok: an extend refused while another shortens",
			history: `
				A acquire 0 1 ok ttl=10000
				A extend 1000 3000 ok ttl=300 proc=1
				A extend 2000 2010 fail ttl=300 proc=2`,
			want: Pass,
		},
		{
			name: "bad: the acquire of another that had no answer took nothing of what is held",
			history: `
				A acquire 0 1 info ttl=1000
				B acquire 60000 60001 ok ttl=10000
				B release 61000 61001 fail`,
			want: Fail, story: "it was told that the lock was not its own",
		},
		{
			name: "ok: it may be the other's, whose grant is judged",
			history: `
				B acquire 0 1 ok ttl=10000
				A acquire 2 3 ok ttl=10000
				B release 4 5 fail`,
			want: Pass,
		},
		{
			name: "ok: the release of another that had no answer may have done it",
			history: `
				A acquire 0 1 ok ttl=1000
				A release 1500 1501 info
				B acquire 2000 2001 ok ttl=10000
				B release 3000 3001 fail`,
			want: Pass,
		},
		{
			name: "bad: a release by a client that had been refused",
			history: `
				A acquire 0 1 ok ttl=10000
				B acquire 2 3 fail
				B release 4 5 ok`,
			want: Fail, story: "had been refused",
			witness: []string{"3 B acquire fail", "4 B release invoke", "5 B release ok"},
		},
		{
			name: "bad: an extend by a client that had been refused",
			history: `
				A acquire 0 1 ok ttl=10000
				B acquire 2 3 fail
				B extend 4 5 ok ttl=1000`,
			want: Fail, story: "had been refused",
		},
		{
			name: "ok: refused, and so is what it asks then",
			history: `
				A acquire 0 1 ok ttl=10000
				B acquire 2 3 fail
				B release 4 5 fail`,
			want: Pass,
		},
		{
			name: "ok: refused while a fault may have lost its first answer",
			history: `
				! lost-reply 0 10 node=B
				B acquire 2 3 fail ttl=10000
				B release 4 5 ok`,
			want: Pass,
		},
		{
			name: "bad: whatever the extend did, one of both is untrue",
			history: `
				A acquire 0 1 ok ttl=1000
				A extend 100 110 info ttl=1000
				B acquire 5000 5001 ok ttl=10000
				A release 6000 6001 ok`,
			want: Fail, story: "either",
		},
		{
			name: "bad: a re-entrant client gives back its only hold twice",
			history: `
				A acquire 0 1 ok ttl=10000 value=reenter
				A release 2 3 ok
				A release 4 5 ok`,
			want: Fail, story: "nothing left of it",
		},
		{
			name: "bad: a reader gives back its only hold twice",
			history: `
				A acquire 0 1 ok ttl=10000 value=read
				A release 2 3 ok
				A release 4 5 ok`,
			want: Fail, story: "nothing left of it",
		},
		{
			name: "ok: a lock that counts gave back the other hold",
			history: `
				A acquire 0 1 ok ttl=10000 value=reenter
				A acquire 2 3 ok ttl=10000 value=reenter
				A release 4 5 ok attempt=2
				A release 6 7 ok attempt=2`,
			want: Pass,
		},
	})
}

func TestEnumeratedOwnership(t *testing.T) {
	enumerated(t, Ownership, []trial{
		{
			name: "ok: a release came before, and an extend shortens",
			history: `
				A acquire 0 1 ok ttl=10000
				A extend 1000 3000 ok ttl=300 proc=1
				B acquire 5 6 info ttl=10000
				B release 10 30 ok proc=2
				A release 2000 2010 fail`,
			want: Pass,
		},
		{
			name: "either: two were let in, and then a third",
			history: `
				A acquire 0 1 ok ttl=10000
				B acquire 10 11 ok ttl=10000
				A release 20 21 ok
				C acquire 30 31 ok ttl=10000`,
			want: Unknown, story: "either",
		},
		{
			name: "either: one of no known outcome was let in beside",
			history: `
				B acquire 0 1 ok ttl=10000
				A acquire 10 11 info ttl=10000
				A release 20 21 ok
				C acquire 30 31 ok ttl=10000`,
			want: Unknown, story: "either",
		},
		{
			name: "bad: the other's lease was over",
			history: `
				A acquire 0 1 ok ttl=1000
				B acquire 1500 1501 ok ttl=10000
				A release 1600 1601 ok
				C acquire 1700 1701 ok ttl=10000`,
			want: Fail, story: "A's release ended B's hold",
		},
		{
			name: "ok: a client that enters gave back more than it should",
			history: `
				C acquire 0 1 ok ttl=100
				B acquire 200 201 ok ttl=10000 value=reenter
				B acquire 210 211 ok ttl=10000 value=reenter
				C release 220 221 ok
				B release 230 231 ok attempt=3
				B release 240 241 ok attempt=3
				B release 250 251 fail attempt=2`,
			want: Pass,
		},
		{
			name: "ok: an entry of no known outcome gave back the only hold",
			history: `
				A acquire 0 1 ok ttl=10000 value=reenter
				A acquire 2 3 info ttl=10000 value=reenter
				A release 4 5 ok
				B acquire 6 7 ok ttl=10000
				B release 8 9 ok`,
			want: Pass,
		},
	})
}

func TestEnumeratedLeases(t *testing.T) {
	enumerated(t, LeaseHonoured, []trial{
		{
			name: "ok: an extend that is under way may have shortened the lease",
			history: `
				A acquire 40 50 ok ttl=40
				A extend 50 80 ok ttl=10 proc=1
				B acquire 40 60 ok ttl=40`,
			want: Pass,
		},
		{
			name: "bad: not before it was invoked",
			history: `
				A acquire 40 50 ok ttl=40
				B acquire 40 60 ok ttl=40
				A extend 61 80 ok ttl=10`,
			want: Fail,
		},
		{
			name: "ok: all that a client entered has one time to live",
			history: `
				A acquire 0 1 ok ttl=10000 value=reenter
				A acquire 2 3 ok ttl=10000 value=reenter
				A extend 10 20 ok ttl=300
				B acquire 1000 1001 ok ttl=10000`,
			want: Pass,
		},
		{
			name: "ok: also if nobody knows whether it was extended",
			history: `
				A acquire 0 1 ok ttl=10000 value=reenter
				A acquire 2 3 ok ttl=10000 value=reenter
				A extend 10 20 info ttl=300
				B acquire 1000 1001 ok ttl=10000`,
			want: Pass,
		},
		{
			name: "bad: before that is over",
			history: `
				A acquire 0 1 ok ttl=10000 value=reenter
				A acquire 2 3 ok ttl=10000 value=reenter
				A extend 10 20 ok ttl=300
				B acquire 200 201 ok ttl=10000`,
			want: Fail,
		},
		{
			name: "ok: an entry of no known outcome gave back the only hold",
			history: `
				A acquire 0 1 ok ttl=10000 value=reenter
				A acquire 2 3 info ttl=10000 value=reenter
				A release 4 5 info
				B acquire 6 7 ok ttl=10000`,
			want: Pass,
		},
		{
			name: "ok: a release of an entry that had run out gave back the next",
			history: `
				A acquire 0 1 ok ttl=100 value=reenter
				A acquire 800 801 ok ttl=10000 value=reenter
				A release 850 851 ok attempt=1
				B acquire 1200 1201 ok ttl=10000`,
			want: Pass,
		},
		{
			name: "bad: it gave back itself",
			history: `
				A acquire 0 1 ok ttl=10000 value=reenter
				A acquire 800 801 ok ttl=10000 value=reenter
				A release 850 851 ok attempt=1
				B acquire 1200 1201 ok ttl=10000`,
			want: Fail,
		},
		{
			name: "ok: what had no known outcome may have run out before it was given back",
			history: `
				A acquire 0 1 info ttl=100
				B acquire 400 401 ok ttl=10000
				A release 700 701 ok`,
			want: Pass,
		},
		{
			name: "bad: it cannot have run out",
			history: `
				A acquire 0 1 info ttl=10000
				B acquire 400 401 ok ttl=10000
				A release 700 701 ok`,
			want: Fail,
		},
		{
			name: "bad: a grant that is over when it returns was one",
			history: `
				A acquire 0 1 ok ttl=10000
				B acquire 10 200 ok ttl=50`,
			want: Fail, story: "when its hold was over",
			witness: []string{"1 A acquire ok", "10 B acquire invoke", "200 B acquire ok"},
		},
		{
			name: "ok: it may have come before",
			history: `
				B acquire 10 200 ok ttl=50
				A acquire 100 101 ok ttl=10000`,
			want: Pass,
		},
		{
			name: "bad: neither can have come first",
			history: `
				A acquire 1500 1501 ok ttl=10000
				B acquire 1000 3200 ok ttl=1000`,
			want: Fail, story: "cannot have been before 1.988 s",
		},
		{
			name: "bad: three leases in the time of two",
			history: `
				A acquire 0 70 ok ttl=40
				B acquire 0 71 ok ttl=40
				C acquire 0 72 ok ttl=40`,
			want: Fail, story: "A, B, C were granted k between 0.000 s and 0.072 s",
			witness: []string{"70 A acquire ok", "71 B acquire ok", "72 C acquire ok"},
		},
		{
			name: "ok: two leases in the time of two",
			history: `
				A acquire 0 75 ok ttl=40
				B acquire 0 76 ok ttl=40
				A release 80 81 fail`,
			want: Pass,
		},
		{
			name: "ok: the second was given back in time for the third",
			history: `
				A acquire 0 75 ok ttl=40
				B acquire 0 50 ok ttl=40
				B release 51 52 ok
				C acquire 0 75 ok ttl=40`,
			want: Pass,
		},
		{
			name: "bad: between two others there is not the time",
			history: `
				C acquire 18 19 ok ttl=300
				A acquire 1 919 ok ttl=300
				B acquire 398 399 ok ttl=10000`,
			want: Fail, story: "there was not the time",
		},
		{
			name: "bad: nobody asked for a lease that ends, and the dead gave nothing back",
			history: `
				A acquire 0 1 ok
				A crash 10
				B acquire 20 21 ok`,
			want: Fail, story: "A's lease of k",
		},
		{
			name: "none: nobody asked for a lease that ends, and mutual exclusion tells",
			history: `
				A acquire 0 1 ok
				B acquire 20 21 ok`,
			want: NotApplicable,
		},
		{
			name: "none: nobody asked for a lease that ends, and the dead had given it back",
			history: `
				A acquire 0 1 ok
				A release 2 3 info
				A crash 10
				B acquire 20 21 ok`,
			want: NotApplicable,
		},
		{
			name: "none: nobody said which lease was asked for, but there is one",
			history: `
				A acquire 0 1 ok deadline=15
				A crash 10
				B acquire 20 21 ok`,
			want: NotApplicable,
		},
		{
			name: "ok: an earlier release may have ended what a later one shows",
			history: `
				A acquire 2 3 info ttl=10000
				A release 160 161 info
				B acquire 321 322 ok ttl=10000
				A release 434 435 ok`,
			want: Pass,
		},
		{
			name: "bad: the dead cannot have given back what has no end",
			history: `
				A acquire 0 1 ok
				A crash 10
				B acquire 20 21 ok ttl=1000`,
			want: Fail,
		},
		{
			name: "ok: it was given back",
			history: `
				A acquire 0 1 ok
				A release 10 11 ok
				B acquire 20 21 ok ttl=1000`,
			want: Pass,
		},
	})
}

func TestEnumeratedExclusion(t *testing.T) {
	enumerated(t, StrictExclusion, []trial{{
		name: "bad: it was granted, though its release overtook it",
		history: `
			B acquire 0 1 ok ttl=10000
			A acquire 10 20 ok ttl=10000
			A release 12 13 ok proc=2`,
		want: Fail, story: "when its hold was over",
		witness: []string{"1 B acquire ok", "10 A acquire invoke", "20 A acquire ok"},
	}})
	for _, property := range []Property{StrictExclusion, LeaseExclusion, LeaseHonoured} {
		enumerated(t, property, []trial{
			{
				name: "bad: an extend of what had no known outcome was accepted",
				history: `
					A acquire 0 10 info ttl=10000
					A extend 20 21 ok ttl=10000
					B acquire 30 31 ok ttl=10000`,
				want: Fail,
			},
			{
				name: "ok: it was given back",
				history: `
					A acquire 0 10 info ttl=10000
					A extend 20 21 ok ttl=10000
					A release 22 23 ok
					B acquire 30 31 ok ttl=10000`,
				want: Pass,
			},
		})
	}
}

func TestEnumeratedReentrancy(t *testing.T) {
	enumerated(t, Reentrancy, []trial{
		{
			name: "unknown: a count while an extend shortens",
			history: `
				A acquire 0 1 ok ttl=10000 value=reenter
				A acquire 2 3 ok ttl=10000 value=reenter
				A extend 10 20 ok ttl=300
				A count 1000 1001 ok value=0`,
			want: Unknown,
		},
		{
			name: "unknown: an acquire may come after its refused release",
			history: `
				A acquire 0 1 info ttl=10000 value=reenter
				A release 2 3 fail
				A count 4 5 ok value=1`,
			want: Unknown,
		},
		{
			name: "bad: it was given back",
			history: `
				A acquire 0 1 ok ttl=10000 value=reenter
				A release 2 3 ok
				A count 4 5 ok value=1`,
			want: Fail,
		},
	})
}

func TestEnumeratedTokens(t *testing.T) {
	enumerated(t, Fencing, []trial{
		{
			name: "bad: the second can have had it only when the first had asked to release",
			history: `
				A acquire 0 10 ok ttl=10000 token=5
				B acquire 5 50 ok ttl=10000 token=3
				A release 30 31 ok`,
			want: Fail,
		},
		{
			name: "bad: the next hold of a client that had given back its last has the same token",
			history: `
				A acquire 0 1 ok ttl=10000 value=reenter token=5
				A release 2 3 ok
				A acquire 4 5 ok ttl=10000 value=reenter token=5`,
			want: Fail,
		},
		{
			name: "ok: it entered again",
			history: `
				A acquire 0 1 ok ttl=10000 value=reenter token=5
				A acquire 2 3 ok ttl=10000 value=reenter token=5
				A release 4 5 ok attempt=1
				A acquire 6 7 ok ttl=10000 value=reenter token=5
				A release 8 9 ok attempt=2
				A release 10 11 ok attempt=3
				A acquire 12 13 ok ttl=10000 value=reenter token=6`,
			want: Pass,
		},
	})
}

func TestEnumeratedAvailability(t *testing.T) {
	enumerated(t, Availability, []trial{
		{
			name: "bad: a reader is refused beside a reader",
			history: `
				A acquire 0 1 ok ttl=10000 value=read
				B acquire 2 3 fail ttl=10000 value=read
				A release 4 5 ok`,
			want: Fail,
		},
		{
			name: "ok: a writer waits",
			history: `
				A acquire 0 1 ok ttl=10000 value=read
				C acquire 2 3 fail ttl=10000
				B acquire 4 5 fail ttl=10000 value=read
				A release 6 7 ok`,
			want: Pass,
		},
		{
			name: "ok: a writer has it",
			history: `
				A acquire 0 1 ok ttl=10000
				B acquire 2 3 fail ttl=10000 value=read
				A release 4 5 ok
				B acquire 6 7 ok ttl=10000 value=read
				B release 8 9 ok`,
			want: Pass,
		},
	})
}
