package worker

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/lockbench/lockbench/internal/redis/cluster"
)

// acceptPause keeps a listener that fails from spinning.
const acceptPause = 10 * time.Millisecond

// Gateway is where a client's process connects to: one listener on loopback for each
// server. What it accepts crosses the client's link to that server, as the connections of
// clients in our process do, so that all faults of the wire reach it.
type Gateway struct {
	client  string
	cluster cluster.Cluster
	ctx     context.Context // ends with Close
	cancel  context.CancelFunc

	mu        sync.Mutex
	closed    bool
	listeners []net.Listener
	tasks     sync.WaitGroup // grows only under mu and before closed
}

// NewGateway returns the gateway of a client to a cluster. Close must be called, before the
// cluster is closed.
func NewGateway(client string, c cluster.Cluster) *Gateway {
	g := &Gateway{client: client, cluster: c}
	g.ctx, g.cancel = context.WithCancel(context.Background())
	return g
}

// Listen opens a listener and returns its address. Each connection goes to the node that
// node names at that time.
func (g *Gateway) Listen(ctx context.Context, node func() string) (string, error) {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("listen for worker %s: %w", g.client, err)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return "", errors.Join(net.ErrClosed, l.Close())
	}
	g.listeners = append(g.listeners, l)
	g.tasks.Go(func() { g.accept(l, node) })
	return l.Addr().String(), nil
}

func (g *Gateway) accept(l net.Listener, node func() string) {
	for {
		conn, err := l.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // such as no file descriptors left; whoever connects waits
			select {
			case <-g.ctx.Done():
				return
			case <-time.After(acceptPause):
			}
			continue
		}
		g.serve(conn, node())
	}
}

// serve carries conn over the link to node. A link that refuses resets it, as a server that
// is not there would.
func (g *Gateway) serve(conn net.Conn, node string) {
	link := g.cluster.Link(g.client, node)
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed || link.Refuses() != nil {
		if tcp, ok := conn.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0)
		}
		_ = conn.Close()
		return
	}
	g.tasks.Go(func() { _ = link.Serve(g.ctx, conn) }) // either side's end is the client's to see
}

// Close ends all listeners and connections, and waits for them.
func (g *Gateway) Close() error {
	g.mu.Lock()
	g.closed = true
	var errs []error
	for _, l := range g.listeners {
		errs = append(errs, l.Close())
	}
	g.mu.Unlock()
	g.cancel()
	g.tasks.Wait()
	return errors.Join(errs...)
}
