//go:build ignore

// rueidislock: the clock of the server is 10 s ahead of the callers'. The key has ended by that clock when it is set, and a second caller
// gets the lock, too. The server is one of its own under libfaketime, which wants the C library named beside it.
package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidislock"
)

func main() {
	library, err := filepath.Glob("/usr/lib/*/faketime/libfaketimeMT.so.1")
	free, taken := net.Listen("tcp", "127.0.0.1:0")
	if err != nil || len(library) == 0 || taken != nil {
		panic("want libfaketime and a free port")
	}
	address, _ := free.Addr().String(), free.Close()
	server := exec.Command("timeout", "20", "env", "LD_PRELOAD="+library[0]+":libc.so.6", "FAKETIME=+10s", "FAKETIME_DONT_FAKE_MONOTONIC=1", "redis-server", "--save", "", "--port", address[10:])
	_ = server.Start() // a server that does not start grants nothing
	var held []context.Context
	for began := time.Now(); len(held) < 2 && time.Since(began) < 10*time.Second; {
		locker, err := rueidislock.NewLocker(rueidislock.LockerOption{KeyMajority: 1, TryNextAfter: time.Second, ClientOption: rueidis.ClientOption{InitAddress: []string{address}, DisableCache: true}})
		if err != nil {
			continue // it is not up yet
		}
		if lock, _, err := locker.TryWithContext(context.Background(), "orders/42"); err == nil {
			held = append(held, lock)
		}
	}
	both := len(held) == 2 && held[0].Err() == nil && held[1].Err() == nil
	fmt.Println("the server's clock is 10 s ahead: a second caller has the lock while the first one has it:", both)
	_, _ = server.Process.Signal(os.Interrupt), server.Wait()
	if !both {
		os.Exit(1)
	}
}
