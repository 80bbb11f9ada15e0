package wire

import (
	"bufio"
	"io"
	"math/rand/v2"
	"net"
	"sync"
	"testing"
	"time"
)

// Everything at once: clients come and go while the link is frozen, cut and given
// rules. Nothing is asserted but that it ends; the race detector and the leak
// check do the rest.
func TestEverythingAtOnce(t *testing.T) {
	for _, n := range networks {
		t.Run(n.name, func(t *testing.T) {
			r := newRig(t, n)
			go func() {
				for range r.node.executed { // let the node go on
				}
			}()
			t.Cleanup(func() { close(r.node.executed) })
			var clients sync.WaitGroup
			for range 4 {
				clients.Go(func() {
					for range 15 {
						near, far := n.pair(t)
						r.wg.Go(func() { _ = r.link.Serve(r.ctx, far) })
						talk(near)
						_ = near.Close()
					}
				})
			}
			done := make(chan struct{})
			go func() { clients.Wait(); close(done) }()
			disturb(r.link, done)
			r.link.Close()
			r.wg.Wait()
		})
	}
}

func talk(nc net.Conn) {
	r := bufio.NewReader(nc)
	for range 5 {
		if _, err := io.WriteString(nc, "SET k v\r\nGET k\r\n"); err != nil {
			return
		}
		for range 2 {
			if _, err := ReadReply(r); err != nil {
				return
			}
		}
	}
}

func disturb(l *Link, done <-chan struct{}) {
	rng := rand.New(rand.NewPCG(1, 2))
	for {
		select {
		case <-done:
			return
		default:
		}
		var h *Hold
		switch rng.IntN(3) {
		case 0:
			h = l.HoldRequest(Match{Names: []string{"SET"}, Nth: rng.IntN(3)})
		case 1:
			h = l.HoldReply(Match{})
		case 2:
			h = l.DropReply(Match{Names: []string{"GET"}}, CloseConn)
		}
		l.Observe([]func(Event){nil, func(Event) {}}[rng.IntN(2)])
		l.Freeze()
		if rng.IntN(2) == 0 {
			l.Cut()
		}
		l.Thaw()
		l.Heal()
		if rng.IntN(2) == 0 {
			h.Release()
		} else {
			h.Drop()
		}
		if rng.IntN(2) == 0 { // this one stays until the next
			d, _ := l.Delay(Latency{Base: time.Microsecond, Jitter: time.Millisecond, Seed: rng.Uint64()})
			_ = d.Seen()
			if rng.IntN(2) == 0 {
				d.Stop()
			}
		}
		once := l.Repeat(Match{Names: []string{"GET"}})
		some := l.Lose(func(c Command) bool { return c.Seq%7 == 0 })
		l.CutSubscribers()
		_ = once.Seen()
		l.HealSubscribers()
		some.Stop()
		once.Stop()
	}
}
