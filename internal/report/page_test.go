package report_test

import (
	"strings"
	"testing"

	"github.com/lockbench/lockbench/internal/report"
)

func TestPage(t *testing.T) {
	page := report.NewPage(report.Style{Width: 30})
	page.Para(" "+page.Cell("ok", 4, report.Good)+"  ", "words that need more than one line \x1b[31m", report.Strong)
	page.Line("a line", " ")
	var b strings.Builder
	if _, err := page.WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	const want = " ok    words that need more\n       than one line \\x1b[31m\na line\n"
	if b.String() != want {
		t.Errorf("got\n%swant\n%s", b.String(), want)
	}
	page = report.NewPage(report.Style{Colour: true})
	if page.Width() != 100 || page.Cell("ok", 4, report.Bad) != "\x1b[1;31mok\x1b[0m  " || page.Cell("x\x1b", 0, report.Plain) != `x\x1b` {
		t.Errorf("%d columns, %q", page.Width(), page.Cell("ok", 4, report.Bad))
	}
}
