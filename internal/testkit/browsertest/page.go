package browsertest

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/performance"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// Keys for Press.
const (
	Tab        = kb.Tab
	Enter      = kb.Enter
	Escape     = kb.Escape
	Home       = kb.Home
	End        = kb.End
	ArrowLeft  = kb.ArrowLeft
	ArrowRight = kb.ArrowRight
	ArrowUp    = kb.ArrowUp
	ArrowDown  = kb.ArrowDown
)

// A View is what a reader has the page on.
type View struct {
	Width, Height int64 // in CSS pixels; 1280 by 800 if zero
	Dark          bool  // prefers a dark colour scheme
	Print         bool  // on paper
	NoScript      bool  // scripts do not run
	ReducedMotion bool
}

// Page is a tab. Its methods fail the test when they cannot do what they are for.
type Page struct {
	t    testing.TB
	ctx  context.Context
	log  complaints
	view View

	artefacts string // directory of the screenshots
}

// Open loads url in a tab that knows nothing of other tabs, and returns when the page is
// loaded and drawn. When the test ends, whatever the page complained of or wanted from the
// network fails it.
func (b *Browser) Open(t testing.TB, url string, v View) *Page {
	t.Helper()
	p := &Page{t: t}
	ctx, closeTab := chromedp.NewContext(b.ctx, chromedp.WithNewBrowserContext(), chromedp.WithListener(p.log.hear))
	p.ctx = ctx
	p.log.dismiss = func() {
		_, _ = chromedp.Call(ctx, page.HandleJavaScriptDialog, page.HandleJavaScriptDialogParams{}) // if it is still open
	}
	p.artefacts = artefacts(t)
	t.Cleanup(func() {
		for _, complaint := range p.Complaints() {
			t.Error(complaint)
		}
		if t.Failed() {
			p.Screenshot("failed")
		}
		closeTab()
	})
	// The first step binds the life of the tab to its context, so it gets one without a deadline.
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("open a tab: %v", err)
	}
	p.See(v)
	p.do("measure processor time", command(performance.Enable, performance.EnableParams{TimeDomain: performance.EnableTimeDomainThreadTicks}))
	p.Load(url)
	return p
}

// Load shows another page in the same tab, and returns when it is loaded and drawn.
func (p *Page) Load(url string) {
	p.t.Helper()
	p.log.expect(url)
	p.do(fmt.Sprintf("load %.200s", url), chromedp.Navigate(url))
	p.settle()
}

// Reload loads the page again.
func (p *Page) Reload() {
	p.t.Helper()
	p.do("load the page again", chromedp.Reload())
	p.settle()
}

// Effort is what it took to load and draw the page.
type Effort struct {
	CPU  time.Duration // of the main thread, on which scripts, layout and drawing wait for each other
	Wall time.Duration // from the beginning of the navigation to the end of loading
}

// Effort returns what it took to load the page, and everything since then.
func (p *Page) Effort() Effort {
	p.t.Helper()
	var cpu float64
	p.do("read what the page took", chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		got, err := cdp.Call(ctx, t, performance.GetMetrics, cdp.Empty{})
		for _, m := range got.Metrics {
			if m.Name == "TaskDuration" {
				cpu = m.Value
			}
		}
		return err
	}))
	wall := Eval[float64](p, `performance.getEntriesByType("navigation")[0].loadEventEnd`)
	return Effort{CPU: time.Duration(cpu * float64(time.Second)), Wall: time.Duration(wall * float64(time.Millisecond))}
}

// See changes what the reader has the page on.
func (p *Page) See(v View) {
	p.t.Helper()
	p.view = v
	scheme, motion, media := "light", "no-preference", "screen"
	if v.Dark {
		scheme = "dark"
	}
	if v.ReducedMotion {
		motion = "reduce"
	}
	if v.Print {
		media = "print"
	}
	if v.Width == 0 {
		v.Width = 1280
	}
	if v.Height == 0 {
		v.Height = 800
	}
	p.do("change the view",
		chromedp.EmulateViewport(v.Width, v.Height),
		command(emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: v.NoScript}),
		command(emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true}),
		command(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: media, Features: []*emulation.MediaFeature{
			{Name: "prefers-color-scheme", Value: scheme},
			{Name: "prefers-reduced-motion", Value: motion},
		}}),
	)
	p.settle()
}

// Eval returns the value of a JavaScript expression in the page, of a promise what it is kept
// with.
func Eval[T any](p *Page, expression string) T {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		p.t.Fatalf("evaluate %.200s: %v", expression, err)
	}
	return v
}

// Press presses keys one after another. Characters stand for themselves.
func (p *Page) Press(keys ...string) {
	p.t.Helper()
	for _, key := range keys {
		p.do(fmt.Sprintf("press %q", key), chromedp.KeyEvent(key))
	}
	p.settle()
}

