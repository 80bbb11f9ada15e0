package worker

import (
	"bufio"
	"context"
	"encoding/hex"
	"encoding/json"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/lockbench/lockbench/internal/libraries"
	"github.com/lockbench/lockbench/internal/resource"
	"github.com/lockbench/lockbench/internal/testkit/effort"
)

// dialogue is a worker in our own process, and its harness.
type dialogue struct {
	t     *testing.T
	in    io.WriteCloser
	out   *bufio.Scanner
	ended chan error
}

func converse(t *testing.T) *dialogue {
	in, theirIn := io.Pipe()
	theirOut, out := io.Pipe()
	d := &dialogue{t: t, in: theirIn, out: bufio.NewScanner(theirOut), ended: make(chan error, 1)}
	go func() {
		d.ended <- Serve(context.Background(), in, out, libraries.Catalogue(), Options{})
		_ = out.Close()
	}()
	return d
}

func (d *dialogue) say(line string) {
	d.t.Helper()
	_, err := io.WriteString(d.in, line+"\n")
	must(d.t, err)
}

func (d *dialogue) hear() Answer {
	d.t.Helper()
	if !d.out.Scan() {
		d.t.Fatalf("the worker ended: %v", <-d.ended)
	}
	a, err := parse(d.out.Bytes())
	must(d.t, err)
	return a
}

func (d *dialogue) ask(r Request) Answer {
	d.t.Helper()
	line, err := json.Marshal(r)
	must(d.t, err)
	d.say(string(line))
	return d.hear()
}

// end closes the worker's input, and checks that it then ends.
func (d *dialogue) end() {
	d.t.Helper()
	must(d.t, d.in.Close())
	if err := <-d.ended; err != nil {
		d.t.Errorf("at the end of its input: %v", err)
	}
}

// setting is a lock on n servers in our process.
func setting(t *testing.T, lock, guard string, n int) (Setting, []*miniredis.Miniredis) {
	s := Setting{Lock: lock, Guard: guard, Client: "A", Identity: "a-uuid", Seed: "17", Connect: true, Register: Register{
		Address: miniredis.RunT(t).Addr(), Suffix: resource.KeySuffix,
	}}
	var servers []*miniredis.Miniredis
	for range n {
		m := miniredis.RunT(t)
		servers = append(servers, m)
		s.Nodes = append(s.Nodes, m.Addr())
	}
	return s, servers
}

// TestExample has the conversation of docs/worker-protocol.md with the worker.
func TestExample(t *testing.T) {
	doc, err := os.ReadFile("../../docs/worker-protocol.md")
	must(t, err)
	_, example, found := strings.Cut(string(doc), "<!-- example -->\n```\n")
	example, _, closed := strings.Cut(example, "```\n<!-- end -->")
	if !found || !closed {
		t.Fatal("docs/worker-protocol.md has no example")
	}
	set, servers := setting(t, "fenced", "fence", 1)
	d := converse(t)
	for line := range strings.Lines(example) {
		who, text, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch who {
		case "→":
			text = strings.ReplaceAll(text, "127.0.0.1:40001", set.Nodes[0])
			text = strings.ReplaceAll(text, "127.0.0.1:40002", set.Register.Address)
			d.say(text)
		case "←":
			got, want := d.hear(), Answer{}
			must(t, json.Unmarshal([]byte(text), &want))
			got.PID, want.PID = 0, 0
			for _, guard := range want.Guards { // of which there may be more by now
				if !slices.Contains(got.Guards, guard) {
					t.Errorf("%s: the worker has no guard %q, it answers %q", text, guard, got.Guards)
				}
			}
			if len(want.Guards) > 0 {
				got.Guards, want.Guards = nil, nil
			}
			if (got.Remaining == nil) != (want.Remaining == nil) {
				t.Errorf("%s: remaining is %v, want %v", text, got.Remaining, want.Remaining)
			}
			got.Remaining, want.Remaining = nil, nil
			if diff := cmp.Diff(want, got, cmp.AllowUnexported(Answer{})); diff != "" {
				t.Errorf("%s: the worker answers differently (-documented +answered):\n%s", text, diff)
			}
		case "⋯": // the lease ends
			servers[0].FastForward(time.Minute)
		default:
			t.Fatalf("line %q begins with neither of → ← ⋯", line)
		}
	}
	d.end()
}

