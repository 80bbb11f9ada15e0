package gate_test

import (
	"bytes"
	"context"
	"testing"

	"github.com/lockbench/lockbench/cmd/lockbench/internal/gate"
	"github.com/lockbench/lockbench/internal/report"
)

// play plans and plays.
func play(t testing.TB, opt gate.Options) gate.Results {
	t.Helper()
	plan, err := gate.NewPlan(opt)
	if err != nil {
		t.Fatal(err)
	}
	res, err := plan.Play(context.Background(), 2, gate.Watch{})
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func text(t testing.TB, res gate.Results) string {
	t.Helper()
	var b bytes.Buffer
	if err := res.Text(&b, gate.Baseline{}, report.Style{Width: 120}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
