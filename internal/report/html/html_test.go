package html_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/report"
	"github.com/lockbench/lockbench/internal/report/html"
	"github.com/lockbench/lockbench/internal/report/plot"
)

var update = flag.Bool("update", false, "write the golden files instead of comparing with them")

func load(t testing.TB, name string) report.Run {
	t.Helper()
	r, err := report.Load(filepath.Join("..", "testdata", "runs", name))
	if err != nil {
		t.Fatal(err)
	}
	r.Dir = "store/" + r.Scenario + "/20261120T120000.000Z-1"
	want := checker.Expectation{}
	for _, res := range r.Results {
		want[res.Property] = res.Verdict
	}
	r.Outcome, r.Expected = checker.Compare(r.Report, want)
	return r
}

func write(t testing.TB, r report.Run, opt html.Options) string {
	t.Helper()
	var b strings.Builder
	opt.Plots = plot.Draw
	if err := html.Write(&b, r, opt); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func options() html.Options {
	return html.Options{Files: []html.File{{Name: histories.EventsFile, Href: histories.EventsFile}, {Name: "logs", Href: "logs"}}}
}

func TestGolden(t *testing.T) {
	for _, name := range []string{"failover", "fenced", "alone"} {
		t.Run(name, func(t *testing.T) {
			r := load(t, name)
			r.Why, r.Survivors = "Redis replicates asynchronously.", []string{"lockbench run --scenario x --lock redlock"}
			got := write(t, r, options())
			if again := write(t, r, options()); again != got {
				t.Error("drawn twice, the same run gives two pages")
			}
			// Styles and scripts are files of their own, and the same on every page.
			got = regexp.MustCompile(`(?s)(<(style|script)[^>]*>).*?(</(?:style|script)>)`).ReplaceAllString(got, "$1…$3")
			got = regexp.MustCompile(`'sha256-[^']*'`).ReplaceAllString(got, "'sha256-…'")
			file := filepath.Join("testdata", name+".html")
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatalf("%v; go test ./internal/report/html -update writes it", err)
			}
			if string(want) != got {
				t.Errorf("not as in %s; look at the page, and if it is right: go test ./internal/report/html -update", file)
			}
		})
	}
}

// contains checks that a page has all of some texts.
func contains(t *testing.T, page string, wants ...string) {
	t.Helper()
	for _, want := range wants {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %q", want)
		}
	}
}

func TestEveryClaimNamesItsEvents(t *testing.T) {
	r := load(t, "failover")
	page := write(t, r, options())
	for _, res := range r.Results {
		for _, w := range res.Witness {
			contains(t, page, fmt.Sprintf(`<a href="#e%d" data-event="%[1]d">`, w), fmt.Sprintf(`id="e%d"`, w))
		}
	}
	contains(t, page, "both believe that they hold", "virtual time", `href="history.jsonl"`)
}

// TestAlways checks that there is a page however little is known.
func TestAlways(t *testing.T) {
	contains(t, write(t, report.Run{}, html.Options{}), "not judged", "Nothing was recorded.")

	unjudged := load(t, "failover")
	unjudged.Judgement = checker.Judgement{}
	contains(t, write(t, unjudged, options()), "not judged", "acquires orders/42")

	failed := load(t, "failover")
	failed.Judgement, failed.Error = checker.Judgement{}, "the replica did not answer"
	contains(t, write(t, failed, options()), "Read this first", "the replica did not answer", "acquires orders/42")

	disagreed := load(t, "failover")
	disagreed.Verdict, disagreed.Outcome, disagreed.HarnessErrors = checker.Disagreement, checker.Undecided, []string{"two engines disagree"}
	contains(t, write(t, disagreed, options()), "ERROR", "two engines disagree")

	// Witnesses and windows of another history.
	lost := load(t, "failover")
	lost.Events = lost.Events[:4]
	contains(t, write(t, lost, options()), `title="line 11 of history.jsonl"`)
	contains(t, write(t, lost, html.Options{Notices: []string{"history.jsonl:5: the last line is truncated"}}), "the last line is truncated")
}

// TestWaysOut checks that a page leads to the store that its run lies in, and to a proof of what it says, if there are any.
func TestWaysOut(t *testing.T) {
	opt := options()
	opt.Store, opt.Proof = "../../", []string{"lockbench check <dir> --certificate c.json"}
	contains(t, write(t, load(t, "failover"), opt), `<a href="../../">All runs</a>`, "<code>lockbench check &lt;dir&gt; --certificate c.json</code>")
	if page := write(t, load(t, "failover"), options()); strings.Contains(page, "All runs") || strings.Contains(page, "certificate of the verdicts") {
		t.Error("a page of a run in no store leads to one, or one that nothing proves to a proof")
	}
}

func TestErrorIsOfTheWriter(t *testing.T) {
	full := errors.New("disk full")
	if err := html.Write(broken{full}, load(t, "failover"), options()); !errors.Is(err, full) {
		t.Errorf("error %v", err)
	}
}

type broken struct{ err error }

func (b broken) Write([]byte) (int, error) { return 0, b.err }

