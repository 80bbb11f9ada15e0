package schedule_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockbench/lockbench/internal/catalogue"
	"github.com/lockbench/lockbench/internal/schedule"
)

// catalogued returns the texts of all scenarios.
func catalogued(tb testing.TB) map[string]string {
	tb.Helper()
	files, err := filepath.Glob("../../scenarios/*.schedule")
	if err != nil || len(files) == 0 {
		tb.Fatalf("no schedules: %v", err)
	}
	all := map[string]string{}
	for _, file := range files {
		src, err := os.ReadFile(file)
		if err != nil {
			tb.Fatal(err)
		}
		all[filepath.Base(file)] = string(src)
	}
	return all
}

// TestCatalogueReadsBack checks that what String writes of every scenario is what Parse has read.
func TestCatalogueReadsBack(t *testing.T) {
	for name, src := range catalogued(t) {
		s, err := schedule.Parse(src)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		again, err := schedule.Parse(s.String())
		if err != nil {
			t.Errorf("%s: %v in\n%s", name, err, s)
		}
		if diff := cmp.Diff(s, again); diff != "" {
			t.Errorf("%s (-read +read back):\n%s", name, diff)
		}
	}
}

// FuzzParse checks that no text makes Parse panic, and that what it has read is read back.
func FuzzParse(f *testing.F) {
	for _, src := range catalogued(f) {
		f.Add(src)
	}
	f.Add(every)
	f.Fuzz(func(t *testing.T, src string) {
		s, err := schedule.Parse(src)
		if err != nil {
			return
		}
		again, err := schedule.Parse(s.String())
		if err != nil {
			t.Fatalf("%v in\n%s", err, s)
		}
		if diff := cmp.Diff(s, again); diff != "" {
			t.Fatalf("(-read +read back):\n%s", diff)
		}
		for _, p := range s.Steps {
			if p.Sentence() == "" {
				t.Errorf("%q says nothing", p)
			}
		}
	})
}

// every has each word of the grammar.
const every = `lockbench schedule 1
# a comment
id P99
name every-word
title all # of it
source nobody
why A reason that goes on
  in the next line.
lock redlock
guard epoch
clients 3
threads 2
keys 2
replicas 2
cluster-mode
clocks
ttl 1.5s
real-ttl 4s
seed 7
waits
queues
overtaken 3
needs readers-and-writers
asks counts-once
faultless
holds
in-process because
gap docker it cannot
  do that

A acquire # and why
B acquire shared key 2 for T+20ms tries 3
C acquire reentrant retries 2 giving-up 0.25T &
A acquire without-ttl
A acquire within 2T
A acquire eventually
A reenter for 0.5T or-leave
A extend 0.25T or-leave
A extend -1T
A verify or-leave
A release again
A release refused
A extend 0.25T refused
A read &
A write
A draw 1
A count
A turn &
A leave if-over
B leave
B hang
A come-and-go 8
A use-again 1.5T
A B crowd
A B meet
A B C outlive
at A takes: hold
at A frees reply on 2 3: hold
at A extends on all: twice
at A looks reply: lose
at A SCRIPT on register: hold
at A UNWATCH: hold
A: acquire, sleep 0.4T, release after B.2
B: read, write
at A.2 takes#3 reply: hold
wait done A.2
A release after B.1 &
let-go A
let-go A &
wait lease-ends
wait lease-ends A
wait lease-ends key 2 within 9T
wait lease-ages A for 0.6T
wait done A B
wait held A
wait asked A
wait sent A
wait replica-in-sync
wait writes-refused
wait begun-together A key 2
sleep T+slack
sleep 5ms
start partition A on 4 5
stop partition A
start clock by -2T on 3
start client-clock A by 10T
start failover replica 2
start clock-ahead by T
start kill-client A
set min-replicas-to-write 1
audit

remedy more of it
gap embedded no

A acquire

expect
expect redlock guard epoch under more fail ownership load unknown availability
  note What it shows,
    in words.
`

