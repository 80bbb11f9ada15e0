package wire

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"sync/atomic"
)

// Errors that Serve returns when the link, not a peer, ended a connection.
var (
	ErrCut     = errors.New("link is cut")
	ErrClosed  = errors.New("link is closed")
	ErrDropped = errors.New("connection closed with its dropped command")
)

// Direction is one of the two ways across a Link.
type Direction uint8

// The directions.
const (
	Requests Direction = iota // from the client to the node
	Replies                   // from the node to the client
)

// Link interposes between one client and one node. Rules, Cut and Freeze apply to
// all of its connections, those open now and those to come. A rule sees the
// commands that arrive after it is set, rules for replies those that are sent on
// after it is set. All methods are safe for concurrent use.
type Link struct {
	client, node string
	dial         func(context.Context) (net.Conn, error)
	serving      sync.WaitGroup
	buffers      *Buffers              // nil: each connection makes its own
	delay        atomic.Pointer[Delay] // nil: none

	mu       sync.Mutex // never held while waiting, calling out or doing I/O
	conns    []*conn    // in the order in which they came
	lastConn int
	lastSeq  int     // of the commands that have arrived
	rules    []*Hold // armed, in the order in which they were set
	losses   []*Loss
	observer func(Event)
	clocks   func(conn int, d Direction) Clock
	cut      bool
	closed   bool
	thawed   [2]chan struct{} // by Direction; nil unless frozen; closed by Thaw

	subscribersCut     bool
	subscribersRefused int // since they are cut
}

// connNumber is the key of a connection's number in the context of its dial.
type connNumber struct{}

// ConnNumber is the number of the connection that a Link's dial function is called for: 1
// for the first that the Link served. It is 0 in any other context.
func ConnNumber(ctx context.Context) int {
	n, _ := ctx.Value(connNumber{}).(int)
	return n
}

// NewLink returns a link between the client and the node of these names, which
// appear in errors. Dial is called once per connection and must end when its
// context does.
func NewLink(client, node string, dial func(context.Context) (net.Conn, error)) *Link {
	return &Link{client: client, node: node, dial: dial}
}

// Share lets connections use buffers of others. It must be called before the first one is served.
func (l *Link) Share(b *Buffers) { l.buffers = b }

// Serve carries one client connection, which it owns, until either side ends it,
// ctx ends, or the link is cut or closed. When it returns, both connections are
// closed and no goroutine is left.
//
// It returns nil if a peer ended the connection, however abruptly. Other ends are
// the context's cause, ErrCut, ErrClosed, ErrDropped, a failed dial, or an error
// that wraps ErrProtocol and names who sent what.
//
// When the client ends, what it sent is still delivered, also what a rule or
// Freeze keeps at that time. Then the connection to the node is closed for
// writing if it has a CloseWrite method, else closed once every command is
// answered.
func (l *Link) Serve(ctx context.Context, client net.Conn) error {
	dialing, cancel := context.WithCancel(ctx)
	defer cancel()
	c, err := l.open(dialing, client, cancel)
	if err != nil {
		_ = client.Close() // refused: nothing was exchanged that could be lost
		return err
	}
	defer l.leave(c)
	ended := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(ended)
		c.end(context.Cause(ctx))
	})
	c.serve()
	if !stop() {
		<-ended
	}
	<-c.closed // whoever ended it may not be done yet
	return c.err
}

func (l *Link) open(ctx context.Context, client net.Conn, cancel context.CancelFunc) (*conn, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.refuses(); err != nil {
		return nil, err
	}
	l.lastConn++
	c := &conn{
		link: l, id: l.lastConn, client: client, ctx: ctx, cancel: cancel,
		done: make(chan struct{}), closed: make(chan struct{}), turn: make(chan struct{}, 1),
	}
	l.conns = append(l.conns, c)
	l.serving.Add(1)
	return c, nil
}

