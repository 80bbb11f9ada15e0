package demo

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/harness"
)

// pairs is how many steps in two columns fit on a slide.
const pairs = 3

// beside tells in two columns the steps that decide: those that both runs have and that came out otherwise.
// Where one client only skips what it would have to hold the lock for, nothing is decided any more.
func (t *teller) beside() {
	left, right := scenes(t.lesson.Broken), scenes(t.lesson.Fixed)
	t.add(block{kind: rule, text: t.lang.text("part.beside")})
	t.add(block{
		kind:  heads,
		left:  []cell{{t.name(t.lesson.Broken.Config, ""), strong}},
		right: []cell{{t.name(t.lesson.Fixed.Config, t.lesson.Demo.FixRemedy), strong}},
	})
	parts := 0
	var before [2]scene
	for i, l := range left {
		j := counterpart(left, i, right)
		if j < 0 {
			continue
		}
		r := right[j]
		came := [2][]cell{t.came(l, before[0]), t.came(r, before[1])}
		if decides(l, before[0], r, before[1]) {
			if parts++; parts > 1 && parts%pairs == 1 {
				t.turn()
			}
			t.add(block{kind: pair, label: fmt.Sprint(i + 1), text: t.lang.step(l.step), left: came[0], right: came[1]})
		}
		before = [2]scene{l, r}
	}
	if parts == 0 {
		t.para("     ", t.lang.text("beside.same"), plain)
	}
	t.turn()
	t.add(block{
		kind: pair, text: t.lang.text("beside.verdict"),
		left: t.found(t.lesson.Broken), right: t.found(t.lesson.Fixed),
	})
}

// counterpart is the index of the scene of others that is the same step as all[i], and of those that are
// the one that comes at the same place; -1: there is none.
func counterpart(all []scene, i int, others []scene) int {
	if all[i].step.Verb == "" {
		return -1
	}
	nth := 0
	for _, s := range all[:i+1] {
		if s.step.String() == all[i].step.String() {
			nth++
		}
	}
	return slices.IndexFunc(others, func(s scene) bool {
		if s.step.Verb != "" && s.step.String() == all[i].step.String() {
			nth--
		}
		return nth == 0
	})
}

// came is what came of a step: what was done to the register, what clients have begun to believe, and what was
// violated. Of the client that made a call it is told anyway what it believes, if that is all there is.
func (t *teller) came(s, before scene) []cell {
	var all []cell
	for _, a := range s.accesses {
		all = append(all, cell{t.access(a), plain})
	}
	for _, b := range s.beliefs {
		calls := slices.Contains(s.step.Who, b.client) && len(s.accesses) == 0 && s.idle == ""
		if calls || !slices.Contains(before.beliefs, b) {
			all = append(all, cell{t.lang.text("beside.believes", "client", b.client, "what", t.belief(b)), plain})
		}
	}
	for _, m := range s.meetings {
		all = append(all, cell{"!! " + t.meeting(m), bad})
	}
	if len(s.broken) > 0 {
		all = append(all, cell{"!! " + t.lang.text("alarm.broken", "properties", t.properties(s.broken)), bad})
	}
	if s.idle != "" {
		all = append(all, cell{t.lang.text("step.idle", "client", s.idle), quiet})
	}
	if len(all) == 0 {
		all = append(all, cell{t.lang.text("beside.nothing"), quiet})
	}
	return all
}

func decides(l, beforeL, r, beforeR scene) bool {
	if (l.idle != "" || r.idle != "") && len(l.broken)+len(r.broken)+len(l.meetings)+len(r.meetings) == 0 {
		return false
	}
	return sign(l, beforeL) != sign(r, beforeR)
}

// sign is what came of a step without its times and values, so that two runs can be compared.
func sign(s, before scene) string {
	var b strings.Builder
	for _, a := range s.accesses {
		fmt.Fprintln(&b, a.client, a.write, a.refused != "", a.write && !a.draw && a.version != a.seen, a.drawn != "" && !a.done, a.again && !a.write && a.version != a.seen)
	}
	for _, now := range s.beliefs {
		now.until = 0
		if old := slices.IndexFunc(before.beliefs, func(o belief) bool { return o.client == now.client && o.opinion == now.opinion && o.depth == now.depth }); old < 0 {
			fmt.Fprintln(&b, now)
		}
	}
	fmt.Fprintln(&b, len(s.meetings) > 0, s.broken, s.idle)
	return b.String()
}

// found is what the judges found of a run, in a few lines.
func (t *teller) found(res harness.Result) []cell {
	var broken []checker.Property
	for _, r := range res.Report.Results {
		if r.Verdict == checker.Fail {
			broken = append(broken, r.Property)
		}
	}
	switch {
	case len(broken) > 0:
		return []cell{{t.lang.text("alarm.broken", "properties", t.properties(broken)), bad}}
	case res.Report.Verdict == checker.Pass:
		return []cell{{t.lang.text("verdict.clean"), good}}
	}
	return []cell{{t.lang.text("beside.unknown"), plain}}
}
