package browsertest

import (
	"context"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	psutil "github.com/shirou/gopsutil/v3/process"

	"github.com/lockbench/lockbench/internal/osproc"
	"github.com/lockbench/lockbench/internal/testkit/effort"
)

const dot = `<img src="data:image/gif;base64,R0lGODlhAQABAAAAACw=" alt="dot">`

// inline makes an address of a page.
func inline(body string) string {
	return "data:text/html;charset=utf-8," + url.PathEscape(`<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>t</title><body><h1>A page</h1>`+body)
}

func TestPage(t *testing.T) {
	b := Start(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" {
			http.NotFound(w, r)
			return
		}
		fmt.Fprint(w, `<!DOCTYPE html><link rel="icon" href="data:,"><img src="/missing.png">`)
	}))
	t.Cleanup(server.Close)

	complaints := []struct {
		name, page string
		want       []string // the beginnings of the complaints
	}{
		{"none", inline(`<script>console.log("hello"); addEventListener("x", e => {})</script>` + dot), nil},
		{"console", inline(`<script>console.error("no", {a: 1}); console.warn("hm"); console.assert(1 > 2, "odd")</script>`),
			[]string{`console.error: "no" Object`, `console.warning: "hm"`, `console.assert: "odd"`}},
		{"exception", inline(`<script>lost.x</script>`), []string{"exception: line 1: Uncaught ReferenceError: lost is not defined"}},
		{"rejection", inline(`<script>Promise.reject(new Error("late"))</script>`), []string{"exception: line 1: Uncaught (in promise) Error: late"}},
		{"dialog", inline(`<script>setTimeout(() => alert("hi"))</script>`), []string{"dialog: hi"}},
		{"policy", inline(`<script>const m = document.createElement("meta"); m.httpEquiv = "Content-Security-Policy"; m.content = "img-src 'none'"; document.head.append(m)</script>` + dot),
			[]string{"security error: Loading the image"}},
		{"network", inline(`<img src="http://example.com/a.png" alt="a">`), []string{"request: Image http://example.com/a.png", "request failed: Image net::ERR_PROXY", "network error"}},
		{"loopback", inline(`<script>fetch("` + server.URL + `").catch(() => 0)</script>`), []string{"request: Fetch http://127.0.0.1"}},
		{"socket", inline(`<script>new WebSocket("ws://127.0.0.1:9")</script>`), []string{"request: WebSocket ws://127.0.0.1:9"}},
		{"server", server.URL, []string{"request failed: Image 404", "network error"}},
	}
	t.Run("complaints", func(t *testing.T) {
		p := b.Open(t, inline(""), View{})
		for _, c := range complaints {
			p.Load(inline("")) // ends what the page before still does, and may complain of late
			p.Complaints()
			p.Load(c.page)
			got := until(t, p, len(c.want))
			for i, want := range c.want {
				if !strings.HasPrefix(got[i], want) {
					t.Errorf("%s: complaint %d is %q, want one that begins with %q", c.name, i, got[i], want)
				}
			}
		}
	})

	t.Run("audit", func(t *testing.T) {
		p := b.Open(t, inline(good), View{Width: 400})
		if faults := p.Audit(); len(faults) > 0 {
			t.Errorf("of a good page: %q", faults)
		}
		for _, c := range faults {
			Eval[bool](p, "document.body.insertAdjacentHTML('beforeend', '<div id=fault>"+c.html+"</div>') ?? true")
			got := p.Audit()
			if len(got) != 1 || !strings.HasPrefix(got[0], c.want) {
				t.Errorf("of %s: %q, want one that begins with %q", c.html, got, c.want)
			}
			Eval[bool](p, "document.querySelector('#fault').remove() ?? true")
		}
		Eval[bool](p, `document.querySelectorAll("h1, title").forEach(e => e.remove()), document.documentElement.lang = "", true`)
		want := []string{"the page does not say its language", "the page has no title", "the page has not one h1"}
		if got := p.Audit(); !cmp.Equal(got, want) {
			t.Errorf("of a page without a head: %q, want %q", got, want)
		}
	})

	t.Run("view", func(t *testing.T) {
		const looks = `[innerWidth, innerHeight, matchMedia("(prefers-color-scheme: dark)").matches, matchMedia("print").matches,
			matchMedia("(prefers-reduced-motion)").matches, document.body.dataset.ran === "yes"].join()`
		p := b.Open(t, inline(`<script>document.body.dataset.ran = "yes"</script>`), View{})
		for want, v := range map[string]View{
			"1280,800,false,false,false,true": {},
			"400,600,true,false,false,true":   {Width: 400, Height: 600, Dark: true},
			"1280,800,false,true,true,true":   {Print: true, ReducedMotion: true},
		} {
			p.See(v)
			if got := Eval[string](p, looks); got != want {
				t.Errorf("%+v is seen as %s, want %s", v, got, want)
			}
		}
		p = b.Open(t, inline(`<script>document.body.dataset.ran = "yes"</script>`), View{NoScript: true})
		if got, want := Eval[string](p, looks), "1280,800,false,false,false,false"; got != want {
			t.Errorf("without scripts: %s, want %s", got, want)
		}
	})

	t.Run("input", func(t *testing.T) {
		p := b.Open(t, inline(`<button>one</button><label><input type="checkbox">two</label><p style="height: 3000px"></p><svg width="99" height="99"><circle r="9" cx="50" cy="50" tabindex="0"/></svg>
			<script>const log = [];
			for (const kind of ["click", "keydown", "focusin", "mouseover"]) {
				addEventListener(kind, e => log.push(kind + " " + e.target.tagName + " " + (e.key ?? "")))
			}</script>`), View{})
		take := func(what string, want ...string) {
			t.Helper()
			got := Eval[[]string](p, "log.splice(0).map(s => s.trim())")
			if !cmp.Equal(got, want) {
				t.Errorf("%s: %q, want %q", what, got, want)
			}
		}
		p.Press(Tab, Tab, ArrowLeft, "+")
		take("keys", "keydown BODY Tab", "focusin BUTTON", "keydown BUTTON Tab", "focusin INPUT", "keydown INPUT ArrowLeft", "keydown INPUT +")
		p.Press(Tab, Enter)
		take("more keys", "keydown INPUT Tab", "focusin circle", "keydown circle Enter")
		p.Click("input")
		take("click", "mouseover INPUT", "focusin INPUT", "click INPUT")
		p.Hover("circle") // scrolls, and what comes under the mouse by that is told too
		if got := Eval[string](p, "log.at(-1)"); got != "mouseover circle " {
			t.Errorf("hover: %q", got)
		}
	})

	t.Run("screenshot", func(t *testing.T) {
		p := b.Open(t, inline(`<style>h1 { display: none } body { margin: 0; height: 2000px; background: rgb(10, 200, 30) }</style>`), View{Width: 300, Height: 100})
		p.Screenshot("window")
		p.ScreenshotWhole("whole")
		for name, want := range map[string]image.Point{"window": image.Pt(300, 100), "whole": image.Pt(300, 2000)} {
			f, err := os.Open(filepath.Join(p.artefacts, name+".png"))
			if err != nil {
				t.Fatal(err)
			}
			picture, err := png.Decode(f)
			_ = f.Close() // read only
			if err != nil {
				t.Fatal(err)
			}
			last := picture.Bounds().Max
			if got := color.NRGBAModel.Convert(picture.At(last.X-1, last.Y-1)); last != want || got != (color.NRGBA{R: 10, G: 200, B: 30, A: 255}) {
				t.Errorf("%s: %v with %v in the corner, want %v of the page's colour", name, last, got, want)
			}
		}
	})
}

