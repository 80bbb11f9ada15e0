package serve

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// fill makes a store of n runs, in scenarios of a hundred.
func fill(t testing.TB, n int) string {
	t.Helper()
	dir := t.TempDir()
	for i := range n {
		run := filepath.Join(dir, fmt.Sprintf("s%d", i/100), fmt.Sprintf("r%d", i))
		err := os.MkdirAll(run, 0o755)
		if err == nil {
			err = os.WriteFile(filepath.Join(run, "run.json"), fmt.Appendf(nil, `{"schema":1,"scenario":"s%d","lock":"l","seed":%d,"phase":"checked"}`, i/100, i), 0o644)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(run, "results.json"), []byte(`{"schema":1,"verdict":"pass","results":[],"outcome":"expected"}`), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestIndexReadsOnce: a look at what did not change reads nothing again, and a look a moment
// after another is the same look.
func TestIndexReadsOnce(t *testing.T) {
	now := time.Unix(1e9, 0)
	x := index{store: store{fill(t, 250)}, now: func() time.Time { return now }}
	look := func(want int) map[runID]*entry {
		t.Helper()
		s, err := x.runs()
		if err != nil {
			t.Fatal(err)
		}
		if len(s.runs) != want || len(x.known) != want {
			t.Fatalf("%d runs, %d known, want %d", len(s.runs), len(x.known), want)
		}
		entries := map[runID]*entry{}
		for _, e := range s.runs {
			entries[e.ID] = e
		}
		return entries
	}
	changed := func(before, after map[runID]*entry) (ids []runID) {
		for id, e := range after {
			if before[id] != e {
				ids = append(ids, id)
			}
		}
		return ids
	}
	first := look(250)
	if err := os.RemoveAll(filepath.Join(x.store.dir, "s0", "r7")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(x.store.dir, "s1", "r100", "results.json"), []byte(`{"schema":1,"verdict":"fail","outcome":"unexpected"}`), 0o644); err != nil {
		t.Fatal(err)
	}
	now = now.Add(fresh - 1)
	if ids := changed(first, look(250)); ids != nil {
		t.Errorf("read again within %v: %v", fresh, ids)
	}
	now = now.Add(1)
	second := look(249)
	id := runID{"s1", "r100"}
	if ids := changed(first, second); len(ids) != 1 || ids[0] != id || second[id].Verdict != "fail" {
		t.Errorf("read again: %v, want %v alone", ids, id)
	}
	now = now.Add(-time.Hour) // the clock was set back
	if ids := changed(second, look(249)); ids != nil {
		t.Errorf("read again without a change: %v", ids)
	}
}

// TestPlainNames: only what lockbench may have named is looked at.
func TestPlainNames(t *testing.T) {
	for name, want := range map[string]bool{
		"a": true, "20261121T164851.690Z-1": true, "-a": true, "a..b": true, "A_b": true,
		"": false, ".": false, "..": false, ".a": false, "a/b": false, `a\b`: false, "a\x00": false, "a b": false, "é": false, "a:b": false, "C:": false,
	} {
		if got := plainName(name); got != want {
			t.Errorf("plainName(%q) is %v, want %v", name, got, want)
		}
	}
}

// BenchmarkIndex looks at ten thousand runs that did not change.
func BenchmarkIndex(b *testing.B) {
	now := time.Unix(1e9, 0)
	x := index{store: store{fill(b, 10_000)}, now: func() time.Time { return now }}
	began := time.Now()
	if _, err := x.runs(); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(time.Since(began).Milliseconds()), "ms-first-look")
	for b.Loop() {
		now = now.Add(time.Hour)
		if _, err := x.runs(); err != nil {
			b.Fatal(err)
		}
	}
}
