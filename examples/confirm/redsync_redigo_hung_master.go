//go:build ignore

// redsync on redigo as its example has it: one of five masters hangs, and an acquire does not return, whatever its context says.
package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"time"

	"github.com/go-redsync/redsync/v4"
	"github.com/go-redsync/redsync/v4/redis"
	"github.com/go-redsync/redsync/v4/redis/redigo"
	client "github.com/gomodule/redigo/redis"
)

func main() {
	hung, _ := net.Listen("tcp", "127.0.0.1:0") // it takes connections, and answers nothing
	urls := []string{"redis://" + hung.Addr().String()}
	for db := range 4 {
		urls = append(urls, fmt.Sprintf("redis://127.0.0.1:%s/%d", os.Args[1], db))
	}
	var pools []redis.Pool
	for _, url := range urls {
		pools = append(pools, redigo.NewPool(&client.Pool{MaxIdle: 3, Dial: func() (client.Conn, error) { return client.DialURL(url) }}))
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	returned := make(chan error, 1)
	go func() {
		returned <- redsync.New(pools...).NewMutex("orders/42", redsync.WithExpiry(time.Second), redsync.WithTries(1)).LockContext(ctx)
	}()
	time.Sleep(10 * time.Second) // ten times the lease, and the context
	hangs := len(returned) == 0
	fmt.Println("one of five masters hangs: after 10 s an acquire with a context of 1 s has not returned:", hangs)
	if !hangs {
		os.Exit(1)
	}
}
