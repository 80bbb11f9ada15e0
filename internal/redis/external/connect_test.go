package external

import (
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestGoodbye closes a connection to a server that is slow to read what was sent, and
// checks that the goodbye is over only once the server has.
func TestGoodbye(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	var read atomic.Int64
	go func() {
		conn, err := l.Accept()
		if err != nil {
			return // the test has failed
		}
		time.Sleep(50 * time.Millisecond)
		all, _ := io.ReadAll(conn)
		read.Store(int64(len(all)))
		_ = conn.Close()
	}()
	conn, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	var goodbyes sync.WaitGroup
	u := &upstream{Conn: conn, goodbyes: &goodbyes}
	if _, err := u.Write(make([]byte, 1000)); err != nil {
		t.Fatal(err)
	}
	reader := make(chan error)
	go func() {
		_, err := u.Read(make([]byte, 1))
		reader <- err
	}()
	if err := u.Close(); err != nil {
		t.Error(err)
	}
	goodbyes.Wait()
	if n := read.Load(); n != 1000 {
		t.Errorf("the server has read %d bytes when the goodbye is over, want 1000", n)
	}
	if err := <-reader; err == nil {
		t.Error("a read after Close has worked")
	}
}
