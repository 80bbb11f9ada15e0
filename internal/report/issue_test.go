package report_test

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/report"
)

// TestIssueGolden writes the findings of recorded runs: one with a cause and a name, and one of which what was seen is all.
func TestIssueGolden(t *testing.T) {
	all := runs(t)
	from := report.Origin{Library: "example v1.2.3", Steps: "lockbench schedule 1\nclients 3\n\nA acquire", Remark: "The steps are those of lockbench v9."}
	named := all["held-delete"]
	named.Causes = []checker.Cause{{
		Kind: checker.ReleasedAnothers, Properties: []checker.Property{checker.Ownership, checker.StrictExclusion}, Anomaly: "A01",
		Sentence: "A's release deleted a key that was B's.", Events: []int{9, 13}, Commands: commandsOf(named, "DEL orders/42", "SET orders/42 "),
	}}
	for name, r := range map[string]report.Run{"named": named, "unnamed": all["failover"], "excused": excused(all["failover"])} {
		golden(t, "issue-"+name+".md", drawn(t, func(w io.Writer) error { return report.Issue(w, r, from) }))
	}
	golden(t, "issue-bare.md", drawn(t, func(w io.Writer) error { return report.Issue(w, bare(all["failover"]), report.Origin{}) }))
}

// commandsOf are the first commands of a run that begin so.
func commandsOf(r report.Run, beginnings ...string) (all []checker.CauseCommand) {
	for _, begins := range beginnings {
		for i, x := range r.Exchanges {
			if strings.HasPrefix(x.Command, begins) {
				all = append(all, checker.CauseCommand{Exchange: i, Client: x.Client, Node: x.Node, Command: x.Command})
				break
			}
		}
	}
	return all
}

// excused is a run whose violations no lock of the class is free of.
func excused(r report.Run) report.Run {
	var broken []checker.Property
	for _, res := range r.Report.Results {
		if res.Verdict == checker.Fail {
			broken = append(broken, res.Property)
		}
	}
	r.Survivors = nil
	r.Peers = &checker.Peers{Unavoidable: broken}
	return r
}

// bare is a run of which nothing is known but its history and its verdicts.
func bare(r report.Run) report.Run {
	return report.Run{Meta: histories.Meta{Scenario: "copy"}, Events: r.Events, Judgement: checker.Judgement{Report: r.Report}}
}

// TestNoIssue checks that a run without a finding is none, and that its error says why.
func TestNoIssue(t *testing.T) {
	all := runs(t)
	undecided := bare(all["failover"])
	undecided.Report = checker.Report{Verdict: checker.Unknown, Results: []checker.Result{{Property: checker.Ownership, Verdict: checker.Unknown}}}
	for name, c := range map[string]struct {
		run  report.Run
		want string
	}{
		"passed":    {all["failover-redlock"], "nothing to report: the run passed, all properties hold"},
		"undecided": {undecided, "nothing to report: the run is not conclusive, and no property is violated"},
		"failed":    {failed(all["failover"], "no server"), "nothing to report: the run did not come to its end: no server"},
	} {
		var b strings.Builder
		err := report.Issue(&b, c.run, report.Origin{})
		if !errors.Is(err, report.ErrNoFinding) || err.Error() != c.want || b.Len() > 0 {
			t.Errorf("%s: wrote %q, error %v; want nothing and %q", name, b.String(), err, c.want)
		}
	}
}

// TestIssueTellsVersions checks that versions are read from what crossed the wire, where it has them.
func TestIssueTellsVersions(t *testing.T) {
	r := bare(runs(t)["failover"])
	r.Backend = histories.BackendProcess
	r.Exchanges = []histories.Exchange{
		{Client: "A", Node: "register", Command: "HELLO 3", Reply: "[server redis version 9.9.9 … +10]"},
		{Client: "A", Node: "master", Command: "HELLO 3", Reply: "[server redis version 7.0.15 … +10]"},
		{Client: "A", Node: "master", Command: "CLIENT SETINFO LIB-NAME redis-py", Reply: "OK"},
		{Client: "A", Node: "master", Command: "CLIENT SETINFO LIB-VER 6.1.0", Reply: "OK"},
	}
	got := drawn(t, func(w io.Writer) error { return report.Issue(w, r, report.Origin{}) })
	for _, want := range []string{"- library: redis-py 6.1.0\n", "- redis-server: Redis 7.0.15\n", "- topology: not on record\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("the issue lacks %q:\n%s", want, got)
		}
	}
}

// TestIssueIsHarmless checks that what comes from outside is text and no markup.
func TestIssueIsHarmless(t *testing.T) {
	r := bare(runs(t)["failover"])
	r.Lock, r.Version, r.Command = "<script>|`", "\x1b[31m", "lockbench run ```\n# heading"
	got := drawn(t, func(w io.Writer) error {
		return report.Issue(w, r, report.Origin{Library: "<b>", Steps: "```\nA acquire\x1b", Remark: "[a](b)"})
	})
	for _, bad := range []string{"<script>", "<b>", "\x1b", "[a](b)", "\n# heading"} {
		if strings.Contains(got, bad) {
			t.Errorf("the issue has %q in it:\n%s", bad, got)
		}
	}
}
