package embedded

import (
	"bufio"
	"bytes"
	"io"
	"reflect"

	"github.com/alicebob/miniredis/v2/server"
)

// connState is what miniredis keeps about a connection. It is not exported, and
// following every command that changes it would be a second, weaker truth. So it is
// read by reflection; TestStateOf pins the names.
type connState struct {
	db         int  // the database chosen with SELECT
	multi      bool // commands are being queued
	subscribed bool
	nested     bool // miniredis runs a script: its lock is held
}

func stateOf(p *server.Peer) connState {
	if p.Ctx == nil {
		return connState{} // the connection's first command
	}
	v := reflect.ValueOf(p.Ctx).Elem()
	return connState{
		db:         int(v.FieldByName("selectedDB").Int()),
		multi:      !v.FieldByName("transaction").IsNil(),
		subscribed: !v.FieldByName("subscriber").IsNil(),
		nested:     v.FieldByName("nested").Bool(),
	}
}

// discard is a peer nobody listens to.
func discard() *server.Peer { return server.NewPeer(bufio.NewWriterSize(io.Discard, 16)) }

// memory is a peer that writes into memory.
type memory struct {
	*server.Peer
	buf *bytes.Buffer
}

func newMemory() memory {
	buf := new(bytes.Buffer)
	return memory{server.NewPeer(bufio.NewWriter(buf)), buf}
}

// written takes what was written.
func (m memory) written() string {
	m.Flush()
	s := m.buf.String()
	m.buf.Reset()
	return s
}

// nestedContext is what marks a peer as belonging to a running script: its commands
// are executed without taking miniredis' lock, which the script holds. miniredis gives
// it to the peers that its own scripts call with.
func nestedContext(srv *server.Server) any {
	const probe = "LOCKBENCH.PROBE"
	var ctx any
	err := srv.Register(probe, func(c *server.Peer, _ string, _ []string) {
		ctx = c.Ctx
		c.WriteOK()
	}, server.ReadOnlyOption())
	if err == nil {
		srv.Dispatch(discard(), []string{"EVAL_RO", "return redis.call('" + probe + "')", "0"})
	}
	return ctx
}

// cloneContext copies what nestedContext returned.
func cloneContext(ctx any) any {
	v := reflect.New(reflect.TypeOf(ctx).Elem())
	v.Elem().Set(reflect.ValueOf(ctx).Elem())
	return v.Interface()
}
