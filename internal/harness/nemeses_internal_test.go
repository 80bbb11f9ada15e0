package harness

import (
	"strings"
	"testing"

	"github.com/lockbench/lockbench/nemesis"
)

func TestIncompatibleKinds(t *testing.T) {
	for names, want := range map[string]string{
		"sentinel,pause,replication,restart": "",
		"failover,split-brain,demote":        "",
		"pause,sentinel,demote":              "nemesis demote chooses it",
	} {
		kinds, err := nemesis.Find(strings.Split(names, ","))
		if err != nil {
			t.Fatal(err)
		}
		switch err := compatible(kinds); {
		case want == "" && err != nil, want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%s: %v, want %q", names, err, want)
		}
	}
}
