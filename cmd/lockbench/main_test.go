package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/lockbench/lockbench/internal/testkit/locktest"
)

func TestMain(m *testing.M) {
	testscript.Main(anywhere{m}, map[string]func(){"lockbench": main, computingProgram: computingMain, hastyProgram: hastyMain, crashingProgram: crashingMain, decodingProgram: decodingMain, crowdProgram: crowdMain})
}

// anywhere runs the tests where nothing is set that lockbench would obey: on a machine whose CI
// wants colours, or has a password for Redis, they are the same.
type anywhere struct{ m *testing.M }

func (a anywhere) Run() int {
	for _, name := range []string{
		"NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "TERM", "LC_ALL", "LC_CTYPE", "LANG", "LOCKBENCH_REDIS_USER", "LOCKBENCH_REDIS_PASSWORD",
	} {
		if err := os.Unsetenv(name); err != nil {
			log.Fatal(err)
		}
	}
	state, err := os.MkdirTemp("", "lockbench-test-state-")
	if err == nil {
		err = errors.Join(os.Setenv("XDG_STATE_HOME", state), os.Setenv(storeVariable, filepath.Join(state, "store")))
	}
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(state) }()
	return a.m.Run()
}

// run is main without the process around it.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	return execute(ctx, newRoot(stdout, stderr), args, stdout, stderr)
}

// quickExit keeps a program built with -race from sleeping for a second at its end.
const quickExit = "atexit_sleep_ms=10"

// TestScripts runs the scripts that need nothing installed.
func TestScripts(t *testing.T) {
	testscript.Run(t, params(t, filepath.Join("testdata", "script")))
}

// TestProcessScripts runs the scripts that need redis-server.
func TestProcessScripts(t *testing.T) {
	locktest.NeedRedis(t)
	testscript.Run(t, params(t, filepath.Join("testdata", "process")))
}

func params(t *testing.T, dir string) testscript.Params {
	bin, err := exec.LookPath("lockbench")
	if err != nil {
		t.Fatal(err)
	}
	return testscript.Params{
		Dir:                dir,
		RequireUniqueNames: true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("XDG_STATE_HOME", filepath.Join(env.WorkDir, ".state"))
			env.Setenv("LOCKBENCH", bin) // for scripts that change PATH
			env.Setenv("COLUMNS", "120") // so that a script looks for a sentence in one line
			env.Setenv("HOSTILE", "\x1b[2J<script>")
			if os.Getenv("GORACE") == "" {
				env.Setenv("GORACE", quickExit)
			}
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exitcode":  exitCode,
			"jsoncount": jsonCount,
			"mended":    mended,
			"untimed":   untimed,
			"jsonfield": jsonField,
			"plain":     plain,
			"matches":   matches,
			"noservers": noServers,
			"pack":      pack,
		},
	}
}

func want(ts *testscript.TestScript, neg bool, args []string, n int, form string) {
	if neg || len(args) < n {
		ts.Fatalf("usage: %s", form)
	}
}

// exitCode runs a command that must exit with exactly that code.
func exitCode(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, args, 2, "exitcode code command [args...]")
	wanted, err := strconv.Atoi(args[0])
	ts.Check(err)
	code := codeOf(ts, args[1:])
	// On real servers nothing is known of a run on a machine that is too busy, also if it is played a few times. Of one in virtual time
	// the same is known at each time.
	for again := 0; again < 3 && code == exitUnknown && wanted != exitUnknown; again++ {
		code = codeOf(ts, args[1:])
	}
	if code != wanted {
		ts.Fatalf("exit code is %d, want %d", code, wanted)
	}
}

func codeOf(ts *testscript.TestScript, command []string) int {
	err := ts.Exec(command[0], command[1:]...)
	if err == nil {
		return 0
	}
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		ts.Fatalf("%v", err)
	}
	return exit.ExitCode()
}

// jsonCount checks that a file holds so many JSON values and nothing else.
func jsonCount(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, args, 2, "jsoncount file count")
	if got := fmt.Sprint(len(jsonValues(ts, args[0]))); got != args[1] {
		ts.Fatalf("%s holds %s JSON values, want %s", args[0], got, args[1])
	}
}

