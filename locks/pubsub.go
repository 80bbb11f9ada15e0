package locks

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"maps"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	// sendLimit is how long a command of the subscriber may take to be sent, the dial
	// included.
	sendLimit = time.Second
	// reconnectPause is how long it waits before it connects again.
	reconnectPause = 100 * time.Millisecond
)

// subscriber is the one connection on which all who wait in a lock object hear of
// releases. It is opened for the first, and kept until the lock object is closed.
//
// It does not use the PubSub of go-redis, which connects again with a mutex held: in
// virtual time whoever then wants that mutex stops the clock for ever.
type subscriber struct {
	background *background
	dial       func(ctx context.Context) (net.Conn, error)
	turn       chan struct{} // a mutex whose waiters virtual time does not stand still for

	// Guarded by turn.
	running     bool
	conn        net.Conn       // nil while there is none
	failed      error          // of a write to conn
	unconfirmed map[string]int // SUBSCRIBEs on conn
	topics      map[string]*topic
}

// topic is a channel that somebody waits for.
type topic struct {
	settled chan struct{} // closed when the first SUBSCRIBE was confirmed or has failed
	live    bool          // it was confirmed
	err     error         // it has failed
	waiters []chan struct{}
}

func newSubscriber(b *background, node *redis.Client) *subscriber {
	opt := node.Options()
	return &subscriber{
		background: b,
		dial:       func(ctx context.Context) (net.Conn, error) { return opt.Dialer(ctx, opt.Network, opt.Addr) },
		turn:       make(chan struct{}, 1),
		topics:     map[string]*topic{},
	}
}

func (s *subscriber) enter() { s.turn <- struct{}{} }
func (s *subscriber) leave() { <-s.turn }

// subscribe is Notifier.Subscribe on a channel of Redis.
func (s *subscriber) subscribe(ctx context.Context, channel string) (<-chan struct{}, func(), error) {
	if err := s.background.ctx.Err(); err != nil {
		return nil, nil, net.ErrClosed
	}
	t, w := s.join(channel)
	end := sync.OnceFunc(func() { s.part(channel, t, w) })
	select {
	case <-t.settled:
	case <-ctx.Done():
		end()
		return nil, nil, ctx.Err()
	}
	if t.err != nil {
		return nil, nil, t.err
	}
	return w, end, nil
}

func (s *subscriber) join(channel string) (*topic, chan struct{}) {
	s.enter()
	defer s.leave()
	t := s.topics[channel]
	if t == nil {
		t = &topic{settled: make(chan struct{})}
		s.topics[channel] = t
		if s.conn != nil {
			s.send("SUBSCRIBE", channel)
		}
	}
	w := make(chan struct{}, 1)
	t.waiters = append(t.waiters, w)
	if !s.running {
		s.running = true
		s.background.start(s.run)
	}
	return t, w
}

func (s *subscriber) part(channel string, t *topic, w chan struct{}) {
	s.enter()
	defer s.leave()
	t.waiters = slices.DeleteFunc(t.waiters, func(other chan struct{}) bool { return other == w })
	if len(t.waiters) > 0 || s.topics[channel] != t {
		return
	}
	delete(s.topics, channel)
	if s.conn != nil {
		s.send("UNSUBSCRIBE", channel)
	}
}

// send writes a command. If that fails the connection ends, and its reader says why.
func (s *subscriber) send(command, channel string) {
	if s.failed != nil {
		return
	}
	if command == "SUBSCRIBE" {
		s.unconfirmed[channel]++
	}
	// Not the caller's deadline: the connection belongs to others, too.
	ctx, cancel := context.WithTimeout(s.background.ctx, sendLimit)
	defer cancel()
	deadline, _ := ctx.Deadline()
	err := s.conn.SetWriteDeadline(deadline)
	if err == nil {
		_, err = fmt.Fprintf(s.conn, "*2\r\n$%d\r\n%s\r\n$%d\r\n%s\r\n", len(command), command, len(channel), channel)
	}
	if err != nil {
		s.failed = err
		_ = s.conn.Close() // the first error counts
	}
}