// Click moves the mouse to the middle of the first element that selector finds, and clicks.
// Something that lies over the element fails the test.
func (p *Page) Click(selector string) {
	p.t.Helper()
	at := p.reach(selector)
	p.do("click "+selector, chromedp.MouseClickXY(at.X, at.Y))
	p.settle()
}

// Follow clicks as Click does, and returns when the page to which that leads is loaded and drawn.
func (p *Page) Follow(selector string) {
	p.t.Helper()
	at := p.reach(selector)
	arrived := chromedp.WaitEvent(page.LoadEventFired, nil, chromedp.MouseClickXY(at.X, at.Y))
	p.do("follow "+selector, chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := arrived(ctx, t)
		return err
	}))
	p.settle()
}

// Hover moves the mouse to the middle of the first element that selector finds. Something
// that lies over the element fails the test.
func (p *Page) Hover(selector string) {
	p.t.Helper()
	at := p.reach(selector)
	p.do("hover over "+selector, chromedp.MouseEvent("mouseMoved", at.X, at.Y))
	p.settle()
}

type point struct{ X, Y float64 }

// reach scrolls to an element and returns a point at which the mouse is over it.
func (p *Page) reach(selector string) point {
	p.t.Helper()
	found := Eval[struct {
		point
		Fault string
	}](p, fmt.Sprintf(`(selector => {
		const e = document.querySelector(selector);
		if (!e) return {Fault: "there is none"};
		e.scrollIntoView({block: "center", inline: "center", behavior: "instant"});
		const r = e.getBoundingClientRect(), X = r.x + r.width / 2, Y = r.y + r.height / 2;
		const hit = document.elementFromPoint(X, Y);
		if (hit && (e.contains(hit) || hit.closest("label")?.control === e)) return {X, Y, Fault: ""};
		return {Fault: "at " + X + ", " + Y + " is " + (hit ? hit.outerHTML.slice(0, 200) : "nothing")};
	})(%s)`, quote(selector)))
	if found.Fault != "" {
		p.t.Fatalf("no way for the mouse to %s: %s", selector, found.Fault)
	}
	return found.point
}

// Screenshot keeps what the window shows as an artefact of the test, in LOCKBENCH_ARTEFACTS/TEST/name.png.
func (p *Page) Screenshot(name string) {
	p.t.Helper()
	p.shoot(name, page.CaptureScreenshotParams{})
}

// ScreenshotWhole keeps the page from top to bottom as an artefact of the test.
func (p *Page) ScreenshotWhole(name string) {
	p.t.Helper()
	p.shoot(name, page.CaptureScreenshotParams{CaptureBeyondViewport: new(true), Clip: p.whole()})
}

// whole is all of the page; of one that is longer than the browser can draw, its beginning.
func (p *Page) whole() *page.Viewport {
	p.t.Helper()
	size := Eval[struct{ W, H float64 }](p, `({W: document.documentElement.scrollWidth, H: document.documentElement.scrollHeight})`)
	return &page.Viewport{Width: size.W, Height: min(size.H, 16_000), Scale: 1}
}

func (p *Page) shoot(name string, params page.CaptureScreenshotParams) {
	p.t.Helper()
	picture := p.capture(params)
	if err := os.WriteFile(filepath.Join(p.artefacts, name+".png"), picture, 0o644); err != nil {
		p.t.Errorf("keep a screenshot: %v", err)
	}
}

func (p *Page) capture(params page.CaptureScreenshotParams) []byte {
	p.t.Helper()
	var picture []byte
	p.do("take a screenshot", chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		shot, err := cdp.Call(ctx, t, page.CaptureScreenshot, params)
		picture = shot.Data
		return err
	}))
	return picture
}

// artefacts returns the directory for what the test leaves to be looked at; a temporary one
// if nobody wants it.
func artefacts(t testing.TB) string {
	t.Helper()
	root := os.Getenv(artefactsEnv)
	if root == "" {
		return t.TempDir()
	}
	dir := filepath.Join(root, filepath.FromSlash(t.Name()))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatalf("%s: %v; want a directory, with its absolute path", artefactsEnv, err)
	}
	return dir
}

// settle waits until what the last step changed has been drawn.
func (p *Page) settle() {
	p.t.Helper()
	if p.view.NoScript {
		p.capture(page.CaptureScreenshotParams{}) // animation frames are not called back
		return
	}
	Eval[bool](p, `new Promise(drawn => requestAnimationFrame(() => requestAnimationFrame(() => drawn(true))))`)
}

func (p *Page) do(what string, steps ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		p.t.Fatalf("%s: %v", what, err)
	}
}

func command[P, R any](c cdp.Command[P, R], params P) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, c, params)
		return err
	})
}

// quote makes a JavaScript literal of s.
func quote(s string) string {
	data, _ := json.Marshal(s) // a string cannot fail
	return string(data)
}