// TestHostile puts what hurts pages into everything that comes from outside.
func TestHostile(t *testing.T) {
	plain := write(t, load(t, "failover"), options())
	for _, evil := range []string{
		`</script><script>alert(1)</script>`, `<img src=x onerror=alert(1)>`, `" onmouseover="alert(1)`, `' onfocus='alert(1)`,
		`{{.}}{{template "x"}}`, "javascript:alert(1)", "\x1b[31m\u202e\u0000\x7f", "]]><!--", strings.Repeat("k", 1<<20),
	} {
		r := load(t, "failover")
		for i := range r.Events {
			e := &r.Events[i]
			if e.Key != "" {
				e.Key = evil
			}
			e.Node, e.Err, e.Value = evil, evil, evil
			if e.Process == histories.Nemesis {
				e.F = histories.F(evil)
			}
		}
		for i := range r.Exchanges {
			x := &r.Exchanges[i]
			x.Command, x.Reply, x.Note, x.Node = evil, evil, evil, evil
		}
		for i := range r.Results {
			r.Results[i].Story, r.Results[i].Engine = evil, evil
		}
		r.Results = append(r.Results, checker.Result{Property: checker.Property(evil), Verdict: checker.Fail, Story: evil})
		r.Scenario, r.Pitfall, r.Title, r.Workload, r.Lock, r.Guard, r.Backend, r.Topology = evil, evil, evil, evil, evil, evil, evil, evil
		r.Version, r.Command, r.Error, r.Why, r.Note = evil, evil, evil, evil, evil
		r.Notes, r.Survivors, r.Vacuous, r.HarnessErrors = []string{evil}, []string{evil}, []string{evil}, []string{evil}
		r.Usage = []histories.Usage{{Process: evil}}
		page := write(t, r, html.Options{Notices: []string{evil}, Files: []html.File{{Name: evil, Href: evil}}})
		name := evil[:min(len(evil), 30)]
		if len(evil) < 1000 && strings.Contains(page, evil) && strings.ContainsAny(evil, "<>\"'\x1b") {
			t.Errorf("%q stands on the page as it is", name)
		}
		for _, mark := range []string{"<script>", "</script>", "<style>", "<iframe"} {
			if got, want := strings.Count(page, mark), strings.Count(plain, mark); got > want {
				t.Errorf("%q: %s is there %d times, want %d", name, mark, got, want)
			}
		}
		for _, bad := range []string{"<img", `href="javascript:`, "\x1b", "\u202e", "\x00", "\x7f"} {
			if strings.Contains(page, bad) {
				t.Errorf("%q: the page has %q", name, bad)
			}
		}
		if len(page) > 4<<20 { // commands and links, which are there to be followed, are whole
			t.Errorf("%q: %d bytes", name, len(page))
		}
	}
}

// long is a run of n operations in which one lock is granted twice in the middle.
func long(n int) report.Run {
	r := report.Run{Meta: histories.Meta{Schema: histories.Schema, Scenario: "contend", Backend: "embedded"}}
	add := func(worker int, typ histories.Type, f histories.F, attempt int) int {
		i := len(r.Events)
		r.Events = append(r.Events, histories.Event{
			Index: i, Time: time.Duration(i) * time.Millisecond, Process: worker, Worker: worker, Type: typ, F: f, Key: "orders/42", Attempt: uint64(attempt),
		})
		return i
	}
	first, second := 0, 0
	for i := range n / 2 {
		attempt := i + 1
		add(i%5, histories.Invoke, histories.Acquire, attempt)
		granted := add(i%5, histories.OK, histories.Acquire, attempt)
		for range 2 {
			at := time.Duration(len(r.Events)) * time.Millisecond
			r.Exchanges = append(r.Exchanges, histories.Exchange{Sent: at, Replied: at, Client: histories.WorkerName(i % 5), Node: "master", Conn: 1, Command: "SET orders/42 x NX PX 3000", Reply: "OK"})
		}
		if i == n/4 {
			first = granted
			add(7, histories.Invoke, histories.Acquire, n)
			second = add(7, histories.OK, histories.Acquire, n)
		}
		add(i%5, histories.Invoke, histories.Release, attempt)
		add(i%5, histories.OK, histories.Release, attempt)
	}
	r.Report = checker.Report{Verdict: checker.Fail, Results: []checker.Result{{
		Property: checker.StrictExclusion, Verdict: checker.Fail, Witness: []int{first, second}, Story: "Two held it.",
		Window: &checker.Window{First: first - 1, Last: second + 1},
	}}}
	return r
}

// TestSize draws a history of a hundred thousand operations.
func TestSize(t *testing.T) {
	r := long(100_000)
	page := write(t, r, options())
	if len(page) > 1_000_000 {
		t.Errorf("%d bytes, want at most a million", len(page))
	}
	w := r.Results[0].Witness
	contains(t, page, fmt.Sprintf(`data-event="%d"`, w[0]), fmt.Sprintf(`id="e%d"`, w[1]), "not listed here: 0 to ", `<a href="history.jsonl">The whole history</a>`)
}

func BenchmarkWrite(b *testing.B) {
	runs := map[string]report.Run{"scenario": load(b, "failover")}
	for _, n := range []int{10_000, 100_000} {
		runs[fmt.Sprint(n)] = long(n)
	}
	for name, r := range runs {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				write(b, r, options())
			}
		})
	}
}
