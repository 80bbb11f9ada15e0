package checker

import (
	"testing"
	"time"
)

// A lock that says that its keys may live longer is given that time.
func TestTolerance(t *testing.T) {
	const slow = `
		A acquire 0 1 ok ttl=1000
		A crash 2
		B acquire 10 11 fail ttl=1000
		B acquire 1900 1901 fail ttl=1000
		B acquire 2100 2101 ok ttl=1000
		B release 2102 2103 ok`
	for _, property := range []Property{DeadlockFreedom, Availability} {
		try(t, property, []trial{
			{name: "bad: a key that lives too long", history: slow, options: Options{Slack: 300 * time.Millisecond}, want: Fail},
			{name: "ok: as long as the lock says", history: slow, options: Options{Slack: 300 * time.Millisecond, Tolerance: time.Second}, want: Pass},
		})
	}
}

// The "done" of a silent release says nothing of whose lock it was.
func TestSilentRelease(t *testing.T) {
	const late = `
		A acquire 0 1 ok ttl=100
		B acquire 110 111 ok ttl=1000
		C acquire 112 113 fail ttl=1000
		A release 120 121 ok
		B release 130 131 ok`
	const extended = `
		A acquire 0 1 ok ttl=100
		B acquire 110 111 ok ttl=1000
		C acquire 112 113 fail ttl=1000
		A extend 120 121 ok ttl=100
		B release 130 131 ok`
	const gone = `
		A acquire 0 1 ok ttl=1000
		B acquire 10 11 ok ttl=1000
		A release 20 21 ok
		B release 30 31 fail`
	try(t, TruthfulReplies, []trial{
		{name: "bad: done, and it was another's", history: late, want: Fail, story: "it was told that it was its own"},
		{name: "ok: done, which says no more than that it has nothing", history: late, options: Options{SilentRelease: true}, want: Pass},
		{name: "bad: an extend is not silent", history: extended, options: Options{SilentRelease: true}, want: Fail},
	})
	try(t, Ownership, []trial{
		{name: "bad: a silent release ends another's hold all the same", history: gone, options: Options{SilentRelease: true}, want: Fail},
	})
}

// What a squatter puts under a key is not left behind by the lock.
func TestSquatter(t *testing.T) {
	const calls = `
		A acquire 0 1 ok ttl=100
		B acquire 2 3 fail ttl=100
		A release 4 5 ok
		B acquire 150 151 ok ttl=100
		B release 152 153 ok`
	try(t, DeadlockFreedom, []trial{
		{name: "bad: nobody squats", history: calls + "\n! audit 200 node=m1 ttl=none", want: Fail},
		{name: "bad: a squatter has left", history: calls + "\n! squatter 20 30 node=m1\n! audit 200 node=m1 ttl=none", want: Fail},
		{name: "bad: a string is no squatter's", history: calls + "\n! squatter 180 - node=m1\n! audit 200 node=m1 ttl=none value=x", want: Fail},
		{name: "unknown: a squatter is there", history: calls + "\n! squatter 180 - node=m1\n! audit 200 node=m1 ttl=none", want: Unknown},
	})
}

// A key that nobody can have is refused to nobody for long, whoever asks and whatever is done to
// other clients.
func TestRefusedToAll(t *testing.T) {
	const calls = `
		A acquire 0 1 ok ttl=100
		A release 2 3 ok
		B acquire 10 11 fail ttl=100
		C acquire 11 12 fail ttl=100
		B acquire 400 401 fail ttl=100
		C acquire 401 402 fail ttl=100
		B acquire 800 801 fail ttl=100
		C acquire 801 802 fail ttl=100
		B acquire 2000 2001 ok ttl=100
		B release 2002 2003 ok`
	with := func(more string) string { return calls + "\n" + more }
	slack := Options{Slack: 100 * time.Millisecond}
	quorum := Options{Slack: 100 * time.Millisecond, Masters: 5}
	try(t, Availability, []trial{
		{name: "bad: while a third client is cut off", history: with("! pause 5 1900 node=D"), options: slack, want: Fail, story: "although nobody can have had it all that time"},
		{name: "ok: while one of the two is cut off, whose refusals are no proof", history: with("! pause 5 1900 node=B\n! pause 5 1900 node=C"), options: slack, want: Pass},
		{name: "ok: while the server is at fault", history: with("! kill 5 1900 node=m1"), options: slack, want: Pass},
		{name: "bad: while one of five is", history: with("! kill 5 1900 node=m1"), options: quorum, want: Fail},
		{name: "ok: while three of five are", history: with("! kill 5 1900 node=m1\n! kill 5 1900 node=m2\n! kill 5 1900 node=m3"), options: quorum, want: Pass},
		{name: "ok: one may have got it whose acquire has no certain outcome", history: with("! pause 5 1900 node=D\nD acquire 300 310 info ttl=100"), options: slack, want: Pass},
		{name: "bad: but not for ever", history: with("! pause 5 20 node=D\n! pause 1800 1900 node=E\nD acquire 15 30 info ttl=100"), options: slack, want: Fail, story: "from 0.400 s"},
	})
}
