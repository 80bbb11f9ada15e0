package locks_test

import (
	"bufio"
	"context"
	"errors"
	"net"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockbench/lockbench/locks"
)

// subscribe waits for key with client B, whose connections can be cut.
func subscribe(t *testing.T, lock locks.Locker, key string) (<-chan struct{}, func()) {
	t.Helper()
	wake, end, err := lock.(locks.Notifier).Subscribe(t.Context(), key)
	if err != nil {
		t.Fatalf("subscribe: %v", err)
	}
	return wake, end
}

func told(c <-chan struct{}) bool {
	synctest.Wait()
	return isClosed(c) // takes the value
}

func TestSubscribe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStand(t)
		a, b := s.lock("A", constructor("redisson-style")), s.lock("B", constructor("redisson-style"))
		outer, inner := s.acquire(a, "k1", heldTTL), s.acquire(a, "k1", heldTTL)
		other := s.acquire(a, "k2", heldTTL)
		connections := s.node.TotalConnectionCount()

		one, endOne := subscribe(t, b, "k1")
		too, endToo := subscribe(t, b, "k1")
		two, endTwo := subscribe(t, b, "k2")
		if told(one) || told(too) || told(two) {
			t.Error("told before a release")
		}
		s.release(inner)
		if told(one) {
			t.Error("told of a release that freed nothing")
		}
		s.release(outer)
		if !told(one) || !told(too) || told(two) {
			t.Error("the waiters for k1, and they alone, must be told")
		}
		endOne()
		endOne()
		for range 3 { // of several, one value is left
			s.release(s.acquire(a, "k1", heldTTL))
		}
		if !told(too) || told(too) || told(one) {
			t.Error("the one waiter for k1 that is left must be told once")
		}
		endToo()
		s.release(s.acquire(a, "k1", heldTTL))
		s.release(other)
		if told(too) || !told(two) {
			t.Error("the waiter for k2, and it alone, must be told")
		}
		endTwo()
		synctest.Wait()
		if n := s.node.PubSubNumSub(locks.RedissonChannel("k1"), locks.RedissonChannel("k2")); n[locks.RedissonChannel("k1")]+n[locks.RedissonChannel("k2")] != 0 {
			t.Errorf("subscriptions are left: %v", n)
		}
		wake, end := subscribe(t, b, "k1")
		s.release(s.acquire(a, "k1", heldTTL))
		if !told(wake) {
			t.Error("not told after it subscribed again")
		}
		end()
		if n := s.node.TotalConnectionCount() - connections; n != 1 {
			t.Errorf("%d connections for subscriptions, want 1", n)
		}
		if took := time.Since(s.start); took != 0 {
			t.Errorf("virtual time went on by %v: something slept", took)
		}
	})
}

// An UNSUBSCRIBE that is under way does not end the subscription after it.
func TestSubscribeAgainAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStand(t)
		a := s.lock("A", constructor("redisson-style"))
		b := s.over("B", func(context.Context) (net.Conn, error) {
			conn, err := s.node.dial(context.Background())
			return slowConn{conn}, err
		}, constructor("redisson-style"))
		for range 3 {
			_, end := subscribe(t, b, heldKey)
			end()
			gaveUp, cancel := context.WithTimeout(t.Context(), time.Microsecond)
			if _, _, err := b.(locks.Notifier).Subscribe(gaveUp, heldKey); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("subscribe answered %v, want DeadlineExceeded", err)
			}
			cancel()
		}
		wake, end := subscribe(t, b, heldKey)
		s.release(s.acquire(a, heldKey, heldTTL))
		time.Sleep(time.Second)
		if !told(wake) {
			t.Error("not told of the release")
		}
		end()
		time.Sleep(time.Second) // for what is under way
	})
}

// slowConn delays every message, each way.
type slowConn struct{ net.Conn }

func (c slowConn) Write(b []byte) (int, error) {
	time.Sleep(3 * time.Millisecond)
	return c.Conn.Write(b)
}

