package html_test

import (
	"bytes"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/harness"
	"github.com/lockbench/lockbench/internal/libraries"
	"github.com/lockbench/lockbench/internal/report"
	"github.com/lockbench/lockbench/internal/report/html"
	"github.com/lockbench/lockbench/internal/report/plot"
	"github.com/lockbench/lockbench/internal/resource"
	"github.com/lockbench/lockbench/internal/testkit/browsertest"
	"github.com/lockbench/lockbench/scenarios"
)

// The runs that people look at. Those without a lock are of the one that breaks.
var shown = []struct {
	scenario, lock string
	guard          resource.Guard
	holds          bool
}{
	{scenario: "failover-async-repl"},
	{scenario: "failover-async-repl", lock: "redlock", holds: true},
	{scenario: "get-del-race"},
	{scenario: "gc-pause-lease-expiry"},
	{scenario: "gc-pause-lease-expiry", lock: "fenced", guard: resource.Fence}, // nothing is lost, but two believe that they hold it
	{scenario: "redlock-clock-jump"},
	{scenario: "rw-reader-overwrites-timestamp"},
}

// played plays a scenario.
func played(t *testing.T, scenario, lock string, guard resource.Guard) report.Run {
	t.Helper()
	s, err := scenarios.Find(scenario)
	must(t, err)
	if lock == "" {
		lock, guard = s.Broken().Lock, s.Broken().Guard
	}
	spec, err := libraries.Catalogue().Find(lock)
	must(t, err)
	cfg, err := s.Config(spec, guard, harness.Embedded(), 0)
	must(t, err)
	cfg.Command = "lockbench run --scenario " + scenario + " --lock " + lock + " --seed 1"
	return ran(t, cfg)
}

// loaded is random load under random faults.
func loaded(t *testing.T) report.Run {
	t.Helper()
	spec, err := libraries.Catalogue().Find("fenced")
	must(t, err)
	load := harness.Load{Workload: "contend", Clients: 3, Limit: time.Minute, Nemesis: []string{"pause", "restart"}}
	cfg, err := harness.ForWorkload(load, spec, resource.Fence, harness.Embedded(), 0)
	must(t, err)
	cfg.Command = "lockbench run --workload contend --lock fenced --guard fence --nemesis pause,restart --time-limit 60s --seed 1"
	return ran(t, cfg)
}

