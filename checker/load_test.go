package checker

import "testing"

func TestLoad(t *testing.T) {
	const held = `
		A acquire 0 1 ok ttl=3000
		A release 301 302 ok`
	try(t, Load, []trial{
		{
			name: "ok: a few commands in a second",
			history: held + `
				B acquire 2 303 ok ttl=3000
				B waited 303 value=4`,
			want: Pass, story: "1 wait took 0.301 s together and cost 4 commands, 13 for each second.",
		},
		{
			name: "bad: one of two spins",
			history: held + `
				B acquire 2 303 ok ttl=3000
				B waited 303 value=3010
				B release 304 305 ok
				C acquire 5 306 ok ttl=3000
				C waited 306 value=4`,
			want: Fail, story: "B waited for k from 0.002 s to 0.303 s and sent 3010 commands meanwhile: 10000 in a second, and more than 100 are too many. 2 waits",
			witness: []string{"2 B acquire invoke", "303 B acquire ok", "303 B waited info"},
		},
		{
			name: "bad: in vain",
			history: held + `
				B acquire 2 203 fail ttl=3000
				B waited 203 value=301`,
			want: Fail, story: "301 commands",
		},
		{
			name: "ok: as many as are allowed",
			history: held + `
				B acquire 2 202 fail ttl=3000
				B waited 202 value=20`,
			want: Pass,
		},
		{
			name: "unknown: who waited stood still nearly all the time",
			history: held + `
				B acquire 2 303 ok ttl=3000
				! harness-stall 290 ttl=250
				B waited 303 value=20`,
			want: Unknown, story: "Nobody waited for 0.100 s or more",
		},
		{
			name: "unknown: too many for the time in which anybody ran",
			history: held + `
				B acquire 2 303 ok ttl=3000
				! harness-stall 200 ttl=150
				B waited 303 value=20`,
			want: Unknown, story: "Not judged, and not the lock's fault",
		},
		{
			name: "ok: few, also without the time in which everything stood still",
			history: held + `
				B acquire 2 303 ok ttl=3000
				! harness-stall 200 ttl=150
				B waited 303 value=4`,
			want: Pass,
		},
		{
			name: "ok: standstills that overlap count once",
			history: held + `
				B acquire 2 303 ok ttl=3000
				! harness-stall 200 ttl=150
				! harness-stall 210 ttl=160
				B waited 303 value=4`,
			want: Pass, story: "1 wait took 0.301 s",
		},
		{
			name: "unknown: a wait that was none",
			history: held + `
				B acquire 310 313 ok ttl=3000
				B waited 313 value=4
				C acquire 311 312 fail ttl=3000`,
			want: Unknown, story: "the longest wait took 0.003 s",
		},
		{
			name: "unknown: nobody knows how the wait ended",
			history: held + `
				B acquire 2 203 info ttl=3000
				C acquire 3 4 fail ttl=3000
				C waited 4 value=900`,
			want: Unknown,
		},
	})
	report := Check(t.Context(), script(t, held+`
		B acquire 2 303 ok ttl=3000`), Options{})
	for _, r := range report.Results {
		if r.Property == Load {
			t.Error("load is judged, and nobody counted")
		}
	}
}
