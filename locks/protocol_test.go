package locks_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/lockbench/lockbench/internal/libraries"
	"github.com/lockbench/lockbench/internal/wire"
	"github.com/lockbench/lockbench/locks"
)

var update = flag.Bool("update", false, "rewrite testdata/protocol from what the locks send")

// TestProtocol pins the commands that every lock sends, set-up of connections
// included, as the wire sees them. One line is one command; strings are quoted where
// they need it. What a broken lock answers is told where a sound one would answer
// something else.
func TestProtocol(t *testing.T) {
	for _, spec := range libraries.Catalogue() {
		t.Run(spec.Name, func(t *testing.T) {
			var got string
			if err := onEmbedded(spec, func(w *world) { got = protocol(t, w) }); err != nil {
				t.Fatal(err)
			}
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
				t.Fatalf("%v; to make it: go test ./locks -run 'TestProtocol/^%s$' -update", err, spec.Name)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("commands differ from %s (-want +got):\n%s", file, diff)
			}
		})
	}
}

// TestProtocolsArePinned finds files of locks that are gone.
func TestProtocolsArePinned(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "protocol", "*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		if _, err := libraries.Catalogue().Find(strings.TrimSuffix(filepath.Base(file), ".golden")); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
}

// protocol walks two clients through every call of the lock, and returns what they sent.
func protocol(t *testing.T, w *world) string {
	spec := w.Spec
	ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
	defer cancel()
	w.Rand = func(client string) io.Reader { return repeat(0x11 * (client[len(client)-1] - 'a' + 0xa)) }
	tapes := make([]tape, len(w.Masters))
	client := func(name string) locks.Locker {
		for i, node := range w.Masters {
			w.Cluster.Link(w.Host(name), node).Observe(tapes[i].record)
		}
		return spec.New(w.Env(name))
	}
	a, b := client("client-aa"), client("client-bb")
	defer closeLock(t, a)
	defer closeLock(t, b)

	start := w.Sleeper.Now()
	var out strings.Builder
	show := func(title string) {
		w.Sleep(5 * time.Millisecond) // for what goes on in the background
		fmt.Fprintf(&out, "# %s\n", title)
		for i := range tapes {
			for _, command := range tapes[i].take() {
				if len(tapes) > 1 {
					fmt.Fprintf(&out, "node %d: ", i+1)
				}
				fmt.Fprintln(&out, printable(command, start))
			}
		}
		fmt.Fprintln(&out)
	}
	section := func(title string, want error, call func() error) {
		err := call()
		if !errors.Is(err, want) {
			if spec.Sound {
				t.Errorf("%s: %v, want %v", title, err, want)
			}
			title += ": " + outcome(err)
		}
		show(title)
	}
	acquire := func(l locks.Locker, ttl time.Duration, into *locks.Lease) func() error {
		return func() (err error) { *into, err = l.Acquire(ctx, w.Key(), ttl); return err }
	}
	release := func(l *locks.Lease) func() error {
		return func() error {
			if *l == nil { // a broken lock has refused it
				return locks.ErrNotHeld
			}
			return (*l).Release(ctx)
		}
	}

	var held, inner, late, none locks.Lease
	section("acquire for 3s, new connection", nil, acquire(a, 3*time.Second, &held))
	section("refused acquire, new connection", locks.ErrTaken, acquire(b, 3*time.Second, &none))
	if held == nil { // only a broken lock has got here
		return strings.TrimSuffix(out.String(), "\n")
	}
	if spec.HasToken {
		section("verify", nil, func() error { return held.(locks.Verifier).Verify(ctx) })
	}
	if spec.Extends {
		section("extend to 5s", nil, func() error { return held.(locks.Extender).Extend(ctx, 5*time.Second) })
	}
	if spec.Reenters {
		section("acquire again for 4s", nil, acquire(a, 4*time.Second, &inner))
		section("count", nil, func() error { _, err := a.(locks.Reentrant).Count(ctx, w.Key()); return err })
		section("inner release", nil, release(&inner))
	}
	section("first release", nil, release(&held))
	short := 250 * time.Millisecond
	if spec.WholeSeconds {
		short = time.Second
	}
	section("acquire for "+short.String(), nil, acquire(a, short, &late))
	w.Sleep(short)
	if spec.Renews {
		show(short.String() + " later")
		section("release", nil, release(&late))
	} else {
		section("release after expiry", locks.ErrNotHeld, release(&late))
	}
	section("acquire for 3s", nil, acquire(b, 3*time.Second, &held))
	section("release", nil, release(&held))
	if spec.ReadWrite {
		section("read for 3s", nil, func() (err error) {
			held, err = a.(locks.RWLocker).AcquireRead(ctx, w.Key(), 3*time.Second)
			return err
		})
		section("refused acquire beside a reader", locks.ErrTaken, acquire(b, 3*time.Second, &none))
		section("release of the read", nil, release(&held))
	}
	if n, ok := a.(locks.Notifier); ok {
		section("subscribe, new connection", nil, func() error {
			_, leave, err := n.Subscribe(ctx, w.Key())
			if err == nil {
				leave()
			}
			return err
		})
	}
	return strings.TrimSuffix(out.String(), "\n")
}

