package main

// The worker protocol of lockbench, for locks in Go: see Lock and serve.

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// Lock is what lockbench calls. An error leaves the outcome open, unless it is ErrTaken,
// ErrNotHeld or ErrInvalid.
type Lock interface {
	// Acquire tries once, and returns a lease, whatever you like, or ErrTaken: with About.ReleasesRefused
	// together with what its caller could release all the same.
	Acquire(ctx context.Context, key string, ttl time.Duration) (any, error)
	// Release returns ErrNotHeld if the lease was no longer the caller's.
	Release(ctx context.Context, key string, lease any) error
}

// What a Lock may have beside that. Extend and Holds return ErrNotHeld, too.
type (
	// Extender has leases that can be made to last for ttl from now.
	Extender interface {
		Extend(ctx context.Context, key string, lease any, ttl time.Duration) error
	}
	// Holder can say whether a lease is still the caller's.
	Holder interface {
		Holds(ctx context.Context, key string, lease any) error
	}
	// Waiter can wait for the lock, until ctx ends; then it returns ErrTaken.
	Waiter interface {
		Wait(ctx context.Context, key string, ttl time.Duration) (any, error)
	}
	// DefaultAcquirer can be acquired without saying for how long, and is then as Acquire.
	DefaultAcquirer interface {
		AcquireDefault(ctx context.Context, key string) (any, error)
	}
)

// Definite refusals: what was asked for did not happen, and never will.
var (
	ErrTaken   = errors.New("lock is taken")
	ErrNotHeld = errors.New("lock is not held")
	ErrInvalid = errors.New("a lease lasts for more than 0 ms")
)

// About says what the lock is; see docs/worker-protocol.md.
type About struct {
	Keys     []string `json:"keys"`     // under which names the lock on %s is kept in Redis
	Database int      `json:"database"` // in which they are
	Threads  bool     `json:"-"`        // several goroutines may use one Lock at a time
	// ReleasesRefused says that what comes with an ErrTaken of Acquire may be released.
	ReleasesRefused bool           `json:"-"`
	Promises        map[string]any `json:"promises,omitempty"`
}

// request is a line from lockbench.
type request struct {
	ID       int64    `json:"id"`
	Op       string   `json:"op"`
	Newest   int      `json:"newest"`
	Guard    string   `json:"guard"`
	Nodes    []string `json:"nodes"`
	Connect  bool     `json:"connect"`
	Register register `json:"register"`
	Thread   int64    `json:"thread"`
	Key      string   `json:"key"`
	TTL      float64  `json:"ttl"`
	Wait     float64  `json:"wait"`
	Timeout  float64  `json:"timeout"`
	Lease    int64    `json:"lease"`
	Value    int64    `json:"value"`
}

type register struct {
	Address, Suffix, Read, Write, Enter string
}

type answer map[string]any

// lease is one that was granted, and the section under it.
type lease struct {
	key   string
	own   any
	ends  time.Time // zero: it has no end
	epoch int64
}

type worker struct {
	about  About
	make   func(addresses []string) Lock
	lock   Lock
	guard  string
	access *redis.Client
	script register

	mu       sync.Mutex // of what follows
	out      *json.Encoder
	leases   map[int64]*lease       // by the id of the acquire
	released map[int64]int64        // the lease that a thread gave back last
	refused  map[int64]refusedLease // what a thread's latest acquire was refused
}

// refusedLease is what an acquire was refused, by its id.
type refusedLease struct {
	id int64
	lease
}

// serve answers lockbench until it is done. makeLock is given "host:port" of each master.
func serve(about About, makeLock func(addresses []string) Lock) {
	w := &worker{about: about, make: makeLock, out: json.NewEncoder(os.Stdout), leases: map[int64]*lease{}, released: map[int64]int64{}, refused: map[int64]refusedLease{}}
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 1<<20)
	threads := map[int64]chan request{}
	for in.Scan() {
		var r request
		if err := json.Unmarshal(in.Bytes(), &r); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		if w.lock == nil { // nobody asks for anything else before
			w.respond(r)
			continue
		}
		if threads[r.Thread] == nil {
			requests := make(chan request, 1)
			threads[r.Thread] = requests
			go func() {
				for r := range requests {
					w.respond(r)
				}
			}()
		}
		threads[r.Thread] <- r
	}
	os.Exit(0)
}

func (w *worker) respond(r request) {
	a := w.answer(r, time.Now())
	a["id"] = r.ID
	w.mu.Lock()
	err := w.out.Encode(a)
	w.mu.Unlock()
	if err != nil {
		os.Exit(1)
	}
}

