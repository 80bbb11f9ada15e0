package checker

import (
	"testing"

	"github.com/lockbench/lockbench/histories"
)

func TestOwnership(t *testing.T) {
	// A outlives its lease, B is granted the lock, A deletes it, C is granted it.
	unconditionalDelete := `
		A acquire 0 1 ok ttl=100 deadline=100
		! pause 50 150 node=A
		B acquire 110 111 ok ttl=100 deadline=210
		A release 151 152 ok
		C acquire 160 161 ok ttl=100 deadline=260
		B release 170 171 fail
		C release 180 181 ok`
	try(t, Ownership, []trial{
		{
			name: "ok: everybody releases their own",
			history: `
				A acquire 0 1 ok ttl=100
				B acquire 2 3 fail ttl=100
				A release 4 6 ok
				B acquire 5 7 ok ttl=100
				C acquire 7 8 fail ttl=100
				B release 9 10 ok`,
			want: Pass, story: "among 2 grants",
		},
		{
			name: "bad: unconditional delete", history: unconditionalDelete,
			want: Fail, story: "yet C was granted it at 0.161 s; A's release, invoked at 0.151 s, had been accepted at 0.152 s: A's release ended B's hold",
			witness: []string{"1 A acquire ok", "111 B acquire ok", "151 A release invoke", "152 A release ok", "161 C acquire ok"},
		},
		{
			name: "unknown: the same, but the pause may make a server forget", history: unconditionalDelete,
			options: Options{ClientFaults: []histories.F{}},
			want:    Unknown, story: "cannot be told which it was",
		},
		{
			name: "either: a GET/DEL race, or C was let in beside B",
			history: `
				A acquire 0 1 ok ttl=100
				A release 20 151 ok
				! hold 50 150 node=A
				B acquire 110 111 ok ttl=100
				C acquire 160 161 ok ttl=100
				B release 170 171 fail
				C release 180 181 ok`,
			want: Unknown, story: "either that ended B's hold, or C was let in beside B",
		},
		{
			name: "bad: noticed by the owner's own release",
			history: `
				A acquire 0 1 ok ttl=100
				B acquire 110 111 ok ttl=100
				A release 151 152 ok
				C acquire 120 121 fail
				B release 170 171 fail`,
			want: Fail, story: "B's own release was refused at 0.171 s",
		},
		{
			name: "bad: noticed by the owner's own extend",
			history: `
				A acquire 0 1 ok ttl=100
				B acquire 110 111 ok ttl=100
				C acquire 120 121 fail
				A release 151 152 ok
				B extend 170 171 fail ttl=100`,
			want: Fail, story: "B's own extend was refused at 0.171 s",
		},
		{
			name: "bad: within an extended lease",
			history: `
				A acquire 0 1 ok ttl=100
				B acquire 110 111 ok ttl=100 deadline=210
				B extend 180 181 ok ttl=100 deadline=280
				A release 220 221 ok
				C acquire 230 231 ok ttl=100
				C release 240 241 ok`,
			want: Fail, story: "its lease certainly ran until 0.277 s",
		},
		{
			name: "bad: a foreign release of a lock that was entered twice",
			history: `
				B acquire 0 1 ok ttl=100 value=reenter
				A acquire 110 111 ok ttl=100 value=reenter
				A acquire 112 113 ok ttl=100 value=reenter
				B release 120 121 ok
				A release 122 123 ok
				C acquire 124 125 ok ttl=100 value=reenter`,
			want: Fail, story: "B's release ended A's hold",
		},
		{
			name: "ok: what a re-entry shortened, its release did not end",
			history: `
				A acquire 0 1 ok ttl=100 value=reenter
				A acquire 2 3 ok ttl=10 value=reenter
				A release 4 5 ok
				B acquire 14 15 ok ttl=100 value=reenter
				A release 16 17 fail
				B release 18 19 ok`,
			want: Pass, story: "among 3 grants.",
		},
		{
			name: "ok: the lease had run out, but for the drift",
			history: `
				A acquire 0 1 ok ttl=100
				B acquire 110 111 ok ttl=100
				A release 151 152 ok
				C acquire 206 207 ok ttl=100
				B release 208 209 fail
				C release 210 211 ok`,
			want: Pass,
		},
		{
			name: "ok: the deadline told was earlier",
			history: `
				A acquire 0 1 ok ttl=100
				B acquire 110 111 ok ttl=100 deadline=160
				A release 151 152 ok
				C acquire 161 162 ok ttl=100
				C release 210 211 ok`,
			want: Pass,
		},
		{
			name: "ok: both keys existed, nobody lost anything",
			history: `
				A acquire 0 1 ok ttl=100
				! promote 2 3 node=r
				B acquire 10 11 ok ttl=100
				A release 20 21 ok
				C acquire 22 23 fail ttl=100
				B release 30 31 ok`,
			want: Pass,
		},
		{
			name: "unknown: a failover may explain it as well",
			history: `
				A acquire 0 1 ok ttl=100
				B acquire 10 11 ok ttl=100
				A release 20 21 ok
				! promote 22 23 node=r
				C acquire 25 26 ok ttl=100
				C release 30 31 ok`,
			want: Unknown, story: "cannot be told which it was",
		},
		{
			name: "unknown: both keys existed since a failover, and more may explain the rest",
			history: `
				A acquire 0 1 ok ttl=100
				! promote 2 3 node=r
				B acquire 10 11 ok ttl=100
				A release 20 21 ok
				C acquire 25 26 ok ttl=100
				C release 30 31 ok`,
			want: Unknown, story: "cannot be told which it was",
		},
		{
			name: "bad: a release is suspected before an extend",
			history: `
				A acquire 0 1 ok ttl=100
				D acquire 0 2 ok ttl=100
				B acquire 110 111 ok ttl=100
				A release 151 152 ok
				D extend 153 154 ok ttl=100
				C acquire 160 161 ok ttl=100
				C release 180 181 ok`,
			want: Fail, story: "A's release ended B's hold",
		},
		{
			name: "bad: an extend that shortened another's lease",
			history: `
				A acquire 0 1 ok ttl=100
				B acquire 110 111 ok ttl=100
				A extend 112 113 ok ttl=1
				C acquire 120 121 ok ttl=100
				C release 130 131 ok`,
			want: Fail, story: "A's extend ended B's hold",
		},
		{
			name: "ok: nobody is suspected of ending their own hold",
			history: `
				A acquire 0 1 ok ttl=100
				C acquire 1 2 fail
				A extend 3 4 ok ttl=100
				A release 5 6 fail
				B acquire 7 8 ok ttl=100
				B release 9 10 ok`,
			want: Pass, story: "Lock lost: 1 hold",
		},
		{
			name: "ok: a release that overtook its acquire",
			history: `
				A acquire 0 1 ok ttl=100
				A release 2 9 ok
				B acquire 4 12 ok ttl=100
				B release 5 6 fail proc=1
				C acquire 10 11 fail`,
			want: Pass, story: "among 2 grants.",
		},
		{
			name: "ok: the failover was over before",
			history: `
				! promote 0 1 node=r
				A acquire 2 3 ok ttl=100
				C acquire 4 5 fail ttl=100
				A release 6 7 ok
				B acquire 8 9 ok ttl=100
				B release 10 11 ok`,
			want: Pass,
		},
		{
			name: "ok: a lost lock without a suspect",
			history: `
				A acquire 0 1 ok ttl=100
				! promote 2 3 node=r
				B acquire 10 11 ok ttl=100
				A release 20 21 fail
				B release 30 31 ok`,
			want: Pass, story: "Lock lost: 1 hold ended within the lease",
		},
		{
			name: "ok: a release that was resent and refused by itself",
			history: `
				A acquire 0 1 ok ttl=100
				A release 5 9 ok
				B acquire 8 10 ok ttl=100
				C acquire 10 11 fail
				! hold 12 18 node=B
				B release 11 20 fail`,
			want: Pass,
		},
		{
			name: "ok: a release that was over before the lost hold began",
			history: `
				A acquire 0 1 ok ttl=100
				B acquire 2 3 fail ttl=100
				A release 4 5 ok
				B acquire 6 7 ok ttl=100
				B release 8 9 fail`,
			want: Pass, story: "Lock lost: 1 hold",
		},
		{
			name: "ok: an extend that its own release overtook",
			history: `
				A acquire 0 1 ok ttl=100
				A release 2 9 ok
				B acquire 4 5 ok ttl=100
				C acquire 4 5 fail
				B extend 6 10 fail ttl=100 proc=1
				B release 7 8 ok`,
			want: Pass, story: "among 2 grants.",
		},
		{
			name: "ok: the third was invoked before the second was granted",
			history: `
				A acquire 0 1 ok ttl=100
				A release 2 9 ok
				B acquire 4 20 ok ttl=100
				C acquire 5 21 ok ttl=3
				C release 22 23 fail
				B release 24 25 ok`,
			want: Pass,
		},
		{
			name: "ok: the owner had asked to release it",
			history: `
				A acquire 0 1 ok ttl=100
				A release 2 9 ok
				B acquire 4 5 ok ttl=100
				B release 6 - open
				D acquire 5 6 fail
				C acquire 7 8 ok ttl=100
				C release 9 10 ok`,
			want: Pass,
		},
		{
			name: "ok: a release of unknown outcome accuses nobody",
			history: `
				A acquire 0 1 ok ttl=100
				B acquire 110 111 ok ttl=100
				A release 151 152 info
				C acquire 160 161 ok ttl=100
				C release 170 171 ok`,
			want: Pass, story: "Lock lost",
		},
		{
			name: "either: without a TTL",
			history: `
				A acquire 0 1 ok
				A release 2 9 ok
				B acquire 4 5 ok
				C acquire 10 11 ok
				C release 12 13 ok`,
			want: Unknown, story: "its lease had no end",
		},
		{name: "unknown: nobody was granted anything", history: `A acquire 1 2 fail`, want: Unknown},
	})
}
