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
// its twin that survives, and the verdicts in the order of the bench. They are also kept
// in testdata, as files that other programs can be tried on. A file's name says which
// property it is about, and whether that property holds in it.
var scenarios = []struct {
	file     string
	verdicts string
	history  string
}{
	{
		// The promoted replica has never heard of A's lock.
		"mutual-exclusion-bad-failover", "fail fail pass fail pass", `
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
		"mutual-exclusion-ok-redlock", "pass pass pass pass pass", `
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
		"mutual-exclusion-bad-surfaced", "fail fail pass not-applicable pass", `
			A acquire 0 5 info ttl=3000
			B acquire 4 7 ok ttl=3000 deadline=3006
			A release 8 9 ok
			B release 10 11 ok`,
	},
	{
		"mutual-exclusion-ok-surfaced", "pass pass pass not-applicable pass", `
			A acquire 0 5 info ttl=3000
			A release 6 9 ok
			B acquire 4 8 ok ttl=3000 deadline=3007
			B release 10 11 ok`,
	},
	{
		// The deadline that A was told lies after the end of its lease on the server.
		"lease-exclusion-bad-late-deadline", "fail fail pass not-applicable pass", `
			A acquire 0 900 ok ttl=1000 deadline=1900
			B acquire 1001 1002 ok ttl=1000 deadline=2001
			A release 1100 1101 fail
			B release 1200 1201 ok`,
	},
	{
		// A extends its lease in time and walks away; B gets the lock when it has run out.
		"lease-exclusion-ok-extended", "pass pass pass not-applicable pass", `
			A acquire 0 1 ok ttl=1000 deadline=1000
			A extend 900 901 ok ttl=1000 deadline=1900
			B acquire 1001 1002 fail ttl=1000
			A release 1003 1004 info
			B acquire 1901 1902 ok ttl=1000 deadline=2901
			B release 1903 1904 ok`,
	},
	{
		// A sleeps through its lease. No rule of leases is broken, and yet B's update is lost.
		"resource-safety-bad-gc-pause", "fail pass pass fail pass", `
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
		"resource-safety-ok-gc-pause-fenced", "fail pass pass pass pass", `
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
		"ownership-bad-unconditional-delete", "fail fail fail not-applicable pass", `
			A acquire 0 1 ok ttl=3000 deadline=3000
			! pause 2 3100 node=A
			B acquire 3001 3002 ok ttl=3000 deadline=6001
			A release 3101 3102 ok
			C acquire 3103 3104 ok ttl=3000 deadline=6103
			B release 3105 3106 ok
			C release 3107 3108 ok`,
	},
	{
		// A reads its own token, its lease ends, B is granted the lock, A deletes it.
		"ownership-bad-get-del-race", "fail fail fail not-applicable pass", `
			A acquire 0 1 ok ttl=3000 deadline=3000
			A release 2 3101 ok
			! hold 3 3100 node=A
			B acquire 3001 3002 ok ttl=3000 deadline=6001
			C acquire 3103 3104 ok ttl=3000 deadline=6103
			B release 3105 3106 fail
			C release 3107 3108 ok`,
	},
	{
		// Compare and delete in one step: A is refused, B keeps its lock.
		"ownership-ok-compare-and-delete", "pass pass pass not-applicable pass", `
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
		"deadlock-freedom-bad-crash-without-ttl", "pass pass pass not-applicable fail", `
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
		"deadlock-freedom-ok-crash-with-ttl", "pass pass pass not-applicable pass", `
			A acquire 4 - open ttl=3000
			! hold 5 8 node=A
			A crash 7
			B acquire 9 10 fail ttl=3000
			B acquire 2000 2001 fail ttl=3000
			B acquire 3005 3006 ok ttl=3000 deadline=6005
			B release 3007 3008 ok
			! audit 3700 node=m1`,
	},
}

func TestScenarios(t *testing.T) {
	for _, s := range scenarios {
		t.Run(s.file, func(t *testing.T) {
			events := script(t, s.history)
			report := Check(t.Context(), events, corpusOptions(events))
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
			report := Check(t.Context(), events, corpusOptions(events))
			property, want := promise(t, name)
			if got := report.Result(property); got.Verdict != want {
				t.Errorf("%s is %v, want %v: %s", property, got.Verdict, want, got.Story)
			}
			seen[want][property] = true
			got, err := json.MarshalIndent(report, "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			golden(t, name+".report.json", append(got, '\n'))
		})
	}
	for _, s := range bench() {
		if !seen[Fail][s.property] {
			t.Errorf("the corpus has no file in which %s fails", s.property)
		}
		if !seen[Pass][s.property] {
			t.Errorf("the corpus has no file in which %s passes", s.property)
		}
	}
}

// promise is what the name of a corpus file says about it.
func promise(t *testing.T, name string) (Property, Verdict) {
	t.Helper()
	for _, s := range bench() {
		if rest, ok := strings.CutPrefix(name, string(s.property)); ok {
			if strings.HasPrefix(rest, "-ok-") {
				return s.property, Pass
			}
			if strings.HasPrefix(rest, "-bad-") {
				return s.property, Fail
			}
		}
	}
	t.Fatalf("%s is not named <property>-{ok,bad}-<what happens>", name)
	return "", Unknown
}

// corpusOptions expects faults where there are some.
func corpusOptions(events []histories.Event) Options {
	return Options{FaultsExpected: slices.ContainsFunc(events, func(e histories.Event) bool {
		return e.Process == histories.Nemesis && e.Type == histories.Invoke
	})}
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
