package html_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/lockbench/lockbench/internal/language"
	"github.com/lockbench/lockbench/internal/report/html"
)

// hidden is what a page does not say in its own language: what is marked as English, is to be typed, or is not read at all.
var hidden = regexp.MustCompile(`(?s)<(style|script|iframe|code|title|option)\b[^>]*>.*?</(?:style|script|iframe|code|title|option)>` +
	`|<([a-z]+)[^>]* lang="en"[^>]*>[^<]*</[a-z]+>|<ul class="wire">.*?</ul>`)

// prose is English that is no name: four words in a row.
var prose = regexp.MustCompile(`[A-Za-z]+(?: [a-z]+){3,}`)

// TestChinese: a page in Chinese says so, and what is not Chinese there is marked.
func TestChinese(t *testing.T) {
	zh, err := language.Find("zh")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"failover", "fenced", "alone", "failover-redlock"} {
		opt := options()
		opt.Language = zh
		r := load(t, name)
		r.Why, r.Note = "Nobody has translated <this> yet.", "Nor this."
		page := write(t, r, opt)
		for _, want := range []string{
			`<html lang="zh-CN">`, "<h2 id=\"properties\">性质</h2>", "互斥性", "客户端认为自己持有锁", "加锁成功的次数", "谁加的锁由谁解",
			"读共享资源", `"已复制"`, `content: "要求："`,
		} {
			if !strings.Contains(page, want) {
				t.Errorf("the page of %s has no %q", name, want)
			}
		}
		text := regexp.MustCompile(`<[^>]*>`).ReplaceAllString(hidden.ReplaceAllString(page, "|"), "|")
		if found := prose.FindAllString(text, 5); found != nil {
			t.Errorf("the page of %s has English that is not marked: %q", name, found)
		}
		if strings.Contains(page, "%!") {
			t.Errorf("the page of %s has a format that does not fit", name)
		}
	}
	r := load(t, "failover")
	r.Why = "Nobody has translated <this> yet."
	if page := write(t, r, html.Options{Language: zh}); !strings.Contains(page, `<span lang="en">Nobody has translated &lt;this&gt; yet.</span>`) {
		t.Error("what is not translated is not marked as English")
	}
}
