package histories

import "testing"

func TestMode(t *testing.T) {
	for _, tt := range []struct {
		e    Event
		want Mode
	}{
		{Event{F: Acquire}, Exclusive},
		{Event{F: Acquire, Value: "read"}, Shared},
		{Event{F: Acquire, Value: "reenter"}, Reentrant},
		{Event{F: Acquire, Value: "write"}, Exclusive},
		{Event{F: Read, Value: "read"}, Exclusive}, // the register holds that
	} {
		if got := tt.e.Mode(); got != tt.want {
			t.Errorf("%s of %q has mode %q, want %q", tt.e.F, tt.e.Value, got, tt.want)
		}
	}
}

func TestShares(t *testing.T) {
	hold := func(m Mode, worker int) Hold { return Hold{Mode: m, Worker: worker} }
	for _, tt := range []struct {
		a, b Hold
		want bool
	}{
		{hold(Shared, 0), hold(Shared, 1), true},
		{hold(Shared, 0), hold(Exclusive, 0), false},
		{hold(Exclusive, 0), hold(Exclusive, 0), false},
		{hold(Reentrant, 0), hold(Reentrant, 0), true},
		{hold(Reentrant, 0), hold(Reentrant, 1), false},
		{hold(Reentrant, 0), hold(Exclusive, 0), false},
		{hold(Reentrant, 0), hold(Shared, 0), false},
	} {
		if tt.a.Shares(tt.b) != tt.want || tt.b.Shares(tt.a) != tt.want {
			t.Errorf("%q of %d and %q of %d: want %v", tt.a.Mode, tt.a.Worker, tt.b.Mode, tt.b.Worker, tt.want)
		}
	}
}

// TestHoldsHaveModes checks that the mode is that of the call, whatever its answer says.
func TestHoldsHaveModes(t *testing.T) {
	var b builder
	a := b.client(0, 0)
	a.attempt = 1
	a.call(Acquire, OK)
	b.events[0].Value = "read"
	if got := Holds(b.events)[0].Mode; got != Shared {
		t.Errorf("mode %q", got)
	}
}
