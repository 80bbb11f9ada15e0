package resource_test

import (
	"context"
	"errors"
	"net"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"

	"github.com/lockbench/lockbench/internal/resource"
	"github.com/lockbench/lockbench/locks"
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
	token    int64
	verify   error
	deadline time.Time
}

func (l lease) Release(context.Context) error { return nil }
func (l lease) Token() int64                  { return l.token }
func (l lease) Deadline() time.Time           { return l.deadline }
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

// clock is a clock that stands still.
type clock struct{ now time.Time }

func (c clock) Now() time.Time                             { return c.now }
func (c clock) Sleep(context.Context, time.Duration) error { return nil }
func (c clock) After(time.Duration) <-chan time.Time       { return nil }

func TestFence(t *testing.T) {
	r, ctx := newRegister(t), timeout(t)
	old, young := resource.Fence.Enter(r, lease{token: 7}, nil), resource.Fence.Enter(r, lease{token: 8}, nil)
	if _, err := old.Write(ctx, 1); err != nil {
		t.Fatal(err)
	}
	if _, err := young.Read(ctx); err != nil { // a read raises the fence, too
		t.Fatal(err)
	}
	if _, err := old.Write(ctx, 2); !errors.Is(err, resource.ErrStale) || !resource.Refused(err) {
		t.Errorf("a write with an old token: %v", err)
	}
	if _, err := old.Read(ctx); !errors.Is(err, resource.ErrStale) {
		t.Errorf("a read with an old token: %v", err)
	}
	if s, err := resource.None.Enter(r, lease{token: 7}, nil).Read(ctx); err != nil || s.Version != 1 {
		t.Errorf("without a guard: %+v, %v", s, err)
	}
}

func TestEpoch(t *testing.T) {
	r, ctx := newRegister(t), timeout(t)
	a, b := resource.Epoch.Enter(r, lease{}, nil), resource.Epoch.Enter(r, lease{}, nil)
	for _, s := range []*resource.Section{a, b} { // b enters after a
		if _, err := s.Read(ctx); err != nil {
			t.Fatal(err)
		}
	}
	if a.Token() >= b.Token() || a.Token() == 0 {
		t.Errorf("tokens %d and then %d, want them to rise", a.Token(), b.Token())
	}
	if _, err := a.Write(ctx, 1); !errors.Is(err, resource.ErrStale) {
		t.Errorf("a write of the section before: %v", err)
	}
	if _, err := b.Write(ctx, 1); err != nil {
		t.Error(err)
	}
	if _, err := b.Read(ctx); err != nil { // a second read draws no new token
		t.Error(err)
	}
	if _, err := resource.Epoch.Enter(r, lease{}, nil).Write(ctx, 2); err != nil {
		t.Errorf("a section that only writes: %v", err)
	}
}

func TestElapsed(t *testing.T) {
	r, ctx := newRegister(t), timeout(t)
	now := time.Unix(1000, 0)
	for _, tc := range []struct {
		deadline time.Time
		want     error
	}{
		{now.Add(1), nil},
		{now, resource.ErrElapsed},
		{now.Add(-time.Hour), resource.ErrElapsed},
		{time.Time{}, nil}, // never ends
	} {
		_, err := resource.Elapsed.Enter(r, lease{deadline: tc.deadline}, clock{now}).Write(ctx, 1)
		if !errors.Is(err, tc.want) || resource.Refused(err) != (tc.want != nil) {
			t.Errorf("at %v, lease until %v: %v, want %v", now, tc.deadline, err, tc.want)
		}
	}
}

func TestCheckToken(t *testing.T) {
	r, ctx := newRegister(t), timeout(t)
	if _, err := resource.CheckToken.Enter(r, lease{}, nil).Write(ctx, 1); err != nil {
		t.Error(err)
	}
	if _, err := resource.CheckToken.Enter(r, lease{verify: locks.ErrNotHeld}, nil).Write(ctx, 2); !errors.Is(err, locks.ErrNotHeld) {
		t.Errorf("a write after the lease was lost: %v", err)
	}
	if s, _ := r.Read(ctx, 0); s.Value != 1 {
		t.Errorf("the register holds %d, want what was written before", s.Value)
	}
}

func TestDoneMarker(t *testing.T) {
	r, ctx := newRegister(t), timeout(t)
	guarded := func() *resource.Section { return resource.DoneMarker.Enter(r, lease{}, nil) }
	first, late := guarded(), guarded()
	if _, err := first.Read(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := first.Write(ctx, 1); err != nil {
		t.Fatal(err)
	}
	if _, err := late.Write(ctx, 1); !errors.Is(err, resource.ErrDone) || !resource.Refused(err) {
		t.Errorf("the same round again: %v", err)
	}
	if _, err := late.Write(ctx, 2); err != nil {
		t.Errorf("the next round: %v", err)
	}
	if s, _ := r.Read(ctx, 0); s.Value != 2 || s.Version != 2 {
		t.Errorf("the register holds %+v, want two writes", s)
	}
}

func TestGuardNames(t *testing.T) {
	for _, g := range resource.Guards() {
		if g.String() == "" || g.Title() == "" {
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
