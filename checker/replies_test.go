package checker

import "testing"

func TestReplies(t *testing.T) {
	try(t, TruthfulReplies, []trial{
		{
			name: "taken, by nobody, and no fault",
			history: `
				A acquire 0 1 fail ttl=1000
				B acquire 5000 5001 ok ttl=1000
				C acquire 5002 5003 fail ttl=1000
				B release 5004 5005 ok`,
			want: Fail, story: "A was told at 0.001 s that k is taken, when nobody else can have had it: nobody had been granted it before",
			witness: []string{"0 A acquire invoke", "1 A acquire fail"},
		},
		{
			name: "taken, by the command whose reply was lost",
			history: `
				B acquire 0 1 ok ttl=1000
				B release 2 3 ok
				! pause 4 10 node=A
				A acquire 5 9 fail ttl=1000
				B acquire 11 12 fail ttl=1000
				B acquire 1500 1501 ok ttl=1000
				B release 1600 1601 ok`,
			want: Fail, story: "A was told at 0.009 s that k is taken",
		},
		{
			name: "not taken, but asked for a lease that there is not",
			history: `
				A acquire 0 1 fail ttl=1500 value=invalid
				B acquire 5000 5001 ok ttl=1000
				A acquire 5002 5003 fail ttl=1000
				B release 5004 5005 ok`,
			want: Pass,
		},
		{
			name: "a release of what another has, who had asked for it before the lease was made short",
			history: `
				A acquire 0 1 ok ttl=1000
				C acquire 2 3 fail ttl=1000
				D acquire 2 3 fail ttl=1000
				C acquire 4 6 fail ttl=1000
				D acquire 4 6 fail ttl=1000
				B acquire 10 40 ok ttl=1000
				A extend 11 12 ok ttl=10
				A release 50 60 ok
				B extend 55 70 ok ttl=1000
				B release 80 81 ok`,
			want: Fail, story: "although its lease was over and B had been granted the key",
		},
		{
			name: "an extend brings back what another has had since",
			history: `
				A acquire 0 1 ok ttl=1000
				B acquire 1010 1011 ok ttl=1000
				B release 1020 1021 ok
				A extend 1030 1031 ok ttl=1000`,
			want: Fail, story: "what was lost was brought back",
			witness: []string{"1 A acquire ok", "1011 B acquire ok", "1030 A extend invoke", "1031 A extend ok"},
		},
		{
			name: "an extend of a lease that ended, and nobody else asked for it",
			history: `
				A acquire 0 1 ok ttl=1000
				A extend 1030 1031 ok ttl=1000
				B acquire 1032 1033 fail ttl=1000
				A release 1040 1041 ok`,
			want: Pass,
		},
		{
			name: "yes, it is yours, which another has",
			history: `
				A acquire 0 1 ok ttl=1000
				B acquire 1010 1011 ok ttl=1000
				A verify 1020 1021 ok
				B release 1030 1031 ok
				A release 1040 1041 fail`,
			want: Fail, story: "although its lease was over and B had been granted the key",
			witness: []string{"1 A acquire ok", "1011 B acquire ok", "1020 A verify invoke", "1021 A verify ok"},
		},
		{
			name: "no, it is not yours, which it certainly is",
			history: `
				A acquire 0 1 ok ttl=1000
				A verify 10 11 fail
				A release 20 21 ok`,
			want: Fail, story: "its verify was refused at 0.011 s",
		},
		{
			name: "yes, it is yours, which was given back",
			history: `
				A acquire 0 1 ok ttl=1000
				A release 10 11 ok
				A verify 20 21 ok`,
			want: Fail, story: "so was its verify of the same lock",
		},
		{
			name: "yes while it is, and no when it is another's",
			history: `
				A acquire 0 1 ok ttl=1000
				A verify 10 11 ok
				B acquire 1010 1011 ok ttl=1000
				A verify 1020 1021 fail
				A release 1025 1026 fail
				B release 1030 1031 ok`,
			want: Pass,
		},
		{
			name: "yes as the lease ends, or nobody knows",
			history: `
				A acquire 0 1 ok ttl=1000
				A verify 995 1015 ok
				A verify 1016 1017 info
				B acquire 1020 1021 ok ttl=1000
				B release 1030 1031 ok`,
			want: Pass,
		},
		{
			name: "an extend refused for its arguments, which says nothing of whose it is",
			history: `
				A acquire 0 1 ok ttl=1000
				A extend 10 11 fail ttl=989 value=invalid
				B acquire 12 13 fail ttl=1000
				A release 14 15 ok`,
			want: Pass,
		},
		{
			name: "taken, by a lease that nobody gave back",
			history: `
				B acquire 0 1 ok ttl=1000
				B crash 2
				A acquire 5000 5001 fail ttl=1000
				A acquire 6000 6001 ok ttl=1000
				A release 6002 6003 ok`,
			want: Pass,
		},
		{
			name: "rejected by the server, which says nothing of who holds it",
			history: `
				A acquire 0 1 fail ttl=1000 value=rejected
				A acquire 2 3 ok ttl=1000
				B acquire 3 3.5 fail ttl=1000
				A release 4 5 ok`,
			want: Pass,
		},
		{
			name: "taken, by a release that may have got lost",
			history: `
				B acquire 0 1 ok ttl=1000
				! pause 2 4 node=B
				B release 3 4 ok
				A acquire 5 6 fail ttl=1000
				A acquire 1500 1501 ok ttl=1000
				A release 1600 1601 ok`,
			want: Pass,
		},
		{
			name: "taken, by what a server brought back",
			history: `
				B acquire 0 1 ok ttl=1000
				B release 2 3 ok
				! restart 4 5 node=m
				A acquire 6 7 fail ttl=1000
				A acquire 1500 1501 ok ttl=1000
				A release 1600 1601 ok`,
			want: Pass,
		},
		{
			name: "taken, by an acquire that may still arrive",
			history: `
				B acquire 0 1 info ttl=1000
				A acquire 6 7 fail ttl=1000
				A acquire 1500 1501 ok ttl=1000
				A release 1600 1601 ok`,
			want: Pass,
		},
		{
			name: "taken, by somebody who asks, too",
			history: `
				B acquire 0 3 ok ttl=1000
				A acquire 1 2 fail ttl=1000
				B release 4 5 ok`,
			want: Pass,
		},
		{
			name: "a release was accepted while the next holder certainly had the key",
			history: `
				A acquire 0 1 ok ttl=1000
				B acquire 500 501 fail ttl=1000
				B acquire 1500 1501 ok ttl=1000
				A release 1600 1601 ok
				B release 1700 1701 ok`,
			want: Fail, story: "A's release of k, invoked at 1.600 s, was accepted at 1.601 s although its lease was over and B had been granted the key",
			witness: []string{"1 A acquire ok", "1501 B acquire ok", "1600 A release invoke", "1601 A release ok"},
		},
		{
			name: "so was an extend",
			history: `
				A acquire 0 1 ok ttl=1000
				B acquire 1500 1501 ok ttl=1000
				A extend 1600 1601 ok ttl=1000
				B release 1700 1701 fail`,
			want: Fail, story: "A's extend of k",
		},
		{
			name: "the next holder came while the release was under way",
			history: `
				A acquire 0 1 ok ttl=1000
				A release 900 1601 ok
				B acquire 901 902 fail ttl=1000
				B acquire 1500 1501 ok ttl=1000
				B release 1700 1701 ok`,
			want: Pass,
		},
		{
			name: "a server fault may have put the key back",
			history: `
				A acquire 0 1 ok ttl=1000
				! restart 1400 1410 node=m
				B acquire 1500 1501 ok ttl=1000
				A release 1600 1601 ok
				B release 1700 1701 ok`,
			want: Pass,
		},
		{
			name: "a pause changes no key",
			history: `
				A acquire 0 1 ok ttl=1000
				! pause 2 1590 node=A
				B acquire 1500 1501 ok ttl=1000
				A release 1600 1601 ok
				B release 1700 1701 ok`,
			want: Fail,
		},
		{
			name: "released twice",
			history: `
				A acquire 0 1 ok ttl=1000
				B acquire 1 2 fail ttl=1000
				A release 3 4 ok
				A release 5 6 ok`,
			want: Fail, story: "A's release of k was accepted at 0.004 s, and so was its release of the same lock at 0.006 s",
			witness: []string{"4 A release ok", "5 A release invoke", "6 A release ok"},
		},
		{
			name: "the releases of re-entries count",
			history: `
				A acquire 0 1 ok ttl=1000 value=reenter
				B acquire 1 2 fail ttl=1000 value=reenter
				A acquire 2 3 ok ttl=1000 value=reenter
				A release 3 4 ok attempt=1
				A release 5 6 ok attempt=1`,
			want: Pass,
		},
		{
			name: "denied without any reason",
			history: `
				A acquire 0 1 ok ttl=1000
				B acquire 1 2 fail ttl=1000
				A release 3 4 fail
				B acquire 5 6 ok ttl=1000
				B release 7 8 ok`,
			want: Fail, story: "its lease certainly ran until 0.988 s and nobody else had touched the key, yet its release was refused at 0.004 s",
			witness: []string{"1 A acquire ok", "3 A release invoke", "4 A release fail"},
		},
		{
			name: "denied when the lease may have ended",
			history: `
				A acquire 0 1 ok ttl=1000
				B acquire 1 2 fail ttl=1000
				A release 989 990 fail
				B acquire 1500 1501 ok ttl=1000
				B release 1502 1503 ok`,
			want: Pass,
		},
		{
			name: "denied after a release of somebody else may have reached the key",
			history: `
				B acquire 0 1 ok ttl=1000
				B release 2 - open
				C acquire 2.1 2.2 fail ttl=1000
				A acquire 3 4 ok ttl=1000
				A release 5 6 fail
				C acquire 7 8 ok ttl=1000
				C release 9 10 ok`,
			want: Pass,
		},
		{
			name: "denied under any fault",
			history: `
				A acquire 0 1 ok ttl=1000
				B acquire 1 2 fail ttl=1000
				! hold 2.5 3.5 node=A
				A release 3 4 fail
				B acquire 5 6 ok ttl=1000
				B release 7 8 ok`,
			want: Pass,
		},
		{
			name: "nobody was answered",
			history: `
				A acquire 0 1 ok ttl=1000
				B acquire 1 2 fail ttl=1000
				A release 3 4 info`,
			want: NotApplicable,
		},
		{
			name: "what one master alone has was there before it refused",
			history: `
				B acquire 0 1 ok ttl=1000
				B release 2 3 ok
				C acquire 4 5 fail ttl=1000
				A acquire 4 5 fail ttl=1000
				! audit 6 node=m1 ttl=900 value=3f9a`,
			want: Pass,
		},
		{
			name:    "a refused acquire left its key behind",
			options: Options{Masters: 5},
			history: `
				B acquire 0 1 ok ttl=1000
				B release 2 3 ok
				C acquire 4 5 fail ttl=1000
				A acquire 4 5 fail ttl=1000
				! audit 6 node=n3 ttl=900 value=3f9a`,
			want: Fail, story: "A's acquire of k was refused at 0.005 s, which says that it left nothing behind, yet at 0.006 s n3 had k = \"3f9a\"",
			witness: []string{"4 A acquire invoke", "5 A acquire fail", "6 ! audit info"},
		},
		{
			name:    "nobody knows what an acquire of unknown outcome left",
			options: Options{Masters: 5},
			history: `
				B acquire 0 1 ok ttl=1000
				B release 2 3 ok
				A acquire 4 5 info ttl=1000
				C acquire 6 7 fail ttl=1000
				! audit 8 node=n3 ttl=900 value=3f9a`,
			want: Pass,
		},
		{
			name:    "the key is that of a holder",
			options: Options{Masters: 5},
			history: `
				B acquire 0 1 ok ttl=1000
				A acquire 4 5 fail ttl=1000
				! audit 6 node=n3 ttl=900 value=3f9a
				B release 7 8 ok`,
			want: Pass,
		},
		{
			name:    "the key was brought back by a restart",
			options: Options{Masters: 5},
			history: `
				B acquire 0 1 ok ttl=1000
				B release 2 3 ok
				! restart 3 4 node=n3
				A acquire 5 6 fail ttl=1000
				! audit 7 node=n3 ttl=900 value=3f9a`,
			want: Pass,
		},
		{
			name:    "one of the masters may not have heard of a release whose client was touched by a fault later",
			options: Options{Masters: 5},
			history: `
				B acquire 0 1 ok ttl=1000
				B release 2 3 ok
				! pause 4 5 node=B
				C acquire 6 7 fail ttl=1000
				A acquire 6 7 fail ttl=1000
				! audit 8 node=n3 ttl=900 value=3f9a`,
			want: Pass,
		},
		{
			name:    "a fault of somebody else kept no release from a master",
			options: Options{Masters: 5},
			history: `
				B acquire 0 1 ok ttl=1000
				B release 2 3 ok
				! pause 4 5 node=A
				C acquire 6 7 fail ttl=1000
				D acquire 6 7 fail ttl=1000
				! audit 8 node=n3 ttl=900 value=3f9a`,
			want: Fail, witness: []string{"6 D acquire invoke", "7 D acquire fail", "8 ! audit info"},
		},
		{
			name:    "a fault of a thread touches the others of its process",
			options: Options{Masters: 5, Threads: 2},
			history: `
				B acquire 0 1 ok ttl=1000
				B release 2 3 ok
				! pause 4 5 node=A
				C acquire 6 7 fail ttl=1000
				D acquire 6 7 fail ttl=1000
				! audit 8 node=n3 ttl=900 value=3f9a`,
			want: Pass,
		},
		{
			name:    "the lease is over, whatever became of its release",
			options: Options{Masters: 5},
			history: `
				B acquire 0 1 ok ttl=1000
				B release 2 3 ok
				! pause 4 5 node=B
				C acquire 6 7 fail ttl=1000
				A acquire 6 7 fail ttl=1000
				! audit 3000 node=n3 ttl=900 value=3f9a`,
			want: Fail, witness: []string{"6 A acquire invoke", "7 A acquire fail", "3000 ! audit info"},
		},
		{
			name:    "a hash may have other things in it than holders",
			options: Options{Masters: 5},
			history: `
				B acquire 0 1 ok ttl=1000
				B release 2 3 ok
				C acquire 4 5 fail ttl=1000
				A acquire 4 5 fail ttl=1000
				! audit 6 node=n3 ttl=900`,
			want: Pass,
		},
	})
}