// A page without a fault, with much that could be taken for one.
const good = `<main>
	<p style="color: #767676">grey</p> <p style="background: #000; color: #777"><b style="color: #fff">white</b></p>
	<p style="width: 300px; overflow-x: auto"><span style="display: inline-block; width: 2000px">wide</span></p>
	<span style="position: absolute; width: 1px; height: 1px; overflow: hidden; clip: rect(0 0 0 0)">for screen readers, small</span>
	<b style="position: absolute; clip-path: inset(50%); font-size: 9px">for them alone</b>
	<details><summary>more</summary><p style="font-size: 1px" id="a">hidden</p></details>
	<a href="#a">link</a> <label>field <input></label> <button aria-label="zoom in">+</button> <button disabled style="color: #eee">off</button>
	<svg viewBox="0 0 100 20" width="200" height="40" role="img" aria-label="picture"><rect width="100" height="20"/>
	<path d="M0 10H100" stroke="#444" stroke-width=".2"/><text x="5" y="13" font-size="8" fill="#fff">light</text>
	<g style="display: none"><text x="5" y="13" font-size="1">not shown</text></g></svg></main>`

var faults = []struct{ html, want string }{
	{`<p style="width: 1000px">wide</p>`, "the page is 1008 px wide in a window of 400: p"},
	{`<p style="font-size: 10px">small</p>`, `text of 10.0 px: p "small"`},
	{`<svg viewBox="0 0 200 20" width="100" height="10" role="img" aria-label="x"><text x="9" y="15" font-size="14">tiny</text></svg>`, `text of 7.0 px: text "tiny"`},
	{`<svg viewBox="0 0 100 20" width="200" height="20" preserveAspectRatio="none" role="img" aria-label="x"><text y="15" font-size="14">broad</text></svg>`, `text stretched by 2.00: text "broad"`},
	{`<p style="color: #777">pale</p>`, `contrast 4.48: p "pale"`},
	{`<p style="opacity: .4">faint</p>`, `contrast 2.`},
	{`<svg width="90" height="20" role="img" aria-label="x"><rect width="90" height="20" fill="#333"/><text y="15">dark</text></svg>`, `contrast 1.`},
	{`<p style="color: #fff; background: linear-gradient(90deg, #000, #fff); width: 3em">into white</p>`, `contrast `}, // how far into it, the font decides
	{`<svg width="90" height="20" role="img" aria-label="x"><text y="15">one</text><text y="15" x="9">two</text></svg>`, "text over text: text \"one\" and text \"two\""},
	{`<i id="a"></i>`, `id "a" occurs 2 times`},
	{`<p aria-describedby="a b">x</p>`, `aria-describedby refers to "b", which is not there: p`},
	{`<a href="#b">x</a>`, `a link to #b, which is not there: a "x"`},
	{`<h3>deep</h3>`, "a heading of level 3 below one of level 1"},
	{`<button></button>`, "a button without a name: <button></button>"},
	{`<input>`, "a textbox without a name: <input>"},
	{`<svg width="9" height="9"><circle r="9" tabindex="0" role="button"/></svg>`, "a button without a name: <circle"},
}

