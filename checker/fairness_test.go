package checker

import "testing"

func TestFairness(t *testing.T) {
	once := Options{Overtaking: 1}
	try(t, Fairness, []trial{
		{
			name: "bad: overtaken twice by the same client", options: once,
			history: `
				A acquire 0 1 ok
				B acquire 2 3 fail
				A release 4 5 ok
				A acquire 6 7 ok
				A release 8 9 ok
				A acquire 10 11 ok
				A release 12 13 ok`,
			want: Fail, story: "B waited for k from 0.002 s and was overtaken by A 2 times.",
			witness: []string{"2 B acquire invoke", "3 B acquire fail", "7 A acquire ok", "11 A acquire ok"},
		},
		{
			name: "ok: overtaken once by each of two", options: once,
			history: `
				A acquire 0 1 ok
				B acquire 2 3 fail
				A release 4 5 ok
				A acquire 6 7 ok
				A release 8 9 ok
				C acquire 10 11 ok
				C release 12 13 ok`,
			want: Pass, story: "1 wait, none overtaken",
		},
		{
			name: "ok: whoever asked before is not late", options: once,
			history: `
				A acquire 0 1 ok
				C acquire 1 7 ok
				B acquire 2 3 fail
				A release 4 5 ok
				C release 8 9 ok
				C acquire 10 11 ok
				C release 12 13 ok`,
			want: Pass,
		},
		{
			name: "ok: one whose arguments were refused does not wait", options: once,
			history: `
				A acquire 0 1 ok
				C acquire 2 3 fail
				B acquire 4 5 fail value=invalid
				A release 6 7 ok
				C acquire 8 9 ok
				C release 10 11 ok
				A acquire 12 13 ok
				A release 14 15 ok
				A acquire 16 17 ok
				A release 18 19 ok`,
			want: Pass, story: "1 wait, none overtaken",
		},
		{
			name: "unknown: nobody had to wait", options: once,
			history: `
				A acquire 0 1 ok
				B acquire 0 3 info
				A release 4 5 ok`,
			want: Unknown, story: "Nobody had to wait.",
		},
		{
			name: "not judged: the lock promises nothing",
			history: `
				A acquire 0 1 ok
				B acquire 2 3 fail
				A release 4 5 ok`,
			want: NotApplicable, story: "The lock promises no fairness.",
		},
	})
}
