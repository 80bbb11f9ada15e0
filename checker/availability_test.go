package checker

import "testing"

func TestAvailability(t *testing.T) {
	try(t, Availability, []trial{
		{
			name: "its pace, in windows of the longest lease",
			history: `
				A acquire 0 1 ok ttl=10
				B acquire 2 3 fail ttl=10
				A release 4 5 ok
				B acquire 6 7 ok ttl=10
				B release 8 9 ok
				A acquire 21 22 ok ttl=5
				A release 35 36 ok`,
			want: Pass, story: "3 acquisitions in 0.036 s, 0 to 2 in each 0.010 s; the longest time without one was 0.015 s, from 0.007 s on.",
		},
		{
			name: "refused after an accepted release",
			history: `
				A acquire 0 1 ok ttl=1000
				B acquire 2 3 fail ttl=1000
				A release 4 5 ok
				B acquire 6 7 fail ttl=1000`,
			want: Fail, story: "B was refused k at 0.007 s although nobody had it and nobody else wanted it: all 1 hold of it before had ended on every server.",
			witness: []string{"6 B acquire invoke", "7 B acquire fail"},
		},
		{
			name: "refused after an accepted release, in one long call",
			history: `
				A acquire 0 1 ok ttl=10
				A release 2 3 ok
				B acquire 20 60 fail ttl=10`,
			want: Fail, story: "B was refused k at 0.060 s although nobody had it",
			witness: []string{"20 B acquire invoke", "60 B acquire fail"},
		},
		{
			name: "refused one key, and asked for another in vain later",
			history: `
				A acquire 0 1 fail ttl=10 key=x
				B acquire 20 60 info ttl=10 key=y`,
			want: Fail, story: "A was refused x at 0.001 s although nobody had it",
			witness: []string{"0 A acquire invoke", "1 A acquire fail"},
		},
		{
			name: "asked for one key in vain, and was refused another later",
			history: `
				B acquire 20 60 info ttl=10 key=x
				A acquire 70 71 fail ttl=10 key=y`,
			want: Fail, story: "B alone asked for x from 0.020 s to 0.060 s",
			witness: []string{"20 B acquire invoke", "60 B acquire info"},
		},
		{
			name: "refused long after who had asked for it crashed in its call",
			history: `
				A acquire 0 - open ttl=10
				A crash 5
				B acquire 100 101 fail ttl=10`,
			want: Fail, story: "B was refused k at 0.101 s although nobody had it and nobody else wanted it: all 1 hold of it before had ended on every server.",
			witness: []string{"100 B acquire invoke", "101 B acquire fail"},
		},
		{
			name: "refused soon after who had asked for it crashed in its call",
			history: `
				A acquire 0 - open ttl=10
				A crash 5
				B acquire 7 8 fail ttl=10`,
			want: Unknown,
		},
		{
			name: "refused while another asks without end",
			history: `
				A acquire 0 - open ttl=10
				B acquire 100 101 fail ttl=10`,
			want: Unknown,
		},
		{
			name: "refused before anybody had it",
			history: `
				B acquire 0 1 fail ttl=1000
				B acquire 2 3 ok ttl=1000
				B release 4 5 ok
				A acquire 4 5 fail ttl=1000`,
			want: Fail, story: "nobody had been granted it before",
		},
		{
			name: "bad: the release was held up until the lease had ended",
			history: `
				A acquire 0 1 ok ttl=1000
				B acquire 2 1002 ok ttl=1000
				A release 5 1003 fail
				B release 1010 1011 ok`,
			want: Fail, story: "A asked to release k at 0.005 s, and the call had no answer until 1.003 s, when its lease, which certainly ran until 0.988 s, had ended: nobody worked under the lock, and B, who wanted it all the time, did not get it for 0.983 s.",
			witness: []string{"1 A acquire ok", "2 B acquire invoke", "5 A release invoke", "1003 A release fail"},
		},
		{
			name: "ok: times since 1970, and a lease of a millisecond",
			history: `
				A acquire 1763800000000 1763800000001 ok ttl=1
				B acquire 1763800000000 1763800000002 ok ttl=1
				A release 1763800000003 1763800000004 fail
				B release 1763800000003 1763800000005 ok`,
			want: Pass, story: "2 acquisitions in 0.005 s, 0 to 1 in each 0.001 s",
		},
		{
			name: "bad: the release never had an answer",
			history: `
				A acquire 0 1 ok ttl=1000
				B acquire 2 1002 ok ttl=1000
				A release 5 - open
				B release 1010 1011 ok`,
			want: Fail, story: "no answer at all",
		},
		{
			name: "ok: the history stops before the release can have been held up",
			history: `
				B acquire 0 1 ok ttl=1000
				B release 2 3 ok
				A acquire 4 5 ok ttl=1000
				B acquire 6 - open ttl=1000
				A release 7 - open
				C acquire 900 - open ttl=1000`,
			want: Pass,
		},
		{
			name: "ok: the release was slow, and in time",
			history: `
				A acquire 0 1 ok ttl=1000
				B acquire 2 602 ok ttl=1000
				A release 5 603 ok
				B release 610 611 ok`,
			want: Pass,
		},
		{
			name: "ok: the release was held up, and nobody waited",
			history: `
				A acquire 0 1 ok ttl=1000
				B acquire 2 3 fail ttl=1000
				A release 5 1003 fail
				B acquire 1010 1011 ok ttl=1000
				B release 1012 1013 ok`,
			want: Pass,
		},
		{
			name: "ok: the release was held up on the network",
			history: `
				A acquire 0 1 ok ttl=1000
				! hold 4 1001 node=A
				B acquire 2 1002 ok ttl=1000
				A release 5 1003 fail
				B release 1010 1011 ok
				B acquire 2100 2101 ok ttl=1000`,
			want: Pass,
		},
		{
			name: "its arguments were refused, and not the lock",
			history: `
				B acquire 0 1 fail ttl=1500 value=invalid
				B acquire 2 3 ok ttl=1000
				A acquire 4 5 fail ttl=1000
				B release 6 7 ok`,
			want: Pass,
		},
		{
			name: "the release was on its way",
			history: `
				A acquire 0 1 ok ttl=1000
				A release 4 8 ok
				B acquire 6 9 fail ttl=1000`,
			want: Pass,
		},
		{
			name: "the release has no known outcome, and the lease and the slack are not over",
			history: `
				A acquire 0 1 ok ttl=10
				A release 4 5 info
				B acquire 15 16 fail ttl=10
				B acquire 30 31 ok ttl=10
				B release 32 33 ok`,
			want: Pass,
		},
		{
			name: "they are over",
			history: `
				A acquire 0 1 ok ttl=10
				A release 4 5 info
				B acquire 18 19 fail ttl=10`,
			want: Fail,
		},
		{
			name: "an acquire that nobody gave up may be in force for ever",
			history: `
				A acquire 0 1 info ttl=10
				B acquire 30 31 ok ttl=10
				B release 32 33 ok
				B acquire 34 35 fail ttl=10`,
			want: Pass,
		},
		{
			name: "the lock may keep a place for who waits",
			history: `
				A acquire 0 1 ok ttl=1000
				C acquire 2 3 fail ttl=1000
				A release 4 5 ok
				B acquire 6 7 fail ttl=1000
				C acquire 8 9 ok ttl=1000
				C release 10 11 ok`,
			want: Pass,
		},
		{
			name: "what a fault brought back lasts a lease and the slack",
			history: `
				A acquire 0 1 ok ttl=10
				A release 2 3 ok
				! restart 4 5 node=m
				B acquire 6 7 fail ttl=10
				B acquire 16 17 fail ttl=10
				B acquire 20 21 ok ttl=10
				B release 22 23 ok`,
			want: Pass, story: "The first after the last fault came 0.016 s after it.",
		},
		{
			name: "and no longer",
			history: `
				A acquire 0 1 ok ttl=10
				A release 2 3 ok
				! restart 4 5 node=m
				B acquire 18 19 fail ttl=10
				B acquire 20 21 ok ttl=10
				B release 22 23 ok`,
			want: Fail,
		},
		{
			name: "what a fault brought back lasts a lease that was extended and the slack",
			history: `
				A acquire 0 1 ok ttl=10
				A extend 2 3 ok ttl=20
				A release 4 5 ok
				! power-loss 6 7 node=m
				B acquire 20 21 fail ttl=10
				B acquire 30 31 ok ttl=10
				B release 32 33 ok`,
			want: Pass,
		},
		{
			name: "nobody got it after the last fault",
			history: `
				A acquire 0 1 ok ttl=1000
				! restart 4 5 node=m
				B acquire 6 7 fail ttl=1000`,
			want: Unknown, story: "None came after the last fault.",
		},
	})
}