// TestLaunch checks that what has been started is gone with the test, and what is said of
// programs that are no browser.
func TestLaunch(t *testing.T) {
	effort.Real(t)
	program := func(script string) string {
		path := filepath.Join(t.TempDir(), "browser")
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script), 0o755); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for name, c := range map[string]struct {
		script string
		limit  time.Duration
		want   string
	}{
		"fails": {"echo no usable sandbox >&2; exit 1", patience, "no usable sandbox"},
		"hangs": {"sleep 1000 & sleep 1000", time.Second, "does not start within 1s"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := launch(t, program(c.script), c.limit)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error is %v, want one with %q", err, c.want)
			}
		})
	}

	path, err := find()
	if err != nil {
		Start(t)
	}
	var before []int32
	var socket string
	t.Run("group", func(t *testing.T) {
		b, err := launch(t, path, patience)
		if err != nil {
			t.Fatal(err)
		}
		b.Open(t, inline("x"), View{})
		before = children(t)
		if len(before) < 3 {
			t.Fatalf("processes %v, want a browser of several", before)
		}
		socket, _ = os.Readlink(filepath.Join(b.profile, "SingletonSocket")) // a headless shell has none
	})
	if _, err := os.Stat(filepath.Dir(socket)); socket != "" && !os.IsNotExist(err) {
		t.Errorf("%s is still there: %v", filepath.Dir(socket), err)
	}
	// A process that was killed closes what it had open a moment before it is gone.
	deadline := time.Now().Add(patience)
	for left := before; len(left) > 0; time.Sleep(10 * time.Millisecond) {
		left = slices.DeleteFunc(left, func(pid int32) bool { return !lives(t, pid) })
		if time.Now().After(deadline) {
			t.Fatalf("processes %v of %v are still there", left, before)
		}
	}
}

// lives reports whether a process is there and no zombie: init has its own time for those.
func lives(t *testing.T, pid int32) bool {
	t.Helper()
	p, err := osproc.Find(t.Context(), int(pid))
	if err != nil {
		return false
	}
	state, err := p.State(t.Context())
	return err == nil && state != osproc.Zombie
}

// children returns the processes that descend from this one.
func children(t *testing.T) []int32 {
	t.Helper()
	all, err := psutil.Processes()
	if err != nil {
		t.Fatal(err)
	}
	ours := map[int32]bool{int32(os.Getpid()): true}
	var found []int32
	for range 5 { // generations
		for _, p := range all {
			if parent, err := p.Ppid(); err == nil && ours[parent] && !ours[p.Pid] {
				ours[p.Pid] = true
				found = append(found, p.Pid)
			}
		}
	}
	return found
}

// until returns at least n complaints, however late they come.
func until(t *testing.T, p *Page, n int) []string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	got := p.Complaints()
	for len(got) < n {
		if ctx.Err() != nil {
			t.Fatalf("%d complaints, want %d: %q", len(got), n, got)
		}
		got = append(got, p.Complaints()...)
	}
	return got
}
