package worker

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"time"

	"github.com/lockbench/lockbench/locks"
	"github.com/lockbench/lockbench/resource"
)

// setUpLimit bounds connecting to all servers.
const setUpLimit = 10 * time.Second

// lastWords is how long a request that is under way at the end of the input may take.
const lastWords = time.Second

// defaultLock is that of a worker which is not told of one.
const defaultLock = "setnx-px-lua"

// Serve is a worker with the locks of this project: it does what the requests on in ask
// for and answers on out, until in ends or ctx does. It returns nil at the end of in, soon
// even in the middle of a call, and gives nothing back that it holds. An error says which
// line was not understood, or that out is closed.
func Serve(ctx context.Context, in io.Reader, out io.Writer, opt Options) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s := &server{
		opt: opt, out: json.NewEncoder(out), threads: map[int64]locks.Locker{}, leases: map[int64]*held{}, released: map[int64]int64{},
	}
	requests, ended := make(chan Request), make(chan error, 1)
	go func() { ended <- scan(ctx, in, requests) }()
	done := make(chan error, 1)
	go func() { done <- s.serve(ctx, requests) }()
	select {
	case err := <-ended:
		if err != nil {
			return err
		}
	case err := <-done:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	close(requests)
	select {
	case err := <-done:
		return err
	case <-time.After(lastWords):
		return nil
	}
}

