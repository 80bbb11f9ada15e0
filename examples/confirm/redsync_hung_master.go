//go:build ignore

// redsync on go-redis of default options: one of five masters hangs, and an acquire takes longer than the lease that it asks for.
package main

import (
	"fmt"
	"net"
	"os"
	"time"

	"github.com/go-redsync/redsync/v4"
	"github.com/go-redsync/redsync/v4/redis"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	client "github.com/redis/go-redis/v9"
)

func main() {
	hung, _ := net.Listen("tcp", "127.0.0.1:0") // it takes connections, and answers nothing
	pools := []redis.Pool{goredis.NewPool(client.NewClient(&client.Options{Addr: hung.Addr().String()}))}
	for db := range 4 {
		pools = append(pools, goredis.NewPool(client.NewClient(&client.Options{Addr: "127.0.0.1:" + os.Args[1], DB: db})))
	}
	began := time.Now()
	err := redsync.New(pools...).NewMutex("orders/42", redsync.WithExpiry(time.Second), redsync.WithTries(1)).Lock()
	fmt.Printf("one of five masters hangs: acquire of a lease of 1 s granted: %v; it took longer than the lease: %v\n", err == nil, time.Since(began) > time.Second)
	if err == nil || time.Since(began) <= time.Second {
		os.Exit(1)
	}
}
