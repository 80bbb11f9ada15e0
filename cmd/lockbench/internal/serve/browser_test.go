package serve_test

import (
	"fmt"
	"io"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lockbench/lockbench/cmd/lockbench/internal/serve"
	"github.com/lockbench/lockbench/internal/harness"
	"github.com/lockbench/lockbench/internal/libraries"
	"github.com/lockbench/lockbench/internal/report"
	"github.com/lockbench/lockbench/internal/report/html"
	"github.com/lockbench/lockbench/internal/report/plot"
	"github.com/lockbench/lockbench/internal/resource"
	"github.com/lockbench/lockbench/internal/testkit/browsertest"
	"github.com/lockbench/lockbench/scenarios"
)

// TestBrowser goes from the list to a run and to a comparison as a reader does, on a screen
// and on a telephone.
func TestBrowser(t *testing.T) {
	b := browsertest.Start(t)
	store := t.TempDir()
	for _, lock := range []string{"setnx-px-lua", "redlock"} {
		play(t, store, lock)
	}
	draw := func(w io.Writer, r report.Run) error { return html.Write(w, r, html.Options{Plots: plot.Draw}) }
	h, err := serve.New(serve.Options{Store: store, Draw: draw, Now: time.Now, Loopback: true})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)

	p := b.Open(t, server.URL, browsertest.View{})
	look := func(name string) {
		t.Helper()
		for _, v := range []browsertest.View{{Width: 1280, Height: 800}, {Width: 400, Height: 800, Dark: true}} {
			p.See(v)
			p.Screenshot(fmt.Sprint(name, "-", v.Width))
			for _, fault := range p.Audit() {
				t.Errorf("%s at %d: %s", name, v.Width, fault)
			}
		}
		p.See(browsertest.View{})
	}
	at := func(want string) {
		t.Helper()
		if got := browsertest.Eval[string](p, "document.body.innerText"); !strings.Contains(got, want) {
			t.Errorf("no %q on %s: %.500q", want, browsertest.Eval[string](p, "location.pathname"), got)
		}
	}

	at("2 runs")
	look("list")
	p.Click(`td.pick input`)
	p.Click(`tr:nth-child(2) td.pick input`)
	p.Follow(`form[action="/compare"] button`)
	at("Where the histories part")
	look("compare")
	p.Follow(`nav a[href="/matrix"]`)
	look("matrix")
	p.Follow(`nav a[href="/"]`)
	p.Follow(`a[href$="/details"]`)
	look("details")

	p.Load(server.URL + "/?lock=setnx-px-lua")
	at("1 of 2 runs")
	p.Follow(`table.runs tbody th a`)
	at("mutual exclusion")
	p.Click("#theme")
	p.Hover(".picture .mark.call rect")
	if browsertest.Eval[string](p, `document.querySelector(".picture-detail").textContent`) == "" {
		t.Error("the report's scripts do not run")
	}
	p.Screenshot("run")
}

// play plays a scenario into the store.
func play(t *testing.T, store, lock string) {
	t.Helper()
	s, err := scenarios.Find("failover-async-repl")
	if err != nil {
		t.Fatal(err)
	}
	spec, err := libraries.Catalogue().Find(lock)
	if err != nil {
		t.Fatal(err)
	}
	cfg, err := s.Config(spec, resource.None, harness.Embedded(), 0)
	if err != nil {
		t.Fatal(err)
	}
	cfg.Seed, cfg.Version, cfg.Out = 1, "test", filepath.Clean(store)
	if _, err := harness.Run(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
}
