//go:build ignore

// rueidislock: which keys a lock has whose KeyValidity nobody gave, and for how long.
package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidislock"
)

func main() {
	ctx, client := context.Background(), redis.NewClient(&redis.Options{Addr: "127.0.0.1:" + os.Args[1]})
	locker, err := rueidislock.NewLocker(rueidislock.LockerOption{KeyMajority: 1, ClientOption: rueidis.ClientOption{InitAddress: []string{client.Options().Addr}}})
	if err != nil {
		panic(err)
	}
	if _, _, err := locker.TryWithContext(ctx, "orders/42"); err != nil {
		panic(err)
	}
	for _, key := range client.Keys(ctx, "*").Val() {
		fmt.Println("the key", key, "lives for", client.PTTL(ctx, key).Val().Round(time.Second)) // -1ns: it has no end
	}
}
