package docker_test

import (
	"testing"

	"github.com/lockbench/lockbench/docker"
)

func TestBackend(t *testing.T) {
	b := docker.Backend()
	if b.Virtual() || b.UsersOwn || !b.Containers {
		t.Errorf("%s: virtual %v, the user's own %v, containers %v; want containers in real time", b.Name, b.Virtual(), b.UsersOwn, b.Containers)
	}
	for processors, want := range map[int]int{2: 8, 16: 16} {
		if got := b.Width(processors); got != want {
			t.Errorf("%d runs at a time on %d processors, want %d", got, processors, want)
		}
	}
}