func closeLock(t testing.TB, l locks.Locker) {
	t.Helper()
	if c, ok := l.(io.Closer); ok {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
}

func outcome(err error) string {
	if err == nil {
		return "done"
	}
	return err.Error()
}

// repeat is a source of one byte value, so that tokens can be told apart.
type repeat byte

func (r repeat) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = byte(r)
	}
	return len(b), nil
}

// tape keeps what the clients of one server send.
type tape struct {
	mu   sync.Mutex
	sent []wire.Command
}

func (r *tape) record(e wire.Event) {
	if e.Kind != wire.Sent {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sent = append(r.sent, e.Command)
}

// take returns the commands since the last take.
func (r *tape) take() []wire.Command {
	r.mu.Lock()
	defer r.mu.Unlock()
	sent := r.sent
	r.sent = nil
	return sent
}

// printable writes a command on one line, with names for what has no meaning of its own.
func printable(c wire.Command, start time.Time) string {
	line := c.Name
	for _, arg := range c.Args {
		line += " " + printableArg(arg, start)
	}
	return line
}

// unixTime is an instant of the year 2000, when virtual time begins, in seconds,
// milliseconds or microseconds.
var unixTime = regexp.MustCompile(`\b9466\d{5}(?:\d{3}){0,2}\b`)

func printableArg(arg string, start time.Time) string {
	if len(arg) == 24 && !utf8.ValidString(arg) {
		return "<random token>" // of rueidislock
	}
	for _, known := range []struct{ token, name string }{
		{strings.Repeat("aa", 20), "<token of A>"},
		{strings.Repeat("bb", 20), "<token of B>"},
		{"aaaaaaaa-aaaa-4aaa-aaaa-aaaaaaaaaaaa", "<UUID of A>"},
		{"bbbbbbbb-bbbb-4bbb-bbbb-bbbbbbbbbbbb", "<UUID of B>"},
		// Sixteen bytes in base64.
		{"qqqqqqqqqqqqqqqqqqqqqg==", "<token of A>"},
		{"u7u7u7u7u7u7u7u7u7u7uw==", "<token of B>"},
		{"qqqqqqqqqqqqqqqqqqqqqg", "<token of A>"},
		{"u7u7u7u7u7u7u7u7u7u7uw", "<token of B>"},
	} {
		if strings.HasPrefix(arg, known.token) {
			arg = known.name + strings.TrimPrefix(arg, known.token)
			break
		}
	}
	arg = unixTime.ReplaceAllStringFunc(arg, func(text string) string { return sinceStart(text, start) })
	if arg == "" || strings.ContainsAny(arg, " \n\t\"") && !strings.HasPrefix(arg, "<") {
		return strconv.Quote(arg)
	}
	return arg
}

// sinceStart rounds to tens of milliseconds: how long messages take is of no interest.
func sinceStart(text string, start time.Time) string {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return text
	}
	for range (18 - len(text)) / 3 { // to nanoseconds
		n *= 1000
	}
	return fmt.Sprintf("<start+%v>", time.Unix(0, n).Sub(start).Round(10*time.Millisecond))
}
