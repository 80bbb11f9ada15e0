package checker

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockbench/lockbench/histories"
)

var update = flag.Bool("update", false, "write the corpus and its reports anew")

// scenarios are the shapes that the catalogue's first scenarios leave behind, each with
// its twin that survives, and the properties that do not pass. They are also kept
// in testdata, as files that other programs can be tried on. A file's name says which
// property it is about, and whether that property holds in it.
var scenarios = []struct {
	file     string
	verdicts string
	history  string
}{
	{
		// The promoted replica has never heard of A's lock.
		"mutual-exclusion-bad-failover", "fail mutual-exclusion lease-exclusion lease-honoured resource-safety; not-applicable fairness", `
			! cut-replication 0.5 0.9 node=r1
			A acquire 0 1 ok ttl=3000 deadline=3000
			! kill 2 2 node=m1
			! promote 3 13 node=r1
			B acquire 13 14 ok ttl=3000 deadline=3013
			A read 15 16 ok version=0
			B read 15 16 ok version=0
			B write 17 18 ok version=0
			A write 19 20 ok version=1
			A release 21 22 fail
			B release 23 24 ok`,
	},
	{
		// The same steps, but four of five masters remember A's lock.
		"mutual-exclusion-ok-redlock", "not-applicable fairness", `
			! cut-replication 0.5 0.9 node=r1
			A acquire 0 1 ok ttl=3000 deadline=2968
			! kill 2 2 node=m1
			! promote 3 13 node=r1
			B acquire 13 14 fail ttl=3000
			A read 15 16 ok version=0
			A write 19 20 ok version=0
			A release 21 22 ok
			B acquire 23 24 ok ttl=3000 deadline=2991
			B read 25 26 ok version=1
			B write 27 28 ok version=1
			B release 29 30 ok`,
	},
	{
		// A's acquire answered nothing, but its release says that B's belief was shared.
		"mutual-exclusion-bad-surfaced", "fail mutual-exclusion lease-exclusion lease-honoured; not-applicable resource-safety fairness", `
			A acquire 0 5 info ttl=3000
			B acquire 4 7 ok ttl=3000 deadline=3006
			A release 8 9 ok
			B release 10 11 ok`,
	},
	{
		"mutual-exclusion-ok-surfaced", "not-applicable resource-safety fairness", `
			A acquire 0 5 info ttl=3000
			A release 6 9 ok
			B acquire 4 8 ok ttl=3000 deadline=3007
			B release 10 11 ok`,
	},
	{
		// The deadline that A was told lies after the end of its lease on the server.
		"lease-exclusion-bad-late-deadline", "fail mutual-exclusion lease-exclusion; not-applicable resource-safety fairness", `
			A acquire 0 900 ok ttl=1000 deadline=1900
			B acquire 1001 1002 ok ttl=1000 deadline=2001
			A release 1100 1101 fail
			B release 1200 1201 ok`,
	},
	{
		// A extends its lease in time and walks away; B gets the lock when it has run out.
		"lease-exclusion-ok-extended", "not-applicable resource-safety fairness", `
			A acquire 0 1 ok ttl=1000 deadline=1000
			A extend 900 901 ok ttl=1000 deadline=1900
			B acquire 1001 1002 fail ttl=1000
			A release 1003 1004 info
			B acquire 1901 1902 ok ttl=1000 deadline=2901
			B release 1903 1904 ok`,
	},
	{
		// A sleeps through its lease. No rule of leases is broken, and yet B's update is lost.
		"resource-safety-bad-gc-pause", "fail mutual-exclusion resource-safety; not-applicable fairness", `
			A acquire 0 1 ok ttl=3000 deadline=3000
			A read 2 3 ok version=0
			! pause 4 5000 node=A
			B acquire 3001 3002 ok ttl=3000 deadline=6001
			B read 3003 3004 ok version=0
			B write 3005 3006 ok version=0
			B release 3007 3008 ok
			A write 4000 5001 ok version=1
			A release 5002 5003 fail
			B acquire 5004 5005 ok ttl=3000 deadline=8004
			B release 5006 5007 ok`,
	},
	{
		// The same pause, but the resource refuses the token of the one that slept.
		"resource-safety-ok-gc-pause-fenced", "fail mutual-exclusion; not-applicable fairness", `
			A acquire 0 1 ok ttl=3000 deadline=3000 token=1
			A read 2 3 ok version=0 token=1
			! pause 4 5000 node=A
			B acquire 3001 3002 ok ttl=3000 deadline=6001 token=2
			B read 3003 3004 ok version=0 token=2
			B write 3005 3006 ok version=0 token=2
			B release 3007 3008 ok
			A write 4000 5001 fail token=1
			A release 5002 5003 fail
			B acquire 5004 5005 ok ttl=3000 deadline=8004 token=3
			B release 5006 5007 ok`,
	},
	{
		// A outlives its lease, deletes B's lock, and C gets in.
		"ownership-bad-unconditional-delete", "fail mutual-exclusion lease-exclusion lease-honoured ownership truthful-replies; not-applicable resource-safety fairness", `
			A acquire 0 1 ok ttl=3000 deadline=3000
			! pause 2 3100 node=A
			B acquire 3001 3002 ok ttl=3000 deadline=6001
			A release 3101 3102 ok
			C acquire 3103 3104 ok ttl=3000 deadline=6103
			B release 3105 3106 ok
			C release 3107 3108 ok`,
	},
	{
		// A reads its own token, its lease ends, B is granted the lock, A deletes it, and B sees that.
		"ownership-bad-get-del-race", "fail ownership; not-applicable resource-safety fairness", `
			A acquire 0 1 ok ttl=3000 deadline=3000
			C acquire 1.2 1.4 fail ttl=3000
			A release 2 3101 ok
			! hold 3 3100 node=A
			B acquire 3001 3002 ok ttl=3000 deadline=6001
			B release 3103 3104 fail
			C acquire 3105 3106 ok ttl=3000 deadline=6105
			C release 3107 3108 ok`,
	},
	{
		// Compare and delete in one step: A is refused, B keeps its lock.
		"ownership-ok-compare-and-delete", "not-applicable resource-safety fairness", `
			A acquire 0 1 ok ttl=3000 deadline=3000
			A release 2 3101 fail
			! hold 3 3100 node=A
			B acquire 3001 3002 ok ttl=3000 deadline=6001
			C acquire 3103 3104 fail ttl=3000
			B release 3105 3106 ok
			C acquire 3107 3108 ok ttl=3000 deadline=6107
			C release 3109 3110 ok`,
	},
	{
		// A dies between SETNX and EXPIRE.
		"deadlock-freedom-bad-crash-without-ttl", "fail deadlock-freedom availability; not-applicable resource-safety fairness", `
			B acquire 0 1 ok ttl=3000 deadline=3000
			B release 2 3 ok
			A acquire 4 - open ttl=3000
			! hold 5 8 node=A
			A crash 7
			B acquire 9 10 fail ttl=3000
			B acquire 2000 2001 fail ttl=3000
			B acquire 3600 3601 fail ttl=3000
			! audit 3700 node=m1 ttl=none value=1`,
	},
	{
		// A dies, but its lock was set together with its TTL.
		"deadlock-freedom-ok-crash-with-ttl", "not-applicable resource-safety fairness", `
			A acquire 4 - open ttl=3000
			! hold 5 8 node=A
			A crash 7
			B acquire 9 10 fail ttl=3000
			B acquire 2000 2001 fail ttl=3000
			B acquire 3005 3006 ok ttl=3000 deadline=6005
			B release 3007 3008 ok
			! audit 3700 node=m1`,
	},
	{
		// A's release took the key that all readers share, and a writer came in beside B.
		"mutual-exclusion-bad-reader-deletes-reader", "unknown ownership; fail mutual-exclusion lease-exclusion lease-honoured resource-safety; not-applicable fairness", `
			A acquire 0 1 ok ttl=3000 deadline=3000 value=read
			B acquire 1 2 ok ttl=3000 deadline=3001 value=read
			C acquire 2 3 fail ttl=3000
			A read 3 4 ok version=0
			B read 4 5 ok version=0
			A release 5 6 ok
			C acquire 7 8 ok ttl=3000 deadline=3007
			C read 8 9 ok version=0
			C write 10 11 ok version=0
			B read 12 13 ok version=1
			B release 14 15 ok
			C release 16 17 ok`,
	},
	{
		// Readers share, and the writer waits for the last of them.
		"mutual-exclusion-ok-readers", "not-applicable fairness", `
			A acquire 0 1 ok ttl=3000 deadline=3000 value=read
			B acquire 1 2 ok ttl=3000 deadline=3001 value=read
			C acquire 2 3 fail ttl=3000
			A read 3 4 ok version=0
			B read 4 5 ok version=0
			A release 5 6 ok
			C acquire 7 8 fail ttl=3000
			B read 9 10 ok version=0
			B release 11 12 ok
			C acquire 13 14 ok ttl=3000 deadline=3013
			C read 15 16 ok version=0
			C write 17 18 ok version=0
			C release 19 20 ok`,
	},
	{
		// A outlived its lease inside its increment.
		"counter-safety-bad-gc-pause", "fail mutual-exclusion counter-safety; not-applicable resource-safety fairness", `
			A acquire 0 1 ok ttl=3000 deadline=3000
			A incr 2 3100 ok value=1
			! pause 3 3090 node=A
			B acquire 4 5 fail ttl=3000
			B acquire 3003 3004 ok ttl=3000 deadline=6003
			B incr 3005 3006 ok value=1
			B release 3007 3008 ok
			A release 3101 3102 fail
			C acquire 3103 3104 ok ttl=3000 deadline=6103
			C read 3105 3106 ok value=1 version=2
			C release 3107 3108 ok`,
	},
	{
		// Its token was refused when it went on.
		"counter-safety-ok-gc-pause-fenced", "fail mutual-exclusion; not-applicable resource-safety fairness", `
			A acquire 0 1 ok ttl=3000 deadline=3000 token=1
			A incr 2 3100 fail token=1
			! pause 3 3090 node=A
			B acquire 4 5 fail ttl=3000
			B acquire 3003 3004 ok ttl=3000 deadline=6003 token=2
			B incr 3005 3006 ok value=1 token=2
			B release 3007 3008 ok
			A release 3101 3102 fail
			C acquire 3103 3104 ok ttl=3000 deadline=6103 token=3
			C read 3105 3106 ok value=1 version=1 token=3
			C release 3107 3108 ok`,
	},
	{
		// Both saw no key and both set it, and so both drew.
		"single-winner-bad-two-winners", "fail mutual-exclusion lease-exclusion lease-honoured resource-safety single-winner; not-applicable fairness", `
			A acquire 0 2 ok ttl=3000 deadline=3000
			B acquire 0.5 2.5 ok ttl=3000 deadline=3000.5
			C acquire 2.6 2.7 fail ttl=3000
			A read 3 4 ok version=0
			B read 3.5 4.5 ok version=0
			A draw 5 6 ok value=1 version=0
			B draw 5.5 6.5 ok value=1 version=1
			A release 7 8 ok
			B release 7.5 8.5 ok`,
	},
	{
		// The second to get the lock sees that the round has been drawn.
		"single-winner-ok-late-try", "not-applicable fairness", `
			A acquire 0 1 ok ttl=3000 deadline=3000
			B acquire 1 2 fail ttl=3000
			A read 3 4 ok version=0
			A draw 5 6 ok value=1 version=0
			A release 7 8 ok
			C acquire 9 10 ok ttl=3000 deadline=3009
			C read 11 12 ok version=1
			C release 13 14 ok`,
	},
	{
		// Two processes call their only thread by the same number (P29).
		"reentrancy-bad-thread-id-collision", "fail mutual-exclusion lease-exclusion lease-honoured reentrancy; not-applicable resource-safety fairness", `
			A acquire 0 1 ok ttl=3000 deadline=3000 value=reenter
			B acquire 2 3 ok ttl=3000 deadline=3002 value=reenter
			B count 4 5 ok value=2
			B release 6 7 ok
			A release 8 9 ok
			A count 10 11 ok value=0`,
	},
	{
		// Twice in, twice out, and then the next.
		"reentrancy-ok-nested", "not-applicable resource-safety fairness", `
			A acquire 0 1 ok ttl=3000 deadline=3000 value=reenter
			A acquire 2 3 ok ttl=3000 deadline=3002 value=reenter
			A count 4 5 ok value=2
			B acquire 5 6 fail ttl=3000 value=reenter
			A release 6 7 ok
			B acquire 7 8 fail ttl=3000 value=reenter
			A release 8 9 ok attempt=1
			A count 10 11 ok value=0
			B acquire 12 13 ok ttl=3000 deadline=3012 value=reenter
			B release 14 15 ok`,
	},
	{
		// The server forgot A's key before A's lease was over; A had given it up as far as
		// anybody believes.
		"lease-honoured-bad-early-expiry", "fail mutual-exclusion lease-honoured; not-applicable resource-safety fairness", `
			A acquire 0 1 ok ttl=3000 deadline=1000
			B acquire 500 501 fail ttl=3000
			B acquire 1500 1501 ok ttl=3000 deadline=4501
			B release 1600 1601 ok
			A release 1700 1701 fail`,
	},
	{
		// A walks away; B gets the key when its lease has run out, and not before.
		"lease-honoured-ok-abandoned", "not-applicable resource-safety fairness", `
			A acquire 0 1 ok ttl=3000 deadline=1000
			A abandon 1000
			B acquire 1500 1501 fail ttl=3000
			B acquire 2970 2980 ok ttl=3000 deadline=5970
			B release 2990 2991 ok`,
	},
	{
		// A's lease is over and B has the key, and yet A is told that it released its own.
		"truthful-replies-bad-foreign-release", "fail mutual-exclusion truthful-replies; not-applicable resource-safety fairness", `
			A acquire 0 1 ok ttl=1000 deadline=1000
			B acquire 500 501 fail ttl=1000
			B acquire 1500 1501 ok ttl=1000 deadline=2500
			A release 1600 1601 ok
			B release 1700 1701 ok`,
	},
	{
		// The lock takes every release for a refusal (P10).
		"truthful-replies-bad-denied", "fail truthful-replies; not-applicable resource-safety fairness", `
			A acquire 0 1 ok ttl=3000 deadline=3000
			B acquire 2 3 fail ttl=3000
			A release 4 5 fail
			B acquire 6 7 ok ttl=3000 deadline=3006
			B release 8 9 ok`,
	},
	{
		// A is told the truth both times: extended, and then too late.
		"truthful-replies-ok-late-release", "fail mutual-exclusion; not-applicable resource-safety fairness", `
			A acquire 0 1 ok ttl=1000 deadline=1000
			B acquire 500 501 fail ttl=1000
			A extend 900 901 ok ttl=1000 deadline=1900
			B acquire 2000 2001 ok ttl=1000 deadline=3000
			A release 2002 2003 fail
			B release 2100 2101 ok`,
	},
	{
		// The promoted replica has not heard of the counter of tokens either.
		"fencing-bad-failover", "fail mutual-exclusion lease-exclusion lease-honoured fencing; not-applicable resource-safety fairness", `
			! cut-replication 0.5 0.9 node=r1
			A acquire 0 1 ok ttl=3000 deadline=3000 token=1
			! kill 2 2 node=m1
			! promote 3 13 node=r1
			B acquire 13 14 ok ttl=3000 deadline=3013 token=1
			A release 21 22 fail
			B release 23 24 ok`,
	},
	{
		// Tokens go up, but the resource does not look at them.
		"fencing-bad-accepts-lower", "fail mutual-exclusion resource-safety fencing; not-applicable fairness", `
			A acquire 0 1 ok ttl=3000 deadline=3000 token=1
			! pause 4 5000 node=A
			B acquire 3001 3002 ok ttl=3000 deadline=6001 token=2
			B read 3003 3004 ok version=0 token=2
			B write 3005 3006 ok version=0 token=2
			B release 3007 3008 ok
			A read 5000.5 5000.8 ok version=1 token=1
			A write 5001 5002 ok version=1 token=1
			A release 5003 5004 fail
			C acquire 5005 5006 ok ttl=3000 deadline=8005 token=3
			C release 5007 5008 ok`,
	},
	{
		// A drew its token when its lease was over and B had the lock, whose token the resource will refuse.
		"fencing-bad-late-token", "fail mutual-exclusion fencing; not-applicable resource-safety fairness", `
			A acquire 0 3900 ok ttl=3000 deadline=3000 token=2
			B acquire 3010 3011 ok ttl=3000 deadline=6010 token=1
			A release 3905 3906 fail
			B release 4500 4501 ok`,
	},
	{
		// A's request was that late, and not its token.
		"fencing-ok-late-request", "not-applicable resource-safety fairness", `
			A acquire 0 3900 ok ttl=3000 deadline=3000 token=2
			B acquire 3010 3011 ok ttl=3000 deadline=6010 token=1
			B release 3100 3101 ok
			A release 3905 3906 ok
			C acquire 3907 3908 ok ttl=3000 deadline=6907 token=3
			C release 3909 3910 ok`,
	},
	{
		"fencing-ok-reentry-keeps-token", "not-applicable resource-safety fairness", `
			A acquire 0 1 ok ttl=3000 deadline=3000 token=1 value=reenter
			A acquire 2 3 ok ttl=3000 deadline=3000 token=1 value=reenter
			A count 4 5 ok value=2
			B acquire 6 7 fail ttl=3000 value=reenter
			A release 8 9 ok attempt=1
			A release 10 11 ok attempt=2
			B acquire 12 13 ok ttl=3000 deadline=3012 token=2 value=reenter
			B release 14 15 ok`,
	},
	{
		// A's release was accepted, and the lock refuses B for another while.
		"availability-bad-free-lock-refused", "fail truthful-replies availability; not-applicable resource-safety fairness", `
			A acquire 0 1 ok ttl=3000 deadline=3000
			B acquire 2 3 fail ttl=3000
			A release 4 5 ok
			B acquire 6 7 fail ttl=3000
			B acquire 106 107 ok ttl=3000 deadline=3106
			B release 108 109 ok`,
	},
	{
		// B and C split the vote once, and then B gets the lock.
		"availability-ok-split-vote", "not-applicable resource-safety fairness", `
			A acquire 0 1 ok ttl=3000 deadline=2968
			B acquire 2 3 fail ttl=3000
			A release 4 5 ok
			B acquire 6 8 fail ttl=3000
			C acquire 7 9 fail ttl=3000
			B acquire 16 17 ok ttl=3000 deadline=3016
			B release 18 19 ok`,
	},
	{
		// Whoever asks more often gets it: B starves.
		"fairness-bad-starved", "fail fairness; not-applicable resource-safety", `
			A acquire 0 1 ok ttl=3000 deadline=3000
			B acquire 2 3 fail ttl=3000
			A release 4 5 ok
			A acquire 6 7 ok ttl=3000 deadline=3006
			B acquire 8 9 fail ttl=3000
			A release 10 11 ok
			A acquire 12 13 ok ttl=3000 deadline=3012
			B acquire 14 15 fail ttl=3000
			A release 16 17 ok
			B acquire 18 19 ok ttl=3000 deadline=3018
			B release 20 21 ok`,
	},
	{
		// B spins.
		"load-bad-spin", "fail load; not-applicable resource-safety fairness", `
			A acquire 0 1 ok ttl=3000 deadline=3000
			B acquire 2 303 ok ttl=3000 deadline=3302
			B waited 303 value=3100
			A release 301 302 ok
			B release 304 305 ok`,
	},
	{
		// B is told when the lock is free, and C tries every tenth of a second.
		"load-ok-told", "not-applicable resource-safety fairness", `
			A acquire 0 1 ok ttl=3000 deadline=3000
			B acquire 2 303 ok ttl=3000 deadline=3302
			B waited 303 value=4
			C acquire 4 405 ok ttl=3000 deadline=3404
			C waited 405 value=5
			A release 301 302 ok
			B release 304 305 ok
			C release 406 407 ok`,
	},
	{
		// A wants to release and cannot, while B waits for it.
		"availability-bad-stuck-release", "fail availability; not-applicable resource-safety fairness", `
			A acquire 0 1 ok ttl=1000 deadline=1000
			B acquire 2 1002 ok ttl=1000 deadline=2001
			A release 5 1003 fail
			B release 1010 1011 ok`,
	},
	{
		// The lease had as good as ended when A released: nothing was held up.
		"availability-ok-late-release", "not-applicable resource-safety fairness", `
			A acquire 0 1 ok ttl=1000 deadline=1000
			B acquire 2 1002 ok ttl=1000 deadline=2001
			A release 900 1003 fail
			B release 1010 1011 ok`,
	},
	{
		// A overtakes once, and then it is B's turn.
		"fairness-ok-turns", "not-applicable resource-safety", `
			A acquire 0 1 ok ttl=3000 deadline=3000
			B acquire 2 3 fail ttl=3000
			A release 4 5 ok
			A acquire 6 7 ok ttl=3000 deadline=3006
			B acquire 8 9 fail ttl=3000
			A release 10 11 ok
			B acquire 12 13 ok ttl=3000 deadline=3012
			A acquire 14 15 fail ttl=3000
			B release 16 17 ok
			A acquire 18 19 ok ttl=3000 deadline=3018
			A release 20 21 ok`,
	},
}

