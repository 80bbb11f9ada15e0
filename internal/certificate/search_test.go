package certificate_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockbench/lockbench/internal/certificate"
)

// searched is a history with what is found in it: the violations of a rule, each as its events, or that
// the rule passes.
type searched struct {
	name, rule, history string
	fails               string // "1 3, 1 5"; "-": it passes; "?": neither
}

const slack = 100 * time.Millisecond

func search(t *testing.T, terms certificate.Terms, cases []searched) {
	t.Helper()
	for _, c := range cases {
		found, err := certificate.Examine(bytes.NewReader(script(t, c.history)), terms)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		var all []string
		for _, v := range found.Fails(c.rule, certificate.BySearch, 10) {
			var events []string
			for _, e := range v.Events {
				events = append(events, fmt.Sprint(e.Index))
			}
			all = append(all, strings.Join(events, " "))
		}
		got := strings.Join(all, ", ")
		if passes := found.Passes(c.rule, certificate.BySearch); got == "" && passes == nil {
			got = "-"
		} else if got == "" {
			got = "?"
		} else if passes == nil {
			t.Errorf("%s: %s is violated, and passes", c.name, c.rule)
		}
		if got != c.fails {
			t.Errorf("%s: %s: found %q, want %q", c.name, c.rule, got, c.fails)
		}
	}
}

const (
	twice = `
		A acquire invoke 0 100
		A acquire ok 10
		B acquire invoke 20 100
		B acquire ok 30
		A release invoke 40
		A release ok 50`
	foreign = `
		A acquire invoke 0 100
		A acquire ok 10
		B acquire invoke 200 10000
		B acquire ok 210
		A release invoke 300
		A release ok 310
		C acquire invoke 320 1000
		C acquire ok 330`
	denied = `
		A acquire invoke 0 10000
		A acquire ok 10
		A release invoke 20
		A release fail 30`
	shown = "A acquire invoke 0 100\nA acquire ok 10\nA release invoke 20\nA release ok 30\n"
)

// TestExclusionIsSearched: two that may not share a key had it at once, or not.
func TestExclusionIsSearched(t *testing.T) {
	const crashed = "A acquire invoke 0 1000\nA acquire ok 10\nA crash info 15\nB acquire invoke 20 1000\nB acquire ok 30"
	const late = "A acquire invoke 0 100\nA acquire ok 10\nB acquire invoke 50 100\nB acquire ok 97"
	const extended = `
		A acquire invoke 0 100
		A acquire ok 10
		A extend invoke 20 1000
		A extend ok 30
		B acquire invoke 500 1000
		B acquire ok 510`
	const shortened = `
		A acquire invoke 0 1000
		A acquire ok 10
		A extend invoke 20 50
		A extend info 30
		B acquire invoke 80 1000
		B acquire ok 90`
	const refused = `
		A acquire invoke 0 1000
		A acquire ok 10
		A extend invoke 20 50
		B acquire invoke 80 1000
		B acquire ok 90
		A extend fail 95`
	const unknown = `
		A acquire invoke 0 1000
		B acquire invoke 5 1000
		A acquire info 10
		B acquire ok 20`
	search(t, certificate.Terms{Slack: slack}, []searched{
		{"in turn", "mutual-exclusion", turn, "-"},
		{"in turn", "lease-honoured", turn, "-"},
		{"held twice", "mutual-exclusion", twice, "1 3"},
		{"no deadline was told", "lease-exclusion", twice, "1 3"},
		{"the lease runs", "lease-honoured", twice, "1 3"},
		{"released before the grant", "mutual-exclusion", "A acquire invoke 0\nA acquire ok 1\nA release invoke 2\nB acquire invoke 3\nB acquire ok 4\nA release ok 5", "-"},
		{"a crash ends a belief", "mutual-exclusion", crashed, "-"},
		{"and no lease", "lease-honoured", crashed, "1 4"},
		{"a crash of another", "mutual-exclusion", "A acquire invoke 0\nA acquire ok 1\nC crash info 2\nB acquire invoke 3\nB acquire ok 4", "1 4"},
		{"a lease is over by 1 % and 2 ms", "lease-honoured", late, "-"},
		{"a belief goes on", "mutual-exclusion", late, "1 3"},
		{"extended", "lease-honoured", extended, "1 5"},
		{"an extend may have shortened it", "lease-honoured", shortened, "-"},
		{"an extend was refused later", "lease-honoured", refused, "1 4"},
		{"of unknown outcome", "mutual-exclusion", unknown, "-"},
		{"and released", "mutual-exclusion", unknown + "\nA release invoke 30\nA release ok 40", "3 4 5"},
	})
}