func TestAskedInVain(t *testing.T) {
	try(t, Availability, []trial{
		{
			name: "one call in vain while a minority was at fault",
			history: `
				A acquire 0 1 ok ttl=10
				B acquire 2 3 fail ttl=10
				! stall 4 60 node=n5
				A release 6 7 ok
				B acquire 20 50 info ttl=10
				B acquire 70 71 ok ttl=10
				B release 72 73 ok`,
			options: Options{Masters: 5},
			want:    Fail, story: "B alone asked for k from 0.020 s to 0.050 s, for 0.030 s, longer than the 0.012 s of TTL and slack, and got no lease although nobody had one and no more than 1 of 5 masters were at fault.",
			witness: []string{"20 B acquire invoke", "50 B acquire info"},
		},
		{
			name: "a majority was at fault",
			history: `
				A acquire 0 1 ok ttl=10
				B acquire 2 3 fail ttl=10
				! stall 4 60 node=n3
				! stall 4 60 node=n4
				! stall 4 60 node=n5
				A release 6 7 ok
				B acquire 20 50 info ttl=10
				B acquire 70 71 ok ttl=10
				B release 72 73 ok`,
			options: Options{Masters: 5},
			want:    Pass,
		},
		{
			name: "the one master was at fault",
			history: `
				A acquire 0 1 ok ttl=10
				B acquire 2 3 fail ttl=10
				! stall 4 60 node=m
				A release 6 7 ok
				B acquire 20 50 info ttl=10
				B acquire 70 71 ok ttl=10
				B release 72 73 ok`,
			want: Pass,
		},
		{
			name: "the client was at fault",
			history: `
				A acquire 0 1 ok ttl=10
				B acquire 2 3 fail ttl=10
				! pause 4 60 node=B
				A release 6 7 ok
				B acquire 20 50 info ttl=10
				B acquire 70 71 ok ttl=10
				B release 72 73 ok`,
			want: Pass,
		},
		{
			name: "somebody else wanted it too",
			history: `
				A acquire 0 1 ok ttl=10
				B acquire 2 3 fail ttl=10
				A release 6 7 ok
				B acquire 20 50 info ttl=10
				A acquire 30 40 info ttl=10
				B acquire 70 71 ok ttl=10
				B release 72 73 ok`,
			want: Pass,
		},
		{
			name: "many errors without any fault",
			history: `
				A acquire 0 1 ok ttl=10
				B acquire 2 3 fail ttl=10
				A release 6 7 ok
				B acquire 30 31 info ttl=10
				B acquire 36 37 info ttl=10
				B acquire 44 45 info ttl=10`,
			want: Fail, story: "B alone asked for k from 0.030 s to 0.045 s",
		},
		{
			name: "no longer than a lease and the slack",
			history: `
				A acquire 0 1 ok ttl=10
				B acquire 2 3 fail ttl=10
				A release 6 7 ok
				B acquire 30 31 info ttl=10
				B acquire 40 41 info ttl=10
				B acquire 44 45 ok ttl=10
				B release 46 47 ok`,
			want: Pass,
		},
		{
			name: "one call that waits, and goes on to wait when the holder is gone",
			history: `
				A acquire 0 1 ok ttl=10
				B acquire 2 60 info ttl=10
				A release 5 6 ok
				C acquire 61 62 ok ttl=10
				C release 63 64 ok`,
			want: Fail, story: "B alone asked for k from 0.006 s to 0.060 s, for 0.054 s, longer than the 0.012 s",
			witness: []string{"2 B acquire invoke", "60 B acquire info"},
		},
		{
			name: "one call that waits no longer than a lease and the slack after the holder is gone",
			history: `
				A acquire 0 1 ok ttl=10
				B acquire 2 60 info ttl=10
				A release 47 48 ok
				C acquire 61 62 ok ttl=10
				C release 63 64 ok`,
			want: Pass,
		},
		{
			name: "one call that met a fault, and has its answer long after",
			history: `
				A acquire 0 1 ok ttl=10
				B acquire 2 60 info ttl=10
				A release 5 6 ok
				! restart 7 8 node=m
				C acquire 61 62 ok ttl=10
				C release 63 64 ok`,
			want: Pass,
		},
		{
			name: "one call that met a fault before the holder was gone",
			history: `
				A acquire 0 1 ok ttl=10
				B acquire 2 60 info ttl=10
				! restart 3 4 node=m
				A release 5 6 ok
				C acquire 61 62 ok ttl=10
				C release 63 64 ok`,
			want: Pass,
		},
		{
			name: "after the fault",
			history: `
				A acquire 0 1 ok ttl=10
				B acquire 2 3 fail ttl=10
				A release 6 7 ok
				! restart 10 29 node=m
				B acquire 20 21 info ttl=10
				B acquire 30 31 info ttl=10
				B acquire 36 37 info ttl=10
				B acquire 44 45 info ttl=10`,
			want: Fail, story: "B alone asked for k from 0.030 s to 0.045 s",
		},
	})
}
