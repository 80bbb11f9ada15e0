package resource_test

import (
	"context"
	"errors"
	"net"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"

	"github.com/lockbench/lockbench/locks"
	"github.com/lockbench/lockbench/resource"
)

func newRegister(t *testing.T) *resource.Register {
	m := miniredis.NewMiniRedis()
	client := locks.NewClient(func(context.Context) (net.Conn, error) { return m.Dial() })
	t.Cleanup(func() {
		_ = client.Close()
		m.Close()
	})
	return resource.NewRegister(client, "orders/42")
}

// lease is a lease with a token of the test's choice.
type lease struct {
	token  int64
	verify error
}

func (l lease) Release(context.Context) error { return nil }
func (l lease) Token() int64                  { return l.token }
func (l lease) Deadline() time.Time           { return time.Time{} }
func (l lease) Verify(context.Context) error  { return l.verify }

func timeout(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func TestVersionsTellLostUpdates(t *testing.T) {
	r, ctx := newRegister(t), timeout(t)
	if err := r.Load(ctx); err != nil {
		t.Fatal(err)
	}
	a, err := r.Read(ctx, 0)
	if err != nil || a != (resource.State{}) {
		t.Fatalf("a fresh register reads %+v, %v", a, err)
	}
	for want := range int64(3) { // three writers that all read version 0
		replaced, err := r.Write(ctx, a.Value+1, 0)
		if err != nil || replaced.Version != want {
			t.Fatalf("write %d replaced version %d, %v", want, replaced.Version, err)
		}
	}
	if s, err := r.Read(ctx, 0); err != nil || s.Value != 1 || s.Version != 3 {
		t.Fatalf("after three writes of 1: %+v, %v", s, err)
	}
}

func TestFence(t *testing.T) {
	r, ctx := newRegister(t), timeout(t)
	old, young := lease{token: 7}, lease{token: 8}
	if _, err := resource.Fence.Write(ctx, r, old, 1); err != nil {
		t.Fatal(err)
	}
	if _, err := resource.Fence.Read(ctx, r, young); err != nil { // a read raises the fence, too
		t.Fatal(err)
	}
	if _, err := resource.Fence.Write(ctx, r, old, 2); !errors.Is(err, resource.ErrStale) {
		t.Errorf("a write with an old token: %v", err)
	}
	if _, err := resource.Fence.Read(ctx, r, old); !errors.Is(err, resource.ErrStale) {
		t.Errorf("a read with an old token: %v", err)
	}
	if s, err := resource.None.Read(ctx, r, old); err != nil || s.Version != 1 {
		t.Errorf("without a guard: %+v, %v", s, err)
	}
}

func TestCheckToken(t *testing.T) {
	r, ctx := newRegister(t), timeout(t)
	if _, err := resource.CheckToken.Write(ctx, r, lease{}, 1); err != nil {
		t.Error(err)
	}
	if _, err := resource.CheckToken.Write(ctx, r, lease{verify: locks.ErrNotHeld}, 2); !errors.Is(err, locks.ErrNotHeld) {
		t.Errorf("a write after the lease was lost: %v", err)
	}
	if s, _ := r.Read(ctx, 0); s.Value != 1 {
		t.Errorf("the register holds %d, want what was written before", s.Value)
	}
}

func TestGuardNames(t *testing.T) {
	for _, g := range resource.Guards() {
		if g.String() == "" {
			t.Errorf("guard %d has no name", g)
		}
	}
	if err := resource.Fence.Supports(locks.Spec{Name: "plain"}); err == nil {
		t.Error("guard fence takes a lock without tokens")
	}
	if err := resource.Fence.Supports(locks.Spec{Fencing: true}); err != nil {
		t.Error(err)
	}
}
