package html_test

import (
	"bytes"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockbench/lockbench/internal/report/html"
	"github.com/lockbench/lockbench/internal/testkit/browsertest"
)

// surveyed are a library with a finding, and one that was not played.
func surveyed(name string) html.Libraries {
	return html.Libraries{
		Title: "What real libraries show", What: "Locks, played.", Conditions: []string{"Debian 12, redis-server 7.0.15, 2026-11-26"}, Replay: "make libraries", Unseen: []string{"A20 starvation"},
		Columns: []html.LibraryColumn{{"A01", "foreign release", "A release ends the hold of somebody else."}, {"A13", "zero-TTL delete", "An extend by nothing deletes the key."}},
		States:  []html.OverviewState{{"broken", "shows it", "the library's own"}, {"clean", "free", "it kept what they break"}},
		Rows: []html.Library{
			{
				ID: "library-1", Name: name, Title: name + ", Debian 12", Language: "Python", Version: "4.3.4", System: "Debian 12",
				Cells:  []html.LibraryCell{{"clean", "free", "P07", ""}, {"broken", "shows it", "P71", "#library-1-1"}},
				Played: "Version 4.3.4.", Promises: "A token.", Keeps: "Of 40 pitfalls 28.", Safely: "Extend by more than 0 only.", Remarks: []string{"A19 is declared: it returns nothing."},
				Findings: []html.LibraryFinding{{
					ID: "library-1-1", Code: "A13", Name: "zero-TTL delete", Definition: "An extend by nothing deletes the key.", Story: "A's extend ended A's own hold.",
					Command: "lockbench run --scenario extend-by-nothing", Schedule: "A acquire\nA extend 0T", Wire: []string{"A → master: EVALSHA … 0 1  1", "B → master: SET … NX  OK"},
					Script: "python3 extend.py", Saw: "another lock was granted", Upstream: "https://example.org/4279",
				}},
			},
			{ID: "library-2", Name: "other", Title: "other", Language: "Go", Version: "?", System: "Debian 12", Problem: "it is not installed"},
		},
	}
}

func librariesPage(t *testing.T, name string) []byte {
	t.Helper()
	var b bytes.Buffer
	must(t, html.WriteLibraries(&b, surveyed(name)))
	return b.Bytes()
}

// TestLibraries: the table leads to what proves each finding, and what comes from outside does no harm.
func TestLibraries(t *testing.T) {
	page := string(librariesPage(t, "redis-py Lock"))
	contains(t, page, `<td class="broken" title="P71"><a href="#library-1-1">shows it</a></td>`, `id="library-1-1"`, `<td class="clean" title="P07">free</td>`,
		`<td class="unmeasured" colspan="2">not played: it is not installed</td>`, "A → master: EVALSHA … 0 1  1", "python3 extend.py PORT", "another lock was granted",
		`<a href="https://example.org/4279" rel="noreferrer">`, "A acquire\nA extend 0T", "A19 is declared: it returns nothing.", "A20 starvation", "script-src\"")
	const evil = `</style><script>alert(1)</script>`
	if strings.Contains(string(librariesPage(t, evil)), "<script") {
		t.Error("the name of a library became a script")
	}
	full := errors.New("disk full")
	if err := html.WriteLibraries(broken{full}, surveyed("x")); !errors.Is(err, full) {
		t.Errorf("error %v", err)
	}
}

// TestLibrariesInBrowser looks at the page as its readers do.
func TestLibrariesInBrowser(t *testing.T) {
	b := browsertest.Start(t)
	file := filepath.Join(t.TempDir(), "libraries.html")
	must(t, os.WriteFile(file, librariesPage(t, "redis-py Lock, extend(ttl, replace_ttl=True)"), 0o644))
	p := b.Open(t, (&url.URL{Scheme: "file", Path: filepath.ToSlash(file)}).String(), wide)
	audit(t, p, "1280 light")
	p.Screenshot("libraries-light")
	p.See(dark(narrow))
	p.Reload()
	audit(t, p, "400 dark")
	p.ScreenshotWhole("libraries-dark")
}