func TestEveryLock(t *testing.T) {
	for _, spec := range libraries.Catalogue() {
		if len(spec.Commands) > 0 {
			continue // plain miniredis does not know them
		}
		t.Run(spec.Name, func(t *testing.T) {
			set, _ := setting(t, spec.Name, "none", spec.Masters)
			d := converse(t)
			if a := d.ask(Request{ID: 1, Op: Configure, Setting: &set}); a.Type != OK {
				t.Fatalf("configure: %+v", a)
			}
			a := d.ask(Request{ID: 2, Op: Acquire, Key: "orders/42", TTL: 60_000, Timeout: 60_000})
			if a.Type == Error || spec.Sound && spec.Replicas == 0 && a.Type != OK {
				t.Fatalf("acquire: %+v", a)
			}
			if a.Type == OK {
				if a.Remaining != nil && (*a.Remaining > 120_000 || *a.Remaining < 1) {
					t.Errorf("of a lease of a minute %v ms remain", *a.Remaining)
				}
				if spec.Fencing != (a.Token > 0) {
					t.Errorf("token %d", a.Token)
				}
				if a := d.ask(Request{ID: 3, Op: Release, Lease: 2, Timeout: 60_000}); a.Type == Error || spec.Sound && a.Type != OK {
					t.Errorf("release: %+v", a)
				}
			}
			d.end()
		})
	}
}

func TestRefusals(t *testing.T) {
	set, servers := setting(t, "setnx-px-lua", "none", 1)
	d := converse(t)
	for _, c := range []struct {
		r    Request
		want string // of the error
	}{
		{Request{ID: 1, Op: Acquire, Key: "k", TTL: 1000}, `acquire before configure`},
		{Request{ID: 2, Op: "juggle"}, `no op "juggle", want hello, configure, acquire, read, write, extend, verify, release or count`},
		{Request{ID: 3, Op: Configure}, `configure says nothing`},
		{Request{ID: 4, Op: Configure, Setting: &Setting{Lock: "setnx-px-luo"}}, `setnx-px-lua`},
		{Request{ID: 5, Op: Configure, Setting: &Setting{Lock: "redlock", Guard: "none"}}, `lock redlock needs 5 masters, got the addresses of 0`},
		{Request{ID: 6, Op: Configure, Setting: &Setting{Lock: "setnx-px-lua", Guard: "fence"}}, `issues none`},
		{Request{ID: 7, Op: Configure, Setting: &Setting{Lock: "setnx-px-lua", Guard: "hope"}}, `no guard "hope"`},
		{Request{ID: 8, Op: Configure, Setting: &set}, ``},
		{Request{ID: 9, Op: Release, Lease: 4}, `there is no lease 4`},
	} {
		a := d.ask(c.r)
		if a.ID != c.r.ID || (a.Type == Error) != (c.want != "") || !strings.Contains(a.Error, c.want) {
			t.Errorf("%+v: answered %+v, want %q", c.r, a, c.want)
		}
	}
	for id, c := range map[int64]struct {
		r    Request
		want string
	}{
		101: {Request{Op: Acquire, Key: "k", TTL: 1000, Mode: Shared}, `this lock has no leases for readers`},
		102: {Request{Op: Acquire, Key: "k", TTL: 1000, Mode: "juggle"}, `no mode "juggle", want "read" or none`},
		103: {Request{Op: Count, Key: "k"}, `this lock does not count`},
	} {
		c.r.ID = id
		if a := d.ask(c.r); a.Type != Error || a.Error != c.want {
			t.Errorf("%+v: answered %+v, want %q", c.r, a, c.want)
		}
	}
	if a := d.ask(Request{ID: 10, Op: Acquire, Key: "k", TTL: 1000}); a.Type != OK {
		t.Errorf("acquire: %+v", a)
	}
	if a := d.ask(Request{ID: 11, Op: Acquire, Key: "k", TTL: 1000}); a.Type != Fail || a.Reason != Taken {
		t.Errorf("acquire of a lock that is taken: %+v", a)
	}
	servers[0].FastForward(time.Minute)
	if a := d.ask(Request{ID: 12, Op: Release, Lease: 10}); a.Type != Fail || a.Reason != NotHeld {
		t.Errorf("release after the lease ended: %+v", a)
	}
	servers[0].SetError("ERR out of order")
	if a := d.ask(Request{ID: 13, Op: Acquire, Key: "k", TTL: 1000}); a.Type != Unknown || a.Error == "" {
		t.Errorf("acquire of a server that does not work: %+v", a)
	}
	d.end()
}

