package report

import (
	"strings"
	"testing"

	"github.com/lockbench/lockbench/checker"
)

// TestPeers: what is unavoidable and what is the lock's own fault are told apart, with who kept it.
func TestPeers(t *testing.T) {
	r := Run{Judgement: checker.Judgement{Peers: &checker.Peers{
		Class: "one master, lease", References: []string{"set-options", "setnx-px-lua"}, Seed: 7, Seeds: 20,
		Unavoidable: []checker.Property{checker.ResourceSafety},
		Own:         []checker.OwnFault{{Property: checker.Ownership, KeptBy: []string{"setnx-px-lua"}}, {Property: checker.Availability}},
	}}}
	got := strings.Join(Peers(r), "\n")
	want := `Own fault: ownership. Under the same load and faults it is kept by setnx-px-lua, with all of seeds 7 to 26, in virtual time.
Own fault: availability. No other lock of its class (one master, lease) was seen to break it under the same load and faults.
Unavoidable: resource safety. No other lock of its class (one master, lease) keeps that under the same load and faults: set-options and setnx-px-lua broke it with some of seeds 7 to 26, in virtual time. It decides nothing.`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	r.Judgement.Peers = &checker.Peers{
		Class: "one master, lease", References: []string{"set-options", "setnx-px-lua"}, Seed: 7, Seeds: 100, Alike: true,
		Unavoidable: []checker.Property{checker.ResourceSafety}, Rare: []checker.Property{checker.Ownership},
	}
	got = strings.Join(Peers(r), "\n")
	want = `Unavoidable: resource safety. Of the other locks of its class (one master, lease) one at least breaks that when its clients do the same under the same faults: of set-options and setnx-px-lua, with some of seeds 7 to 106, in virtual time. It decides nothing.
Seen too seldom: ownership. When its clients did the same with the next seeds, in virtual time, the lock nearly always kept that, so that other locks cannot show whose fault it is.`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if text := Peers(Run{}); text != nil {
		t.Errorf("of a run that was not measured it says %q", text)
	}
}
