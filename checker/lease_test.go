package checker

import "testing"

// An extend that asks for less shortens the lease, and one whose outcome nobody knows may
// have done so, at any time after it was invoked.
func TestShortenedLeases(t *testing.T) {
	try(t, LeaseHonoured, []trial{
		{
			name: "bad: nobody asked for less",
			history: `
				A acquire 0 1 ok ttl=100
				A extend 2 3 info ttl=100
				B acquire 9 10 ok ttl=10
				B release 16 17 ok`,
			want: Fail, story: "certainly ran until 0.097 s",
		},
		{
			name: "ok: an extend of unknown outcome asked for less",
			history: `
				A acquire 0 1 ok ttl=100
				A extend 2 3 info ttl=5
				B acquire 9 10 ok ttl=10
				B release 16 17 ok`,
			want: Pass,
		},
		{
			name: "ok: an extend that never returned asked for less",
			history: `
				A acquire 0 1 ok ttl=100
				A extend 2 - open ttl=5
				B acquire 9 10 ok ttl=10
				B release 16 17 ok`,
			want: Pass,
		},
		{
			name: "bad: before the shortest lease ended",
			history: `
				A acquire 0 1 ok ttl=100
				A extend 2 - open ttl=50
				B acquire 9 10 ok ttl=10
				B release 16 17 ok`,
			want: Fail, story: "certainly ran until 0.050 s",
		},
		{
			name: "ok: it may take effect after an extend that was accepted",
			history: `
				A acquire 0 1 ok ttl=100
				A extend 2 - open ttl=5 proc=1
				A extend 3 4 ok ttl=100
				B acquire 9 10 ok ttl=10
				B release 16 17 ok`,
			want: Pass,
		},
		{
			name: "bad: what was refused shortens nothing",
			history: `
				A acquire 0 1 ok ttl=100
				A extend 2 3 fail ttl=5
				B acquire 9 10 ok ttl=10
				B release 16 17 ok`,
			want: Fail, story: "certainly ran until 0.097 s",
		},
		{
			name: "ok: of two extends at once the shorter may come last",
			history: `
				A acquire 0 1 ok ttl=100
				A extend 2 5 ok ttl=100
				A extend 3 4 ok ttl=5 proc=1
				B acquire 9 10 ok ttl=10
				B release 16 17 ok`,
			want: Pass,
		},
		{
			name: "bad: of two extends in a row the second counts",
			history: `
				A acquire 0 1 ok ttl=100
				A extend 2 3 ok ttl=5
				A extend 4 5 ok ttl=100
				B acquire 11 12 ok ttl=10
				B release 16 17 ok`,
			want: Fail, story: "certainly ran until 0.101 s",
		},
	})
	try(t, TruthfulReplies, []trial{
		{
			name: "bad: the lease was over",
			history: `
				A acquire 0 1 ok ttl=100
				B acquire 110 111 ok ttl=100
				A release 120 121 ok`,
			want: Fail, story: "it was told that it was its own",
		},
		{
			name: "bad: the lease may have been shortened, or not, and one of both answers is untrue",
			history: `
				A acquire 0 1 ok ttl=100
				A extend 2 3 info ttl=5
				B acquire 20 21 ok ttl=100
				A release 30 31 ok`,
			want: Fail, story: "either",
		},
		{
			name: "bad: the lease may have been extended, or not, and one of both answers is untrue",
			history: `
				A acquire 0 1 ok ttl=100
				A extend 90 91 info ttl=100
				B acquire 110 111 ok ttl=100
				A release 120 121 ok`,
			want: Fail, story: "either",
		},
	})
	try(t, Ownership, []trial{
		{
			name: "bad: nobody asked for less",
			history: `
				A acquire 0 1 ok ttl=100
				B acquire 110 111 ok ttl=100
				A release 112 113 ok
				B extend 120 121 info ttl=100
				B release 130 131 fail`,
			want: Fail, story: "certainly ran until 0.207 s",
		},
		{
			name: "ok: the lease may have been shortened",
			history: `
				A acquire 0 1 ok ttl=100
				B acquire 110 111 ok ttl=100
				A release 112 113 ok
				B extend 120 121 info ttl=5
				B release 130 131 fail`,
			want: Pass,
		},
	})
	// An extend that is answered late may have come to the server at once.
	try(t, TruthfulReplies, []trial{
		{
			name: "ok: an extend under way may have shortened the lease",
			history: `
				A acquire 0 1 ok ttl=10000
				A extend 1000 3000 ok ttl=300 proc=1
				B acquire 1001 1002 fail ttl=1000
				A release 2000 2010 fail
				B acquire 4000 4001 ok ttl=1000
				B release 4002 4003 ok`,
			want: Pass,
		},
		{
			name: "bad: an extend under way cannot have shortened the lease so far",
			history: `
				A acquire 0 1 ok ttl=10000
				A extend 1000 3000 ok ttl=5000 proc=1
				A release 2000 2010 fail`,
			want: Fail, story: "certainly ran until 5.948 s",
		},
		{
			name: "bad: a lease as long as can be, since 1970",
			history: `
				A acquire 1700000000000 1700000000001 ok ttl=9000000000000
				A extend 1700000000002 1700000000003 fail ttl=100`,
			want: Fail, story: "its lease had no end",
		},
	})
	try(t, Ownership, []trial{{
		name: "ok: an extend under way may have shortened the lease",
		history: `
			A acquire 0 1 ok ttl=10000
			B acquire 2 3 info ttl=1000
			B release 10 30 ok
			A extend 1000 3000 ok ttl=300 proc=1
			C acquire 2000 2001 ok ttl=1000`,
		want: Pass,
	}})
	// A process that renews may ask while the holder releases.
	try(t, TruthfulReplies, []trial{
		{
			name: "ok: the release came first",
			history: `
				A acquire 0 1 ok ttl=10000
				B acquire 2 3 fail ttl=1000
				A extend 10 50 fail ttl=10000 proc=1
				A release 20 30 ok`,
			want: Pass,
		},
		{
			name: "bad: the release came later",
			history: `
				A acquire 0 1 ok ttl=10000
				A extend 10 50 fail ttl=10000 proc=1
				A release 60 70 ok`,
			want: Fail, story: "it was told that the lock was not its own",
		},
	})
}