func (c slowConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if err == nil {
		time.Sleep(3 * time.Millisecond)
	}
	return n, err
}

// Who waits is told that a release may have been missed, and waits on.
func TestSubscriptionSurvivesCut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStand(t)
		link, dial := s.link("B")
		a, b := s.lock("A", constructor("redisson-style")), s.over("B", dial, constructor("redisson-style"))
		wake, end := subscribe(t, b, heldKey)
		defer end()
		link.Cut()
		if !told(wake) {
			t.Error("not told that the connection broke")
		}
		if _, _, err := b.(locks.Notifier).Subscribe(t.Context(), "other"); err == nil {
			t.Error("subscribed while cut off")
		}
		time.Sleep(time.Second)
		told(wake)
		s.release(s.acquire(a, heldKey, heldTTL)) // missed
		link.Heal()
		time.Sleep(time.Second)
		if !told(wake) {
			t.Error("not told of what may have been missed")
		}
		s.release(s.acquire(a, heldKey, heldTTL))
		if !told(wake) {
			t.Error("not told of a release after the connection is back")
		}
	})
}

func TestSubscribeFails(t *testing.T) {
	for name, tt := range map[string]struct {
		spoil func(s *stand)
		want  string
	}{
		"down":    {func(s *stand) { s.node.down.Store(true) }, "connection refused"},
		"refused": {func(s *stand) { s.node.SetError("NOPERM no such right") }, "NOPERM"},
		"silent":  {func(s *stand) { s.node.swallow.Store(1) }, context.DeadlineExceeded.Error()},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStand(t)
				b := s.lock("B", constructor("redisson-style"))
				tt.spoil(s)
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				wake, end, err := b.(locks.Notifier).Subscribe(ctx, heldKey)
				if err == nil || wake != nil || end != nil || !strings.Contains(err.Error(), tt.want) {
					t.Errorf("subscribe answered %v, want an error with %q", err, tt.want)
				}
			})
		})
	}
	t.Run("closed", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := newStand(t)
			b := s.lock("B", constructor("redisson-style"))
			_, end := subscribe(t, b, heldKey)
			_ = b.(interface{ Close() error }).Close()
			synctest.Wait()
			end()
			if _, _, err := b.(locks.Notifier).Subscribe(t.Context(), heldKey); !errors.Is(err, net.ErrClosed) {
				t.Errorf("subscribe after Close answered %v, want ErrClosed", err)
			}
		})
	})
}

func TestReadMessage(t *testing.T) {
	for _, tt := range []struct {
		in   string
		want []string
		err  string
	}{
		{in: "*3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$1\r\n0\r\n", want: []string{"message", "c", "0"}},
		{in: "*3\r\n$9\r\nsubscribe\r\n$1\r\nc\r\n:1\r\n", want: []string{"subscribe", "c", "1"}},
		{in: "*3\r\n$7\r\nmessage\r\n$2\r\n\r\n\r\n$0\r\n\r\n", want: []string{"message", "\r\n", ""}},
		{in: "-NOPERM no such right\r\n", err: `"-NOPERM no such right"`},
		{in: "*2\r\n$1\r\na\r\n$1\r\nb\r\n", err: `"*2"`},
		{in: "*3\r\n$-1\r\n", err: `"$-1"`},
		{in: "*3\r\n$x\r\n", err: `"$x"`},
		{in: "*3\r\n+OK\r\n", err: `"+OK"`},
		{in: "*3\r\n$99999999999\r\n", err: "99999999999"},
		{in: "*3\r\n$7\r\nmess", err: "EOF"},
		{in: "*3", err: "EOF"},
		{in: "", err: "EOF"},
		{in: strings.Repeat("x", 1<<20), err: "buffer full"},
	} {
		got, err := locks.ReadMessage(bufio.NewReader(strings.NewReader(tt.in)))
		if !slices.Equal(got, tt.want) || (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
			t.Errorf("%.40q: %q, %v; want %q and an error with %q", tt.in, got, err, tt.want, tt.err)
		}
	}
}
