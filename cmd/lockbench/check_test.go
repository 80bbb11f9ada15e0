package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/lockbench/lockbench/internal/testkit/effort"
)

// TestCheckEtcd asks check about the logs of etcd that porcupine is tested with, and compares
// with the verdicts in porcupine's own test.
func TestCheckEtcd(t *testing.T) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/anishathalye/porcupine").Output()
	if err != nil {
		t.Fatal(err)
	}
	dir := strings.TrimSpace(string(out))
	source, err := os.ReadFile(filepath.Join(dir, "porcupine_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	known := regexp.MustCompile(`checkJepsen\(t, (\d+), (true|false)\)`).FindAllStringSubmatch(string(source), -1)
	if len(known) != 102 {
		t.Fatalf("%d verdicts, want 102", len(known))
	}
	count := map[int]int{}
	for i, m := range known {
		if !effort.Nightly() && i%10 != 0 {
			continue // package checker judges all of them
		}
		log := filepath.Join(dir, "test_data", "jepsen", "etcd_"+strings.Repeat("0", 3-len(m[1]))+m[1]+".log")
		want := exitUnexpected
		if m[2] == "true" {
			want = exitExpected
		}
		var stdout, stderr bytes.Buffer
		code := run(t.Context(), []string{"check", log, "--model", "register"}, &stdout, &stderr)
		if code != want {
			t.Errorf("%s: exit code %d, want %d\n%s%s", filepath.Base(log), code, want, stdout.String(), stderr.String())
		}
		count[code]++
	}
	if count[exitExpected] == 0 || count[exitUnexpected] == 0 {
		t.Errorf("all came out alike: %v", count)
	}
}

// TestConvertToFullDisk checks that a history that could not be written is not one.
func TestConvertToFullDisk(t *testing.T) {
	history := filepath.Join(t.TempDir(), "h.edn")
	if err := os.WriteFile(history, []byte("{:type :ok :f :read :process 1}"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"convert", history, "--to", "jsonl"}, {"check", history, "--model", "register"}, {"check", history, "--model", "register", "--format", "json"}} {
		var stderr bytes.Buffer
		if code := run(t.Context(), args, full{}, &stderr); code != exitHarness || stderr.String() != "lockbench: the disk is full\n" {
			t.Errorf("%v: exit code %d, want %d; %s", args, code, exitHarness, stderr.String())
		}
	}
}