// TestLost checks that a holder is told, and that it is not told of what it gave back.
func TestLost(t *testing.T) {
	effort.Real(t)
	set, servers := setting(t, "watchdog", "none", 1)
	d := converse(t)
	d.ask(Request{ID: 1, Op: Configure, Setting: &set})
	// On a busy machine a shorter lease may be lost before it is given back.
	d.ask(Request{ID: 2, Op: Acquire, Key: "other", TTL: 3000})
	d.ask(Request{ID: 3, Op: Release, Lease: 2})
	if a := d.ask(Request{ID: 4, Op: Acquire, Key: "k", TTL: 3000}); a.Type != OK {
		t.Fatalf("acquire: %+v", a)
	}
	servers[0].FlushAll()
	if a := d.hear(); a.Event != Lost || a.Lease != 4 {
		t.Errorf("told %+v, want that lease 4 is lost", a)
	}
	d.end()
}

func TestServeRubbish(t *testing.T) {
	for _, line := range []string{"rubbish", `{"id":0,"op":"hello"}`, `{"id":2}`, `[]`, ``} {
		in := strings.NewReader(`{"id":1,"op":"hello","protocol":1}` + "\n" + line + "\n")
		err := Serve(t.Context(), in, io.Discard, libraries.Catalogue(), Options{})
		if err == nil || !regexp.MustCompile(`^line 2 of the input is no request: .*got "`).MatchString(err.Error()) {
			t.Errorf("%q: %v", line, err)
		}
	}
}

// TestServeEndsInTheMiddle checks that the end of input ends a call, too.
func TestServeEndsInTheMiddle(t *testing.T) {
	effort.Real(t)
	set, _ := setting(t, "setnx-px-wait", "none", 1) // it waits for a replica that there is not
	d := converse(t)
	d.ask(Request{ID: 1, Op: Configure, Setting: &set})
	d.say(`{"id":2,"op":"acquire","key":"k","ttl":1000}`)
	d.end()
}

// TestSeeded checks that a worker draws what a lock of the harness draws: the seed is in hexadecimal.
func TestSeeded(t *testing.T) {
	want := [32]byte{1, 31: 2}
	if got := seeded(hex.EncodeToString(want[:])); got != want {
		t.Errorf("got %x, want %x", got, want)
	}
	if seeded("2a") == seeded("2b") || seeded("") == seeded("2a") {
		t.Error("different seeds are the same")
	}
}

// TestThreads lets one thread wait for the lock until another gives it back.
func TestThreads(t *testing.T) {
	for _, name := range []string{"setnx-px-spin", "setnx-px-spin-per-command", "redisson-style"} { // one object for all, and one each
		t.Run(name, func(t *testing.T) {
			set, _ := setting(t, name, "none", 1)
			d := converse(t)
			d.ask(Request{ID: 1, Op: Configure, Setting: &set})
			if a := d.ask(Request{ID: 2, Op: Acquire, Key: "k", TTL: 60_000}); a.Type != OK {
				t.Fatalf("acquire: %+v", a)
			}
			d.say(`{"id":3,"op":"acquire","thread":1,"key":"k","ttl":60000,"wait":50000}`)
			d.say(`{"id":4,"op":"release","lease":2}`)
			for _, a := range []Answer{d.hear(), d.hear()} { // in any order
				if a.ID != 3 && a.ID != 4 || a.Type != OK {
					t.Errorf("one thread waits, the other releases: %+v", a)
				}
			}
			if a := d.ask(Request{ID: 5, Op: Release, Thread: 1, Lease: 3}); a.Type != OK {
				t.Errorf("release of the other thread: %+v", a)
			}
			d.end()
		})
	}
}

