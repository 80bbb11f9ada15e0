//go:build ignore

// rueidislock: the server answers nothing for 10 s. The holder's key ends meanwhile, and its context later.
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
	ctx, direct := context.Background(), redis.NewClient(&redis.Options{Addr: "127.0.0.1:" + os.Args[1]})
	locker, err := rueidislock.NewLocker(rueidislock.LockerOption{
		KeyMajority: 1, KeyValidity: time.Second, ClientOption: rueidis.ClientOption{InitAddress: []string{direct.Options().Addr}, DisableCache: true},
	})
	if err != nil {
		panic(err)
	}
	held, _, err := locker.TryWithContext(ctx, "orders/42")
	left, silent := direct.PTTL(ctx, "rueidislock:0:orders/42").Val(), direct.Do(ctx, "CLIENT", "PAUSE", 10000, "ALL").Err()
	if err != nil || silent != nil {
		panic(fmt.Sprint(err, silent))
	}
	time.Sleep(left + 100*time.Millisecond)
	late := held.Err() == nil
	fmt.Println("0.1 s after the key has ended the context of its holder is still alive:", late)
	if !late {
		os.Exit(1)
	}
}
