package choosing

import (
	"context"
	"fmt"
	"strings"

	"github.com/lockbench/lockbench/internal/libraries"
	"github.com/lockbench/lockbench/locks"
	"github.com/lockbench/lockbench/scenarios"
)

// newer is a lock that needs a command which not every server has, and the one that does without.
type newer struct {
	lock locks.Spec
	twin string // its name
	cost
	played int      // how many scenarios have something to say of the lock
	differ []string // the scenarios that end otherwise, by number
}

// newerOnes are all of them, in the order of the catalogue.
func newerOnes(ctx context.Context) (all []newer, err error) {
	twins := map[string]verdicts{} // by name
	for _, l := range libraries.Catalogue() {
		if !l.Sound || len(l.Commands) == 0 {
			continue
		}
		own, n := row{servers: topology{masters: l.Masters}, lock: l.Name}, newer{lock: l, twin: l.Variant}
		if n.cost, err = measure(ctx, own); err != nil {
			return nil, err
		}
		got, err := judge(ctx, own)
		if err != nil {
			return nil, err
		}
		want, known := twins[n.twin]
		if !known {
			if want, err = judge(ctx, row{servers: own.servers, lock: n.twin}); err != nil {
				return nil, err
			}
			twins[n.twin] = want
		}
		n.played, n.differ = got.played(), got.differ(want)
		all = append(all, n)
	}
	return all, nil
}

// differ are the scenarios that have something to say of both locks and do not end alike, by number.
func (v verdicts) differ(w verdicts) (all []string) {
	ours, theirs := v.ends(), w.ends()
	for _, s := range scenarios.All() {
		end, played := ours[s.ID]
		if other, both := theirs[s.ID]; played && both && other != end {
			all = append(all, s.ID)
		}
	}
	return all
}

// ends are how the scenarios end, by number.
func (v verdicts) ends() map[string]string {
	all := map[string]string{}
	for _, b := range v.broken {
		all[b.scenario.ID] = kind(b.properties).String()
	}
	for _, s := range v.held {
		all[s.ID] = "held"
	}
	for _, s := range v.open {
		all[s.ID] = "open"
	}
	return all
}

// newerSection tells of locks with commands that not every server has.
func newerSection(b *strings.Builder, all []newer, in tongue) {
	const text = "These compare without a script, give a field of a hash a time to live, or wait for the disk. Where the command is to be had they can stand in for the lock beside them. " +
		"Verdicts are those of all scenarios that concern one server, without a guard; [servers.md](servers.md) says on which servers they were played."
	fmt.Fprintf(b, "\n## %s\n\n%s\n\n", in.Say("Commands of newer servers"), in.Say(text))
	b.WriteString(header(in.Each("lock", "in place of", "needs", "an acquire and its release", "other verdicts")...))
	for _, n := range all {
		var needs []string
		for _, c := range n.lock.Commands {
			needs = append(needs, c.String())
		}
		other := in.Sayf("none of %d", n.played)
		if len(n.differ) > 0 {
			other = strings.Join(n.differ, ", ")
		}
		b.WriteString(cells("`"+n.lock.Name+"`", "`"+n.twin+"`", strings.Join(needs, ", "), in.Sayf("%d commands in %d round trips", n.commands, n.trips()), other))
	}
}