func TestScenarios(t *testing.T) {
	for _, s := range scenarios {
		t.Run(s.file, func(t *testing.T) {
			events := script(t, s.history)
			report := Check(t.Context(), events, corpusOptions(s.file, events))
			if got := verdicts(report); got != s.verdicts {
				t.Errorf("verdicts\n%s, want\n%s", got, s.verdicts)
				for _, r := range report.Results {
					t.Logf("%s: %s", r.Property, r.Story)
				}
			}
			var file bytes.Buffer
			if err := histories.WriteJSONL(&file, events); err != nil {
				t.Fatal(err)
			}
			golden(t, s.file+".jsonl", file.Bytes())
		})
	}
}

// TestCorpus judges every file of testdata, whoever wrote it.
func TestCorpus(t *testing.T) {
	files, err := filepath.Glob("testdata/*.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[Verdict]map[Property]bool{Pass: {}, Fail: {}}
	judged := map[Verdict]map[Model]bool{Pass: {}, Fail: {}}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".jsonl")
		t.Run(name, func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			events, err := histories.ReadJSONL(bytes.NewReader(text), file)
			if err != nil {
				t.Fatal(err)
			}
			model, property, want := promise(t, name)
			var report Report
			if model != "" {
				report = CheckModel(t.Context(), events, model, Options{})
				judged[want][model.Family()] = true
			} else {
				report = Check(t.Context(), events, corpusOptions(name, events))
				seen[want][property] = true
			}
			if got := report.Result(property); got.Verdict != want {
				t.Errorf("%s is %v, want %v: %s", property, got.Verdict, want, got.Story)
			}
			got, err := json.MarshalIndent(report, "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			golden(t, name+".report.json", append(got, '\n'))
		})
	}
	for _, s := range allSpecs() {
		if !seen[Fail][s.property] {
			t.Errorf("the corpus has no file in which %s fails", s.property)
		}
		if !seen[Pass][s.property] {
			t.Errorf("the corpus has no file in which %s passes", s.property)
		}
	}
	for _, m := range Models() {
		if !judged[Fail][m] || !judged[Pass][m] {
			t.Errorf("the corpus lacks a file that model %s accepts or one that it rejects", m)
		}
	}
}

