package wire

import (
	"bufio"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestConn(t *testing.T) {
	for _, n := range networks {
		t.Run(n.name, func(t *testing.T) {
			near, far := n.pair(t)
			go func() {
				defer far.Close()
				r := bufio.NewReader(far)
				for _, reply := range []string{">1\r\n+x\r\n+PONG\r\n", "-ERR no\r\n", "+cut"} {
					if _, err := readCommand(r); err != nil {
						return
					}
					_, _ = io.WriteString(far, reply)
				}
			}()
			c := NewConn(near)
			defer func() { _ = c.Close() }()
			if reply, err := c.Do(t.Context(), "PING"); err != nil || reply.Text() != "PONG" {
				t.Errorf("PING: %v, %v", reply, err)
			}
			if reply, err := c.Do(t.Context(), "NO"); err != nil || reply.Err() == nil {
				t.Errorf("NO: %v, %v, want an error reply", reply, err)
			}
			if _, err := c.Do(t.Context()); err == nil {
				t.Error("a command without a name was sent")
			}
			if _, err := c.Do(t.Context(), "PING"); !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Errorf("cut reply: %v, want an unexpected end", err)
			}
			if _, err := c.Do(t.Context(), "PING"); !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Errorf("after an error: %v, want the same error", err)
			}
		})
	}
}

// TestPipeline checks that each command gets its own reply, also if one is refused, and that a
// connection which ends half-way through names the command that got none.
func TestPipeline(t *testing.T) {
	for _, n := range networks {
		t.Run(n.name, func(t *testing.T) {
			near, far := n.pair(t)
			go func() {
				defer far.Close()
				r := bufio.NewReader(far)
				for range 3 {
					if _, err := readCommand(r); err != nil {
						return
					}
				}
				_, _ = io.WriteString(far, "+1\r\n>1\r\n+x\r\n-ERR no\r\n:3\r\n")
				for range 2 {
					if _, err := readCommand(r); err != nil {
						return
					}
				}
				_, _ = io.WriteString(far, "+4\r\n")
			}()
			c := NewConn(near)
			defer func() { _ = c.Close() }()
			replies, err := c.Pipeline(t.Context(), []string{"ONE"}, []string{"TWO"}, []string{"THREE"})
			if err != nil || len(replies) != 3 || replies[0].Text() != "1" || replies[1].Err() == nil || replies[2].Text() != "3" {
				t.Errorf("%v, %v", replies, err)
			}
			if _, err := c.Pipeline(t.Context(), []string{"FOUR"}, nil); err == nil {
				t.Error("a command without a name was sent")
			}
			if replies, err := c.Pipeline(t.Context(), []string{"FOUR"}, []string{"FIVE"}); !errors.Is(err, io.ErrUnexpectedEOF) || !strings.Contains(err.Error(), "FIVE") {
				t.Errorf("cut: %v, %v, want an unexpected end after FIVE", replies, err)
			}
		})
	}
}

func TestConnInterrupted(t *testing.T) {
	for _, n := range networks[1:] {
		t.Run(n.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				near, far := n.pair(t)
				defer far.Close()
				go func() { _, _ = io.Copy(io.Discard, far) }()
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				start := time.Now()
				_, err := NewConn(near).Do(ctx, "PING")
				if !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != time.Minute {
					t.Errorf("got %v after %v, want a time-out after 1m", err, time.Since(start))
				}
			})
			synctest.Test(t, func(t *testing.T) {
				near, far := n.pair(t)
				defer far.Close()
				go func() { _, _ = io.Copy(io.Discard, far) }()
				ctx, cancel := context.WithCancel(t.Context())
				time.AfterFunc(time.Second, cancel)
				if _, err := NewConn(near).Do(ctx, "PING"); !errors.Is(err, context.Canceled) {
					t.Errorf("got %v, want cancelled", err)
				}
			})
		})
	}
}
