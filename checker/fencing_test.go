package checker

import "testing"

func TestFencing(t *testing.T) {
	try(t, Fencing, []trial{
		{
			name: "a lower token",
			history: `
				A acquire 0 1 ok token=2
				B acquire 0 1 fail
				A release 2 3 ok
				B acquire 4 5 ok token=1
				B release 6 7 ok`,
			want: Fail, story: "A was granted k with token 2 at 0.001 s, and B, whose acquire began at 0.004 s, with token 1 at 0.005 s, which is lower than that.",
			witness: []string{"1 A acquire ok", "5 B acquire ok"},
		},
		{
			name: "the same token, one after the other",
			history: `
				A acquire 0 1 ok token=1
				B acquire 0 1 fail
				A release 2 3 ok
				B acquire 4 5 ok token=1
				B release 6 7 ok`,
			want: Fail, story: "not higher than that",
		},
		{
			name: "the same token, at the same time",
			history: `
				A acquire 0 2 ok token=1
				B acquire 1 3 ok token=1
				A release 4 5 ok
				B release 6 7 ok
				C acquire 8 9 ok token=2
				C release 10 11 ok`,
			want: Fail, story: "the same as that",
		},
		{
			name: "drawn before the lock was held, while another had it",
			history: `
				A acquire 0 8 ok ttl=1000 token=1
				B acquire 1 2 ok ttl=1000 token=2
				B release 3 4 ok
				A release 9 10 ok`,
			want: Fail, story: "which is lower than that",
			witness: []string{"2 B acquire ok", "8 A acquire ok"},
		},
		{
			name: "held first, and told of it when its lease was over",
			history: `
				A acquire 0 1008 ok ttl=1000 token=1
				B acquire 1001 1002 ok ttl=1000 token=2
				B release 1003 1004 ok
				A release 1009 1010 ok
				C acquire 1011 1012 ok ttl=1000 token=3
				C release 1013 1014 ok`,
			want: Pass,
		},
		{
			name: "drawn when the lease was over and another had the lock",
			history: `
				A acquire 0 1008 ok ttl=1000 token=2
				B acquire 1001 1002 ok ttl=1000 token=1
				B release 1010 1011 ok
				A release 1012 1013 fail`,
			want: Fail, story: "which is lower than that",
			witness: []string{"1002 B acquire ok", "1008 A acquire ok"},
		},
		{
			name: "granted when the other had released, and late to reach the server",
			history: `
				A acquire 0 1008 ok ttl=1000 token=2
				B acquire 1001 1002 ok ttl=1000 token=1
				B release 1003 1004 ok
				A release 1012 1013 ok`,
			want: Unknown,
		},
		{
			name: "a master failed while they overlapped",
			history: `
				A acquire 0 8 ok ttl=1000 token=1
				! kill 1 2 node=master
				B acquire 3 4 ok ttl=1000 token=2
				B release 5 6 ok
				A release 9 10 ok
				C acquire 11 12 ok ttl=1000 token=3
				C release 13 14 ok`,
			want: Pass,
		},
		{
			name: "acquires that overlap may come in any order",
			history: `
				A acquire 0 5 ok token=2
				B acquire 1 2 ok token=1
				B release 3 4 ok
				A release 6 7 ok
				C acquire 8 9 ok token=3
				C release 10 11 ok`,
			want: Pass, story: "1 acquire got a higher token",
		},
		{
			name: "readers share a token, and it does not go down",
			history: `
				A acquire 0 1 ok token=1 value=read
				B acquire 2 3 ok token=1 value=read
				C acquire 3 4 fail
				A release 5 6 ok
				B release 7 8 ok
				C acquire 9 10 ok token=2
				C release 11 12 ok`,
			want: Pass,
		},
		{
			name: "a writer with the readers' token",
			history: `
				A acquire 0 1 ok token=1 value=read
				C acquire 3 4 fail
				A release 5 6 ok
				C acquire 9 10 ok token=1
				C release 11 12 ok`,
			want: Fail,
		},
		{
			name: "an increment with a lower token than had been seen",
			history: `
				A acquire 0 1 ok token=1
				B acquire 2 3 ok token=2
				B incr 4 5 ok value=1 token=2
				A incr 6 7 ok value=2 token=1
				A release 8 9 fail
				B release 10 11 ok`,
			want: Fail, story: "A's increment of k with token 1 was accepted at 0.007 s although B had shown token 2 before it began",
		},
		{
			name: "nothing to compare",
			history: `
				A acquire 0 1 ok token=1
				B acquire 0 1 fail
				A release 2 3 ok`,
			want: Unknown,
		},
	})
}
