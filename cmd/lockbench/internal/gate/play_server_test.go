package gate

import "testing"

func TestServersOfRows(t *testing.T) {
	rows := []Row{{Server: "Valkey 8.1.1"}, {}, {Server: "Redis 7.0.15"}, {Server: "Valkey 8.1.1"}}
	if got, want := servers(rows), "Redis 7.0.15, Valkey 8.1.1"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestMergedServer: a part in which no run came to a server says nothing of it.
func TestMergedServer(t *testing.T) {
	for _, tc := range []struct {
		a, b string
		ok   bool
	}{{"Redis 7.0.15", "Redis 7.0.15", true}, {"Redis 7.0.15", "", true}, {"", "", true}, {"Redis 7.0.15", "Valkey 8.1.1", false}} {
		if err := samePlan(Part{Results: Results{Server: tc.a}}, Part{Results: Results{Server: tc.b}}); (err == nil) != tc.ok {
			t.Errorf("%q and %q: %v", tc.a, tc.b, err)
		}
	}
}