// TestVerify checks that a lock can be asked whether a lease is still held, if it can tell.
func TestVerify(t *testing.T) {
	for lock, want := range map[string][2]Answer{
		"setnx-px-lua": {{Type: OK}, {Type: Fail, Reason: NotHeld}},
		"setnx":        {{Type: Error}, {Type: Error}},
	} {
		set, servers := setting(t, lock, "none", 1)
		d := converse(t)
		d.ask(Request{ID: 1, Op: Configure, Setting: &set})
		d.ask(Request{ID: 2, Op: Acquire, Key: "k", TTL: 60_000})
		for i, want := range want {
			if a := d.ask(Request{ID: int64(3 + i), Op: Verify, Lease: 2}); a.Type != want.Type || a.Reason != want.Reason {
				t.Errorf("%s, answer %d: %+v, want %q %q", lock, i, a, want.Type, want.Reason)
			}
			servers[0].Del("k")
		}
		d.end()
	}
}

// TestReleaseRefused checks that what the latest acquire was refused can be released, however often, and that
// nothing else can be asked of it.
func TestReleaseRefused(t *testing.T) {
	set, servers := setting(t, "setnx-px-del", "none", 1)
	d := converse(t)
	d.ask(Request{ID: 1, Op: Configure, Setting: &set})
	d.ask(Request{ID: 2, Op: Acquire, Key: "k", TTL: 60_000})
	for _, id := range []int64{3, 4} {
		if a := d.ask(Request{ID: id, Op: Acquire, Key: "k", TTL: 60_000}); a.Type != Fail || a.Reason != Taken {
			t.Fatalf("acquire of a held lock: %+v", a)
		}
	}
	for i, c := range []struct {
		ask  Request
		want Answer
	}{
		{Request{Op: Release, Lease: 3}, Answer{Type: Error}}, // it was not the latest
		{Request{Op: Release, Lease: 4, Thread: 1}, Answer{Type: Error}},
		{Request{Op: Extend, Lease: 4, TTL: 1000}, Answer{Type: Error}}, // setnx-px-del cannot
		{Request{Op: Release, Lease: 4}, Answer{Type: OK}},
		{Request{Op: Release, Lease: 4}, Answer{Type: Fail, Reason: NotHeld}},
	} {
		c.ask.ID = int64(5 + i)
		if a := d.ask(c.ask); a.Type != c.want.Type || a.Reason != c.want.Reason {
			t.Errorf("%s of lease %d by thread %d: %+v, want %q %q", c.ask.Op, c.ask.Lease, c.ask.Thread, a, c.want.Type, c.want.Reason)
		}
	}
	if servers[0].Exists("k") {
		t.Error("DEL was not sent")
	}
	if a := d.ask(Request{ID: 10, Op: Acquire, Key: "k", TTL: 60_000}); a.Type != OK {
		t.Errorf("acquire of a free lock: %+v", a)
	}
	if a := d.ask(Request{ID: 11, Op: Release, Lease: 4}); a.Type != Error {
		t.Errorf("release of what was refused before the latest acquire: %+v", a)
	}
	d.end()
}

// TestReleaseTwice checks that the lease that was released last can be released again, and that
// nothing else can be asked of it.
func TestReleaseTwice(t *testing.T) {
	set, _ := setting(t, "setnx-px-lua", "none", 1)
	d := converse(t)
	d.ask(Request{ID: 1, Op: Configure, Setting: &set})
	d.ask(Request{ID: 2, Op: Acquire, Key: "k", TTL: 60_000})
	d.ask(Request{ID: 3, Op: Acquire, Key: "other", TTL: 60_000})
	for i, want := range []Answer{
		{Lease: 2, Type: OK},
		{Lease: 2, Type: Fail, Reason: NotHeld},
		{Lease: 3, Type: OK},
		{Lease: 2, Type: Error}, // it was not the last
		{Lease: 3, Type: Fail, Reason: NotHeld},
	} {
		if a := d.ask(Request{ID: int64(4 + i), Op: Release, Lease: want.Lease}); a.Type != want.Type || a.Reason != want.Reason {
			t.Errorf("release %d of lease %d: %+v, want %q %q", i+1, want.Lease, a, want.Type, want.Reason)
		}
	}
	if a := d.ask(Request{ID: 9, Op: Extend, Lease: 3, TTL: 1000}); a.Type != Error {
		t.Errorf("extend of what is released: %+v", a)
	}
	d.end()
}
