package scenarios_test

import (
	"errors"
	"regexp"
	"slices"
	"testing"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/catalogue"
	"github.com/lockbench/lockbench/internal/libraries"
	"github.com/lockbench/lockbench/internal/resource"
	"github.com/lockbench/lockbench/scenarios"
)

// TestCatalogueIsSound checks what the compiler cannot: names, numbers, locks and guards.
func TestCatalogueIsSound(t *testing.T) {
	number, name := regexp.MustCompile(`^P\d{2,3}$`), regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)
	seen := map[string]bool{}
	last := ""
	for _, s := range scenarios.All() {
		if !number.MatchString(s.ID) || !name.MatchString(s.Name) || seen[s.ID] || seen[s.Name] || scenarios.ByNumber(last, s.ID) >= 0 {
			t.Errorf("%q %q: want a new number above %q and a new name in lower case", s.ID, s.Name, last)
		}
		seen[s.ID], seen[s.Name], last = true, true, s.ID
		if s.Title == "" || s.Why == "" || s.Source == "" || s.TTL <= 0 || s.RealTTL <= 0 {
			t.Errorf("%s: title, why, source and both TTLs are required", s.Name)
		}
		checkSteps(t, s)
		for _, r := range s.Remedies {
			with, err := s.With(r.Name)
			if err != nil || r.Title == "" || !name.MatchString(r.Name) || !slices.ContainsFunc(s.Survivors(), func(c scenarios.Case) bool { return c.Remedy == r.Name }) {
				t.Errorf("%s: remedy %q has no name, title or case that it saves: %v", s.Name, r.Name, err)
			}
			checkSteps(t, with)
		}
		broken := 0
		for _, v := range s.Broken().Want {
			if v == checker.Fail {
				broken++
			}
		}
		switch {
		case s.Holds && broken > 0:
			t.Errorf("%s: it says that every lock holds, and one breaks", s.Name)
		case s.Holds:
		case broken == 0:
			t.Errorf("%s: the broken lock breaks nothing", s.Name)
		case len(s.Survivors()) == 0:
			t.Errorf("%s: nothing survives it", s.Name)
		}
		cases := map[string]bool{}
		for _, c := range s.Cases {
			spec, err := libraries.Catalogue().Find(c.Lock)
			if err != nil {
				t.Errorf("%s: %v", s.Name, err)
			}
			if err := c.Guard.Supports(spec); err != nil {
				t.Errorf("%s: %v", s.Name, err)
			}
			if _, err := s.With(c.Remedy); err != nil {
				t.Errorf("%s: %v", s.Name, err)
			}
			if cases[c.String()] {
				t.Errorf("%s: %v is there twice", s.Name, c)
			}
			cases[c.String()] = true
		}
	}
}

// TestNeeds checks that a scenario needs what all locks have that it names, and nothing else.
func TestNeeds(t *testing.T) {
	for _, s := range scenarios.All() {
		for _, need := range []scenarios.Need{scenarios.ReadersAndWriters, scenarios.FencingTokens, scenarios.IndependentMasters} {
			without := slices.IndexFunc(s.Cases, func(c scenarios.Case) bool {
				lock, err := libraries.Catalogue().Find(c.Lock)
				return err != nil || (scenarios.Scenario{Needs: need}).Unfit(lock) != ""
			})
			if all := without < 0; all != (s.Needs == need) {
				t.Errorf("%s needs %q; that all of its locks are %q is %v", s.Name, s.Needs, need, all)
			}
		}
	}
	if why := (scenarios.Scenario{Needs: "a lock that flies"}).Unfit(libraries.Catalogue()[0]); why != "its steps need a lock that flies" {
		t.Errorf("a need that nobody knows: %q", why)
	}
}

func checkSteps(t *testing.T, s scenarios.Scenario) {
	t.Helper()
	for i, step := range s.Script.Steps {
		if step.Sentence() == "" {
			t.Errorf("%s: step %d, %q, says nothing", s.Name, i+1, step)
		}
	}
}

