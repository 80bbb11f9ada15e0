package locks_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/lockbench/lockbench/locks"
)

var update = flag.Bool("update", false, "rewrite testdata/protocol from what the locks send")

// TestProtocol pins the commands that every lock sends, set-up of connections
// included. One line is one command; strings are quoted where they need it.
func TestProtocol(t *testing.T) {
	for _, spec := range locks.All() {
		t.Run(spec.Name, func(t *testing.T) {
			var got string
			synctest.Test(t, func(t *testing.T) { got = protocol(t, spec) })
			file := filepath.Join("testdata", "protocol", spec.Name+".golden")
			if *update {
				if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatalf("%v; to make it: go test ./locks -run TestProtocol -update", err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("commands differ from %s (-want +got):\n%s", file, diff)
			}
		})
	}
}

func protocol(t *testing.T, spec locks.Spec) string {
	const key = "orders/42"
	recorders := make([]*recorder, spec.Masters)
	servers := make([]*miniredis.Miniredis, spec.Masters)
	for i := range servers {
		servers[i] = miniredis.NewMiniRedis()
		servers[i].ClockTTL(true)
		t.Cleanup(servers[i].Close)
		recorders[i] = &recorder{}
	}
	env := func(token byte) locks.Env {
		env := locks.Env{Clock: clock{}, Rand: repeat(token)}
		for i, m := range servers {
			client := locks.NewClient(func(context.Context) (net.Conn, error) {
				conn, err := m.Dial()
				return recorders[i].record(conn), err
			})
			t.Cleanup(func() { _ = client.Close() })
			env.Nodes = append(env.Nodes, client)
		}
		return env
	}
	a, b := spec.New(env(0xaa)), spec.New(env(0xbb))
	var out strings.Builder
	section := func(title string, want error, call func() error) {
		t.Helper()
		if err := call(); !errors.Is(err, want) {
			t.Fatalf("%s: %v, want %v", title, err, want)
		}
		fmt.Fprintf(&out, "# %s\n", title)
		for i, r := range recorders {
			for _, command := range r.take(t) {
				if spec.Masters > 1 {
					fmt.Fprintf(&out, "node %d: ", i+1)
				}
				fmt.Fprintln(&out, command)
			}
		}
		fmt.Fprintln(&out)
	}

	ctx := t.Context()
	var held, late locks.Lease
	acquire := func(l locks.Locker, ttl time.Duration, into *locks.Lease) func() error {
		return func() (err error) { *into, err = l.Acquire(ctx, key, ttl); return err }
	}
	section("acquire for 3s, new connection", nil, acquire(a, 3*time.Second, &held))
	var none locks.Lease
	section("refused acquire, new connection", locks.ErrTaken, acquire(b, 3*time.Second, &none))
	if spec.HasToken {
		section("verify", nil, func() error { return held.(locks.Verifier).Verify(ctx) })
	}
	section("first release", nil, func() error { return held.Release(ctx) })
	section("acquire for 250ms", nil, acquire(a, 250*time.Millisecond, &late))
	time.Sleep(250 * time.Millisecond)
	section("release after expiry", locks.ErrNotHeld, func() error { return late.Release(ctx) })
	section("acquire for 3s", nil, acquire(b, 3*time.Second, &held))
	section("release", nil, func() error { return held.Release(ctx) })
	return strings.TrimSuffix(out.String(), "\n")
}

// repeat is a source of one byte value, so that tokens can be told apart.
type repeat byte

func (r repeat) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = byte(r)
	}
	return len(b), nil
}

// recorder keeps what the clients of one server write.
type recorder struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (r *recorder) record(conn net.Conn) net.Conn { return recordedConn{conn, r} }

type recordedConn struct {
	net.Conn
	recorder *recorder
}

func (c recordedConn) Write(b []byte) (int, error) {
	c.recorder.mu.Lock()
	c.recorder.buf.Write(b)
	c.recorder.mu.Unlock()
	return c.Conn.Write(b)
}

// take returns the commands since the last take.
func (r *recorder) take(t *testing.T) []string {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	var commands []string
	for r.buf.Len() > 0 {
		args, err := readCommand(&r.buf)
		if err != nil {
			t.Fatalf("a client wrote something that is no command: %v", err)
		}
		for i, arg := range args {
			args[i] = printable(arg)
		}
		args[0] = strings.ToUpper(args[0])
		commands = append(commands, strings.Join(args, " "))
	}
	return commands
}

func printable(arg string) string {
	switch arg {
	case strings.Repeat("aa", 20):
		return "<token of A>"
	case strings.Repeat("bb", 20):
		return "<token of B>"
	}
	if arg == "" || strings.ContainsAny(arg, " \n\"") {
		return strconv.Quote(arg)
	}
	return arg
}

// readCommand reads an array of bulk strings.
func readCommand(r *bytes.Buffer) ([]string, error) {
	n, err := readHeader(r, '*')
	if err != nil {
		return nil, err
	}
	args := make([]string, n)
	for i := range args {
		size, err := readHeader(r, '$')
		if err != nil {
			return nil, err
		}
		data := make([]byte, size+len("\r\n"))
		if _, err := io.ReadFull(r, data); err != nil {
			return nil, err
		}
		args[i] = string(data[:size])
	}
	return args, nil
}

func readHeader(r *bytes.Buffer, kind byte) (int, error) {
	line, err := r.ReadString('\n')
	if err != nil || line[0] != kind {
		return 0, fmt.Errorf("header %q, want %c: %v", line, kind, err)
	}
	return strconv.Atoi(strings.TrimSuffix(line[1:], "\r\n"))
}
