package locks_test

import (
	"context"
	"errors"
	"io"
	"net"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/alicebob/miniredis/v2"

	"github.com/lockbench/lockbench/locks"
)

// A bubble panics if a goroutine is left blocked in it, so that these tests fail on leaks.

func TestClientLeavesNothingBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := miniredis.NewMiniRedis()
		defer m.Close()
		client := locks.NewClient(func(context.Context) (net.Conn, error) { return m.Dial() })
		start := time.Now()
		if err := client.Set(t.Context(), "k", "v", 0).Err(); err != nil {
			t.Fatal(err)
		}
		if got := client.Get(t.Context(), "k").Val(); got != "v" {
			t.Errorf("GET k = %q, want v", got)
		}
		if err := client.Close(); err != nil {
			t.Error(err)
		}
		synctest.Wait()
		if n := m.CurrentConnectionCount(); n != 0 {
			t.Errorf("%d connections are open after Close, want 0", n)
		}
		if took := time.Since(start); took != 0 {
			t.Errorf("virtual time went on by %v: something slept", took)
		}
	})
}

func TestClientReportsFailedDialAndRecovers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := miniredis.NewMiniRedis()
		defer m.Close()
		down := errors.New("server is down")
		up := false
		dials := 0
		client := locks.NewClient(func(context.Context) (net.Conn, error) {
			dials++
			if !up {
				return nil, down
			}
			return m.Dial()
		})
		defer client.Close()

		// More than PoolSize failures in a row, after which a pool of go-redis gives up.
		start := time.Now()
		const calls = 1100
		for range calls {
			if err := client.Get(t.Context(), "k").Err(); !errors.Is(err, down) {
				t.Fatalf("error is %v, want the dial's", err)
			}
		}
		if dials != calls {
			t.Errorf("%d dials for %d calls, want one each", dials, calls)
		}
		up = true
		if err := client.Set(t.Context(), "k", "v", 0).Err(); err != nil {
			t.Errorf("first call after the server came back: %v", err)
		}
		if took := time.Since(start); took != 0 {
			t.Errorf("virtual time went on by %v: something slept", took)
		}
	})
}

func TestClientBrokenConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := miniredis.NewMiniRedis()
		defer m.Close()
		var last net.Conn
		client := locks.NewClient(func(context.Context) (conn net.Conn, err error) {
			last, err = m.Dial()
			return last, err
		})
		defer client.Close()
		if err := client.Ping(t.Context()).Err(); err != nil {
			t.Fatal(err)
		}
		first := last
		if err := first.Close(); err != nil {
			t.Fatal(err)
		}
		if err := client.Ping(t.Context()).Err(); err == nil {
			t.Error("PING on a broken connection succeeded: it was sent again behind the caller's back")
		}
		if err := client.Ping(t.Context()).Err(); err != nil || last == first {
			t.Errorf("PING after that: %v, want a new connection", err)
		}
	})
}

// A command whose reply is lost must not be sent again: a second SET NX would be
// refused because of the first (P26).
func TestClientSendsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := miniredis.NewMiniRedis()
		defer m.Close()
		lose := false
		client := locks.NewClient(func(context.Context) (net.Conn, error) {
			conn, err := m.Dial()
			return lossyConn{conn, &lose}, err
		})
		defer client.Close()
		if err := client.Ping(t.Context()).Err(); err != nil {
			t.Fatal(err)
		}
		lose = true
		before := m.CommandCount()
		err := client.Do(t.Context(), "SET", "k", "token", "NX", "PX", 3000).Err()
		if !errors.Is(err, io.EOF) {
			t.Errorf("SET whose reply was lost answered %v, want EOF", err)
		}
		if n := m.CommandCount() - before; n != 1 || !m.Exists("k") {
			t.Errorf("the server saw %d commands, key set: %v; want the one SET", n, m.Exists("k"))
		}
	})
}

// lossyConn carries commands, and ends instead of carrying the next reply.
type lossyConn struct {
	net.Conn
	lose *bool
}

func (c lossyConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if *c.lose {
		*c.lose = false
		return 0, io.EOF
	}
	return n, err
}

// A connection that the peer hung up while it was idle is replaced before it is used.
func TestClientSeesHangUps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := miniredis.NewMiniRedis()
		defer m.Close()
		var dialed []*hungUp
		client := locks.NewClient(func(context.Context) (net.Conn, error) {
			conn, err := m.Dial()
			dialed = append(dialed, &hungUp{Conn: conn})
			return dialed[len(dialed)-1], err
		})
		defer client.Close()
		for range 2 {
			if err := client.Ping(t.Context()).Err(); err != nil {
				t.Fatal(err)
			}
		}
		if len(dialed) != 1 {
			t.Fatalf("%d connections for two calls in a row, want 1", len(dialed))
		}
		dialed[0].err = io.EOF
		if err := client.Ping(t.Context()).Err(); err != nil || len(dialed) != 2 {
			t.Errorf("PING after a hang-up: %v on connection %d, want a second connection", err, len(dialed))
		}
	})
}

// hungUp is a connection whose socket reports err.
type hungUp struct {
	net.Conn
	err error
}

func (h *hungUp) SyscallConn() (syscall.RawConn, error) { return rawState{h.err}, nil }

// rawState answers every look at a socket with err.
type rawState struct{ err error }

func (r rawState) Control(func(uintptr)) error    { return r.err }
func (r rawState) Read(func(uintptr) bool) error  { return r.err }
func (r rawState) Write(func(uintptr) bool) error { return r.err }

// The deadline of the context ends a call whose server never answers, or whose dial hangs.
func TestClientDeadline(t *testing.T) {
	stuck := map[string]func(ctx context.Context) (net.Conn, error){
		"no reply": func(context.Context) (net.Conn, error) {
			here, there := net.Pipe()
			go func() {
				defer there.Close()
				buf := make([]byte, 512)
				for {
					if _, err := there.Read(buf); err != nil {
						return
					}
				}
			}()
			return here, nil
		},
		"no connection": func(ctx context.Context) (net.Conn, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		},
	}
	for name, dial := range stuck {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client := locks.NewClient(dial)
				defer client.Close()
				ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
				defer cancel()
				start := time.Now()
				err := client.Get(ctx, "k").Err()
				if err == nil || locks.Classify(err) != locks.Indefinite {
					t.Errorf("error is %v, want an indefinite one", err)
				}
				if took := time.Since(start); took != 300*time.Millisecond {
					t.Errorf("the call took %v, want its deadline of 300ms", took)
				}
			})
		})
	}
}
