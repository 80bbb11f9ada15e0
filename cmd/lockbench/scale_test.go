package main

import (
	"errors"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/testkit/crowd"
)

// crowdProgram writes a history of so many calls.
const crowdProgram = "lockbench-crowd"

func crowdMain() {
	n, err := strconv.Atoi(os.Args[1])
	if err == nil {
		err = writeCrowd(os.Stdout, crowd.Crowd{Operations: n, Clients: 8})
	}
	if err != nil {
		panic(err)
	}
}

// decodingProgram reads a history and does nothing with it.
const decodingProgram = "lockbench-decode"

func decodingMain() {
	if _, err := histories.EachEvent(os.Args[1], false, nil, func(int, histories.Event) error { return nil }); err != nil {
		panic(err)
	}
}

// TestScale measures what it costs to judge large histories: the processor time of the whole program,
// beside that of reading the same file in the same run, and its memory. It asserts no time.
func TestScale(t *testing.T) {
	if os.Getenv("LOCKBENCH_SCALE") == "" {
		t.Skip("optional: what large histories cost is measured by make bench-check")
	}
	dir := t.TempDir()
	const million = 1_000_000
	write := func(name string, c crowd.Crowd) string {
		path := filepath.Join(dir, name+".jsonl")
		f, err := os.Create(path)
		if err == nil {
			err = errors.Join(writeCrowd(f, c), f.Close())
		}
		if err != nil {
			t.Fatal(err)
		}
		return path
	}
	plain := write("plain", crowd.Crowd{Operations: million / 2, Clients: 8})
	unknown := write("unknown", crowd.Crowd{Operations: million / 2, Clients: 8, Unknown: 0.05})
	unix := write("unix", crowd.Crowd{Operations: million / 2, Clients: 8, Start: 1_763_800_000 * time.Second})
	ten := write("ten", crowd.Crowd{Operations: 5 * million, Clients: 8})
	bad := write("bad", crowd.Crowd{Operations: 5 * million, Clients: 8, Bad: true})
	certificate := filepath.Join(dir, "certificate")

	t.Logf("%-52s %8s %8s %8s   %s", "", "CPU", "× read", "peak RSS", "wanted")
	for _, row := range []struct {
		name, file, wanted string
		args               []string
	}{
		{"10^6 events, all properties", plain, "≤ 0.6 s, ≤ 5 ×, ≤ 100 MB", []string{"check", plain}},
		{"the same, 5 % of unknown outcome", unknown, "", []string{"check", unknown}},
		{"the same, times since 1970", unix, "no dearer", []string{"check", unix}},
		{"10^7 events, all properties", ten, "≤ 6 s, ≤ 150 MB", []string{"check", ten}},
		{"10^7 events, one bad window, found, shrunk, drawn", bad, "≤ 1 s more", []string{"check", bad, "--html", filepath.Join(dir, "bad.html")}},
		{"10^6 events, exclusion alone", plain, "≤ 0.25 s, ≤ 50 MB", []string{"check", plain, "--property", "exclusion"}},
		{"10^7 events, exclusion alone", ten, "", []string{"check", ten, "--property", "exclusion"}},
		{"10^6 events, with a certificate", plain, "", []string{"check", plain, "--certificate", certificate}},
		{"verify it", plain, "≤ 0.5 s", []string{"verify", plain, certificate}},
	} {
		read, _ := cost(t, nil, decodingProgram, row.file)
		cpu, rss := cost(t, nil, "lockbench", row.args...)
		t.Logf("%-52s %6.2f s %8.1f %5d MB   %s", row.name, cpu.Seconds(), cpu.Seconds()/read.Seconds(), rss/1e6, row.wanted)
	}
	for _, n := range []int{10 * million, 100 * million} {
		read, _ := cost(t, []string{crowdProgram, strconv.Itoa(n / 2)}, decodingProgram, "/dev/stdin")
		cpu, rss := cost(t, []string{crowdProgram, strconv.Itoa(n / 2)}, "lockbench", "check", "/dev/stdin")
		t.Logf("10^%.0f events from a pipe, all properties              %6.2f s %8.1f %5d MB   linear, ≤ 300 MB", math.Log10(float64(n)), cpu.Seconds(), cpu.Seconds()/read.Seconds(), rss/1e6)
	}
	if info, err := os.Stat(certificate); err == nil {
		t.Logf("the certificate of 10^6 events has %.1f MB, wanted ≤ 5", float64(info.Size())/1e6)
	}

	t.Logf("%-52s %8s %8s %8s   wanted", "", "20k", "80k", "exponent")
	for _, shape := range crowd.Shapes() {
		small, large := judging(t, shape.Events(20_000)), judging(t, shape.Events(80_000))
		t.Logf("%-52s %6.2f s %6.2f s %8.2f   ≤ 1.1", shape.Name, small.Seconds(), large.Seconds(), math.Log(large.Seconds()/small.Seconds())/math.Log(4))
	}
}

// judging is the processor time that judging a history takes: the least of five times.
func judging(t *testing.T, events []histories.Event) time.Duration {
	t.Helper()
	used := func() time.Duration {
		var u syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
			t.Fatal(err)
		}
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	least := time.Duration(math.MaxInt64)
	for range 5 {
		before := used()
		checker.Check(t.Context(), events, checker.Options{})
		least = min(least, used()-before)
	}
	return least
}

// cost runs a program, which may find a violation, on what another one writes if there is one. It returns its processor time and the most
// memory in bytes that it had.
func cost(t *testing.T, input []string, program string, args ...string) (cpu time.Duration, rss int64) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, args...)
	if input != nil {
		writer := exec.CommandContext(t.Context(), input[0], input[1:]...)
		text, err := writer.StdoutPipe()
		if err == nil {
			err = writer.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		cmd.Stdin = text
		defer func() {
			if err := writer.Wait(); err != nil {
				t.Errorf("%v: %v", input, err)
			}
		}()
	}
	if out, err := cmd.CombinedOutput(); err != nil && cmd.ProcessState.ExitCode() != exitUnexpected {
		t.Fatalf("%s %s: %v\n%s", program, strings.Join(args, " "), err, out)
	}
	if used, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		rss = used.Maxrss * 1024
	}
	return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), rss
}

func writeCrowd(to io.Writer, c crowd.Crowd) error {
	e, err := histories.NewEncoder(to, histories.JSONL)
	if err == nil {
		err = c.Each(func(event histories.Event) error { return e.Encode(&event) })
	}
	if err == nil {
		err = e.Close()
	}
	return err
}