// scan reads requests. The end of input is no error.
func scan(ctx context.Context, in io.Reader, requests chan<- Request) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxLine)
	for n := 1; lines.Scan(); n++ {
		var r Request
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil || r.ID <= 0 || r.Op == "" {
			return fmt.Errorf("line %d of the input is no request: want a JSON object with id and op (docs/worker-protocol.md), got %.200q", n, lines.Text())
		}
		select {
		case requests <- r:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return lines.Err()
}

// server is one worker.
type server struct {
	opt     Options
	sending sync.Mutex // threads answer, and events come, at any time
	out     *json.Encoder

	mu       sync.Mutex // guards what follows
	env      locks.Env
	seed     string
	spec     locks.Spec
	masters  []*locks.Client
	guard    resource.Guard
	register *locks.Client
	threads  map[int64]locks.Locker // the lock, as each thread uses it
	leases   map[int64]*held
	released map[int64]int64 // the lease that a thread gave back last
}

// held is a lease, and the section under it.
type held struct {
	locks.Lease
	*resource.Section
	over chan struct{} // closed when the lease is given back
}

// serve hands each request to the thread that it is of. A thread answers one after the other.
func (s *server) serve(ctx context.Context, requests <-chan Request) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var threads sync.WaitGroup
	queues := map[int64]chan Request{}
	end := sync.OnceFunc(func() {
		for _, queue := range queues {
			close(queue)
		}
	})
	defer end()
	for {
		select {
		case r, ok := <-requests:
			if !ok {
				end()
				threads.Wait()
				return context.Cause(ctx)
			}
			queue := queues[r.Thread]
			if queue == nil {
				queue = make(chan Request, 1) // as it asks for one thing at a time, nobody waits for it
				queues[r.Thread] = queue
				threads.Go(func() {
					for r := range queue {
						began := time.Now()
						a := s.answer(ctx, r, began)
						a.ID = r.ID
						if err := s.send(a); err != nil {
							stop(err)
							return
						}
					}
				})
			}
			select {
			case queue <- r:
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (s *server) send(a Answer) error {
	s.sending.Lock()
	defer s.sending.Unlock()
	if err := s.out.Encode(a); err != nil {
		return fmt.Errorf("answer: %w", err)
	}
	return nil
}

func (s *server) answer(ctx context.Context, r Request, began time.Time) Answer {
	if r.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, began.Add(duration(r.Timeout)))
		defer cancel()
	}
	switch r.Op {
	case Hello:
		return s.hello(r)
	case Configure:
		if err := s.configure(ctx, r.Setting); err != nil {
			return Answer{Type: Error, Error: err.Error()}
		}
		return Answer{Type: OK}
	case Acquire, Read, Write, Extend, Release, Count:
		if s.lock(r.Thread) == nil {
			return Answer{Type: Error, Error: fmt.Sprintf("%s before configure", r.Op)}
		}
	default:
		return Answer{Type: Error, Error: fmt.Sprintf("no op %q, want %s, %s, %s, %s, %s, %s, %s or %s",
			r.Op, Hello, Configure, Acquire, Read, Write, Extend, Release, Count)}
	}
	switch r.Op {
	case Acquire:
		return s.acquire(ctx, r, began)
	case Count:
		return s.count(ctx, r)
	}
	l := s.lease(r)
	if l == nil {
		return Answer{Type: Error, Error: fmt.Sprintf("%s: there is no lease %d, or it was released", r.Op, r.Lease)}
	}
	return s.use(ctx, l, r, began)
}

// lock is the lock as a thread uses it, or nil before configure.
func (s *server) lock(thread int64) locks.Locker {
	s.mu.Lock()
	defer s.mu.Unlock()
	lock, ok := s.threads[thread]
	if ok || s.threads[0] == nil {
		return lock
	}
	if lock = s.threads[0]; !s.spec.PerProcess {
		env := s.env
		env.Clock, env.Thread = Clock{}, thread+1
		env.Rand = locks.NewSource(seeded(fmt.Sprintf("%s of thread %d", s.seed, thread)))
		lock = s.spec.New(env)
	}
	s.threads[thread] = lock
	return lock
}

// lease is what a request is about, or nil. Of a lease that is released no more can be asked than
// to release it once more, if its thread has released none since.
func (s *server) lease(r Request) *held {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.Op != Release && s.released[r.Thread] == r.Lease {
		return nil
	}
	return s.leases[r.Lease]
}

// giveBack makes a lease the one that its thread has released last.
func (s *server) giveBack(r Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	last := s.released[r.Thread]
	if last == r.Lease {
		return
	}
	delete(s.leases, last)
	s.released[r.Thread] = r.Lease
	close(s.leases[r.Lease].over)
}

// hello says what the lock is that the harness asks for, in its version of the protocol.
func (s *server) hello(r Request) Answer {
	name := defaultLock
	if r.Setting != nil && r.Lock != "" {
		name = r.Lock
	}
	spec, err := locks.Find(name)
	if err != nil {
		return Answer{Type: Error, Error: err.Error()}
	}
	a := s.opt.hello(spec)
	a.Type, a.Protocol, a.Worker, a.PID = OK, min(Protocol, max(r.Protocol, r.Newest)), "lockbench", os.Getpid()
	return a
}

// acquirer is the method of the lock that a request asks for.
func (s *server) acquirer(r Request) (func(context.Context, string, time.Duration) (locks.Lease, error), error) {
	lock := s.lock(r.Thread)
	switch r.Mode {
	case Exclusive:
	case Shared:
		rw, ok := lock.(locks.RWLocker)
		switch {
		case !ok:
			return nil, errors.New("this lock has no leases for readers")
		case r.Wait > 0:
			return nil, errors.New("this lock's readers do not wait")
		}
		return rw.AcquireRead, nil
	default:
		return nil, fmt.Errorf("no mode %q, want %q or none", r.Mode, Shared)
	}
	if r.Wait == 0 {
		return lock.Acquire, nil
	}
	patient, ok := lock.(locks.Patient)
	if !ok {
		return nil, errors.New("this lock does not wait")
	}
	return func(ctx context.Context, key string, ttl time.Duration) (locks.Lease, error) {
		ctx, cancel := context.WithTimeout(ctx, duration(r.Wait))
		defer cancel()
		return patient.Await(ctx, key, ttl)
	}, nil
}

func (s *server) acquire(ctx context.Context, r Request, began time.Time) Answer {
	acquire, err := s.acquirer(r)
	if err != nil {
		return Answer{Type: Error, Error: err.Error()}
	}
	key := s.opt.rename(r.Key)
	s.opt.precede(ctx, s.masters, s.keys(key))
	lease, err := acquire(ctx, key, duration(r.TTL))
	if err != nil {
		return refusal(err)
	}
	l := &held{
		Lease:   lease,
		Section: s.guard.Enter(resource.NewRegister(s.register, r.Key), lease, Clock{}),
		over:    make(chan struct{}),
	}
	s.mu.Lock()
	s.leases[r.ID] = l
	s.mu.Unlock()
	if w, ok := lease.(locks.Watched); ok {
		go s.watch(r.ID, l, w)
	}
	return Answer{Type: OK, Token: lease.Token(), Remaining: remaining(lease, began)}
}

func (s *server) count(ctx context.Context, r Request) Answer {
	lock, ok := s.lock(r.Thread).(locks.Reentrant)
	if !ok {
		return Answer{Type: Error, Error: "this lock does not count"}
	}
	n, err := lock.Count(ctx, s.opt.rename(r.Key))
	if err != nil {
		return refusal(err)
	}
	return Answer{Type: OK, Count: n}
}

// use does what a holder does.
func (s *server) use(ctx context.Context, l *held, r Request, began time.Time) Answer {
	a := Answer{Type: OK}
	var err error
	switch r.Op {
	case Read:
		var seen resource.State
		seen, err = l.Read(ctx)
		a.Value, a.Version, a.Token = seen.Value, seen.Version, l.Section.Token()
	case Write:
		var seen resource.State
		seen, err = l.Write(ctx, r.Value)
		a.Version, a.Token = seen.Version, l.Section.Token()
	case Extend:
		extender, ok := l.Lease.(locks.Extender)
		if !ok {
			return Answer{Type: Error, Error: "leases of this lock cannot be extended"}
		}
		err = extender.Extend(ctx, duration(r.TTL))
		a.Token, a.Remaining = l.Lease.Token(), remaining(l.Lease, began)
	default:
		s.giveBack(r)
		err = l.Release(ctx)
	}
	if err != nil {
		return refusal(err)
	}
	return a
}

// watch tells of the loss of a lease.
func (s *server) watch(id int64, l *held, w locks.Watched) {
	select {
	case <-w.Lost():
		_ = s.send(Answer{Event: Lost, Lease: id, Token: l.Lease.Token(), Remaining: remaining(l.Lease, time.Now())}) // a closed output ends the server
	case <-l.over:
	}
}

// remaining is when a lease ends, counted from an instant.
func remaining(l locks.Lease, from time.Time) *float64 {
	end := l.Deadline()
	if end.IsZero() {
		return nil
	}
	ms := milliseconds(end.Sub(from))
	return &ms
}

// refusal is what an error means.
func refusal(err error) Answer {
	a := Answer{Type: Fail, Error: err.Error()}
	switch {
	case errors.Is(err, resource.ErrStale):
		a.Reason = Stale
	case errors.Is(err, resource.ErrElapsed):
		a.Reason = Elapsed
	case errors.Is(err, resource.ErrDone):
		a.Reason = Done
	case errors.Is(err, locks.ErrTaken):
		a.Reason = Taken
	case errors.Is(err, locks.ErrNotHeld):
		a.Reason = NotHeld
	case locks.Classify(err) != locks.Refused:
		a.Type = Unknown
	default:
		a.Reason = Rejected
		if _, ok := errors.AsType[*locks.InputError](err); ok {
			a.Reason = Invalid
		}
	}
	return a
}

// configure makes the lock and connects to every server.
func (s *server) configure(ctx context.Context, set *Setting) error {
	if set == nil {
		return errors.New("configure says nothing, want lock, guard, nodes and register")
	}
	if s.lock(0) != nil {
		return errors.New("it is configured already")
	}
	name := set.Lock
	if name == "" {
		name = defaultLock
	}
	spec, err := locks.Find(name)
	if err != nil {
		return err
	}
	guard, err := resource.FindGuard(set.Guard)
	if err != nil {
		return err
	}
	if err := guard.Supports(spec); err != nil {
		return err
	}
	if len(set.Nodes) != spec.Masters {
		return fmt.Errorf("lock %s needs %d masters, got the addresses of %d", spec.Name, spec.Masters, len(set.Nodes))
	}
	var shards []*locks.Client
	for _, address := range set.Nodes {
		shards = append(shards, locks.NewClient(func(ctx context.Context) (net.Conn, error) { return s.opt.dial(ctx, address) }))
	}
	s.register = locks.NewClient(func(ctx context.Context) (net.Conn, error) { return Options{}.dial(ctx, set.Register.Address) })
	env := locks.Env{
		Nodes:    shards,
		Dial:     func(ctx context.Context, node int) (net.Conn, error) { return s.opt.dial(ctx, set.Nodes[node]) },
		Clock:    Clock{},
		NewClock: func() locks.Clock { return Clock{} },
		Rand:     locks.NewSource(seeded(set.Seed)),
		Client:   set.Identity,
		Thread:   1, // the first of its process
	}
	lock := spec.New(env)
	if set.Connect {
		if err := connect(ctx, set, shards, s.register, lock); err != nil {
			return err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.guard, s.spec, s.masters, s.env, s.seed = guard, spec, shards, env, set.Seed
	s.threads[0] = lock
	return nil
}

// seeded is what the random numbers of a lock begin with: those that the harness gives to a lock of its
// own, so that a token which others may draw, too, is the same in both.
func seeded(seed string) (key [32]byte) {
	if b, err := hex.DecodeString(seed); err == nil && len(b) == len(key) {
		return [32]byte(b)
	}
	return sha256.Sum256([]byte(seed))
}

// keys are the names under which the lock is kept that is given this one.
func (s *server) keys(name string) []string {
	if s.spec.Keys == nil {
		return []string{name}
	}
	return s.spec.Keys(name)
}

// connect connects to every server and sends the scripts ahead, so that no fault hits that.
func connect(ctx context.Context, set *Setting, shards []*locks.Client, register *locks.Client, lock locks.Locker) error {
	ctx, cancel := context.WithTimeout(ctx, setUpLimit)
	defer cancel()
	for i, shard := range shards {
		if err := locks.Load(ctx, shard); err != nil {
			return fmt.Errorf("connect to %s: %w", set.Nodes[i], err)
		}
	}
	if err := resource.NewRegister(register, "").Load(ctx); err != nil {
		return fmt.Errorf("connect to %s: %w", set.Register.Address, err)
	}
	if c, ok := lock.(locks.Connector); ok {
		if err := c.Connect(ctx); err != nil {
			return fmt.Errorf("connect: %w", err)
		}
	}
	return nil
}
