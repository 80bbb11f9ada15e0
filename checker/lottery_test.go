package checker

import "testing"

func TestSingleWinner(t *testing.T) {
	const first = `
		A acquire 0 1 ok
		B acquire 1 2 fail
		A read 2 3 ok version=0
		A draw 3 4 ok value=1 version=0
		A release 5 6 ok`
	try(t, SingleWinner, []trial{
		{
			name: "ok: a winner each",
			history: first + `
				B acquire 7 8 ok
				B read 8 9 ok version=1
				B draw 9 10 ok value=2 version=1`,
			want: Pass, story: "2 rounds had one winner each; 2 clients won.",
		},
		{
			name: "bad: two winners",
			history: first + `
				B acquire 7 8 ok
				B read 8 9 ok version=1
				B draw 9 10 ok value=1 version=1`,
			want: Fail, story: "A and B both won round 1 of k, at 0.004 s and at 0.010 s. In all, 1 prize too many in 1 round.",
			witness: []string{"4 A draw ok", "10 B draw ok"},
		},
		{
			name: "bad: one winner twice",
			history: first + `
				A acquire 7 8 ok
				A read 8 9 ok version=1
				A draw 9 10 ok value=1 version=1`,
			want: Fail, story: "A and A both won round 1",
		},
		{
			name: "ok: keys are lotteries of their own",
			history: first + `
				B acquire 7 8 ok key=other
				B draw 9 10 ok key=other value=1`,
			want: Pass,
		},
		{
			name: "ok: a draw that was refused, and one of unknown outcome",
			history: first + `
				B acquire 7 8 ok
				B draw 9 10 fail value=1
				B draw 11 12 info value=1`,
			want: Pass,
		},
		{
			name: "unknown: nobody is known to have won",
			history: `
				A acquire 0 1 ok
				B acquire 1 2 fail
				A draw 3 4 info value=1`,
			want: Unknown, story: "draw was tried once and never succeeded",
		},
	})
}

// A draw is a write: what it overwrites unseen is lost.
func TestDrawsAreWrites(t *testing.T) {
	try(t, ResourceSafety, []trial{
		{
			name: "bad: two draws over one look",
			history: `
				A acquire 0 1 ok
				B acquire 1 2 ok
				A read 2 3 ok version=0
				B read 3 4 ok version=0
				A draw 4 5 ok value=1 version=0
				B draw 6 7 ok value=2 version=1`,
			want: Fail, story: "1 update lost",
		},
		{
			name: "ok: one after the other",
			history: `
				A acquire 0 1 ok
				B acquire 1 2 fail
				A read 2 3 ok version=0
				A draw 4 5 ok value=1 version=0`,
			want: Pass,
		},
	})
}
