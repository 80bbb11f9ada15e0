package wire

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// clock is the machine's, or the bubble's.
type clock struct{}

func (clock) Now() time.Time { return time.Now() }

func (clock) Sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// inVirtualTime runs f with a fresh link on every network that has virtual time.
func inVirtualTime(t *testing.T, f func(t *testing.T, r *rig)) {
	t.Helper()
	for _, n := range networks {
		if n.bubble {
			t.Run(n.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { f(t, newRig(t, n)) })
			})
		}
	}
}

func (r *rig) delay(base, jitter time.Duration, seed uint64) *Delay {
	r.t.Helper()
	d, err := r.link.Delay(Latency{base, jitter, seed})
	if err != nil {
		r.t.Fatal(err)
	}
	return d
}

func (r *rig) delayed(d *Delay, want Delayed) {
	r.t.Helper()
	if got := d.Seen(); got != want {
		r.t.Errorf("delayed %+v, want %+v", got, want)
	}
}

func TestDelay(t *testing.T) {
	everywhere(t, func(t *testing.T, r *rig) {
		c, _ := r.connect()
		c.send("PING")
		c.receive(pong)
		d := r.delay(3*time.Millisecond, 2*time.Millisecond, 1)
		began := time.Now()
		c.send("PING")
		c.receive(pong)
		took := time.Since(began)
		seen := d.Seen()
		if seen.Messages != 2 || seen.Least < d.Base || seen.Most < seen.Least || took < 2*d.Base {
			t.Errorf("delayed %+v, round trip %v", seen, took)
		}
		if r.net.bubble && (seen.Most > d.Base+d.Jitter || seen.Least+seen.Most != took) {
			t.Errorf("delayed %+v, round trip %v of virtual time", seen, took)
		}
		d.Stop()
		began = time.Now()
		c.send("PING")
		c.receive(pong)
		if took := time.Since(began); r.net.bubble && took != 0 {
			t.Errorf("after the delay a round trip took %v", took)
		}
		r.delayed(d, seen)
	})
}

func TestDelayNeedsClock(t *testing.T) {
	if _, err := NewLink("A", "n1", nil).Delay(Latency{Base: 1}); !errors.Is(err, ErrNoClock) {
		t.Errorf("got %v, want ErrNoClock", err)
	}
}

// Messages are under way at the same time, and none overtakes another.
func TestDelayedMessagesOverlapInOrder(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, r *rig) {
		const n, base, jitter = 50, 20 * time.Millisecond, 30 * time.Millisecond
		d := r.delay(base, jitter, 1)
		c, _ := r.connect()
		began := time.Now()
		go func() {
			for i := range n {
				c.send("SET", "k", fmt.Sprint(i))
				time.Sleep(time.Millisecond)
			}
		}()
		for i := range n {
			c.receive(ok)
			r.executes(fmt.Sprint("SET k ", i))
		}
		if took, most := time.Since(began), n*time.Millisecond+2*(base+jitter); took > most {
			t.Errorf("%d commands took %v, want at most %v", n, took, most)
		}
		if seen := d.Seen(); seen.Least < base || seen.Most >= base+jitter {
			t.Errorf("delayed %+v", seen)
		}
	})
}

func TestDelayedPipeline(t *testing.T) {
	everywhere(t, func(t *testing.T, r *rig) {
		r.delay(time.Millisecond, time.Millisecond, 1)
		r.link.Observe(func(Event) {})
		c, _ := r.connect()
		const n = 2000 // commands, of more than one buffer
		go func() {
			var b []byte
			for range n {
				b = AppendCommand(AppendCommand(b, "PING"), "SET", "k", "v")
			}
			_, _ = c.Write(b)
		}()
		for range n {
			c.receive(pong)
			c.receive(ok)
		}
	})
}

// The seed decides the jitter, of each connection on its own.
func TestDelayIsSeeded(t *testing.T) {
	times := func(seed uint64, pieces bool) (times [2][]time.Duration) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, networks[1])
			r.delay(time.Millisecond, time.Second, seed)
			for conn := range times {
				c, _ := r.connect()
				for range 3 {
					began := time.Now()
					command := string(AppendCommand(nil, "PING"))
					if pieces { // of one instant
						c.write(command[:5])
						r.settle()
						command = command[5:]
					}
					c.write(command)
					c.receive(pong)
					times[conn] = append(times[conn], time.Since(began))
				}
			}
		})
		return times
	}
	first := times(1, false)
	if again := times(1, false); again[0][0] != first[0][0] || !slices.Equal(again[1], first[1]) {
		t.Errorf("seed 1 gave %v and %v", first, again)
	}
	if pieces := times(1, true); !slices.Equal(pieces[0], first[0]) || !slices.Equal(pieces[1], first[1]) {
		t.Errorf("in one piece %v, in two %v", first, pieces)
	}
	if other := times(2, false); slices.Equal(other[0], first[0]) {
		t.Errorf("seeds 1 and 2 gave %v", other)
	}
	if slices.Equal(first[0], first[1]) {
		t.Errorf("both connections took %v", first[0])
	}
}

func TestCutLosesWhatIsDelayed(t *testing.T) {
	everywhere(t, func(t *testing.T, r *rig) {
		c, served := r.connect()
		c.send("PING")
		c.receive(pong)
		r.executes("PING")
		d := r.delay(time.Hour, 0, 1)
		c.send("SET", "k", "v")
		r.settle()
		if n := r.link.Cut(); n != 1 {
			t.Errorf("cut %d connections, want 1", n)
		}
		c.receivesEnd()
		if err := <-served; !errors.Is(err, ErrCut) {
			t.Errorf("Serve: %v, want ErrCut", err)
		}
		r.idle()
		r.delayed(d, Delayed{})
	})
}

