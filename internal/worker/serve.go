package worker

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/lockbench/lockbench/internal/resource"
	"github.com/lockbench/lockbench/locks"
)

// lastWords is how long a request that is under way at the end of the input may take.
const lastWords = time.Second

// defaultLock is that of a worker which is not told of one.
const defaultLock = "setnx-px-lua"

// Serve is a worker with the locks of a catalogue: it does what the requests on in ask
// for and answers on out, until in ends or ctx does. It returns nil at the end of in, soon
// even in the middle of a call, and gives nothing back that it holds. An error says which
// line was not understood, or that out is closed.
func Serve(ctx context.Context, in io.Reader, out io.Writer, all locks.Catalogue, opt Options) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s := &server{
		all: all, opt: opt, out: json.NewEncoder(out), threads: map[int64]locks.Locker{}, leases: map[int64]*held{}, released: map[int64]int64{},
		refused: map[int64]refusedLease{},
	}
	defer s.close()
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
	all     locks.Catalogue
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
	released map[int64]int64        // the lease that a thread gave back last
	refused  map[int64]refusedLease // what a thread's latest acquire was refused
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

// close ends what locks do in the background.
func (s *server) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, lock := range s.threads {
		if closer, ok := lock.(io.Closer); ok {
			_ = closer.Close() // the program ends
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
	case Acquire, Read, Write, Extend, Verify, Release, Count:
		if s.lock(r.Thread) == nil {
			return Answer{Type: Error, Error: fmt.Sprintf("%s before configure", r.Op)}
		}
	default:
		return Answer{Type: Error, Error: fmt.Sprintf("no op %q, want %s, %s, %s, %s, %s, %s, %s, %s or %s",
			r.Op, Hello, Configure, Acquire, Read, Write, Extend, Verify, Release, Count)}
	}
	switch r.Op {
	case Acquire:
		return s.acquire(ctx, r, began)
	case Count:
		return s.count(ctx, r)
	}
	return s.inHand(ctx, r, began)
}

// inHand does what a request asks of a lease: one that is held, was released last, or was refused last.
func (s *server) inHand(ctx context.Context, r Request, began time.Time) Answer {
	if lease := s.refusal(r); lease != nil {
		return useRefused(ctx, lease, r)
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

// hello says what the lock is that the harness asks for, in its version of the protocol.
func (s *server) hello(r Request) Answer {
	name := defaultLock
	if r.Setting != nil && r.Lock != "" {
		name = r.Lock
	}
	spec, err := s.all.Find(name)
	if err != nil {
		return Answer{Type: Error, Error: err.Error()}
	}
	a := s.opt.hello(spec)
	a.Type, a.Protocol, a.Worker, a.PID = OK, min(Protocol, max(r.Protocol, r.Newest)), "lockbench", os.Getpid()
	return a
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

// keys are the names under which the lock is kept that is given this one.
func (s *server) keys(name string) []string {
	if s.spec.Keys == nil {
		return []string{name}
	}
	return s.spec.Keys(name)
}