// TestSmallKeys: on a key of few calls their orders decide: that none of them keeps a rule is a violation, and
// that one of them does leaves what the rule finds as a doubt. On others the rule alone decides.
func TestSmallKeys(t *testing.T) {
	const (
		full = `
			C acquire invoke 0 1000
			B acquire invoke 690 1000
			B acquire ok 700
			C acquire ok 1860
			A acquire invoke 2110 10000
			A acquire ok 2120`
		more    = "\nA release invoke 2200\nA release ok 2210\nA acquire invoke 2300 1000\nA acquire ok 2310\nA release invoke 2400\nA release ok 2410"
		excused = `
			A acquire invoke 0 10000
			A acquire ok 10
			B acquire invoke 330 10000
			B acquire ok 340
			A release invoke 1260
			A release ok 1270
			A acquire invoke 1280 10000
			A acquire fail 1290
			B extend invoke 3520 10000
			B extend fail 3530`
	)
	search(t, certificate.Terms{Slack: slack}, []searched{
		{"a lease too many for the time", "lease-honoured", full, "3 2 5"},
		{"and some calls more", "lease-honoured", full + more, "3 2 9 11"},
		{"and too many calls", "lease-honoured", full + more + "\nC release invoke 2500\nC release ok 2510\nB release invoke 2600\nB release fail 2610\nC release invoke 2700\nC release fail 2710", "-"},
		{"somebody lost it", "lease-honoured", full + "\nA lost info 2200", "-"},
		{"there is a fault", "lease-honoured", full + "\n@ pause invoke 2200", "-"},
		{"what it finds itself comes first", "lease-honoured", twice, "1 3"},
		{"two at once explain it", "ownership", excused, "?"},
		{"which are no doubt", "lease-honoured", excused, "1 3"},
	})
	search(t, certificate.Terms{Slack: slack, Masters: 2}, []searched{
		{"of several masters", "lease-honoured", full, "-"},
		{"of several masters", "ownership", excused, "3 5 9"},
	})
	search(t, certificate.Terms{Slack: slack, SilentRelease: true}, []searched{{"of silent releases", "lease-honoured", full, "-"}})
}

// TestAnswersAreSearched: a hold was ended by another, or an answer is untrue, or not.
func TestAnswersAreSearched(t *testing.T) {
	const taken = shown + "B acquire invoke 40 100\nB acquire fail 50"
	search(t, certificate.Terms{Slack: slack}, []searched{
		{"in turn", "ownership", turn, "-"},
		{"in turn", "truthful-replies", turn, "-"},
		{"another's release", "ownership", foreign, "3 5 7"},
		{"is said to be its own", "truthful-replies", foreign, "1 3 5"},
		{"its own release is refused", "truthful-replies", denied, "1 3"},
		{"a hold is lost", "ownership", denied, "-"},
		{"released twice", "truthful-replies", shown + "A release invoke 40\nA release ok 50", "3 5"},
		{"taken by nobody", "truthful-replies", taken, "4 5"},
		{"refused, and released", "truthful-replies", "A acquire invoke 0 100\nA acquire ok 10\nB acquire invoke 20 100\nB acquire fail 30\nB release invoke 40\nB release ok 50", "3 5"},
	})
	search(t, certificate.Terms{Slack: slack, SilentRelease: true}, []searched{
		{"a release says nothing", "truthful-replies", foreign, "-"},
		{"and ends a hold", "ownership", foreign, "3 5 7"},
	})
}

// TestWaitsAreSearched: somebody waited too long, in vain, too often or at too high a cost, or not.
func TestWaitsAreSearched(t *testing.T) {
	const twiceRefused = shown + "B acquire invoke 40 100\nB acquire fail 50\nB acquire invoke 900 100\nB acquire fail 910\n"
	const overtaken = `
		A acquire invoke 0 100
		A acquire ok 10
		B acquire invoke 20 100
		B acquire fail 30
		A release invoke 40
		A release ok 45
		A acquire invoke 50 100
		A acquire ok 60
		A release invoke 70
		A release ok 75
		A acquire invoke 80 100
		A acquire ok 90`
	search(t, certificate.Terms{Slack: slack, Overtaking: 1}, []searched{
		{"in turn", "availability", turn, "-"},
		{"in turn", "deadlock-freedom", turn, "-"},
		{"in turn", "fairness", turn, "-"},
		{"nobody had it", "availability", shown + "B acquire invoke 40 100\nB acquire fail 50", "4 5"},
		{"once is no deadlock", "deadlock-freedom", shown + "B acquire invoke 40 100\nB acquire fail 50", "-"},
		{"for ever", "deadlock-freedom", twiceRefused, "4 7"},
		{"for ever", "availability", twiceRefused, "4 5, 6 7, 4 7"},
		{"overtaken twice", "fairness", overtaken, "3 7 11"},
		{"nobody waits", "fairness", shown, "?"},
		{"nobody got it", "availability", "A acquire invoke 0 100\nA acquire info 10", "?"},
		{"nobody waits", "load", shown, "?"},
	})
	search(t, certificate.Terms{Slack: slack, Overtaking: 2}, []searched{{"as often as promised", "fairness", overtaken, "-"}})
}

