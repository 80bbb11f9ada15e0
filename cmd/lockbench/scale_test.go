package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/testkit/crowd"
)

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
		if err := writeCrowd(path, c); err != nil {
			t.Fatal(err)
		}
		return path
	}
	plain := write("plain", crowd.Crowd{Operations: million / 2, Clients: 8})
	unknown := write("unknown", crowd.Crowd{Operations: million / 2, Clients: 8, Unknown: 0.05})
	unix := write("unix", crowd.Crowd{Operations: million / 2, Clients: 8, Start: 1_763_800_000 * time.Second})
	ten := write("ten", crowd.Crowd{Operations: 5 * million, Clients: 8})
	certificate := filepath.Join(dir, "certificate")

	t.Logf("%-48s %8s %8s %8s   %s", "", "CPU", "× read", "peak RSS", "wanted")
	for _, row := range []struct {
		name, file, wanted string
		args               []string
	}{
		{"10^6 events, all properties", plain, "≤ 0.6 s, ≤ 5 ×, ≤ 100 MB", []string{"check", plain}},
		{"the same, 5 % of unknown outcome", unknown, "", []string{"check", unknown}},
		{"the same, times since 1970", unix, "no dearer", []string{"check", unix}},
		{"10^7 events, all properties", ten, "≤ 6 s, ≤ 150 MB", []string{"check", ten}},
		{"10^6 events, exclusion alone", plain, "≤ 0.25 s, ≤ 50 MB", []string{"check", plain, "--property", "exclusion"}},
		{"10^7 events, exclusion alone", ten, "", []string{"check", ten, "--property", "exclusion"}},
		{"10^6 events, with a certificate", plain, "", []string{"check", plain, "--certificate", certificate}},
		{"verify it", plain, "≤ 0.5 s", []string{"verify", plain, certificate}},
	} {
		read, _ := cost(t, decodingProgram, row.file)
		cpu, rss := cost(t, "lockbench", row.args...)
		t.Logf("%-48s %6.2f s %8.1f %5d MB   %s", row.name, cpu.Seconds(), cpu.Seconds()/read.Seconds(), rss/1e6, row.wanted)
	}
	if info, err := os.Stat(certificate); err == nil {
		t.Logf("the certificate of 10^6 events has %.1f MB, wanted ≤ 5", float64(info.Size())/1e6)
	}
}

// cost runs a program, which must not fail, and returns its processor time and the most memory in bytes
// that it had.
func cost(t *testing.T, program string, args ...string) (cpu time.Duration, rss int64) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, args...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s %s: %v\n%s", program, strings.Join(args, " "), err, out)
	}
	if used, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		rss = used.Maxrss * 1024
	}
	return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), rss
}

func writeCrowd(path string, c crowd.Crowd) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	e, err := histories.NewEncoder(f, histories.JSONL)
	if err == nil {
		err = c.Each(func(event histories.Event) error { return e.Encode(&event) })
	}
	if err == nil {
		err = e.Close()
	}
	return errors.Join(err, f.Close())
}
