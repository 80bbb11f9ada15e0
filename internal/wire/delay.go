package wire

import (
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"time"
)

// ErrNoClock says that a link was never told the time, so that it cannot delay anything.
var ErrNoClock = errors.New("link has no clock")

// Clock is the time by which a Link delays, and by which what was frozen goes on.
type Clock interface {
	Now() time.Time
	// Sleep returns after d, or with an error when ctx ends.
	Sleep(ctx context.Context, d time.Duration) error
}

// SetClocks says by which clock each direction of each connection is delayed. In virtual
// time every one needs its own, or connections could act at the same instant. Call it
// before Serve.
func (l *Link) SetClocks(clock func(conn int, d Direction) Clock) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.clocks = clock
}

// clock is that of one direction of a connection, or nil if the link was never told the time.
func (l *Link) clock(conn int, d Direction) Clock {
	l.mu.Lock()
	clocks := l.clocks
	l.mu.Unlock()
	if clocks == nil {
		return nil
	}
	return clocks(conn, d)
}

// Latency is how much longer everything takes to cross a link, one way: Base, and
// between nothing and Jitter on top, drawn from Seed for each connection, direction and
// message.
type Latency struct {
	Base, Jitter time.Duration
	Seed         uint64
}

// Delay is a Latency in force. Its methods are safe for concurrent use.
type Delay struct {
	Latency
	link *Link
	ways [2]bool // by Direction

	// Guarded by link.mu.
	seen Delayed
}

// Delayed is what a Delay was measured to have done, with what it still holds back left
// out. A message is what arrives at one instant, be it a part of a command or several.
type Delayed struct {
	Messages    int
	Least, Most time.Duration // 0 without messages
}

// Delay makes whatever arrives from now on take longer, in both directions, until Stop.
// Messages of one direction of a connection keep their order, and are under way at the
// same time, as on a long cable: a second one, sent right after the first, arrives right
// after it. The end of a connection takes as long as its bytes. What is sent over a link
// that is cut or closed meanwhile is lost.
//
// A link has one latency: the latest Delay counts. Dialling is not delayed. Without a
// clock the error is ErrNoClock.
func (l *Link) Delay(by Latency) (*Delay, error) {
	return l.delayWays(by, [2]bool{Requests: true, Replies: true})
}

// DelayOneWay is Delay in one direction; the other takes no longer than without.
func (l *Link) DelayOneWay(d Direction, by Latency) (*Delay, error) {
	var ways [2]bool
	ways[d] = true
	return l.delayWays(by, ways)
}

func (l *Link) delayWays(by Latency, ways [2]bool) (*Delay, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.clocks == nil {
		return nil, l.describe(ErrNoClock)
	}
	d := &Delay{Latency: by, link: l, ways: ways}
	l.delay.Store(d)
	return d, nil
}

// Stop ends the delay for what arrives from now on. What is on its way takes its time.
func (d *Delay) Stop() { d.link.delay.CompareAndSwap(d, nil) }

// Seen is what was delayed so far.
func (d *Delay) Seen() Delayed {
	d.link.mu.Lock()
	defer d.link.mu.Unlock()
	return d.seen
}

func (d *Delay) note(took time.Duration) {
	d.link.mu.Lock()
	defer d.link.mu.Unlock()
	s := &d.seen
	if s.Messages++; s.Messages == 1 || took < s.Least {
		s.Least = took
	}
	s.Most = max(s.Most, took)
}

// inlet is where a pump reads from: the connection itself, and a line from it once
// something was delayed.
type inlet struct {
	conn      *conn
	from      net.Conn
	direction Direction
	line      *line
}

// slows is the Delay in force on what arrives now, or nil.
func (i *inlet) slows() *Delay {
	if d := i.conn.link.delay.Load(); d != nil && d.ways[i.direction] {
		return d
	}
	return nil
}

func (i *inlet) read(buf []byte) (int, error) {
	if i.line == nil {
		n, err := i.from.Read(buf)
		if i.slows() == nil {
			return n, err
		}
		i.line = newLine(i)
		if i.line.put(buf[:n], err) {
			i.conn.lines.Go(i.line.fill)
		}
	}
	return i.line.read(buf)
}

// lineLength is how many messages are under way on a line; the next ones wait at its
// beginning.
const lineLength = 256

// line is one direction of a connection as a long cable. One goroutine puts in what
// arrives, and the pump takes it out when it is due.
type line struct {
	*inlet
	clock    Clock
	messages chan message

	// Of whoever puts in.
	delay *Delay // the last one, to which rng belongs
	rng   *rand.Rand
	at    time.Time // of the last message
	due   time.Time

	// Of the pump.
	rest []byte
	err  error
}

// message is what arrived at one instant, or a part of it.
type message struct {
	data    []byte
	err     error // why nothing will follow
	delay   *Delay
	at, due time.Time
}

func newLine(i *inlet) *line {
	return &line{inlet: i, clock: i.conn.link.clock(i.conn.id, i.direction), messages: make(chan message, lineLength)}
}

func (l *line) fill() {
	buf := make([]byte, bufferSize)
	for {
		n, err := l.from.Read(buf)
		if !l.put(buf[:n], err) {
			return
		}
	}
}

// put sends data on its way and says whether more can follow.
func (l *line) put(data []byte, err error) bool {
	m := message{data: append([]byte(nil), data...), err: err, at: l.clock.Now()}
	switch m.delay = l.slows(); {
	case m.delay == nil: // not before what came before
	case m.delay == l.delay && m.at.Equal(l.at):
		// Whether writes of one instant arrive in one piece must not decide anything.
	default:
		if m.delay != l.delay {
			l.delay = m.delay
			l.rng = rand.New(rand.NewPCG(m.delay.Seed, uint64(l.conn.id)<<1|uint64(l.direction)))
		}
		due := m.at.Add(m.delay.Base)
		if m.delay.Jitter > 0 {
			due = due.Add(time.Duration(l.rng.Int64N(int64(m.delay.Jitter))))
		}
		if due.After(l.due) {
			l.due = due
		}
	}
	l.at, m.due = m.at, l.due
	select {
	case l.messages <- m:
		return err == nil
	case <-l.conn.done:
		return false
	}
}

// read returns what is due, and waits until something is.
func (l *line) read(buf []byte) (int, error) {
	if len(l.rest) == 0 {
		var m message
		select {
		case m = <-l.messages:
		case <-l.conn.done:
			return 0, net.ErrClosed
		}
		if left := m.due.Sub(l.clock.Now()); left > 0 && l.clock.Sleep(l.conn.ctx, left) != nil {
			return 0, net.ErrClosed
		}
		if m.delay != nil && len(m.data) > 0 {
			m.delay.note(l.clock.Now().Sub(m.at))
		}
		l.rest, l.err = m.data, m.err
	}
	n := copy(buf, l.rest)
	if l.rest = l.rest[n:]; len(l.rest) > 0 {
		return n, nil
	}
	return n, l.err
}
