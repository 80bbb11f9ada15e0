package html_test

import (
	"bytes"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/report"
	"github.com/lockbench/lockbench/internal/report/html"
	"github.com/lockbench/lockbench/internal/report/plot"
	"github.com/lockbench/lockbench/internal/testkit/browsertest"
)

// survived are the margins of two locks under two disturbances, one of which everything survives.
func survived(name string) (all []report.Measured) {
	for i, survives := range []time.Duration{3011 * time.Millisecond, -1} {
		m := report.Measured{Lock: name + strings.Repeat("'", i)}
		for _, p := range []checker.Property{checker.LeaseExclusion, checker.Ownership, checker.Availability} {
			m.Margins = append(m.Margins,
				report.Margin{Disturbance: "section", Title: "a section of " + name, Property: p, Survives: survives, Looked: 6 * time.Second, Lease: 3 * time.Second},
				report.Margin{Disturbance: "release", Title: "a release", Property: p, Survives: 6 * time.Second, Always: true, Looked: 6 * time.Second, Lease: 3 * time.Second},
			)
		}
		all = append(all, m)
	}
	return all
}

func marginsPage(t *testing.T, name string) []byte {
	t.Helper()
	var b bytes.Buffer
	must(t, html.Margins(&b, survived(name), plot.Margins(survived(name)), "none", 471, "lockbench margins "+name))
	return b.Bytes()
}

// TestMargins: the page says in words what it draws, and what comes from outside does no harm.
func TestMargins(t *testing.T) {
	page := string(marginsPage(t, "setnx-px-lua"))
	contains(t, page, "<h1>setnx-px-lua, setnx-px-lua&#39;</h1>", "471 runs in virtual time", "a lease T of 3s", "lockbench margins setnx-px-lua", "1.004 T",
		"Up to 2 T everything holds: lease exclusion, ownership, availability.", "not even without", "script-src\"")
	if n := strings.Count(page, "<svg xmlns"); n != 1 {
		t.Errorf("%d pictures, want one: of what everything survives there is none", n)
	}
	const evil = `</style><script>alert(1)</script>`
	if strings.Contains(string(marginsPage(t, evil)), "<script") {
		t.Error("the name of a lock became a script")
	}
	full := errors.New("disk full")
	if err := html.Margins(broken{full}, survived("x"), nil, "none", 1, ""); !errors.Is(err, full) {
		t.Errorf("error %v", err)
	}
}

// TestMarginsInBrowser looks at the page as its readers do.
func TestMarginsInBrowser(t *testing.T) {
	b := browsertest.Start(t)
	file := filepath.Join(t.TempDir(), "margins.html")
	must(t, os.WriteFile(file, marginsPage(t, "setnx-px-lua"), 0o644))
	p := b.Open(t, (&url.URL{Scheme: "file", Path: filepath.ToSlash(file)}).String(), wide)
	audit(t, p, "1280 light")
	p.Screenshot("margins-light")
	p.See(dark(narrow))
	p.Reload()
	audit(t, p, "400 dark")
	p.ScreenshotWhole("margins-dark")
}