// Refuses returns why Serve would not carry a new connection now, or nil. Whoever dials can
// then refuse at once, as a network does, instead of letting the client find out.
func (l *Link) Refuses() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.refuses()
}

func (l *Link) refuses() error {
	switch {
	case l.closed:
		return l.describe(ErrClosed)
	case l.cut:
		return l.describe(ErrCut)
	}
	return nil
}

func (l *Link) leave(c *conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.conns = slices.DeleteFunc(l.conns, func(o *conn) bool { return o == c })
	l.serving.Done()
}

func (l *Link) describe(err error) error {
	return fmt.Errorf("wire: %v: %w", l, err)
}

// HoldRequest stops a command before the node sees it. Later commands of that
// connection wait behind it. Once released it is sent, also if the client has
// gone in the meantime: a late write lands.
func (l *Link) HoldRequest(m Match) *Hold { return l.arm(&Hold{match: m, action: holdRequest}) }

// HoldReply stops a reply: the node has executed the command, the client does
// not know. Later replies of that connection wait behind it.
func (l *Link) HoldReply(m Match) *Hold { return l.arm(&Hold{match: m, action: holdReply}) }

// DropReply discards a reply: the node has executed the command, the client will
// never know.
func (l *Link) DropReply(m Match, then AfterDrop) *Hold {
	return l.arm(&Hold{match: m, action: dropReply, then: then})
}

// Cut closes all connections, with what is held, frozen or delayed on them, and refuses
// new ones until Heal. It does not undo Freeze, nor disarm rules that have not
// matched. It returns how many connections it took from a client.
func (l *Link) Cut() (closed int) {
	l.mu.Lock()
	l.cut = true
	conns := slices.Clone(l.conns)
	l.mu.Unlock()
	for _, c := range conns {
		if c.end(ErrCut) {
			closed++
		}
	}
	return closed
}

// Heal undoes Cut. Connections that were closed stay closed.
func (l *Link) Heal() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cut = false
}

// Freeze stops both directions and keeps the bytes, as a stopped process does,
// also those that were read and not yet forwarded. New connections wait too.
func (l *Link) Freeze() {
	l.FreezeOneWay(Requests)
	l.FreezeOneWay(Replies)
}

// FreezeOneWay is Freeze in one direction; the other flows. So looks a network that
// loses everything one way until it is mended: TCP sends it again then. New
// connections wait, as they take both directions to set up.
func (l *Link) FreezeOneWay(d Direction) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.thawed[d] == nil {
		l.thawed[d] = make(chan struct{})
	}
}

// Waiting is on how many living connections Freeze keeps something now: bytes from either
// side, the connection's end, or its beginning.
func (l *Link) Waiting() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.waiting()
}

func (l *Link) waiting() int {
	n := 0
	for _, c := range l.conns {
		if !c.ended && (c.waits[Requests] || c.waits[Replies]) {
			n++
		}
	}
	return n
}

// Thaw undoes Freeze and FreezeOneWay. What was kept goes on, also if its client has
// gone. It returns what Waiting was.
func (l *Link) Thaw() (kept int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	kept = l.waiting()
	for d, thawed := range l.thawed {
		if thawed != nil {
			close(thawed)
			l.thawed[d] = nil
		}
	}
	return kept
}

// Observe makes f the link's observer; nil removes it. F is told of every
// command that arrives from then on, synchronously and, for one connection, one
// event at a time in order. What f does to the link takes effect on that very
// command: Freeze or Cut at Sent stops it. F must not call Close, nor wait for
// another event of the same connection.
func (l *Link) Observe(f func(Event)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.observer = f
}

// Close ends every connection for good and waits until each Serve is about to
// return.
func (l *Link) Close() {
	l.mu.Lock()
	l.closed = true
	conns := slices.Clone(l.conns)
	l.mu.Unlock()
	for _, c := range conns {
		c.end(ErrClosed)
	}
	l.serving.Wait()
}