// TestTokensAreSearched: of acquires that overlap it may be known which was granted first, and its token is the lower one.
func TestTokensAreSearched(t *testing.T) {
	const (
		early = `
			A acquire invoke 0 1000
			B acquire invoke 1 1000
			B acquire ok 2 0 2
			B release invoke 3
			B release ok 4
			A acquire ok 8 0 1`
		granted = `
			A acquire invoke 0 1000
			B acquire invoke 1001 1000
			B acquire ok 1002 0 1`
		late     = granted + "\nA acquire ok 1008 0 2\nB release invoke 1010\nB release ok 1011"
		released = granted + "\nB release invoke 1003\nB release ok 1004\nA acquire ok 1008 0 2"
		touched  = granted + "\nC acquire invoke 1003 1000\nC acquire fail 1004\nC release invoke 1005\nC release ok 1006\nA acquire ok 1008 0 2"
	)
	search(t, certificate.Terms{Slack: slack}, []searched{
		{"drawn before it was granted", "fencing", early, "2 5"},
		{"drawn after it was granted", "fencing", late, "3 2"},
		{"it may have been granted when the other had released", "fencing", released, "?"},
		{"or when a third had taken it away", "fencing", touched, "?"},
	})
}

// TestAccessesAreSearched: what a resource accepted, and what of it was lost.
func TestAccessesAreSearched(t *testing.T) {
	for _, c := range []struct {
		name, rule string
		calls      string // attempt, operation, version, token, value
		fails      string // roles of the first
	}{
		{"its own writes", "resource-safety", "1 read 0 0 -, 1 write 0 0 -, 1 read 1 0 -, 1 write 1 0 -", ""},
		{"of what it never read", "resource-safety", "1 write 7 0 -, 1 write 8 0 -", ""},
		{"a lost update", "resource-safety", "1 read 0 0 -, 2 read 0 0 -, 2 write 0 0 -, 1 write 1 0 -", "seen other access"},
		{"an unstable read", "resource-safety", "1 read 0 0 -, 2 read 0 0 -, 2 write 0 0 -, 1 read 1 0 -", "seen other access"},
		{"by nobody knows whom", "resource-safety", "1 read 0 0 -, 1 read 3 0 -", "seen access"},
		{"tokens that rise", "resource-safety", "1 write 0 1 -, 2 write 1 2 -", ""},
		{"a token that goes down", "resource-safety", "1 write 0 2 -, 2 write 1 1 -", "shown write"},
		{"a token that goes down", "fencing", "1 write 0 2 -, 2 write 1 1 -", "shown write"},
		{"shown by a read", "resource-safety", "1 read 0 2 -, 2 write 0 1 -", "shown write"},
		{"no token", "resource-safety", "1 write 0 2 -, 2 write 1 0 -", ""},
		{"every increment shows", "counter-safety", "1 incr 0 0 1, 2 incr 0 0 2, 1 read 0 0 2", ""},
		{"two of one number", "counter-safety", "1 incr 0 0 1, 2 incr 0 0 1", "first second"},
		{"one is lost", "counter-safety", "1 incr 0 0 1, 2 incr 0 0 2, 1 read 0 0 1", "peak look"},
		{"a token of a counter goes down", "fencing", "1 incr 0 2 1, 2 incr 0 1 2", "shown write"},
		{"one winner each", "single-winner", "1 draw 0 0 a, 2 draw 1 0 b", ""},
		{"two winners", "single-winner", "1 draw 0 0 a, 2 draw 1 0 a", "first second"},
	} {
		found, err := certificate.Examine(accesses(t, c.calls), certificate.Terms{})
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		var roles []string
		for _, v := range found.Fails(c.rule, certificate.BySearch, 1) {
			for _, e := range v.Events {
				roles = append(roles, e.Role)
			}
		}
		if want := strings.Fields(c.fails); !slices.Equal(roles, want) {
			t.Errorf("%s: %s: found %q, want %q", c.name, c.rule, roles, want)
		}
		if err := found.Passes(c.rule, certificate.BySearch); (err == nil) != (c.fails == "") {
			t.Errorf("%s: %s passes: %v", c.name, c.rule, err)
		}
	}
}

// accesses are calls on a resource, one after the other.
func accesses(t *testing.T, calls string) *bytes.Buffer {
	t.Helper()
	var history bytes.Buffer
	n := 0
	for call := range strings.SplitSeq(calls, ", ") {
		var process int
		var version, token int64
		var f, value string
		if _, err := fmt.Sscan(call, &process, &f, &version, &token, &value); err != nil {
			t.Fatal(err)
		}
		for _, typ := range []string{"invoke", "ok"} {
			fmt.Fprintf(&history, `{"index":%d,"time":%d,"process":%d,"worker":%d,"type":"%s","f":"%s","key":"k","attempt":%d,"token":%d`, n, n, process, process, typ, f, process, token)
			if typ == "ok" {
				fmt.Fprintf(&history, `,"version":%d`, version)
			}
			if typ == "ok" || f == "draw" {
				fmt.Fprintf(&history, `,"value":"%s"`, value)
			}
			history.WriteString("}\n")
			n++
		}
	}
	return &history
}
