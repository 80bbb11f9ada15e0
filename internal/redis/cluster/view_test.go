package cluster

import "testing"

// two is a cluster of which only Primary is asked.
type two struct{ Cluster }

func (two) Primary(shard int) string { return []string{"n1", "n2"}[shard] }

func TestView(t *testing.T) {
	var v View
	want := func(shard int, node string) {
		t.Helper()
		if got := v.Primary(two{}, shard); got != node {
			t.Errorf("shard %d is served by %s, want %s", shard, got, node)
		}
	}
	want(0, "n1")
	v.Pin(0, "replica")
	want(0, "replica")
	want(1, "n2")
	v.Unpin(1)
	want(0, "replica")
	v.Unpin(0)
	want(0, "n1")
}
