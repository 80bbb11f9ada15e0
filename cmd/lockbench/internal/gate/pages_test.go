package gate_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/joshdk/go-junit"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/cmd/lockbench/internal/gate"
	"github.com/lockbench/lockbench/internal/harness"
)

var update = flag.Bool("update", false, "write the golden files instead of comparing with them")

// pages are all that can be drawn of results, by the ending of the file.
func pages(t testing.TB, res gate.Results, known gate.Baseline) map[string]string {
	t.Helper()
	var xml, md bytes.Buffer
	data, err := res.Marshal()
	if err := errors.Join(err, res.JUnit(&xml, known), res.Markdown(&md, known)); err != nil {
		t.Fatal(err)
	}
	return map[string]string{"json": string(data), "xml": xml.String(), "md": md.String(), "txt": text(t, res)}
}

// mixed is a gate in which something of everything happens.
func mixed(t testing.TB) gate.Results {
	return play(t, gate.Options{
		Only: []string{"P02", "P07", "P08", "P45"}, Seed: 1, Runs: 2, Version: "v1",
		Command: func(cfg harness.Config, _ string, _ time.Duration) string {
			return "lockbench run --scenario " + cfg.Name + " --lock " + cfg.Lock.Name
		},
		Run: pretend(func(cfg harness.Config, v map[checker.Property]checker.Verdict) error {
			switch {
			case cfg.Pitfall == "P07" && cfg.Lock.Name == "setnx-px-lua" && cfg.Seed == 2:
				v[checker.Ownership] = checker.Fail
			case cfg.Pitfall == "P08" && cfg.Seed == 1:
				v[checker.DeadlockFreedom] = checker.Unknown
			case cfg.Pitfall == "P45" && cfg.Lock.Name == "rw-hash":
				return errors.New("step 3, the reader comes: it does not\nand then more broke")
			}
			return nil
		}),
	})
}

func TestPagesGolden(t *testing.T) {
	for name, res := range map[string]gate.Results{"mixed": mixed(t), "good": play(t, gate.Options{Only: []string{"P07"}, Version: "v1", Run: pretend(nil)})} {
		for ending, got := range pages(t, res, gate.Baseline{}) {
			file := filepath.Join("testdata", "golden", name+"."+ending)
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				continue
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatalf("%v; go test ./gate -update writes it", err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("not as in %s; look at the difference, and if it is right: go test ./gate -update\n%s", file, diff)
			}
		}
	}
}

// TestPagesOfHostileStrings puts strings that mean something to XML and Markdown wherever one may
// come from a worker or from its lock.
func TestPagesOfHostileStrings(t *testing.T) {
	innocent := mixed(t)
	cases := func(text string) int {
		suites, err := junit.Ingest([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, s := range suites {
			n += len(s.Tests)
		}
		return n
	}
	want := cases(pages(t, innocent, gate.Baseline{})["xml"])
	for i, s := range []string{
		"]]></failure></testcase></testsuite>", "a|b\\|c\\\\|d`e``f```g\n| x |\n|---|\n</details>\n```\n", "\x00\x1b[2J\x07\x0b\ufffe\u202e", "\xff\xc3\x28\xed\xa0\x80",
		strings.Repeat("k|`\xff", 1<<15), " ",
	} {
		res := mixed(t)
		for j := range res.Rows {
			row := &res.Rows[j]
			row.Remedy, row.Command = s, s
			if row.Reason != "" {
				row.Reason = s
			}
			for k := range row.Judged {
				if !row.Judged[k].Met {
					row.Judged[k].Story = s
				}
			}
		}
		for j := range res.Gaps {
			res.Gaps[j].Reason = s
		}
		all := pages(t, res, gate.Baseline{})
		for ending, text := range all {
			if !utf8.ValidString(text) {
				t.Errorf("%d: %s is not UTF-8", i, ending)
			}
			if ending != "json" && strings.ContainsFunc(text, func(r rune) bool { return r != '\n' && !unicode.IsPrint(r) }) {
				t.Errorf("%d: %s has characters that do not print", i, ending)
			}
		}
		if !json.Valid([]byte(all["json"])) {
			t.Errorf("%d: no JSON", i)
		}
		d := xml.NewDecoder(strings.NewReader(all["xml"]))
		for {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%d: no XML: %v", i, err)
			}
		}
		if got := cases(all["xml"]); got != want {
			t.Errorf("%d: %d cases, want %d", i, got, want)
		}
		rows := 0
		for l := range strings.Lines(all["md"]) {
			if rest, ok := strings.CutPrefix(l, "| "); ok {
				rows++
				if n := strings.Count(strings.ReplaceAll(strings.ReplaceAll(rest, `\\`, ""), `\|`, ""), "|"); n != 4 {
					t.Errorf("%d: %d columns, want 4: %.300s", i, n, l)
				}
			}
		}
		if rows < 5 || strings.Count(all["md"], "\n</details>\n") != 1 {
			t.Errorf("%d: %d rows of tables, or not one end of the list", i, rows)
		}
		if len(s) > 1<<16 && (len(all["xml"]) > 1<<20 || len(all["md"]) > 1<<20) {
			t.Errorf("%d: %d bytes of XML, %d of Markdown", i, len(all["xml"]), len(all["md"]))
		}
	}
}
