package node

import (
	"context"
	"errors"
	"maps"
	"net"
	"slices"
	"sync"

	"github.com/lockbench/lockbench/internal/sim"
	"github.com/lockbench/lockbench/internal/wire"
)

// Links are all links of one cluster and the goroutines that serve them. Methods are
// safe for concurrent use.
type Links struct {
	ctx  context.Context // ends with End
	end  context.CancelFunc
	dial func(ctx context.Context, node string) (net.Conn, error)

	mu     sync.Mutex
	tasks  sync.WaitGroup // grows only under mu and before closed
	closed bool
	links  map[pair]*wire.Link
}

type pair struct{ client, node string }

// NewLinks returns the links of a cluster whose nodes dial reaches. The end of ctx
// does not end them.
func NewLinks(ctx context.Context, dial func(ctx context.Context, node string) (net.Conn, error)) *Links {
	l := &Links{dial: dial, links: make(map[pair]*wire.Link)}
	l.ctx, l.end = context.WithCancel(context.WithoutCancel(ctx))
	return l
}

// Link returns the interposer between client and node.
func (l *Links) Link(client, node string) *wire.Link {
	l.mu.Lock()
	defer l.mu.Unlock()
	key := pair{client, node}
	link, ok := l.links[key]
	if !ok {
		link = wire.NewLink(client, node, func(ctx context.Context) (net.Conn, error) {
			return l.dial(ctx, node)
		})
		link.SetClocks(func(int, wire.Direction) wire.Clock { return machineClock{} })
		l.links[key] = link
		if l.closed {
			link.Close()
		}
	}
	return link
}

// Dial connects client to node through their link. ctx bounds the dial only, not the
// life of the connection.
func (l *Links) Dial(ctx context.Context, client, node string) (net.Conn, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	link := l.Link(client, node)
	if err := link.Refuses(); err != nil {
		return nil, err
	}
	near, far := sim.Pipe()
	if !l.Serve(link, far) {
		return nil, errors.Join(ErrClosed, near.Close())
	}
	return near, nil
}

// Serve carries conn over link until Close at the latest. After Close it closes conn
// and returns false.
func (l *Links) Serve(link *wire.Link, conn net.Conn) bool {
	ok := l.Go(func(ctx context.Context) { _ = link.Serve(ctx, conn) }) // either side's end is the client's to see
	if !ok {
		_ = conn.Close() // nothing was exchanged that could be lost
	}
	return ok
}

// Go runs f in a goroutine that Close waits for; its context ends by then. After
// Close it returns false.
func (l *Links) Go(f func(ctx context.Context)) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return false
	}
	l.tasks.Go(func() { f(l.ctx) })
	return true
}

// Bound returns ctx, ended by End too, and then with the cause ErrClosed.
func (l *Links) Bound(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	if l.ctx.Err() != nil {
		cancel(ErrClosed)
	}
	stop := context.AfterFunc(l.ctx, func() { cancel(ErrClosed) })
	return ctx, func() {
		stop()
		cancel(nil)
	}
}

// Ended is closed by End.
func (l *Links) Ended() <-chan struct{} { return l.ctx.Done() }

// End ends every bound context and takes no new connections. It does not wait.
func (l *Links) End() {
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	l.end()
}

// Close ends everything, closes all links and waits for what Go started.
func (l *Links) Close() {
	l.End()
	l.mu.Lock()
	links := slices.Collect(maps.Values(l.links))
	l.mu.Unlock()
	for _, link := range links {
		link.Close()
	}
	l.tasks.Wait()
}