func TestFind(t *testing.T) {
	for _, name := range []string{"P14", "failover-async-repl"} {
		if s, err := scenarios.Find(name); err != nil || s.ID != "P14" {
			t.Errorf("%s: %v, %v", name, s.ID, err)
		}
	}
	var unknown *catalogue.UnknownError
	if _, err := scenarios.Find("failover-async-rep"); !errors.As(err, &unknown) || unknown.Nearest != "failover-async-repl" {
		t.Errorf("a misspelt name: %v", err)
	}
}

func TestUnnamedLocksMustHold(t *testing.T) {
	crash, err := scenarios.Find("P02")
	if err != nil {
		t.Fatal(err)
	}
	c := crash.Case("my-own-lock", resource.Fence)
	if len(c.Want) != 0 || c.String() != "my-own-lock with guard fence" {
		t.Errorf("got %+v", c)
	}
	if crash.Saves(crash.Broken()) || !crash.Saves(c) {
		t.Error("the broken lock saves something, or a lock that passes saves nothing")
	}
	// Strictly, no lease survives a pause, so nobody is asked to.
	pause, err := scenarios.Find("P11")
	if err != nil {
		t.Fatal(err)
	}
	if want := pause.Case("my-own-lock", resource.None).Want; len(want) != 1 || want[checker.StrictExclusion] != checker.NotApplicable {
		t.Errorf("a lock that P11 does not name: %v", want)
	}
}

func TestRemedies(t *testing.T) {
	restart, err := scenarios.Find("redlock-restart")
	if err != nil {
		t.Fatal(err)
	}
	with, err := restart.With("aof-always")
	if err != nil {
		t.Fatal(err)
	}
	if with.Title == restart.Title || with.Broken().Lock != "redlock" {
		t.Errorf("with a remedy: %q, %v", with.Title, with.Broken())
	}
	// The same lock is judged by what is expected of it under the remedy.
	if got := with.Case("redlock", resource.None); len(got.Want) != 0 || got.String() != "redlock under aof-always" || !with.Saves(got) {
		t.Errorf("under the remedy: %+v", got)
	}
	if got := restart.Case("redlock", resource.None); got.Want[checker.StrictExclusion] != checker.Fail {
		t.Errorf("without it: %+v", got)
	}
	var unknown *catalogue.UnknownError
	if _, err := restart.With("aof-alway"); !errors.As(err, &unknown) || unknown.Nearest != "aof-always" {
		t.Errorf("a misspelt remedy: %v", err)
	}
	if split, err := scenarios.Find("split-brain"); err != nil {
		t.Error(err)
	} else if with, err := split.With("min-replicas"); err != nil || with.Gaps["embedded"] == "" || split.Gaps["embedded"] != "" {
		t.Errorf("gaps of a remedy: %v, %v; of its scenario: %v", with.Gaps, err, split.Gaps)
	}
}

// TestWhatNobodyKnows checks that a schedule which names what there is not is refused, with the nearest name.
func TestWhatNobodyKnows(t *testing.T) {
	for lines, nearest := range map[string]string{
		"gap embeddd it cannot\n\nA read":               "embedded",
		"needs reader-and-writers\n\nA read":            "readers-and-writers",
		"asks count-once\n\nA read":                     "counts-once",
		"\nA read\n\nexpect redlock guard epok":         "epoch",
		"\nA read\n\nexpect redlock fail fencin":        "fencing",
		"\nA read\n\nremedy more\ngap dockr no\nA read": "docker",
	} {
		var unknown *catalogue.UnknownError
		_, err := scenarios.Parse("lockbench schedule 1\nclients 1\n" + lines + "\n")
		if !errors.As(err, &unknown) || unknown.Nearest != nearest {
			t.Errorf("%q: %v, want %q to be meant", lines, err, nearest)
		}
	}
}