func (w *worker) answer(r request, began time.Time) answer {
	ctx := context.Background()
	if r.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, began.Add(ms(r.Timeout)))
		defer cancel()
	}
	a, err := answer{}, error(nil)
	switch {
	case r.Op == "hello":
		a, err = w.hello(r)
	case r.Op == "configure":
		err = w.configure(ctx, r)
	case w.lock == nil:
		err = impossible(r.Op + " before configure")
	case r.Op == "acquire":
		a, err = w.acquire(ctx, r, began)
	default:
		l := w.lease(r)
		if l == nil {
			return answer{"type": "error", "error": fmt.Sprintf("%s: there is no lease %d, or it was released", r.Op, r.Lease)}
		}
		a, err = w.use(ctx, r, l, began)
	}
	var refused refusal
	var cannot impossible
	switch {
	case err == nil:
		a["type"] = "ok"
		return a
	case errors.As(err, &refused):
		return answer{"type": "fail", "reason": string(refused), "error": err.Error()}
	case errors.Is(err, ErrTaken):
		return answer{"type": "fail", "reason": "taken", "error": err.Error()}
	case errors.Is(err, ErrNotHeld):
		return answer{"type": "fail", "reason": "not-held", "error": err.Error()}
	case errors.Is(err, ErrInvalid):
		return answer{"type": "fail", "reason": "invalid", "error": err.Error()}
	case errors.As(err, &cannot) || w.lock == nil:
		return answer{"type": "error", "error": err.Error()}
	}
	return answer{"type": "unknown", "error": err.Error()}
}

// lease is the one that a request is about, or nil. A lease that is released can be released once
// more, if its thread has released none since.
func (w *worker) lease(r request) *lease {
	w.mu.Lock()
	defer w.mu.Unlock()
	if of, ok := w.refused[r.Thread]; ok && (r.Op == "release" || r.Op == "extend") && of.id == r.Lease {
		return &of.lease
	}
	l, last := w.leases[r.Lease], w.released[r.Thread]
	if r.Op != "release" {
		if last == r.Lease {
			return nil
		}
		return l
	}
	if l != nil && last != r.Lease {
		delete(w.leases, last)
		w.released[r.Thread] = r.Lease
	}
	return l
}

// refusal is a reason of fail, and impossible why lockbench must not go on.
type (
	refusal    string
	impossible string
)

func (r refusal) Error() string    { return "refused: " + string(r) }
func (i impossible) Error() string { return string(i) }

func (w *worker) hello(r request) (answer, error) {
	if r.Newest < 2 {
		return nil, impossible("this worker speaks protocol 2, and lockbench an older one")
	}
	can, guards, lock := []string{"release-twice"}, []string{"none", "elapsed", "epoch"}, w.make([]string{"127.0.0.1:1"})
	if w.about.ReleasesRefused {
		can = append(can, "release-refused")
	}
	if w.about.Threads {
		can = append(can, "threads")
	}
	if _, ok := lock.(Extender); ok {
		can = append(can, "extend")
	}
	if _, ok := lock.(Waiter); ok {
		can = append(can, "wait")
	}
	if _, ok := lock.(DefaultAcquirer); ok {
		can = append(can, "without-ttl")
	}
	if _, ok := lock.(Holder); ok {
		can, guards = append(can, "verify"), append(guards, "check-token")
	}
	return answer{
		"protocol": 2, "worker": filepath.Base(os.Args[0]), "pid": os.Getpid(), "can": can, "guards": guards,
		"keys": w.about.Keys, "database": w.about.Database, "promises": w.about.Promises,
	}, nil
}

func (w *worker) configure(ctx context.Context, r request) error {
	w.guard, w.script = r.Guard, r.Register
	w.access = newClient(r.Register.Address, 0)
	if r.Connect {
		for _, address := range append(r.Nodes, r.Register.Address) {
			client := newClient(address, 0)
			err := client.Ping(ctx).Err()
			_ = client.Close()
			if err != nil {
				return err
			}
		}
	}
	w.lock = w.make(r.Nodes)
	return nil
}

// newClient returns a client that sends nothing twice, since a SET NX that is sent again meets
// its own key, and whose calls are bounded by their context.
func newClient(address string, database int) *redis.Client {
	return redis.NewClient(&redis.Options{
		Addr: address, DB: database, MaxRetries: -1, ReadTimeout: -1, WriteTimeout: -1, ContextTimeoutEnabled: true,
	})
}

func (w *worker) acquire(ctx context.Context, r request, began time.Time) (answer, error) {
	own, err := w.obtain(ctx, r)
	l := &lease{key: r.Key, own: own}
	w.note(r, l, err)
	if err != nil {
		return nil, err
	}
	from := began
	if r.Wait > 0 {
		from = time.Now() // when its last try began, only the lock knows
	}
	lasts := ms(r.TTL)
	if r.TTL == 0 {
		if lasts = w.defaultTTL(); lasts == 0 {
			return answer{}, nil
		}
	}
	return w.lasting(l, from.Add(lasts), began), nil
}

