package survey_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lockbench/lockbench/internal/survey"
	"github.com/lockbench/lockbench/internal/testkit/effort"
	"github.com/lockbench/lockbench/internal/testkit/locktest"
)

// newSurvey is one with a lockbench that was just built.
func newSurvey(t *testing.T, only ...string) survey.Survey {
	t.Helper()
	effort.Real(t)
	locktest.NeedRedis(t)
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	bin := filepath.Join(t.TempDir(), "lockbench")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", bin, "./cmd/lockbench")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return survey.Survey{Lockbench: bin, Root: root, Limit: 2 * time.Minute, Jobs: 2, Only: only, Log: t.Output()}
}

// TestBadLibraries plays libraries that are missing, too old, or misbehave: each has a row that says so, and the last is played.
func TestBadLibraries(t *testing.T) {
	s := newSurvey(t, "P07")
	dir := t.TempDir()
	worker := func(name, script string) survey.Library {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		return survey.Library{Name: name, Language: "sh", Version: []string{"echo", "1.0"}, Worker: path}
	}
	hello := `read line; echo '{"id":1,"type":"ok","protocol":2,"worker":"sh","keys":["%s"]}'`
	missing := worker("missing", "exit 1")
	missing.Version = []string{"sh", "-c", "echo no such module >&2; exit 1"}
	hanging := worker("hangs", "exec sleep 60")
	sound := survey.Library{Name: "sound", Language: "Go", Version: []string{"echo", "2.0"}, Lock: "bsm-redislock"}
	bad := []struct {
		survey.Library
		want string
	}{
		{missing, "no such module"},
		{worker("crashes", "echo it is broken >&2; exit 3"), "it is broken"},
		{worker("crashes-later", hello+"; read line; exit 3"), "exit status 3"},
		{worker("prints", "echo welcome to the library"), "welcome to the library"},
		{worker("prints-later", hello+"; read line; echo connected to redis; read line"), "connected to redis"},
		{worker("too-old", `read line; echo '{"id":1,"type":"error","error":"this needs a newer library"}'; read line`), "newer library"},
	}
	var all []survey.Library
	for _, b := range bad {
		all = append(all, b.Library)
	}
	rows := s.All(t.Context(), append(all, sound), 2)
	for i, b := range bad {
		if !strings.Contains(rows[i].Problem, b.want) {
			t.Errorf("%s: its problem is %q, want %q in it", b.Name, rows[i].Problem, b.want)
		}
	}
	last := rows[len(rows)-1]
	if last.Problem != "" || last.Installed != "2.0" || len(last.First) == 0 {
		t.Errorf("after them: %+v", last)
	}
	page := survey.Results{}.After(rows, survey.Shown{"A01": {"P07"}}, survey.Occasion{}).Markdown()
	if strings.Count(page, "not played: ") != len(bad) || !strings.Contains(page, "| sound (Go) | 2.0 | free |") {
		t.Errorf("the page:\n%s", page)
	}
	s.Limit = time.Second
	if p := s.Play(t.Context(), hanging); !strings.Contains(p.Problem, "not through after 1s") {
		t.Errorf("of a worker that hangs: %q", p.Problem)
	}
}

// TestSubset plays three libraries of what any machine for this project has, each at the pitfall by which it shows something.
func TestSubset(t *testing.T) {
	one := newSurvey(t)
	for name, c := range map[string]struct{ pitfall, code string }{
		"redis-py Lock, extend(ttl, replace_ttl=True)": {"P71", "A13"},
		"recipe on redis-rb":                           {"P26", "A11"},
		"redsync on go-redis":                          {"P25", "A12"},
	} {
		t.Run(c.code, func(t *testing.T) {
			t.Parallel()
			s := one
			s.Only, s.Log = []string{c.pitfall}, t.Output()
			for _, l := range survey.Libraries() {
				if l.Name != name {
					continue
				}
				p := s.Play(t.Context(), l)
				if strings.Contains(p.Problem, "not installed") && os.Getenv("LOCKBENCH_REQUIRE_LANGUAGES") != "1" {
					t.Skipf("%s: %s", name, p.Problem)
				}
				cell := p.Cell(c.code, survey.Shown{c.code: {c.pitfall}})
				if cell.Verdict != survey.Shows || !strings.Contains(cell.Command, "lockbench run") {
					t.Errorf("%s: %+v; %s", c.code, cell, p.Problem)
				}
				if confirmed, ok := p.Confirmed[c.code]; !ok || confirmed.Failed != "" {
					t.Errorf("not confirmed: %+v", confirmed)
				}
			}
		})
	}
}
