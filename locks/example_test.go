package locks_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log"
	"net"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockbench/lockbench/locks"
)

// dialTo returns a dialer for one server.
func dialTo(addr string) func(ctx context.Context) (net.Conn, error) {
	return func(ctx context.Context) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "tcp", addr)
	}
}

// A critical section under the correct lock on a single instance.
func ExampleSpec() {
	spec, err := locks.All().Find("setnx-px-lua")
	if err != nil {
		log.Fatal(err)
	}
	client := locks.NewClient(dialTo("localhost:6379"))
	defer client.Close()
	lock := spec.New(locks.Env{Nodes: []*redis.Client{client}, Clock: clock{}, Rand: rand.Reader})

	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	lease, err := lock.Acquire(ctx, "orders/42", 3*time.Second)
	switch {
	case errors.Is(err, locks.ErrTaken):
		fmt.Println("somebody else is at it")
		return
	case err != nil:
		log.Print("not known whether the lock is held: ", err)
		return
	}
	// Work, and stop before the lease can end: time.Now() < lease.Deadline().
	if err := lease.Release(ctx); errors.Is(err, locks.ErrNotHeld) {
		fmt.Println("the lease ended too early: the work may have overlapped with another's")
	}
}

// Redlock needs independent masters, not replicas of each other.
func ExampleSpec_redlock() {
	spec, err := locks.All().Find("redlock")
	if err != nil {
		log.Fatal(err)
	}
	env := locks.Env{Clock: clock{}, Rand: rand.Reader}
	for port := 6380; port < 6385; port++ {
		client := locks.NewClient(dialTo(fmt.Sprintf("localhost:%d", port)))
		defer client.Close()
		env.Nodes = append(env.Nodes, client)
	}

	ctx := context.Background()
	lease, err := spec.New(env).Acquire(ctx, "orders/42", 3*time.Second)
	var undecided *locks.QuorumError
	if errors.As(err, &undecided) {
		fmt.Printf("%d of %d masters agreed\n", undecided.Yes, undecided.Nodes)
	}
	if err != nil {
		return
	}
	fmt.Println("held for at most", time.Until(lease.Deadline()))
	if err := lease.Release(ctx); err != nil {
		fmt.Println("release:", err)
	}
}
