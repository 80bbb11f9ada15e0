package picture

import (
	"strings"
	"testing"

	"github.com/lockbench/lockbench/internal/report"
)

// TestArrows: what waited for what is drawn between the lanes that it is about, and nothing where a lane is missing.
func TestArrows(t *testing.T) {
	r := recorded(t)["held-delete"]
	if strings.Contains(drawFigure(t, r), `class="gate"`) {
		t.Error("arrows are drawn of a run of which it is not known what waited for what")
	}
	from, to := r.Events[0].Time, r.Events[len(r.Events)-1].Time
	r.Gates = []report.Gate{
		{From: from, To: to, At: "A", Goes: "B", Condition: "after A.2"},
		{From: from, To: to, At: "master", Condition: "wait held A", Rule: "at A.2 <GET>#1 reply: hold"},
		{From: from, To: to + 1, At: "A", Goes: "B", Condition: "later than the picture"},
	}
	text := drawFigure(t, r)
	if n := strings.Count(text, `class="gate"`); n != 2 {
		t.Errorf("%d arrows are drawn, want 2", n)
	}
	for _, want := range []string{"after A.2</title>", "wait held A</title>", "at A.2 &lt;GET&gt;#1 reply: hold</text>", `class="met"`} {
		if !strings.Contains(text, want) {
			t.Errorf("the picture has no %q", want)
		}
	}
}
