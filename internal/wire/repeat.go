package wire

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"strconv"
)

// Repeat is a rule that has the node execute one command twice. Its methods are safe for
// concurrent use.
type Repeat struct {
	hold *Hold // finds the command

	// Guarded by link.mu.
	seen Repeated
}

// Repeated is what became of a Repeat.
type Repeated struct {
	Command       Command // the zero Command if none has matched
	First, Second string  // the replies, abbreviated; "" while there is none
	Err           error   // why there is no first one
}

// Repeat has a command executed twice, as a proxy or a client does that got no reply and
// tries again: first on a connection of its own, which gets the same bytes and whose
// reply is lost on the client, and then on the client's. If the first try fails, or is
// not answered before the client's connection ends, there was only one.
//
// The other connection is a fresh one: it is in no transaction. It selects the database that
// the client's has selected, and is dialled past the link's faults. A command that ends
// matching is not repeated.
func (l *Link) Repeat(m Match) *Repeat {
	r := &Repeat{}
	r.hold = &Hold{match: m, action: executeTwice, repeat: r}
	l.arm(r.hold)
	return r
}

// Done is closed when both replies have arrived. It stays open for ever if the rule is
// stopped first, or a reply never comes.
func (r *Repeat) Done() <-chan struct{} { return r.hold.seen }

// Stop disarms the rule if it has not matched.
func (r *Repeat) Stop() { r.hold.Release() }

// Seen is what has happened so far.
func (r *Repeat) Seen() Repeated {
	r.hold.link.mu.Lock()
	defer r.hold.link.mu.Unlock()
	return r.seen
}

// repeat makes the first try of a command that a rule is due for, and returns the rule.
// Request are its bytes.
func (p *requestPump) repeat(cmd *Command, request []byte) *Repeat {
	if p.raw {
		return nil
	}
	l := p.link
	passed := l.passed(cmd, executeTwice)
	l.mu.Lock()
	h := l.due(cmd, passed, executeTwice)
	l.mu.Unlock()
	if h == nil || !h.begin(p.conn, cmd) {
		return nil
	}
	l.mu.Lock()
	h.repeat.seen.Command = *cmd
	l.lastConn++
	ctx := context.WithValue(p.ctx, connNumber{}, l.lastConn)
	l.mu.Unlock()
	reply, err := roundTrip(ctx, l.dial, cmd.Database, request)
	first := ""
	if err == nil {
		first = reply.String()
	}
	l.mu.Lock()
	h.repeat.seen.First, h.repeat.seen.Err = first, err
	l.mu.Unlock()
	if err == nil {
		p.emit(Executed, cmd, first)
	}
	return h.repeat
}

// answered takes the second reply.
func (r *Repeat) answered(reply string) {
	r.hold.link.mu.Lock()
	r.seen.Second = reply
	both := r.seen.Err == nil
	r.hold.link.mu.Unlock()
	r.hold.finish()
	if both {
		close(r.hold.seen)
	}
}

// roundTrip sends request over a connection of its own, to a database, and reads its reply.
func roundTrip(ctx context.Context, dial func(context.Context) (net.Conn, error), database int, request []byte) (Reply, error) {
	nc, err := dial(ctx)
	if err != nil {
		return Reply{}, err
	}
	closed := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(closed)
		_ = nc.Close() // what fails is the call below
	})
	defer func() {
		if !stop() {
			<-closed
			return
		}
		_ = nc.Close() // the reply is here, or its error
	}()
	replies := bufio.NewReader(nc)
	if database != 0 {
		n := strconv.Itoa(database)
		if _, err := fmt.Fprintf(nc, "*2\r\n$6\r\nSELECT\r\n$%d\r\n%s\r\n", len(n), n); err != nil {
			return Reply{}, err
		}
		selected, err := ReadReply(replies)
		if err == nil {
			err = selected.Err()
		}
		if err != nil {
			return Reply{}, err
		}
	}
	if _, err := nc.Write(request); err != nil {
		return Reply{}, err
	}
	return ReadReply(replies)
}
