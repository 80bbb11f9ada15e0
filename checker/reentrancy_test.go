package checker

import "testing"

func TestReentrancy(t *testing.T) {
	try(t, Reentrancy, []trial{
		{
			name: "ok: twice in, twice out",
			history: `
				A acquire 0 1 ok ttl=100 value=reenter
				B acquire 1 2 fail ttl=100 value=reenter
				A acquire 3 4 ok ttl=100 value=reenter
				A count 5 6 ok value=2
				A release 7 8 ok
				A count 9 10 ok value=1
				A release 11 12 ok attempt=1
				A count 13 14 ok value=0`,
			want: Pass, story: "3 answers of how often the caller holds a key, and 1 while it certainly held it twice or more",
		},
		{
			name: "bad: the inner release freed the lock",
			history: `
				A acquire 0 1 ok ttl=100 value=reenter
				B acquire 1 2 fail ttl=100 value=reenter
				A acquire 3 4 ok ttl=100 value=reenter
				A release 7 8 ok
				A count 9 10 ok value=0`,
			want: Fail, story: "At 0.010 s the lock said that A held k 0 times, but 1 hold was certainly in force.",
			witness: []string{"1 A acquire ok", "10 A count ok"},
		},
		{
			name: "bad: one acquire counted twice",
			history: `
				A acquire 0 1 ok ttl=100 value=reenter
				B acquire 1 2 fail ttl=100 value=reenter
				A count 5 6 ok value=2
				A release 7 8 ok
				A count 9 10 ok value=1`,
			want: Fail, story: "the lock said that A held k 2 times, but it can have had 1 at most. In all, 2 answers were wrong.",
		},
		{
			name: "bad: a release that does not count",
			history: `
				A acquire 0 1 ok ttl=100 value=reenter
				B acquire 1 2 fail ttl=100 value=reenter
				A release 7 8 ok
				A count 9 10 ok value=1`,
			want: Fail, story: "held k once, but it can have had 0 at most",
		},
		{
			name: "bad: a holder that is refused",
			history: `
				A acquire 0 1 ok ttl=100 value=reenter
				B acquire 1 2 fail ttl=100 value=reenter
				A acquire 3 4 fail ttl=100 value=reenter`,
			want: Fail, story: "A held k from 0.001 s and was refused when it asked for it again, at 0.004 s.",
			witness: []string{"1 A acquire ok", "4 A acquire fail"},
		},
		{
			name: "ok: its arguments were refused, or the server rejected it, and nobody was asked",
			history: `
				A acquire 0 1 ok ttl=100 value=reenter
				B acquire 1 2 fail ttl=100 value=reenter
				A acquire 3 4 ok ttl=100 value=reenter
				A acquire 5 6 fail ttl=-1 value=reenter answer=invalid
				A acquire 7 8 fail ttl=100 value=reenter answer=rejected
				A count 9 10 ok value=2
				A release 11 12 ok attempt=3`,
			want: Pass,
		},
		{
			name: "bad: another's hold is counted",
			history: `
				A acquire 0 1 ok ttl=100 value=reenter
				B acquire 2 3 ok ttl=100 value=reenter
				B count 4 5 ok value=2`,
			want: Fail, story: "B held k 2 times, but it can have had 1 at most",
		},
		{
			name: "ok: keys are counted each on its own",
			history: `
				A acquire 0 1 ok ttl=100 key=x value=reenter
				B acquire 1 2 fail ttl=100 key=x value=reenter
				A acquire 3 4 ok ttl=100 key=x value=reenter
				A count 5 6 ok key=x value=2
				A count 7 8 ok key=y value=0
				A release 9 10 ok key=x`,
			want: Pass,
		},
		{
			name: "unknown: leases that have ended need not count",
			history: `
				A acquire 0 1 ok ttl=10 value=reenter
				B acquire 1 2 fail ttl=10 value=reenter
				A acquire 3 4 ok ttl=10 value=reenter
				A count 20 21 ok value=0
				A acquire 22 23 fail ttl=10 value=reenter`,
			want: Unknown, story: "never asked while somebody certainly held a key twice",
		},
		{
			name: "unknown: an acquire of unknown outcome may count or not",
			history: `
				A acquire 0 1 ok ttl=100 value=reenter
				B acquire 1 2 fail ttl=100 value=reenter
				A acquire 3 4 info ttl=100 value=reenter
				A count 5 6 ok value=1
				A count 7 8 ok value=2
				A count 9 10 info`,
			want: Unknown,
		},
		{
			name: "bad: an acquire of unknown outcome counts, and then not",
			history: `
				A acquire 0 1 ok ttl=100 value=reenter
				A acquire 3 4 info ttl=100 value=reenter
				A count 5 6 ok value=2
				A count 7 8 ok value=1`,
			want: Fail, story: "a wrong count",
		},
		{
			name: "ok: a release of unknown outcome may count or not",
			history: `
				A acquire 0 1 ok ttl=100 value=reenter
				B acquire 1 2 fail ttl=100 value=reenter
				A acquire 3 4 ok ttl=100 value=reenter
				A count 5 6 ok value=2
				A release 7 8 info
				A count 9 10 ok value=2
				A count 11 12 ok value=1
				A release 13 14 ok attempt=1`,
			want: Pass,
		},
		{
			name: "ok: after a refused release the lock starts anew",
			history: `
				A acquire 0 1 ok ttl=10 value=reenter
				B acquire 1 2 fail ttl=10 value=reenter
				A release 20 21 fail
				A acquire 22 23 ok ttl=10 value=reenter
				A acquire 24 25 ok ttl=10 value=reenter
				A count 26 27 ok value=2
				A release 28 29 ok`,
			want: Pass,
		},
		{
			name: "unknown: a server that forgets",
			history: `
				A acquire 0 1 ok ttl=100 value=reenter
				B acquire 1 2 fail ttl=100 value=reenter
				A acquire 3 4 ok ttl=100 value=reenter
				! restart 5 6 node=m
				A count 7 8 ok value=0
				A acquire 9 10 fail ttl=100 value=reenter`,
			want: Unknown,
		},
		{
			name: "ok: a pause is no excuse, and needs none",
			history: `
				A acquire 0 1 ok ttl=100 value=reenter
				B acquire 1 2 fail ttl=100 value=reenter
				! pause 2 3 node=A
				A acquire 3 4 ok ttl=100 value=reenter
				A count 7 8 ok value=2`,
			want: Pass,
		},
		{
			name: "bad: a pause is no excuse",
			history: `
				A acquire 0 1 ok ttl=100 value=reenter
				B acquire 1 2 fail ttl=100 value=reenter
				! pause 2 3 node=A
				A acquire 3 4 ok ttl=100 value=reenter
				A count 7 8 ok value=3`,
			want: Fail,
		},
		{
			name: "unknown: nobody re-entered",
			history: `
				A acquire 0 1 ok ttl=100 value=reenter
				B acquire 1 2 fail ttl=100 value=reenter
				A count 3 4 ok value=1
				A release 5 6 ok`,
			want: Unknown, story: "it was asked once",
		},
	})
}
