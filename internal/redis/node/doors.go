package node

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"sync"
	"time"
)

// acceptPause keeps a listener that fails from spinning.
const acceptPause = 10 * time.Millisecond

// Doors are the listeners by which the nodes of a cluster reach each other. Whoever comes
// in is carried over Link(visitor, node), so that every pair can be cut. Methods are safe
// for concurrent use.
type Doors struct {
	links *Links
	host  string
	names map[string]string // of visitors, by the address that they come from
	logf  func(format string, args ...any)

	mu   sync.Mutex
	open map[pair]*door // by visitor and node
}

type door struct {
	listener net.Listener

	mu   sync.Mutex
	came int // visits so far
}

// NewDoors returns doors that listen on an address of host. Without names there is a door
// for every pair of nodes. With the names of all nodes by their addresses a node has one
// door for everybody: an address that it can announce.
func NewDoors(links *Links, host string, names map[string]string, logf func(format string, args ...any)) *Doors {
	return &Doors{links: links, host: host, names: names, logf: logf, open: make(map[pair]*door)}
}

// Address is where visitor reaches node.
func (d *Doors) Address(ctx context.Context, visitor, node string) (host, port string, err error) {
	dr, err := d.door(ctx, visitor, node)
	if err != nil {
		return "", "", err
	}
	return net.SplitHostPort(dr.listener.Addr().String())
}

// Announced is the address by which everybody reaches node, and whoever is told of it.
func (d *Doors) Announced(ctx context.Context, node string) (host, port string, err error) {
	if d.names == nil {
		return "", "", errors.New("visitors cannot be told apart: no door is for everybody")
	}
	return d.Address(ctx, "", node)
}

// at is the address of a door that is open; of any other it is not valid.
func (d *Doors) at(visitor, node string) netip.AddrPort {
	d.mu.Lock()
	defer d.mu.Unlock()
	dr, ok := d.open[d.pair(visitor, node)]
	if !ok {
		return netip.AddrPort{}
	}
	addr, _ := netip.ParseAddrPort(dr.listener.Addr().String())
	return addr
}

// visits is how often visitor, or anybody if the door is for everybody, came to node.
func (d *Doors) visits(visitor, node string) int {
	d.mu.Lock()
	dr := d.open[d.pair(visitor, node)]
	d.mu.Unlock()
	if dr == nil {
		return 0
	}
	dr.mu.Lock()
	defer dr.mu.Unlock()
	return dr.came
}

func (d *Doors) pair(visitor, node string) pair {
	if d.names != nil {
		visitor = ""
	}
	return pair{visitor, node}
}

// door opens the door, if nobody has.
func (d *Doors) door(ctx context.Context, visitor, node string) (*door, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	key := d.pair(visitor, node)
	if dr, ok := d.open[key]; ok {
		return dr, nil
	}
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", net.JoinHostPort(d.host, "0"))
	if err != nil {
		return nil, err
	}
	dr := &door{listener: l}
	if !d.links.Go(func(ctx context.Context) { d.serve(ctx, dr, key) }) {
		return nil, errors.Join(ErrClosed, l.Close())
	}
	d.open[key] = dr
	return dr, nil
}

func (d *Doors) serve(ctx context.Context, dr *door, p pair) {
	for {
		conn, err := dr.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // such as no file descriptors left; the visitor comes again
			d.logf("accept visitors of %s: %v", p.node, err)
			select {
			case <-ctx.Done():
				return
			case <-time.After(acceptPause):
			}
			continue
		}
		dr.mu.Lock()
		dr.came++
		dr.mu.Unlock()
		visitor := p.client
		if d.names != nil {
			host, _, err := net.SplitHostPort(conn.RemoteAddr().String())
			if visitor = d.names[host]; err != nil || visitor == "" {
				d.logf("turned away at the door of %s: %v is no node's address", p.node, conn.RemoteAddr())
				_ = conn.Close() // nothing was exchanged
				continue
			}
		}
		d.links.Serve(d.links.Link(visitor, p.node), conn) // the visitor sees the end and comes again
	}
}

// Close closes the listeners.
func (d *Doors) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	var errs []error
	for _, dr := range d.open {
		errs = append(errs, dr.listener.Close())
	}
	return errors.Join(errs...)
}