func ran(t *testing.T, cfg harness.Config) report.Run {
	t.Helper()
	cfg.Seed, cfg.Version = 1, "test"
	res, err := harness.Run(t.Context(), cfg)
	must(t, err)
	return report.Run{
		Meta: res.Meta, Judgement: res.Judgement, Events: res.Events, Exchanges: res.Exchanges, Samples: res.Samples,
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// page writes the page of a run to a file and returns its address.
func page(t *testing.T, r report.Run, opt html.Options) string {
	t.Helper()
	var b bytes.Buffer
	opt.Plots = plot.Draw
	must(t, html.Write(&b, r, opt))
	file := filepath.Join(t.TempDir(), "report.html")
	must(t, os.WriteFile(file, b.Bytes(), 0o644))
	return (&url.URL{Scheme: "file", Path: filepath.ToSlash(file)}).String()
}

// TestBrowser looks at pages as their readers do.
func TestBrowser(t *testing.T) {
	b := browsertest.Start(t)
	for _, c := range shown {
		name := c.scenario
		if c.lock != "" {
			name += "+" + c.lock
		}
		t.Run(name, func(t *testing.T) {
			r := played(t, c.scenario, c.lock, c.guard)
			if r.Report.Verdict == checker.Fail == c.holds {
				t.Fatalf("the run is %v", r.Report.Verdict)
			}
			looks(t, b.Open(t, page(t, r, html.Options{}), wide), !c.holds)
		})
	}
	t.Run("random", func(t *testing.T) {
		r := loaded(t)
		looks(t, b.Open(t, page(t, r, html.Options{}), wide), r.Report.Verdict == checker.Fail)
	})
	t.Run("long", func(t *testing.T) { opensSoon(t, b) })
	t.Run("hostile", func(t *testing.T) { harmless(t, b) })

	failover := page(t, played(t, "failover-async-repl", "", 0), html.Options{})
	t.Run("keyboard", func(t *testing.T) { keyboard(t, b.Open(t, failover, wide)) })
	t.Run("pointer", func(t *testing.T) { pointer(t, b.Open(t, failover, wide)) })
	t.Run("filter", func(t *testing.T) { filter(t, b.Open(t, failover, wide)) })
	t.Run("zoom", func(t *testing.T) { zoom(t, b.Open(t, failover, wide)) })
	t.Run("theme", func(t *testing.T) { theme(t, b.Open(t, failover, wide)) })
	t.Run("no script", func(t *testing.T) { noScript(t, b, failover) })
	t.Run("paper", func(t *testing.T) { paper(t, b.Open(t, failover, wide)) })
}

var (
	wide   = browsertest.View{Width: 1280, Height: 800}
	narrow = browsertest.View{Width: 400, Height: 800}
)

func dark(v browsertest.View) browsertest.View {
	v.Dark = true
	return v
}

// looks checks that a page can be read on screens of two widths, in light and in dark, and
// that a violation is in sight.
func looks(t *testing.T, p *browsertest.Page, fails bool) {
	t.Helper()
	p.Screenshot("1280-light")
	inSight(t, p, "1280", fails)
	audit(t, p, "1280 light")
	p.See(dark(wide))
	p.Screenshot("1280-dark")

	p.See(dark(narrow))
	p.Reload()
	p.Screenshot("400-dark")
	inSight(t, p, "400", fails)
	audit(t, p, "400 dark")
	p.ScreenshotWhole("400-dark-whole")
	p.See(narrow)
	p.Screenshot("400-light")
}

func audit(t *testing.T, p *browsertest.Page, view string) {
	t.Helper()
	for _, fault := range p.Audit() {
		t.Errorf("%s: %s", view, fault)
	}
}

// inSight checks that the first screen tells the verdict, and that the picture shows the
// violation without being scrolled.
func inSight(t *testing.T, p *browsertest.Page, view string, fails bool) {
	t.Helper()
	type sight struct {
		Verdict, Story, Callout, Hatch, Proof float64 // how much of it is seen, from 0 to 1
		Window                                bool    // all of it in the window
	}
	got := browsertest.Eval[sight](p, `(() => {
		const scroll = document.querySelector(".picture-scroll"), names = document.querySelector(".picture-names");
		const box = scroll.getBoundingClientRect();
		const within = (r, left, right, top, bottom) =>
			Math.max(0, Math.min(r.right, right) - Math.max(r.left, left)) / Math.min(r.width || 1, right - left) *
			Math.max(0, Math.min(r.bottom, bottom) - Math.max(r.top, top)) / (r.height || 1);
		const first = q => { const e = document.querySelector(q); return e ? within(e.getBoundingClientRect(), 0, innerWidth, 0, innerHeight) : -1 };
		const drawn = q => Math.max(-1, ...[...document.querySelectorAll(q)].map(e =>
			within(e.getBoundingClientRect(), box.left + names.clientWidth, box.right, box.top, box.bottom)));
		return {Verdict: first("#verdict-word"), Story: first("#story-head"),
			Callout: drawn(".picture .callout.on"), Hatch: drawn(".picture .hatch.on"), Proof: drawn(".picture .mark.proof"),
			Window: first(".picture .callout.on") > 0.99};
	})()`)
	if got.Verdict < 1 || got.Story < 1 {
		t.Errorf("%s: the first screen shows %.0f %% of the verdict and %.0f %% of what happened", view, 100*got.Verdict, 100*got.Story)
	}
	if !fails {
		if got.Callout >= 0 || got.Hatch >= 0 || got.Proof >= 0 {
			t.Errorf("%s: nothing is violated, and the picture points to something: %+v", view, got)
		}
		return
	}
	if got.Callout < 0.9 || got.Hatch <= 0 || got.Proof <= 0 {
		t.Errorf("%s: the violation is out of sight: %+v", view, got)
	}
	if view == "1280" && !got.Window {
		t.Errorf("%s: one has to scroll down to the violation", view)
	}
}

// keyboard checks that all can be reached and done without a mouse.
func keyboard(t *testing.T, p *browsertest.Page) {
	const focused = `document.activeElement.closest(".picture .mark") ? "mark" : document.activeElement.id || document.activeElement.getAttribute("class") || document.activeElement.tagName`
	seen := map[string]bool{}
	for range 60 {
		p.Press(browsertest.Tab)
		at := browsertest.Eval[string](p, focused)
		seen[at] = true
		if !browsertest.Eval[bool](p, outlined) {
			t.Errorf("nobody sees that %s has the focus", at)
		}
		if at == "mark" {
			break
		}
	}
	if !seen["mark"] || !seen["theme"] {
		t.Fatalf("Tab leads to %v, want the button for the colours and a mark among them", seen)
	}

	if n := browsertest.Eval[int](p, `document.querySelectorAll('.picture .mark[tabindex="0"]').length`); n != 1 {
		t.Errorf("%d marks are tab stops, want one: arrows lead to the others", n)
	}

	browsertest.Eval[bool](p, `(window.told = [], document.addEventListener("lockbench:event", e => told.push(e.detail.index)), true)`)
	last, events := "", 0
	for _, key := range []string{browsertest.ArrowRight, browsertest.ArrowRight, browsertest.ArrowDown, browsertest.ArrowUp, browsertest.ArrowLeft} {
		p.Press(key)
		got := browsertest.Eval[string](p, `document.activeElement.querySelector("title")?.textContent`)
		if got == "" || got == last {
			t.Errorf("%q leads from %q to %q", key, last, got)
		}
		if detail := detail(p); detail != got {
			t.Errorf("with the focus on %q the page tells of %q", got, detail)
		}
		if !browsertest.Eval[bool](p, outlined) {
			t.Errorf("nobody sees that %q has the focus", got)
		}
		if index := browsertest.Eval[string](p, `document.activeElement.dataset.event ?? ""`); index != "" {
			if told := browsertest.Eval[string](p, `String(told.at(-1))`); told != index {
				t.Errorf("with the focus on event %s the page is told of event %s", index, told)
			}
			events++
		}
		last = got
	}
	if events == 0 {
		t.Error("no event had the focus")
	}

	p.Press(browsertest.Enter)
	if n := browsertest.Eval[int](p, `document.querySelectorAll(".picture .mark.pinned").length`); n != 1 {
		t.Errorf("Enter pins %d marks", n)
	}
	browsertest.Eval[bool](p, `document.querySelector(".picture .mark:not(.pinned)").dispatchEvent(new PointerEvent("pointerover", {bubbles: true}))`)
	if got := detail(p); got != last {
		t.Errorf("%q is pinned, and the page tells of %q", last, got)
	}
	p.Screenshot("pinned")
	if !browsertest.Eval[bool](p, `(r => r.top < innerHeight - 20)(document.querySelector(".picture-detail").getBoundingClientRect())`) {
		t.Error("what is told of the event is below the window")
	}
	p.Press(browsertest.Escape)
	if n := browsertest.Eval[int](p, `document.querySelectorAll(".picture .mark.pinned").length`); n != 0 {
		t.Errorf("%d marks are pinned after Escape", n)
	}
}

// outlined reports whether one can see what has the focus: something around or in it is drawn
// other than without.
const outlined = `(() => {
	const e = document.activeElement;
	const look = () => [e, ...e.querySelectorAll("*")].slice(0, 50).map(x => {
		const s = getComputedStyle(x);
		return [s.outline, s.boxShadow, s.stroke, s.strokeWidth, s.fill, s.backgroundColor, s.clip, s.position].join();
	}).join(";");
	const on = look();
	e.blur();
	const off = look();
	e.focus();
	return on !== off;
})()`

// detail is what the page tells of the event that is looked at.
func detail(p *browsertest.Page) string {
	return browsertest.Eval[string](p, `document.querySelector(".picture-detail").textContent`)
}

// pointer checks that the mouse shows events, and that links to events lead to them.
func pointer(t *testing.T, p *browsertest.Page) {
	before := detail(p)
	p.Hover(".picture .mark.proof.call rect")
	want := browsertest.Eval[string](p, `document.querySelector(".picture .mark.proof.call title").textContent`)
	if got := detail(p); got != want || got == before {
		t.Errorf("with the mouse on %q the page tells of %q", want, got)
	}
	p.Click(".told a[data-event]")
	index := browsertest.Eval[string](p, `document.querySelector(".told a[data-event]").dataset.event`)
	if at := browsertest.Eval[string](p, `[...document.querySelectorAll(".events tr.here")].map(r => r.dataset.first + "-" + r.dataset.last).join()`); at == "" {
		t.Errorf("the link to event %s leads to no row", index)
	}
	if n := browsertest.Eval[int](p, `document.querySelectorAll(".picture .mark.at").length`); n != 1 {
		t.Errorf("the link to event %s shows %d marks", index, n)
	}
}

// filter checks that each filter hides what it names and nothing else, and shows it again.
func filter(t *testing.T, p *browsertest.Page) {
	p.Click(".picture-controls summary")
	filters := browsertest.Eval[[][2]string](p, `[...document.querySelectorAll("input[data-filter]")].map(i => [i.dataset.filter, i.value])`)
	if len(filters) < 5 {
		t.Fatalf("filters are %v, want clients, keys and kinds of calls", filters)
	}
	shown := func(those string) int {
		return browsertest.Eval[int](p, fmt.Sprintf(`[...document.querySelectorAll(".picture .mark")].filter(m => %s).filter(m => getComputedStyle(m).display !== "none").length`, those))
	}
	for _, f := range filters {
		of := fmt.Sprintf("m.dataset[%q] === %q", f[0], f[1])
		box := fmt.Sprintf("input[data-filter=%q][value=%q]", f[0], f[1])
		some, others := shown(of), shown("!("+of+")")
		p.Click(box)
		if got := shown(of); got != 0 || some == 0 {
			t.Errorf("without %v there are %d marks of it, and %d before", f, got, some)
		}
		if got := shown("!(" + of + ")"); got != others {
			t.Errorf("without %v there are %d marks of others, and %d before", f, got, others)
		}
		p.Click(box)
		if got := shown(of); got != some {
			t.Errorf("with %v again there are %d marks of it, and %d before", f, got, some)
		}
	}
	p.Screenshot("filters")
	audit(t, p, "with the filters open")
}

// zoom checks that buttons and keys bring events together and apart, that text keeps its
// shape, and that the violation stays in sight when time is drawn to scale.
func zoom(t *testing.T, p *browsertest.Page) {
	const ends = `(() => {
		const x = [...document.querySelectorAll(".picture .mark.call")].map(m => m.getBoundingClientRect().left);
		return Math.max(...x) - Math.min(...x);
	})()`
	apart := func() float64 { return browsertest.Eval[float64](p, ends) }
	before := apart()
	step := func(what string, wider bool) {
		t.Helper()
		if got := apart(); got > before != wider || got == before {
			t.Errorf("%s: from first to last call it is %.0f px, and was %.0f", what, got, before)
		}
		before = apart()
	}
	p.Click(`button[data-do="in"]`)
	step("the button +", true)
	audit(t, p, "zoomed in")
	p.Click(`button[data-do="out"]`)
	step("the button -", false)
	browsertest.Eval[bool](p, `(document.querySelector(".picture .mark").focus(), true)`)
	p.Press("+", "+")
	step("the key +", true)
	p.Press("-")
	step("the key -", false)
	p.Press("+", "+", "+")
	before = apart()
	p.Press("0")
	step("the key 0", false)
	if browsertest.Eval[bool](p, `(s => s.scrollWidth > s.clientWidth + 1)(document.querySelector(".picture-scroll"))`) {
		t.Error("the key 0 does not fit the run into the picture")
	}
	p.Click(`input[data-do="scale"]`)
	inSight(t, p, "to scale", true)
	p.Screenshot("to-scale")
}

// theme checks that the reader's choice wins over the system's, both ways.
func theme(t *testing.T, p *browsertest.Page) {
	paper := func() string { return browsertest.Eval[string](p, "getComputedStyle(document.body).backgroundColor") }
	light := paper()
	p.See(dark(wide))
	night := paper()
	if light == night {
		t.Fatalf("the page is %s in light and in dark", light)
	}
	p.Click("#theme")
	if got := paper(); got != light {
		t.Errorf("the system is dark and light is chosen, and the page is %s, want %s", got, light)
	}
	audit(t, p, "light by choice")
	p.See(wide)
	p.Click("#theme")
	if got := paper(); got != night {
		t.Errorf("the system is light and dark is chosen, and the page is %s, want %s", got, night)
	}
	audit(t, p, "dark by choice")
	p.Reload()
	if got := paper(); got != night {
		t.Errorf("dark was chosen, and after loading the page again it is %s, want %s", got, night)
	}
}

// noScript checks that nothing is missing where scripts do not run, but what needs them.
func noScript(t *testing.T, b *browsertest.Browser, address string) {
	v := wide
	v.NoScript = true
	p := b.Open(t, address, v)
	p.Screenshot("no-script")
	got := browsertest.Eval[string](p, `["svg .mark", "svg .hatch.on", ".properties tr", ".events tr", "button"].map(q =>
		[...document.querySelectorAll(q)].filter(e => e.getBoundingClientRect().width > 0).length > 0).join()`)
	if want := "true,true,true,true,false"; got != want {
		t.Errorf("seen of marks, violation, properties, events and buttons: %s, want %s", got, want)
	}
}

// paper checks that a print has all that the screen has when everything is opened and
// scrolled, and nothing to click.
func paper(t *testing.T, p *browsertest.Page) {
	p.Click("#theme")                                              // dark, on the screen
	p.See(browsertest.View{Width: 794, Height: 1123, Print: true}) // A4
	p.ScreenshotWhole("paper")
	cut := browsertest.Eval[[]string](p, `[...document.querySelectorAll("main *")].filter(e => {
		const s = getComputedStyle(e);
		return !(e instanceof SVGElement) && e.getClientRects().length && s.clip === "auto" && s.clipPath === "none" &&
			(s.overflowX !== "visible" && e.scrollWidth > e.clientWidth + 1 || s.overflowY !== "visible" && e.scrollHeight > e.clientHeight + 1);
	}).map(e => e.tagName + "." + e.className)`)
	if len(cut) > 0 {
		t.Errorf("not all can be seen on paper of %v", cut)
	}
	if n := browsertest.Eval[int](p, `[...document.querySelectorAll("button, input, select")].filter(e => e.getClientRects().length).length`); n > 0 {
		t.Errorf("%d buttons and fields are printed", n)
	}
	for _, fault := range p.Audit() {
		if !strings.HasPrefix(fault, "text of ") { // the picture is as wide as the paper, and small then
			t.Errorf("on paper: %s", fault)
		}
	}
}

// harmless checks that strings of a history are text, whatever is in them.
func harmless(t *testing.T, b *browsertest.Browser) {
	const attack = `</script></style></svg></title>"'><script>ran=1</script><img src=http://127.0.0.1:9/x onerror=ran=2>{{.}}` + "\x00\x07\x1b[31m\u202e\xff `${ran=3}`"
	r := played(t, "failover-async-repl", "", 0)
	long := strings.Repeat("k", 1<<20)
	for i := range r.Events {
		e := &r.Events[i]
		e.Key += attack
		if i%3 == 0 {
			e.Key = long
		}
		e.Value += attack
		e.Err += attack
		e.Node += attack
	}
	for i := range r.Exchanges {
		x := &r.Exchanges[i]
		x.Command, x.Reply = x.Command+attack, x.Reply+attack
	}
	r.Scenario += attack
	r.Title += attack
	r.Why += attack
	r.Note += attack
	r.Survivors = append(r.Survivors, attack)
	r.Notes = append(r.Notes, attack, long)
	for i := range r.Report.Results {
		r.Report.Results[i].Story += attack
	}
	address := page(t, r, html.Options{Notices: []string{attack}, Files: []html.File{{Name: attack, Href: "javascript:ran=4"}}})
	p := b.Open(t, address, wide)
	p.Click(".files a")
	p.Hover(".picture .mark.call rect")
	if what := browsertest.Eval[string](p, "typeof ran"); what != "undefined" {
		t.Error("a script of the history ran")
	}
	if n := browsertest.Eval[int](p, `document.querySelectorAll("img, script:not([src])").length - document.scripts.length`); n != 0 {
		t.Errorf("%d elements come from the history", n)
	}
	for _, v := range []browsertest.View{wide, narrow} {
		p.See(v)
		p.Reload()
		p.Screenshot(fmt.Sprint(v.Width))
		for _, fault := range p.Audit() {
			if !strings.HasPrefix(fault, "a link to #ZgotmplZ") { // what became of the script in a link
				t.Errorf("%d: %s", v.Width, fault)
			}
		}
	}
}

// opensSoon checks that the page of a history of a hundred thousand operations is small, and
// that a browser does not take long over it. What counts is the time of the processor, as other
// tests may run on this machine.
func opensSoon(t *testing.T, b *browsertest.Browser) {
	const most = 3 * time.Second
	r := longRun(t, 100_000)
	address := page(t, r, html.Options{})
	u, err := url.Parse(address)
	must(t, err)
	info, err := os.Stat(u.Path)
	must(t, err)
	if info.Size() > 1<<20 {
		t.Errorf("the page has %d bytes, want 1 MB at most", info.Size())
	}
	p := b.Open(t, address, wide)
	took := p.Effort()
	t.Logf("%d bytes, opened with %v of processor time in %v", info.Size(), took.CPU, took.Wall)
	if took.CPU > most {
		t.Errorf("the page opens with %v of processor time, want %v at most", took.CPU, most)
	}
	looks(t, p, true)
}

// longRun is a run of so many operations of eight clients, who pass the lock on, until in the
// middle of it one is granted the lock while another one holds it.
func longRun(t *testing.T, operations int) report.Run {
	t.Helper()
	r := played(t, "get-del-race", "", 0)
	r.Exchanges, r.Events = nil, nil
	record := func(worker int, kind histories.Type, f histories.F, attempt int) {
		at := time.Duration(len(r.Events)) * time.Millisecond
		e := histories.Event{
			Index: len(r.Events), Time: at, Process: worker, Worker: worker, Type: kind, F: f, Key: "orders/42", Attempt: uint64(attempt),
		}
		if f == histories.Acquire && kind == histories.Invoke {
			e.TTL = time.Minute
		}
		if f == histories.Acquire && kind == histories.OK {
			e.Deadline = at + time.Minute
		}
		r.Events = append(r.Events, e)
	}
	for i := range operations / 2 {
		worker := i % 8
		record(worker, histories.Invoke, histories.Acquire, i+1)
		record(worker, histories.OK, histories.Acquire, i+1)
		if i == operations/4 {
			record(8, histories.Invoke, histories.Acquire, operations)
			record(8, histories.OK, histories.Acquire, operations)
			record(8, histories.Invoke, histories.Release, operations)
			record(8, histories.OK, histories.Release, operations)
		}
		record(worker, histories.Invoke, histories.Release, i+1)
		record(worker, histories.OK, histories.Release, i+1)
	}
	r.Report = harness.Judge(t.Context(), r.Events, nil, nil, nil)
	r.Expected, r.Survivors = nil, nil
	return r
}
