package scenarios_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/lockbench/lockbench/internal/libraries"
	"github.com/lockbench/lockbench/scenarios"
)

// table returns the rows of all tables of a page of docs, without those that head them.
func table(t *testing.T, page string) (rows [][]string) {
	t.Helper()
	text, err := os.ReadFile("../docs/" + page)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(text), "\n")
	for i, line := range lines {
		heads := i+1 < len(lines) && strings.HasPrefix(lines[i+1], "|---")
		if !strings.HasPrefix(line, "|") || strings.HasPrefix(line, "|---") || heads {
			continue
		}
		cells := strings.Split(strings.ReplaceAll(strings.Trim(line, "|"), `\|`, "\x00"), "|")
		for j := range cells {
			cells[j] = strings.TrimSpace(strings.ReplaceAll(cells[j], "\x00", "|"))
		}
		rows = append(rows, cells)
	}
	if len(rows) == 0 {
		t.Fatalf("docs/%s has no tables", page)
	}
	return rows
}

// TestArticles checks docs/articles.md: that no cell is blank, that what a row names exists, and that its control
// survives the steps of a scenario that the row names.
func TestArticles(t *testing.T) {
	pitfall, name := regexp.MustCompile(`P\d{2,3}`), regexp.MustCompile("`([^`]+)`")
	file := regexp.MustCompile(`\[(P\d{2,3})\]\(\.\./scenarios/(p\d{2,3}_[a-z0-9_]+)\.schedule\)`)
	sources := keys(t)
	for _, row := range table(t, "articles.md") {
		if len(row) != 4 || slices.Contains(row, "") {
			t.Errorf("%q: want four cells, none blank", row)
			continue
		}
		section, claim, shown, control := row[0], row[1], row[2], row[3]
		if !sources[section] {
			t.Errorf("%s is no section in docs/sources.md", section)
		}
		var survivors []string
		for _, id := range pitfall.FindAllString(regexp.MustCompile(`\([^)]*\)`).ReplaceAllString(shown, ""), -1) {
			s, err := scenarios.Find(id)
			if err != nil {
				t.Errorf("%s, %s: %v", section, claim, err)
			}
			for _, c := range s.Cases {
				if s.Holds || s.Saves(c) {
					survivors = append(survivors, c.String())
				}
			}
		}
		for _, link := range file.FindAllStringSubmatch(shown, -1) {
			if s, err := scenarios.Find(link[1]); err != nil || link[2] != strings.ToLower(s.ID)+"_"+strings.ReplaceAll(s.Name, "-", "_") {
				t.Errorf("%s: %s leads to %s", section, link[1], link[2])
			}
		}
		locks := name.FindAllStringSubmatch(shown, -1)
		for _, lock := range locks {
			if _, err := libraries.Catalogue().Find(lock[1]); err != nil && lock[1] != "locked" {
				t.Errorf("%s, %s: %v", section, claim, err)
			}
		}
		if survivors == nil && locks == nil && !strings.Contains(shown, "no scenario yet") && !strings.HasPrefix(shown, "not about locks") {
			t.Errorf("%s, %s: %q names neither scenario nor lock", section, claim, shown)
		}
		controls := name.FindAllStringSubmatch(control, -1)
		if survivors != nil && controls == nil {
			t.Errorf("%s, %s: no control", section, claim)
		}
		for _, c := range controls {
			if !slices.Contains(survivors, c[1]) {
				t.Errorf("%s, %s: %q survives none of the scenarios, %q do", section, claim, c[1], survivors)
			}
		}
	}
}

// keys are what docs/sources.md lists.
func keys(t *testing.T) map[string]bool {
	t.Helper()
	all := map[string]bool{}
	for _, row := range table(t, "sources.md") {
		if slices.Contains(row, "") {
			t.Errorf("docs/sources.md: %q has a blank cell", row)
		}
		if all[row[0]] {
			t.Errorf("docs/sources.md has %s twice", row[0])
		}
		all[row[0]] = true
	}
	return all
}

// TestSources checks that docs/sources.md has what the scenarios and the locks name as their sources.
func TestSources(t *testing.T) {
	all := keys(t)
	check := func(who, source string) {
		for _, key := range references(source) {
			if !all[key] {
				t.Errorf("%s comes from %q, and docs/sources.md has no %q", who, source, key)
			}
		}
	}
	for _, s := range scenarios.All() {
		check(s.ID, s.Source)
	}
	for _, l := range libraries.Catalogue() {
		check(l.Name, l.Source)
	}
}

// references are what a source names: "A 2.3, 4.4 (with P07)" is A 2.3 and A 4.4. What only says how a lock
// or a scenario was made from it is left out.
func references(source string) (all []string) {
	made := regexp.MustCompile(`mutant of [a-z-]+|mutant|fix for|repaired|written anew|with P\d\d|step \d|on one master|` +
		`seen against|random token|fair lock| 2016|v\d[\d.]*`)
	article := ""
	for _, part := range regexp.MustCompile(`[,()]| with `).Split(made.ReplaceAllString(source, ","), -1) {
		part = strings.TrimSpace(part)
		switch {
		case part == "":
			continue
		case regexp.MustCompile(`^[A-E]\b`).MatchString(part):
			article = part[:1]
		case regexp.MustCompile(`^\d`).MatchString(part):
			part = article + " " + part
		case part == "PEXPIRE":
			continue // beside EXPIRE, which has its page
		}
		all = append(all, part)
	}
	return all
}

func TestReferences(t *testing.T) {
	for source, want := range map[string]string{
		"A 2.3, 4.4":                        "A 2.3|A 4.4",
		"A 2.5 step 3, on one master":       "A 2.5",
		"A 4.2 mutant":                      "A 4.2",
		"R (redis#416)":                     "R|redis#416",
		"mutant of redlock, A 2.5":          "A 2.5",
		"C with A":                          "C|A",
		"seen against bsm/redislock v0.9.4": "bsm/redislock",
		"mutant (K 2016)":                   "K",
		"E table":                           "E table",
		"Redisson (redisson#4698), a dream of mine": "Redisson|redisson#4698|a dream of mine",
	} {
		if got := strings.Join(references(source), "|"); got != want {
			t.Errorf("%q: got %q, want %q", source, got, want)
		}
	}
}

// TestListings checks docs/listings.md: each listing has a section of docs/sources.md, a lock, the file that it is in, and a
// difference if it is not faithful and only then.
func TestListings(t *testing.T) {
	sources := keys(t)
	file := regexp.MustCompile(`^\[([a-z_]+\.go)\]\(\.\./locks/([a-z_]+\.go)\)$`)
	for _, row := range table(t, "listings.md") {
		if len(row) != 6 || slices.Contains(row, "") {
			t.Errorf("%q: want six cells, none blank", row)
			continue
		}
		if !sources[row[0]] {
			t.Errorf("%s is no section in docs/sources.md", row[0])
		}
		if _, err := libraries.Catalogue().Find(strings.Trim(row[2], "`")); err != nil {
			t.Errorf("%s: %v", row[0], err)
		}
		in := file.FindStringSubmatch(row[3])
		if in == nil || in[1] != in[2] {
			t.Errorf("%s: %q is no link to a file of locks", row[0], row[3])
		} else if _, err := os.Stat("../locks/" + in[1]); err != nil {
			t.Errorf("%s: %v", row[0], err)
		}
		if faithful := row[4] == "yes"; !faithful && row[4] != "no" || faithful != (row[5] == "–") {
			t.Errorf("%s, %s: faithful is %q, with the difference %q", row[0], row[1], row[4], row[5])
		}
	}
}
