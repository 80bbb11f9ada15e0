//go:build ignore

// redsync: which key a mutex has whose expiry nobody gave, and for how long.
package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/go-redsync/redsync/v4"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	"github.com/redis/go-redis/v9"
)

func main() {
	ctx, client := context.Background(), redis.NewClient(&redis.Options{Addr: "127.0.0.1:" + os.Args[1]})
	if err := redsync.New(goredis.NewPool(client)).NewMutex("orders/42").TryLock(); err != nil {
		panic(err)
	}
	for _, key := range client.Keys(ctx, "*").Val() {
		fmt.Println("the key", key, "lives for", client.PTTL(ctx, key).Val().Round(time.Second)) // -1ns: it has no end
	}
}
