package checker

import "testing"

func TestDeadlockFreedom(t *testing.T) {
	try(t, DeadlockFreedom, []trial{
		{
			name: "ok: no faults",
			history: `
				A acquire 0 1 ok ttl=10
				B acquire 1 2 fail ttl=10
				A release 3 4 ok
				B acquire 5 6 ok ttl=10
				B release 7 8 ok
				! audit 9 node=m ttl=5 value=x`,
			want: Pass, story: "From 0.000 s on, clients got every key",
		},
		{
			name: "bad: crash without TTL",
			history: `
				C acquire 0 1 ok ttl=10
				C release 1 2 ok
				A acquire 2 - open ttl=10
				A crash 3
				B acquire 4 5 fail ttl=10
				B acquire 10 11 fail ttl=10
				B acquire 17 18 fail ttl=10
				! audit 30 node=m1 ttl=none value=v`,
			want: Fail, story: "Nobody held k, yet it was refused from 0.004 s, when B asked, to 0.018 s, when B was last refused: for 0.014 s, longer than the 0.012 s of TTL and slack.",
			witness: []string{"2 A acquire invoke", "4 B acquire invoke", "18 B acquire fail", "30 ! audit info"},
		},
		{
			name: "bad: no end, though the lock promises one to who does not say for how long",
			history: `
				A acquire 0 1 ok ttl=10 value=without-ttl
				! audit 2 node=m ttl=none value=x
				B acquire 3 4 fail ttl=10
				A release 5 6 ok
				B acquire 7 8 ok ttl=10
				B release 9 10 ok`,
			want: Fail, story: "A did not say for how long it wanted k, for which the lock promises 0.010 s; at 0.002 s its key had no time to live.",
			witness: []string{"0 A acquire invoke", "1 A acquire ok", "2 ! audit info"},
		},
		{
			name: "bad: a later end than is promised",
			history: `
				A acquire 0 1 ok ttl=10 value=without-ttl
				! audit 2 node=m ttl=20 value=x
				A release 5 6 ok
				B acquire 7 8 ok ttl=10
				B release 9 10 ok`,
			want: Fail, story: "at 0.002 s its key was to live for another 0.020 s",
		},
		{
			name: "ok: the end that is promised",
			history: `
				A acquire 0 1 ok ttl=10 value=without-ttl
				! audit 2 node=m ttl=9 value=x
				B acquire 3 4 fail ttl=10
				A release 5 6 ok
				B acquire 7 8 ok ttl=10
				B release 9 10 ok`,
			want: Pass,
		},
		{
			name: "ok: no end, and none is promised",
			history: `
				A acquire 0 1 ok value=without-ttl
				! audit 2 node=m ttl=none value=x
				B acquire 3 4 fail ttl=10
				A release 5 6 ok
				B acquire 7 8 ok ttl=10
				B release 9 10 ok`,
			want: Pass,
		},
		{
			name: "ok: no end, and it may be another's, who was not answered",
			history: `
				C acquire 0 - open ttl=10
				A acquire 0 1 ok ttl=10 value=without-ttl
				! audit 2 node=m ttl=none value=x
				A release 5 6 ok
				C crash 6
				B acquire 7 8 ok ttl=10
				B release 9 10 ok`,
			want: Pass,
		},
		{
			name: "ok: a later end, by an extend",
			history: `
				A acquire 0 1 ok ttl=10 value=without-ttl
				A extend 1 2 ok ttl=30
				! audit 2 node=m ttl=29 value=x
				B acquire 3 4 fail ttl=10
				A release 5 6 ok
				B acquire 7 8 ok ttl=10
				B release 9 10 ok`,
			want: Pass,
		},
		{
			name: "ok: granted again once the TTL has run out",
			history: `
				A acquire 0 1 ok ttl=10
				A crash 3
				C acquire 1 2 fail
				B acquire 4 5 fail ttl=10
				B acquire 10 11 fail ttl=10
				B acquire 15 16 ok ttl=10
				B release 17 18 ok`,
			want: Pass,
		},
		{
			name: "bad: refused by two clients, though each asked for a short time",
			history: `
				A acquire 0 1 ok ttl=10
				A release 2 3 ok
				B acquire 4 5 fail ttl=10
				C acquire 17 18 fail ttl=10`,
			want: Fail, story: "whose release began at 0.002 s",
		},
		{
			name: "ok: its arguments were refused, and not the lock",
			history: `
				A acquire 0 1 ok ttl=10
				A crash 3
				C acquire 3 4 fail ttl=10
				B acquire 4 5 fail ttl=10 value=invalid
				B acquire 37 38 fail ttl=10 value=invalid
				C acquire 39 40 ok ttl=10`,
			want: Pass,
		},
		{
			name: "ok: the last answer was long in coming",
			history: `
				A acquire 0 1 ok ttl=10
				A crash 3
				B acquire 4 5 fail ttl=10
				B acquire 10 30 fail ttl=10
				B acquire 31 32 ok ttl=10`,
			want: Pass,
		},
		{
			name: "bad: a longer TTL that was refused excuses nothing",
			history: `
				A acquire 0 1 ok ttl=10
				B acquire 1 2 fail ttl=1000
				A crash 3
				B acquire 4 5 fail ttl=10
				B acquire 17 18 fail ttl=10`,
			want: Fail, story: "longer than the 0.012 s of TTL and slack",
		},
		{
			name: "ok: a longer TTL of unknown outcome may still run",
			history: `
				A acquire 0 1 ok ttl=10
				B acquire 1 2 info ttl=1000
				A crash 3
				B acquire 4 5 fail ttl=10
				B acquire 17 18 fail ttl=10`,
			want: Pass,
		},
		{
			name: "bad: a longer TTL asked for later excuses nothing",
			history: `
				A acquire 0 1 ok ttl=10
				A lost 2
				B acquire 4 5 fail ttl=10
				B acquire 17 18 fail ttl=10
				B acquire 19 20 ok ttl=1000
				B release 21 22 ok`,
			want: Fail, story: "left behind by A, which was told at 0.002 s that the lock was lost.",
		},
		{
			name: "bad: a longer lease by extend lets one wait longer, but not for ever",
			history: `
				A acquire 0 1 ok ttl=10
				A extend 1 2 ok ttl=20
				A abandon 3
				B acquire 4 5 fail ttl=10
				B acquire 27 28 fail ttl=10
				B release 28 29 fail`,
			want: Fail, story: "for 0.024 s, longer than the 0.022 s of TTL and slack. It was probably left behind by A, which walked away at 0.003 s.",
		},
		{
			name: "bad: a lock that nobody ever had",
			history: `
				B acquire 4 5 fail ttl=10
				B acquire 27 28 fail ttl=10
				B acquire 28 29 ok ttl=10`,
			want: Fail, story: "longer than the 0.012 s of TTL and slack.",
		},
		{
			name: "unknown: refused, but not for long enough",
			history: `
				C acquire 0 1 ok ttl=10
				! pause 1 2 node=A
				C release 2 3 ok
				B acquire 4 5 fail ttl=10
				B acquire 15 16 fail ttl=10`,
			want: Unknown, story: "Nobody was granted k after 0.002 s, but nobody was refused for long enough",
		},
		{
			name: "ok: refused for long while somebody held it",
			history: `
				A acquire 0 1 ok ttl=10
				B acquire 4 5 fail ttl=10
				B acquire 34 35 fail ttl=10
				A release 36 37 ok`,
			want: Pass,
		},
		{
			name: "unknown: refused for long while an acquire was in flight",
			history: `
				A acquire 0 40 info ttl=10
				B acquire 4 5 fail ttl=10
				B acquire 34 35 fail ttl=10
				B acquire 41 42 ok ttl=10
				B release 43 44 ok`,
			want: Unknown,
		},
		{
			name: "ok: it was in flight for not so long",
			history: `
				A acquire 0 12 info ttl=10
				B acquire 4 5 fail ttl=10
				B acquire 14 15 ok ttl=10
				B release 16 17 ok`,
			want: Pass,
		},
		{
			name: "unknown: two wait for ever for what a crash without TTL left behind",
			history: `
				A acquire 0 1 ok
				B acquire 2 60 info
				C acquire 3 - open
				A crash 5
				B acquire 61 100 info`,
			want: Unknown, story: "B asked for k at 0.002 s and had no certain answer for longer than TTL and slack",
		},
		{
			name: "ok: the client that waited crashed",
			history: `
				A acquire 0 1 ok ttl=10
				B acquire 2 - open ttl=10
				B crash 3
				A release 4 5 ok
				C acquire 60 61 ok ttl=10
				C release 62 63 ok`,
			want: Pass,
		},
		{
			name: "ok: it waited for a holder",
			history: `
				A acquire 0 1 ok ttl=10
				B acquire 2 60 info ttl=10
				A release 50 51 ok
				C acquire 61 62 ok ttl=10
				C release 63 64 ok`,
			want: Pass,
		},
		{
			name: "unknown: it waited when the holder was gone",
			history: `
				A acquire 0 1 ok ttl=10
				B acquire 2 60 info ttl=10
				A release 30 31 ok
				C acquire 61 62 ok ttl=10
				C release 63 64 ok`,
			want: Unknown,
		},
		{
			name: "ok: a fault met it",
			history: `
				B acquire 0 60 info ttl=10
				! pause 1 50 node=B
				A acquire 51 52 ok ttl=10
				A release 53 54 ok
				C acquire 61 62 ok ttl=10
				C release 63 64 ok`,
			want: Pass,
		},
		{
			name: "unknown: refused for long while an acquire never returned",
			history: `
				C acquire 0 1 ok ttl=10
				! pause 1 2 node=A
				C release 2 3 ok
				A acquire 3 - open ttl=10
				B acquire 4 5 fail ttl=10
				B acquire 34 35 fail ttl=10`,
			want: Unknown,
		},
		{
			name: "bad: an acquire of unknown outcome left it behind",
			history: `
				A acquire 0 3 info ttl=10
				C acquire 0 1 fail ttl=10
				B acquire 4 5 fail ttl=10
				B acquire 34 35 fail ttl=10`,
			want: Fail, story: "left behind by A, whose acquire at 0.000 s has no known outcome.",
		},
		{
			name: "ok: refused for long before the last fault healed",
			history: `
				A acquire 0 1 ok ttl=10
				! cut 1 50 node=m
				A release 2 3 ok
				B acquire 4 5 fail ttl=10
				B acquire 34 35 fail ttl=10
				B acquire 51 52 ok ttl=10
				B release 53 54 ok`,
			want: Pass, story: "From 0.050 s on",
		},
		{
			name: "ok: a grant in between",
			history: `
				A acquire 0 1 ok ttl=10
				A crash 2
				B acquire 4 5 fail ttl=10
				C acquire 13 14 ok ttl=10
				C release 15 16 ok
				B acquire 17 18 fail ttl=10`,
			want: Pass,
		},
		{
			name: "ok: refused over a long time, but held for most of it",
			history: `
				A acquire 0 1 ok ttl=10
				A release 2 3 ok
				B acquire 4 40 fail ttl=10
				C acquire 5 6 ok ttl=10
				C release 41 42 ok`,
			want: Pass,
		},
		{
			name: "unknown: a fault never healed",
			history: `
				A acquire 0 1 ok ttl=10
				! kill 1 - node=m
				B acquire 4 5 fail ttl=10
				B acquire 34 35 fail ttl=10
				A release 36 37 ok`,
			want: Unknown, story: "The fault kill of m that began at 0.001 s was never healed",
		},
		{
			name: "unknown: nobody tried after the last fault",
			history: `
				A acquire 0 1 ok ttl=10
				B acquire 4 5 fail ttl=10
				! pause 4 10 node=A
				A release 36 37 ok`,
			want: Unknown, story: "Nobody tried to get a lock after the last fault.",
		},
		{
			name: "bad: an orphan without TTL",
			history: `
				A acquire 0 1 ok ttl=10
				B acquire 1 2 fail ttl=10
				A release 3 4 ok
				! audit 9 node=m1 ttl=none value=3f9a`,
			want: Fail, story: `At 0.009 s on m1 the key k = "3f9a" had no TTL and no living owner: no server will ever remove it. It was probably left behind by A, whose release began at 0.003 s.`,
			witness: []string{"1 A acquire ok", "9 ! audit info"},
		},
		{
			name: "bad: an orphan although a fault never healed",
			history: `
				A acquire 0 1 ok ttl=10
				! kill 1 - node=m2
				B acquire 1 2 fail ttl=10
				A release 3 4 ok
				! audit 9 node=m1 ttl=none value=3f9a`,
			want: Fail,
		},
		{
			name: "ok: a key without TTL and with an owner",
			history: `
				B acquire 0 1 ok
				B release 2 3 ok
				A acquire 4 5 ok
				B acquire 6 7 fail
				! audit 9 node=m1 ttl=none value=3f9a`,
			want: Pass,
		},
		{
			name: "bad: one key of two",
			history: `
				A acquire 0 1 ok ttl=10 key=x
				B acquire 1 2 fail ttl=10 key=x
				A release 3 4 ok key=x
				A acquire 4.1 4.5 ok ttl=10 key=y
				A crash 5
				B acquire 6 7 fail ttl=10 key=y
				B acquire 26 27 fail ttl=10 key=y`,
			want: Fail, story: "Nobody held y",
		},
	})
}
