package choosing

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/language"
	"github.com/lockbench/lockbench/internal/libraries"
	"github.com/lockbench/lockbench/internal/testkit/effort"
)

var (
	update    = flag.Bool("update", false, "write docs/choosing.md and its table in README.md again, in all languages, and docs/locks.md")
	remeasure = flag.Bool("measure", false, "measure the rows on real servers, and write "+measuredFile)
)

const root = "../../.."

// pages are the files of a language: docs/choosing.md and README.md, or docs/choosing.zh.md and README.zh.md.
func pages(in language.Language) (choosing, readme string) {
	suffix := ".md"
	if in.Name() != "en" {
		suffix = "." + in.Name() + ".md"
	}
	return filepath.Join(root, "docs", "choosing"+suffix), filepath.Join(root, "README"+suffix)
}

// TestRows checks what was chosen: each lock exists, on such servers, and takes the guard.
func TestRows(t *testing.T) {
	if len(rows()) != 6 {
		t.Errorf("there are %d rows, want 6", len(rows()))
	}
	named := map[string]bool{}
	for _, r := range rows() {
		lock, err := libraries.Catalogue().Find(r.lock)
		if err != nil {
			t.Error(err)
			continue
		}
		if err := r.guard.Supports(lock); err != nil {
			t.Error(err)
		}
		if lock.Masters != r.servers.masters || lock.Replicas > r.servers.replicas {
			t.Errorf("%s: %s needs %d masters and %d replicas, there are %d and %d",
				r.situation, r.lock, lock.Masters, lock.Replicas, r.servers.masters, r.servers.replicas)
		}
		if r.long && !lock.Renews {
			t.Errorf("%s: %s does not renew its leases", r.situation, r.lock)
		}
		if words := len(strings.Fields(r.why)); words == 0 || words > 10 {
			t.Errorf("%s: why is told in %d words, want 1 to 10", r.situation, words)
		}
		if named[r.situation] {
			t.Errorf("%q is there twice", r.situation)
		}
		named[r.situation] = true
	}
}

// entries computes all rows.
func entries(t *testing.T, m measurement) (all []entry) {
	t.Helper()
	for _, r := range rows() {
		e := entry{row: r}
		var err error
		if e.cost, err = measure(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		if e.verdicts, err = judge(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		if e.real, err = m.of(r); err != nil {
			t.Error(err)
		}
		var ok bool
		if e.shows, ok = r.shown(e.verdicts); !ok {
			t.Errorf("%s: no scenario breaks %s with guard %s, so that no command shows what does", r.situation, r.lock, r.guard)
		}
		all = append(all, e)
	}
	return all
}

// unnamed are the scenarios that break the lock of a row, and of which its column in a page does not say so.
func unnamed(page string, e entry, column int, in tongue) (all []string) {
	for _, b := range e.broken {
		_, line, _ := strings.Cut(page, "\n| "+link(b.scenario)+" |")
		line, _, _ = strings.Cut(line, "\n")
		if told := strings.Split(line, " | "); len(told) <= column || strings.TrimSuffix(told[column], " |") != in.Say(kind(b.properties).String()) {
			all = append(all, b.scenario.ID)
		}
	}
	return all
}

// TestChoosing plays every scenario with every row, and compares docs/choosing.md and the table in README.md with what came out, in all
// languages. With -update it writes them.
func TestChoosing(t *testing.T) {
	effort.Long(t)
	m := readMeasured(t)
	all := entries(t, m)
	others, err := newerOnes(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if t.Failed() {
		return
	}
	part := regexp.MustCompile(`(?s)(<!-- generated: choosing -->\n\n).*?(\n<!-- end -->)`)
	for _, in := range tongues(t) {
		file, readme := pages(in.Language)
		names(t, file, all, in)
		asWritten(t, file, page(all, others, m, in))
		text, err := os.ReadFile(readme)
		if err != nil {
			t.Fatal(err)
		}
		if len(part.FindAll(text, -1)) != 1 {
			t.Fatalf("%s has not one part <!-- generated: choosing -->", readme)
		}
		asWritten(t, readme, part.ReplaceAllString(string(text), "${1}"+strings.ReplaceAll(short(all, m, in), "$", "$$")+"${2}"))
		if in.Name() != "en" {
			in.whole(t)
		}
	}
}

// names checks that a page names whatever breaks a row, and that it would be noticed if it did not.
func names(t *testing.T, file string, all []entry, in tongue) {
	t.Helper()
	if *update {
		return
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for i, e := range all {
		if missing := unnamed(string(text), e, i+1, in); len(missing) > 0 {
			t.Errorf("%s: %s with guard %s is broken by %s, which %s does not say; make docs writes it",
				e.situation, e.lock, e.guard, strings.Join(missing, ", "), file)
		}
		one := e.shows.scenario
		without := strings.Replace(string(text), "\n| "+link(one)+" |", "\n| |", 1)
		if missing := unnamed(without, e, i+1, in); !slices.Equal(missing, []string{one.ID}) {
			t.Errorf("%s: a page without %s lacks %v", e.situation, one.ID, missing)
		}
	}
}

// asWritten compares a file with what it is to be, or writes it.
func asWritten(t *testing.T, file, want string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(got), want); d != "" {
		t.Errorf("%s is not what the runs and the catalogue show; run: make docs (-file +shown):\n%s", file, d)
	}
}

// TestKind checks which harm comes first.
func TestKind(t *testing.T) {
	for _, c := range []struct {
		broken []checker.Property
		want   harm
	}{
		{[]checker.Property{checker.StrictExclusion, checker.LeaseExclusion, checker.ResourceSafety}, damaged},
		{[]checker.Property{checker.StrictExclusion, checker.LeaseHonoured}, doubled},
		{[]checker.Property{checker.Ownership, checker.StrictExclusion}, outlived},
		{[]checker.Property{checker.SingleWinner}, repeated},
		{[]checker.Property{checker.Fairness}, awkward},
	} {
		if got := kind(c.broken); got != c.want {
			t.Errorf("%v is %s, want %s", c.broken, got, c.want)
		}
	}
}
