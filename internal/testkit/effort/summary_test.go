package effort_test

import (
	"errors"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/lockbench/lockbench/internal/testkit/effort"
)

// skipEnv makes TestSkips skip as the tests do that it stands for.
const skipEnv = "LOCKBENCH_TEST_SKIP"

// summarise gives the output of go test to summary.awk, and returns what that printed and whether
// it was content.
func summarise(t *testing.T, output, failOnSkip, allowSkip string) (string, bool) {
	t.Helper()
	awk, err := exec.LookPath("awk")
	if err != nil {
		t.Skip(err)
	}
	cmd := exec.Command(awk, "-v", "race=-race", "-v", "fail_on_skip="+failOnSkip, "-v", "allow_skip="+allowSkip, "-f", "summary.awk")
	cmd.Stdin = strings.NewReader(output)
	said, err := cmd.CombinedOutput()
	if exit, ended := errors.AsType[*exec.ExitError](err); err != nil && (!ended || exit.ExitCode() != 1) {
		t.Fatalf("%v: %s", err, said)
	}
	return string(said), err == nil
}

// tested is the output of a package that passed, with what its tests printed.
func tested(lines ...string) string {
	return strings.Join(lines, "\n") + "\nPASS\nok  \tsome/where\t0.1s\n"
}

func skippedTest(name, reason string) []string {
	return []string{"=== RUN   " + name, "    a_test.go:12: " + reason, "--- SKIP: " + name + " (0.00s)"}
}

// TestSummary: a skip fails where it is to, unless its reason begins with words that excuse it.
func TestSummary(t *testing.T) {
	const passed, failed = "go test exited 0\n", "go test exited 1\n"
	for name, tt := range map[string]struct {
		output, failOnSkip, allowSkip string
		want                          bool
	}{
		"nothing skipped":         {tested("=== RUN   TestA", "--- PASS: TestA (0.00s)") + passed, "1", "", true},
		"nothing asked":           {tested(skippedTest("TestA", "no script(1)")...) + passed, "", "", true},
		"skipped":                 {tested(skippedTest("TestA", "no script(1)")...) + passed, "1", "", false},
		"optional":                {tested(skippedTest("TestA", "optional: no JDK")...) + passed, "1", "", true},
		"optional further on":     {tested(skippedTest("TestA", "not here: optional: no JDK")...) + passed, "1", "", false},
		"allowed":                 {tested(skippedTest("TestA", "no luck: none")...) + passed, "1", "no luck", true},
		"not allowed":             {tested(skippedTest("TestA", "no luck: none")...) + passed, "1", "", false},
		"other words allowed":     {tested(skippedTest("TestA", "no script(1): no luck: none")...) + passed, "1", "no luck", false},
		"one of two":              {tested(append(skippedTest("TestA", "no luck: none"), skippedTest("TestB", "no script(1)")...)...) + passed, "1", "no luck", false},
		"no reason":               {tested("=== RUN   TestA", "--- SKIP: TestA (0.00s)") + passed, "1", "no luck", false},
		"a reason of two lines":   {tested("=== RUN   TestA", "    a_test.go:12: optional: no JDK", "        at all", "--- SKIP: TestA (0.00s)") + passed, "1", "", true},
		"tests failed":            {tested("=== RUN   TestA", "--- PASS: TestA (0.00s)") + failed, "", "", false},
		"cut off":                 {tested("=== RUN   TestA", "--- PASS: TestA (0.00s)"), "", "", false},
		"failed, and all skipped": {tested(skippedTest("TestA", "optional: no JDK")...) + failed, "1", "", false},
	} {
		if said, content := summarise(t, tt.output, tt.failOnSkip, tt.allowSkip); content != tt.want {
			t.Errorf("%s: content is %v, want %v\n%s", name, content, tt.want, said)
		}
	}
}

// TestSkips is what TestSkipsInCI runs in a process of its own.
func TestSkips(t *testing.T) {
	switch os.Getenv(skipEnv) {
	case "Docker":
		effort.NoDocker(t, errors.New("none at unix:///var/run/docker.sock"))
	case "script":
		t.Skip("no script(1)")
	}
}

// TestSkipsInCI: where no Docker engine runs, .ci/run excuses tests that need one, and no others.
// With an engine nothing is excused.
func TestSkipsInCI(t *testing.T) {
	ci, err := os.ReadFile("../../../.ci/run")
	if err != nil {
		t.Fatal(err)
	}
	words := regexp.MustCompile(`ALLOW_SKIP='(.*)'`).FindSubmatch(ci)
	if words == nil {
		t.Fatal("it excuses nothing")
	}
	me, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		skip, require, allow string
		runs, want           bool
	}{
		{"Docker", "", string(words[1]), true, true},
		{"Docker", "", "", true, false},
		{"Docker", "1", "", false, false},
		{"script", "", string(words[1]), true, false},
	} {
		cmd := exec.Command(me, "-test.v", "-test.run", "^TestSkips$")
		cmd.Env = append(os.Environ(), skipEnv+"="+tt.skip, "LOCKBENCH_REQUIRE_DOCKER="+tt.require)
		output, err := cmd.CombinedOutput()
		if (err == nil) != tt.runs {
			t.Errorf("%+v: %v\n%s", tt, err, output)
		}
		said, content := summarise(t, tested(strings.TrimSuffix(string(output), "PASS\n"))+"go test exited 0\n", "1", tt.allow)
		if tt.runs && content != tt.want {
			t.Errorf("%+v: content is %v\n%s", tt, content, said)
		}
	}
}