// run keeps a connection while somebody waits.
func (s *subscriber) run(r *routine) {
	for err := r.sleep(0); ; err = r.sleep(reconnectPause) {
		if err == nil {
			err = s.session(r)
		}
		s.enter()
		s.broken(err)
		if len(s.topics) == 0 || r.ctx.Err() != nil {
			s.running = false
			s.leave()
			return
		}
		s.leave()
	}
}

// broken tells everybody that the connection has ended. Who was subscribed may have missed
// a release; who was not yet is told the error, if there was one.
func (s *subscriber) broken(err error) {
	if s.failed != nil {
		err = s.failed
	}
	s.conn, s.failed = nil, nil
	for channel, t := range s.topics {
		switch {
		case t.live:
			t.notify()
		case err != nil:
			t.err = fmt.Errorf("subscribe %s: %w", channel, err)
			close(t.settled)
			delete(s.topics, channel)
		}
	}
}

// session is one connection, from its first SUBSCRIBE to its end.
func (s *subscriber) session(r *routine) error {
	conn, err := s.dial(r.ctx)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }() // it has ended already
	defer context.AfterFunc(r.ctx, func() { _ = conn.Close() })()
	if !s.open(conn) {
		return nil
	}
	for reader := bufio.NewReader(conn); ; {
		message, err := readMessage(reader)
		if err != nil {
			return err
		}
		s.handle(message)
	}
}

// open makes conn the connection of all who wait, and says whether there is anybody.
func (s *subscriber) open(conn net.Conn) bool {
	s.enter()
	defer s.leave()
	if len(s.topics) == 0 {
		return false
	}
	s.conn, s.unconfirmed = conn, map[string]int{}
	for _, channel := range slices.Sorted(maps.Keys(s.topics)) {
		s.send("SUBSCRIBE", channel)
	}
	return true
}

func (s *subscriber) handle(message []string) {
	s.enter()
	defer s.leave()
	kind, channel := message[0], message[1]
	t := s.topics[channel]
	switch kind {
	case "message":
		if t != nil {
			t.notify()
		}
	case "subscribe":
		// Of several, an UNSUBSCRIBE lies between this one and the last.
		if s.unconfirmed[channel]--; s.unconfirmed[channel] > 0 || t == nil {
			return
		}
		if t.live { // connected again
			t.notify()
			return
		}
		t.live = true
		close(t.settled)
	}
}

func (t *topic) notify() {
	for _, w := range t.waiters {
		select {
		case w <- struct{}{}:
		default: // told already
		}
	}
}

// readMessage reads what a server sends on a connection with subscriptions: arrays of
// three, the kind of message and its channel first. Anything else is an error.
func readMessage(r *bufio.Reader) ([]string, error) {
	head, err := readLine(r)
	if err != nil {
		return nil, err
	}
	if head != "*3" {
		return nil, fmt.Errorf("the server sent %q, want a message of a subscription", head)
	}
	message := make([]string, 3)
	for i := range message {
		if message[i], err = readElement(r); err != nil {
			return nil, err
		}
	}
	return message, nil
}

// readElement reads a number or a string.
func readElement(r *bufio.Reader) (string, error) {
	line, err := readLine(r)
	if err != nil {
		return "", err
	}
	if number, ok := strings.CutPrefix(line, ":"); ok {
		return number, nil
	}
	const longest = 512 << 20 // of a string in Redis
	size, ok := strings.CutPrefix(line, "$")
	n, err := strconv.Atoi(size)
	if !ok || err != nil || n < 0 || n > longest {
		return "", fmt.Errorf("the server sent %q in a message, want a number or a string", line)
	}
	var data strings.Builder
	if _, err := io.CopyN(&data, r, int64(n)+2); err != nil {
		return "", err
	}
	return data.String()[:n], nil
}

func readLine(r *bufio.Reader) (string, error) {
	line, err := r.ReadSlice('\n') // no longer than its buffer
	return strings.TrimRight(string(line), "\r\n"), err
}