// promise is what the name of a corpus file says about it: of a property of locks, or of a model.
func promise(t *testing.T, name string) (Model, Property, Verdict) {
	t.Helper()
	verdict := func(rest string) Verdict {
		switch {
		case strings.HasPrefix(rest, "-ok-"):
			return Pass
		case strings.HasPrefix(rest, "-bad-"):
			return Fail
		}
		return Unknown
	}
	for _, s := range allSpecs() {
		if rest, ok := strings.CutPrefix(name, string(s.property)); ok && verdict(rest) != Unknown {
			return "", s.property, verdict(rest)
		}
	}
	for _, m := range append(Models(), "semaphore:2", "semaphore:3") {
		if rest, ok := strings.CutPrefix(name, strings.ReplaceAll(string(m), ":", "-")); ok && verdict(rest) != Unknown {
			return m, Linearizability, verdict(rest)
		}
	}
	t.Fatalf("%s is not named <property or model>-{ok,bad}-<what happens>", name)
	return "", "", Unknown
}

// corpusOptions expects faults where there are some, and fairness where it is the point.
func corpusOptions(name string, events []histories.Event) Options {
	opt := Options{FaultsExpected: slices.ContainsFunc(events, func(e histories.Event) bool {
		return e.Process == histories.Nemesis && e.Type == histories.Invoke
	})}
	if strings.HasPrefix(name, string(Fairness)) {
		opt.Overtaking = 1
	}
	return opt
}

// golden compares got with a file of testdata, or writes it.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v; go test ./checker -update writes it", err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got), go test ./checker -update accepts it:\n%s", path, diff)
	}
}