func TestEveryWordReadsBack(t *testing.T) {
	s, err := schedule.Parse(every)
	if err != nil {
		t.Fatal(err)
	}
	again, err := schedule.Parse(s.String())
	if err != nil {
		t.Fatalf("%v in\n%s", err, s)
	}
	if diff := cmp.Diff(s, again); diff != "" {
		t.Errorf("(-read +read back):\n%s", diff)
	}
	verbs := map[schedule.Verb]bool{}
	for _, p := range s.Steps {
		verbs[p.Verb] = true
	}
	if len(verbs) != len(schedule.Verbs())+1 { // and lanes, which have no word
		t.Errorf("%d verbs of %d are tried", len(verbs), len(schedule.Verbs()))
	}
	if !s.Reenters() || !s.Extends() || !s.ReleasesTwice() || !s.ReleasesRefused() || !s.Verifies() || !s.WithoutTTL() {
		t.Error("what the clients do is not seen in their steps")
	}
	if got := s.Steps[1].For.Of(time.Second, 0); got != 1020*time.Millisecond {
		t.Errorf("T+20ms of a TTL of 1s is %v", got)
	}
}

// TestErrors checks that what is wrong is told with its line, what was found and what is wanted.
func TestErrors(t *testing.T) {
	head := "lockbench schedule 1\nclients 2\n"
	for src, want := range map[string]string{
		"":                                       `want "lockbench schedule 1" in the first line, found nothing`,
		"lockbench schedule 2\nclients 2":        `found "lockbench schedule 2"`,
		"\xff":                                   "UTF-8",
		"lockbench schedule 1\nA acquire":        "line 2, \"A acquire\": there is no client A",
		head:                                     "it has no steps",
		head + "ttl 0s\nA read":                  `line 3, "ttl 0s": want a time from 1ms to 1h`,
		head + "ttl 3s\nttl 4s\nA read":          "ttl is there twice",
		head + "A acquir":                        `no verb "acquir"; did you mean acquire?`,
		head + "tittle x\nA read":                `did you mean title?`,
		head + "A acquire\nttl 3s":               "line 4, \"ttl 3s\": ttl belongs into the head",
		head + "C acquire":                       "there is no client C; the clients are A, B",
		head + "A acquire sharde":                `did you mean shared?`,
		head + "A acquire for":                   "want a value after it",
		head + "A acquire without-ttl for 2T":    "want no for, within or eventually",
		head + "A acquire for soon":              `"soon" is no length of time`,
		head + "A acquire key 0":                 "want a number from 1 on, found 0",
		head + "A acquire key 3":                 `line 3, "A acquire key 3": it names key 3, and there is no more than 1`,
		head + "A read key 1":                    `no modifier "key"`,
		head + "acquire":                         "acquire: want the name of 1 client(s), found 0",
		head + "wait held A":                     "line 3, \"wait held A\": no rule holds up anything of A",
		head + "wait asked A":                    "no rule holds up anything of A",
		head + "A read\nwait sent A":             "line 4, \"wait sent A\": A is in no call",
		head + "A release again refused":         "want again or refused",
		head + "let-go B":                        "nothing of B is held up",
		head + "stop pause A":                    "want a line before it that starts it",
		head + "start promote":                   "the head wants replicas 1",
		head + "wait replica-in-sync":            "the head wants replicas 1",
		head + "start failover replica 2":        "it names replica 2, and there are 0",
		head + "start clock-ahead by T":          "the head wants clocks",
		head + "start partial-replication":       "the head wants replicas 2",
		head + "start kill\nstop kill":           "nothing stops it",
		head + "start stall reply":               "it has no direction",
		head + "A read\n\nremedy more\nlet-go A": "line 6, \"let-go A\"",
		head + "A: acquire, B read":              "a lane is of one",
		head + "A: acquire, audit":               "is nothing that one client does by itself",
		head + "A: acquire &, release":           "without &",
		head + "A: acquire, relase":              "did you mean release?",
		head + "A: acquire after B.1":            "it comes after B.1, and B makes 0 calls",
		head + "A acquire after B":               "want an operation of a client, such as B.2",
		head + "A read\nwait done A.2":           "it names A's operation 2, and the steps have 1",
		head + "at A takes#0: hold":              "want a number from 1 on after #",
		head + "start stal":                      `no fault "stal"; did you mean stall?`,
		head + "start pause":                     "it hits a client: want the name of one, found 0",
		head + "start stall A":                   "it hits no client",
		head + "start clock":                     "want by how much",
		head + "stop oom by T":                   `no modifier "by"`,
		head + "wait lease-end":                  "did you mean lease-ends?",
		head + "wait held":                       "want the name of one client",
		head + "wait done":                       "want the names of clients",
		head + "wait lease-ages A":               "want how old",
		head + "at A takes":                      `no action ""`,
		head + "at A takes: hodl":                "did you mean hold?",
		head + "at A takes: lose":                "what gets lost is the reply",
		head + "at A take: hold":                 "did you mean takes?",
		head + "at A takes on 0: hold":           "want a server",
		head + "A read: hold":                    "belongs to a line that begins with at",
		head + "sleep":                           "want a length of time",
		head + "A draw x":                        `want a number up to 100000, found "x"`,
		head + "A come-and-go 999999999999":      `want a number up to 100000, found "999999999999"`,
		head + "sleep NaNT":                      `"NaNT" is no length of time`,
		head + "sleep 1e300T":                    `"1e300T" is no length of time`,
		head + "sleep -1T":                       "want a length of time from 0 on, found -T",
		head + "A: acquire, sleep -5ms":          "want a length of time from 0 on, found -5ms",
		head + "gap docker\nA read":              "want a backend and why",
		head + "A read\nremedy":                  "want the name of the remedy",
		head + "A read\nremedy more\n":           "remedy more has no steps",
		head + "A read\nnote x":                  "a note belongs, indented",
		head + "A read\nexpect x y":              `no word of an expectation "y"`,
		head + "A read\nexpect x fail":           "want a value after fail",
		head + "A read\nexpect x guard":          "want a value after guard",
		head + "threads 3\nA read":               "3 clients are threads of one process, and there are 2 clients",
		head + "A read\x00":                      "control character",
		"lockbench schedule 1\n  clients 2":      "there is no line that it could continue",
		head + "clocks yes\nA read":              "clocks has no value",
		head + "lock\nA read":                    "want a value after lock",
	} {
		_, err := schedule.Parse(src)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", src, err, want)
		}
	}
	var unknown *catalogue.UnknownError
	if _, err := schedule.Parse(head + "A acquier"); !errors.As(err, &unknown) || unknown.Nearest != "acquire" {
		t.Errorf("a misspelt verb: %v", err)
	}
	// Of each line the first error.
	_, err := schedule.Parse(head + "A acquier\nB raed")
	if n := strings.Count(err.Error(), "did you mean"); n != 2 {
		t.Errorf("%d errors, want 2: %v", n, err)
	}
}

