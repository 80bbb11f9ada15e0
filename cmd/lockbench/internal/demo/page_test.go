package demo

import (
	"bytes"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/lockbench/lockbench/internal/testkit/browsertest"
)

func pageOf(t *testing.T, l Lesson, lang Language) string {
	t.Helper()
	var b bytes.Buffer
	if err := Page(&b, l, lang); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestPageStandsAlone checks that the page of every demo wants nothing from anywhere, says what the telling on the
// terminal says, and leaves nothing open.
func TestPageStandsAlone(t *testing.T) {
	outside := regexp.MustCompile(`(?i)(?:src|href|action)=|url\(|@import|https?:`)
	tags := regexp.MustCompile(`(?s)<[^>]*>`)
	for i, d := range All() {
		for _, lang := range Languages()[i%2 : i%2+1] { // one is enough of each: TestLanguagesHaveTheSameTexts
			text := pageOf(t, lesson(t, d), lang)
			if m := outside.FindString(text); m != "" {
				t.Errorf("%s in %s: the page wants %q", d.Name, lang.Name, m)
			}
			if !strings.Contains(text, "default-src &#39;none&#39;") {
				t.Errorf("%s in %s: the page has no policy", d.Name, lang.Name)
			}
			body := strings.NewReplacer("&#39;", "'", "&lt;", "<", "&gt;", ">", "&amp;", "&", "&#34;", `"`, "&#43;", "+").Replace(tags.ReplaceAllString(text, ""))
			for _, s := range slides(lesson(t, d), lang) {
				for _, b := range s.blocks {
					if !strings.Contains(body, b.text) {
						t.Errorf("%s in %s: the page does not say %q", d.Name, lang.Name, b.text)
					}
				}
			}
		}
	}
	if err := Page(full{}, lesson(t, find(t, "get-del")), Languages()[0]); err == nil {
		t.Error("what nobody can read was written")
	}
}

// TestPageInABrowser steps through a lesson as a reader does: with the arrow keys, on a screen and on a telephone,
// answers the questions, and looks at the page without scripts and on paper.
func TestPageInABrowser(t *testing.T) {
	t.Parallel()
	browser := browsertest.Start(t)
	for i, name := range []string{"get-del", "renewal"} {
		lang := Languages()[i]
		l := lesson(t, find(t, name))
		all := slides(l, lang)
		file := filepath.Join(t.TempDir(), "lesson.html")
		if err := os.WriteFile(file, []byte(pageOf(t, l, lang)), 0o644); err != nil {
			t.Fatal(err)
		}
		address := (&url.URL{Scheme: "file", Path: file}).String()
		p := browser.Open(t, address, browsertest.View{})
		at := func() int { return browsertest.Eval[int](p, "Number(location.hash.slice(2))") }
		shown := func() int {
			return browsertest.Eval[int](p, `[...document.querySelectorAll(".slide")].filter((s) => s.offsetHeight > 0).length`)
		}
		look := func(what string) {
			t.Helper()
			if i > 0 && what != "answer" {
				return // it is the same in every language
			}
			for _, v := range []browsertest.View{{Width: 1440, Height: 900}, {Width: 390, Height: 844, Dark: true}} {
				p.See(v)
				p.Screenshot(fmt.Sprint(name, "-", what, "-", v.Width))
				for _, fault := range p.Audit() {
					t.Errorf("%s, %s at %d: %s", name, what, v.Width, fault)
				}
			}
			p.See(browsertest.View{})
		}
		right := 0
		for n, s := range all {
			if at() != n || shown() != 1 {
				t.Fatalf("%s: slide %d is shown, and %d at once; want slide %d alone", name, at(), shown(), n)
			}
			switch {
			case s.tells != nil && !s.tells.again:
				look("answer")
				if got := browsertest.Eval[string](p, `document.querySelector(".here .answer").innerText`); got != s.tells.told(lang, s.tells.right) {
					t.Errorf("%s: the page answers %q", name, got)
				}
			case s.tells != nil:
				wrong := (s.tells.right + 1) % 3
				if got := browsertest.Eval[string](p, `document.querySelector(".here .answer").innerText`); got != s.tells.told(lang, wrong) {
					t.Errorf("%s: the page answers %q", name, got)
				}
			case s.part == beside && len(s.blocks) > 1 && s.blocks[0].kind == rule:
				look("beside")
			}
			switch q := s.asks; {
			case q == nil:
				p.Press(browsertest.ArrowRight)
			case !q.again:
				look("question")
				right++
				p.Press(letter(q.right))
			default:
				p.Click(fmt.Sprintf(".here li:nth-child(%d) .choice", (q.right+1)%3+1))
			}
		}
		if got, want := browsertest.Eval[string](p, `document.querySelector(".score").innerText`), lang.text("score", "right", right, "asked", 2); got != want {
			t.Errorf("%s: the score is %q, want %q", name, got, want)
		}
		p.Press(browsertest.Home)
		p.Press(browsertest.ArrowRight, browsertest.ArrowRight, browsertest.ArrowLeft)
		if at() != 1 {
			t.Errorf("%s: back leads to slide %d, want 1", name, at())
		}
		p.See(browsertest.View{Print: true})
		if shown() != len(all) {
			t.Errorf("%s: %d of %d slides are printed", name, shown(), len(all))
		}
		p.ScreenshotWhole(name + "-paper")
		bare := browser.Open(t, address, browsertest.View{NoScript: true, Width: 390, Height: 844})
		if got := browsertest.Eval[int](bare, `[...document.querySelectorAll(".slide")].filter((s) => s.offsetHeight > 0).length`); got != len(all) {
			t.Errorf("%s: %d of %d slides are shown without scripts", name, got, len(all))
		}
	}
}
