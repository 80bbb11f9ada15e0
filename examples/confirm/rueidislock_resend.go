//go:build ignore

// rueidislock: the reply to the script that takes the lock is lost, it is sent again and meets its own key: refused, and the key is there.
package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidislock"
)

// deaf loses the first reply after the key was made, with its connection.
type deaf struct {
	net.Conn
	taken func() bool
	once  *sync.Once
}

func (d deaf) Read(b []byte) (n int, err error) {
	if n, err = d.Conn.Read(b); d.taken() {
		d.once.Do(func() { n, err = 0, io.EOF })
	}
	return n, err
}

func main() {
	ctx, direct, once := context.Background(), redis.NewClient(&redis.Options{Addr: "127.0.0.1:" + os.Args[1]}), new(sync.Once)
	taken := func() bool { return direct.Exists(ctx, "rueidislock:0:orders/42").Val() == 1 }
	option := rueidis.ClientOption{InitAddress: []string{direct.Options().Addr}, DisableCache: true}
	option.DialCtxFn = func(ctx context.Context, address string, d *net.Dialer, _ *tls.Config) (net.Conn, error) {
		c, err := d.DialContext(ctx, "tcp", address)
		return deaf{c, taken, once}, err
	}
	locker, _ := rueidislock.NewLocker(rueidislock.LockerOption{KeyMajority: 1, TryNextAfter: time.Second, ClientOption: option})
	_, _, err := locker.TryWithContext(ctx, "orders/42")
	fmt.Printf("acquire: %v; its key is left: %v\n", err, taken())
	if err == nil || !taken() {
		os.Exit(1)
	}
}