func TestParseSteps(t *testing.T) {
	steps, err := schedule.ParseSteps(2, "A acquire; B acquire\nA release;")
	if err != nil || len(steps) != 3 || steps[2].String() != "A release" {
		t.Errorf("%v, %v", steps, err)
	}
	var wrong *schedule.Error
	if _, err := schedule.ParseSteps(2, "A acquire; C read"); !errors.As(err, &wrong) || wrong.Line != 2 {
		t.Errorf("%v", err)
	}
}

// TestDocumented checks that docs/schedule.md has every word of the grammar, and that its example can be read.
func TestDocumented(t *testing.T) {
	src, err := os.ReadFile("../../docs/schedule.md")
	if err != nil {
		t.Fatal(err)
	}
	text := string(src)
	words := append(append(append(schedule.Verbs(), schedule.Faults()...), schedule.Conditions()...), schedule.Words()...)
	for _, word := range words {
		if !strings.Contains(text, "`"+word) && !strings.Contains(text, " "+word) {
			t.Errorf("docs/schedule.md says nothing of %q", word)
		}
	}
	_, example, _ := strings.Cut(text, "```schedule\n")
	example, _, _ = strings.Cut(example, "```")
	if s, err := schedule.Parse(example); err != nil || len(s.Expect) != 2 {
		t.Errorf("the example of docs/schedule.md: %v", err)
	}
}