// obtain asks the lock for a lease, and returns what that does.
func (w *worker) obtain(ctx context.Context, r request) (any, error) {
	if r.Wait > 0 {
		waiter, ok := w.lock.(Waiter)
		if !ok || r.TTL == 0 {
			return nil, impossible("this lock does not wait, or not without a ttl")
		}
		waiting, cancel := context.WithTimeout(ctx, ms(r.Wait))
		defer cancel()
		return waiter.Wait(waiting, r.Key, ms(r.TTL))
	}
	if r.TTL != 0 {
		return w.lock.Acquire(ctx, r.Key, ms(r.TTL))
	}
	acquirer, ok := w.lock.(DefaultAcquirer)
	if !ok {
		return nil, impossible("this lock is not acquired without a ttl")
	}
	return acquirer.AcquireDefault(ctx, r.Key)
}

// defaultTTL is for how long a lease lasts of which that was not said; 0: it has no end.
func (w *worker) defaultTTL() time.Duration {
	switch n := w.about.Promises["default_ttl"].(type) {
	case int:
		return ms(float64(n))
	case int64:
		return ms(float64(n))
	case float64:
		return ms(n)
	}
	return 0
}

// note keeps what an acquire was granted, or was refused.
func (w *worker) note(r request, l *lease, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.refused, r.Thread)
	switch {
	case err == nil:
		w.leases[r.ID] = l
	case errors.Is(err, ErrTaken) && l.own != nil:
		w.refused[r.Thread] = refusedLease{r.ID, *l}
	}
}

// lasting says when a lease ends. It counts from before the command was sent, so that it ends
// here before it ends there.
func (w *worker) lasting(l *lease, ends, began time.Time) answer {
	if w.about.Promises["no_lease"] == true {
		return answer{}
	}
	l.ends = ends
	return answer{"remaining": float64(l.ends.Sub(began)) / float64(time.Millisecond)}
}

func (w *worker) use(ctx context.Context, r request, l *lease, began time.Time) (answer, error) {
	switch r.Op {
	case "extend":
		extender, ok := w.lock.(Extender)
		if !ok {
			return nil, impossible("this lock does not extend")
		}
		from := time.Now()
		if w.about.Promises["extend_adds"] == true {
			from = l.ends
		}
		if err := extender.Extend(ctx, l.key, l.own, ms(r.TTL)); err != nil {
			return nil, err
		}
		if from.IsZero() { // more of what has no end
			return answer{}, nil
		}
		return w.lasting(l, from.Add(ms(r.TTL)), began), nil
	case "verify":
		holder, ok := w.lock.(Holder)
		if !ok {
			return nil, impossible("this lock cannot be asked whether it is held")
		}
		return answer{}, holder.Holds(ctx, l.key, l.own)
	case "release":
		return answer{}, w.lock.Release(ctx, l.key, l.own)
	case "read":
		return w.read(ctx, l)
	case "write":
		return w.write(ctx, l, r.Value)
	}
	return nil, impossible("no op " + r.Op + ", only hello, configure, acquire, read, write, extend, verify and release")
}

func (w *worker) read(ctx context.Context, l *lease) (answer, error) {
	script, args := w.script.Read, []any{l.epoch}
	enters := w.guard == "epoch" && l.epoch == 0
	if enters {
		script, args = w.script.Enter, nil
	}
	seen, err := w.run(ctx, script, l.key, args...)
	if err != nil {
		return nil, err
	}
	if enters {
		l.epoch = seen[2]
	}
	return answer{"value": seen[0], "version": seen[1], "token": l.epoch}, nil
}

func (w *worker) write(ctx context.Context, l *lease, value int64) (answer, error) {
	switch {
	case w.guard == "elapsed" && !l.ends.IsZero() && !time.Now().Before(l.ends):
		return nil, refusal("elapsed")
	case w.guard == "check-token":
		if err := w.lock.(Holder).Holds(ctx, l.key, l.own); err != nil {
			return nil, err
		}
	case w.guard == "epoch" && l.epoch == 0:
		if _, err := w.read(ctx, l); err != nil {
			return nil, err
		}
	}
	seen, err := w.run(ctx, w.script.Write, l.key, l.epoch, value)
	if err != nil {
		return nil, err
	}
	return answer{"version": seen[1], "token": l.epoch}, nil
}

// run runs one of the register's scripts. One number means that the token is stale.
func (w *worker) run(ctx context.Context, script, key string, args ...any) ([]int64, error) {
	reply, err := w.access.Eval(ctx, script, []string{key + w.script.Suffix}, args...).Int64Slice()
	if err == nil && len(reply) == 1 {
		err = refusal("stale")
	}
	return reply, err
}

func ms(n float64) time.Duration { return time.Duration(n * float64(time.Millisecond)) }