func TestCloseWhileDelayed(t *testing.T) {
	everywhere(t, func(t *testing.T, r *rig) {
		d := r.delay(time.Hour, 0, 1)
		c, served := r.connect()
		for range 3 {
			c.send("PING")
		}
		began := time.Now()
		r.link.Close()
		if err := <-served; !errors.Is(err, ErrClosed) {
			t.Errorf("Serve: %v, want ErrClosed", err)
		}
		if took := time.Since(began); r.net.bubble && took != 0 {
			t.Errorf("closing took %v", took)
		}
		r.idle()
		r.delayed(d, Delayed{})
	})
}

// Both run at once: what is frozen for longer than its latency goes on when it thaws.
func TestDelayAndFreeze(t *testing.T) {
	for name, tc := range map[string]struct{ delay, frozen time.Duration }{
		"a short latency": {time.Second, time.Minute},
		"a short freeze":  {time.Minute, time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, r *rig) {
				c, _ := r.connect()
				c.send("PING")
				c.receive(pong)
				r.executes("PING")
				d := r.delay(tc.delay, 0, 1)
				r.link.Freeze()
				began := time.Now()
				c.send("SET", "k", "v")
				time.Sleep(tc.frozen)
				synctest.Wait()
				r.idle()
				kept := 0
				if tc.frozen > tc.delay {
					kept = 1
				}
				if n := r.link.Thaw(); n != kept {
					t.Errorf("kept something on %d connections, want %d", n, kept)
				}
				d.Stop()
				r.executes("SET k v")
				if took := time.Since(began); took != time.Minute {
					t.Errorf("it took %v, want a minute", took)
				}
				c.receive(ok)
			})
		})
	}
}

// What is under way takes its time, and what comes after it does not overtake it.
func TestDelayStops(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, r *rig) {
		c, _ := r.connect()
		d := r.delay(time.Minute, 0, 1)
		began := time.Now()
		c.send("SET", "k", "1")
		r.settle()
		d.Stop()
		c.send("SET", "k", "2")
		c.receive(ok)
		c.receive(ok)
		if took := time.Since(began); took != time.Minute {
			t.Errorf("it took %v, want a minute", took)
		}
		r.executes("SET k 1")
		r.executes("SET k 2")
		r.delayed(d, Delayed{1, time.Minute, time.Minute})
	})
}

// A later Delay replaces an earlier one, whose Stop then does nothing.
func TestLatestDelayCounts(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, r *rig) {
		c, _ := r.connect()
		old := r.delay(time.Hour, 0, 1)
		d := r.delay(time.Second, 0, 1)
		old.Stop()
		c.send("PING")
		c.receive(pong)
		r.delayed(old, Delayed{})
		r.delayed(d, Delayed{2, time.Second, time.Second})
	})
}

func TestDelayedCommandLandsAfterClientIsGone(t *testing.T) {
	everywhere(t, func(t *testing.T, r *rig) {
		r.delay(5*time.Millisecond, 0, 1)
		c, served := r.connect()
		c.send("SET", "k", "v")
		c.Close()
		r.executes("SET k v")
		if err := <-served; err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
}

// The end of a connection does not overtake its bytes.
func TestDelayedReplyBeforeEnd(t *testing.T) {
	everywhere(t, func(t *testing.T, r *rig) {
		r.delay(5*time.Millisecond, 0, 1)
		c, _ := r.connect()
		c.send("QUIT") // the node answers and hangs up
		c.receive(ok)
		c.receivesEnd()
	})
}

// The node's end never reaches the client at the instant of the last reply: whether the client
// gets to send its next command first would be left to chance.
func TestEndIsBehindLastReply(t *testing.T) {
	for name, hold := range map[string]func(*rig) (release func()){
		"at once": func(*rig) func() { return func() {} },
		"delayed": func(r *rig) func() { r.delay(time.Second, 0, 1); return func() {} },
		"frozen":  func(r *rig) func() { r.link.FreezeOneWay(Replies); return func() { r.link.Thaw() } },
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, r *rig) {
				c, _ := r.connect()
				c.send("PING")
				c.receive("+PONG\r\n")
				release := hold(r)
				c.send("QUIT") // the node answers and hangs up
				synctest.Wait()
				release()
				c.receive(ok)
				replied := time.Now()
				c.receivesEnd()
				if !time.Now().After(replied) {
					t.Error("the reply and the end came at the same instant")
				}
			})
		})
	}
}

func TestDelayedSubscriber(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, r *rig) {
		c, _ := r.connect()
		c.send("SUBSCRIBE", "c")
		c.receive("+raw\r\n")
		d := r.delay(time.Second, 0, 1)
		began := time.Now()
		for _, message := range []string{"one ", "two ", "three "} {
			c.write(message) // the node echoes it
			time.Sleep(time.Millisecond)
		}
		c.expect("one two three ")
		if took, want := time.Since(began), 2*time.Second+2*time.Millisecond; took != want {
			t.Errorf("three messages took %v, want %v", took, want)
		}
		r.delayed(d, Delayed{6, time.Second, time.Second})
	})
}

// The other direction takes no longer than without.
func TestDelayOneWay(t *testing.T) {
	for _, way := range []Direction{Requests, Replies} {
		inVirtualTime(t, func(t *testing.T, r *rig) {
			const base = 20 * time.Millisecond
			d, err := r.link.DelayOneWay(way, Latency{Base: base})
			if err != nil {
				t.Fatal(err)
			}
			c, _ := r.connect()
			began := time.Now()
			c.send("PING")
			c.receive(pong)
			if took := time.Since(began); took != base {
				t.Errorf("a round trip took %v, want %v", took, base)
			}
			r.delayed(d, Delayed{Messages: 1, Least: base, Most: base})
		})
	}
}
