package process

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lockbench/lockbench/internal/redis/cluster"
)

func TestParseVersion(t *testing.T) {
	tests := []struct {
		out          string
		product      string
		major, minor int
	}{
		{"Redis server v=7.0.15 sha=00000000:0 malloc=jemalloc-5.3.0 bits=64 build=ae4d7c971a948f0\n", "Redis 7.0.15", 7, 0},
		{"Redis server v=6.2.14 sha=00000000:0 malloc=libc bits=64 build=1\n", "Redis 6.2.14", 6, 2},
		{"Valkey server v=8.1.0 sha=00000000:0 malloc=jemalloc-5.3.0 bits=64 build=1\n", "Valkey 8.1.0", 8, 1},
		{"KeyDB server v=6.3.4 sha=00000000:0\n", "KeyDB 6.3.4", 6, 3},
		{"Redis server v=255.255.255 sha=1\n", "Redis 255.255.255", 255, 255},
		{"", "", 0, 0},
		{"redis-cli 7.0.15\n", "", 0, 0},
		{"dragonfly v1.27.1-abcdef\n" + strings.Repeat("help ", 100), "", 0, 0},
	}
	for _, tt := range tests {
		p, err := parseVersion(tt.out)
		if p.product != tt.product || p.major != tt.major || p.minor != tt.minor || (err == nil) != (tt.product != "") {
			t.Errorf("parseVersion(%q) = %q, %d.%d, %v", tt.out, p.product, p.major, p.minor, err)
		}
		if err != nil && len(err.Error()) > 500 {
			t.Errorf("it says all that the program does: %v", err)
		}
	}
}

// TestSilentProgram: one that never tells its version is given up, with all that it has started.
func TestSilentProgram(t *testing.T) {
	path, alive := filepath.Join(t.TempDir(), "redis-server"), filepath.Join(t.TempDir(), "alive")
	must(t, syscall.Mkfifo(alive, 0o600))
	must(t, os.WriteFile(path, []byte("#!/bin/sh\nexec 3>"+alive+"\necho began >&3\nsleep 1000\nexit\n"), 0o755))
	pipe, err := os.OpenFile(alive, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	must(t, err)
	defer func() { _ = pipe.Close() }()                // it was only read
	for limit := 50 * time.Millisecond; ; limit *= 2 { // on a busy machine the script may not have begun
		out, err := askVersion(t.Context(), path, limit)
		if err == nil || !strings.Contains(err.Error(), "no answer within "+limit.String()) {
			t.Fatalf("got %q, %v", out, err)
		}
		must(t, pipe.SetReadDeadline(time.Now().Add(time.Minute)))
		said, err := io.ReadAll(pipe) // up to the end of the last process that can write to it
		if err != nil {
			t.Fatalf("what the program has started is still there: %v", err)
		}
		if len(said) > 0 {
			return
		}
	}
}

// TestVersionOfAProgramWithChildren: what it leaves running may keep its output open.
func TestVersionOfAProgramWithChildren(t *testing.T) {
	dir := t.TempDir()
	path, child := filepath.Join(dir, "redis-server"), filepath.Join(dir, "child")
	for name, tc := range map[string]struct{ says, want string }{
		"with an answer":    {"echo Redis server v=7.0.15 sha=00000000:0", ""},
		"without an answer": {"echo Redis server", "want a line like"},
	} {
		must(t, os.WriteFile(path, []byte("#!/bin/sh\nsleep 1000 &\necho $! >"+child+"\n"+tc.says+"\n"), 0o755))
		p, err := findProgram(t.Context(), path)
		pid, none := os.ReadFile(child)
		must(t, none)
		number, none := strconv.Atoi(strings.TrimSpace(string(pid)))
		must(t, none)
		must(t, syscall.Kill(number, syscall.SIGKILL))
		if tc.want == "" && (err != nil || !p.atLeast(7, 0)) || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
			t.Errorf("%s: version %d.%d, %v; want %q", name, p.major, p.minor, err, tc.want)
		}
	}
}

func TestAtLeast(t *testing.T) {
	tests := []struct {
		major, minor int
		want         bool
	}{{5, 9, false}, {6, 0, false}, {6, 2, true}, {6, 3, true}, {7, 0, true}}
	for _, tt := range tests {
		if got := (program{major: tt.major, minor: tt.minor}).atLeast(6, 2); got != tt.want {
			t.Errorf("%d.%d is at least 6.2: %v", tt.major, tt.minor, got)
		}
	}
}

func TestMissingServer(t *testing.T) {
	old := filepath.Join(t.TempDir(), "redis-server")
	must(t, os.WriteFile(old, []byte("#!/bin/sh\necho Redis server v=5.0.7 sha=00000000:0\n"), 0o700))
	absent := filepath.Join(t.TempDir(), "redis-server")
	plain := filepath.Join(t.TempDir(), "redis-server")
	must(t, os.WriteFile(plain, nil, 0o600))
	const hint = " Debian/Ubuntu: apt-get install redis-server · macOS: brew install redis"
	tests := []struct {
		name, path, server, want string
	}{
		{"nothing on PATH", t.TempDir(), "", "backend process needs redis-server 6.2 or newer on PATH, found none." + hint},
		{"old on PATH", filepath.Dir(old), "", "backend process needs redis-server 6.2 or newer on PATH, found 5.0." + hint},
		{"nothing at a path", t.TempDir(), absent, "backend process needs redis-server 6.2 or newer at " + absent + ", found none." + hint},
		{"a directory at a path", t.TempDir(), filepath.Dir(absent), "backend process needs redis-server 6.2 or newer at " + filepath.Dir(absent) + ", found a directory." + hint},
		{"a file at a path", t.TempDir(), plain, "backend process needs redis-server 6.2 or newer at " + plain + ", found a file that may not be executed." + hint},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Setenv("PATH", tt.path)
			dir := t.TempDir()
			_, err := New(t.Context(), cluster.Topology{Masters: 1}, Options{Server: tt.server, Dir: dir})
			var missing *MissingError
			if !errors.As(err, &missing) || err.Error() != tt.want {
				t.Errorf("New: %v\nwant %s", err, tt.want)
			}
			if left, _ := os.ReadDir(dir); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

func TestNotARedisServer(t *testing.T) {
	for name, script := range map[string]string{"other output": "echo hello", "failure": "exit 2"} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "redis-server")
			must(t, os.WriteFile(path, []byte("#!/bin/sh\n"+script+"\n"), 0o700))
			_, err := New(t.Context(), cluster.Topology{Masters: 1}, Options{Server: path, Dir: t.TempDir()})
			var missing *MissingError
			if err == nil || errors.As(err, &missing) {
				t.Errorf("New: %v", err)
			}
		})
	}
}