func jsonValues(ts *testscript.TestScript, file string) []any {
	d := json.NewDecoder(strings.NewReader(ts.ReadFile(file)))
	d.UseNumber()
	var values []any
	for {
		var v any
		err := d.Decode(&v)
		if errors.Is(err, io.EOF) {
			return values
		}
		ts.Check(err)
		values = append(values, v)
	}
}

// jsonField checks a field, such as report.results.0.verdict, of the first JSON value
// in a file. The length of a list is its field "len".
func jsonField(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, args, 3, "jsonfield file path value")
	values := jsonValues(ts, args[0])
	if len(values) == 0 {
		ts.Fatalf("%s holds no JSON", args[0])
	}
	v := values[0]
	for name := range strings.SplitSeq(args[1], ".") {
		switch outer := v.(type) {
		case map[string]any:
			inner, ok := outer[name]
			if !ok {
				ts.Fatalf("%s: there is no field %q", args[1], name)
			}
			v = inner
		case []any:
			if name == "len" {
				v = len(outer)
				continue
			}
			i, err := strconv.Atoi(name)
			if err != nil || i < 0 || i >= len(outer) {
				ts.Fatalf("%s: a list of %d has no element %q", args[1], len(outer), name)
			}
			v = outer[i]
		default:
			ts.Fatalf("%s: nothing is below %v", args[1], outer)
		}
	}
	if got := fmt.Sprint(v); got != args[2] {
		ts.Fatalf("%s is %q, want %q", args[1], got, args[2])
	}
}

// mended writes a baseline with one more finding, which nobody finds any more.
func mended(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, args, 2, "mended baseline copy")
	first, rest, ok := strings.Cut(ts.ReadFile(args[0]), "[\n")
	if !ok {
		ts.Fatalf("%s has no findings", args[0])
	}
	const gone = `    {"id":"P07","scenario":"delete-without-check","lock":"setnx-px-get-del","guard":"none","property":"ownership","got":"fail"},`
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(first+"[\n"+gone+"\n"+rest), 0o644))
}

// untimed writes a copy of a file without how long things took.
func untimed(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, args, 2, "untimed file copy")
	text := regexp.MustCompile(`"took": \d+`).ReplaceAllString(ts.ReadFile(args[0]), `"took": 0`)
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(text), 0o644))
}

// plain checks that files hold text without control bytes.
func plain(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, args, 1, "plain file...")
	for _, file := range args {
		text := ts.ReadFile(file)
		at := strings.IndexFunc(text, func(r rune) bool { return r < ' ' && r != '\n' || r == 0x7f })
		if at >= 0 {
			ts.Fatalf("%s has control byte %#x at %d: %q", file, text[at], at, text[max(at-20, 0):min(at+20, len(text))])
		}
	}
}

// matches counts the files of a pattern.
func matches(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, args, 2, "matches count pattern")
	found, err := filepath.Glob(ts.MkAbs(args[1]))
	ts.Check(err)
	if fmt.Sprint(len(found)) != args[0] {
		ts.Fatalf("%d files match %s, want %s: %v", len(found), args[1], args[0], found)
	}
}

// TestUnwritableOutput checks that a result that nobody can read is not a success.
func TestUnwritableOutput(t *testing.T) {
	for _, args := range [][]string{
		{"list"},
		{"list", "--format", "json"},
		{"version"},
		{"run", "--scenario", "failover-async-repl", "--out", "none"},
		{"run", "--scenario", "failover-async-repl", "--out", "none", "--format", "json"},
	} {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			var stderr bytes.Buffer
			if code := run(t.Context(), args, full{}, &stderr); code != exitHarness {
				t.Errorf("exit code is %d, want %d", code, exitHarness)
			}
			if got := stderr.String(); got != "lockbench: the disk is full\n" {
				t.Errorf("stderr is %q", got)
			}
		})
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("the disk is full") }
