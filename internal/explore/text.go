package explore

import (
	"context"
	"strings"
	"time"

	"github.com/lockbench/lockbench/internal/anomalies"
	"github.com/lockbench/lockbench/internal/harness"
	"github.com/lockbench/lockbench/internal/schedule"
	"github.com/lockbench/lockbench/locks"
)

// mostTwins is how many locks that keep what a finding breaks are named in its text.
const mostTwins = 2

// Text is a schedule of the finding's that lockbench run plays, with what is expected of the lock under it and of some that keep what
// it breaks. The error is that of the harness.
func (f Finding) Text(ctx context.Context, lock locks.Spec, opt Options) (schedule.Schedule, error) {
	_, text, err := f.Told(ctx, lock, opt)
	return text, err
}

// Told is the finding with the name of what goes wrong in it, and its Text.
func (f Finding) Told(ctx context.Context, lock locks.Spec, opt Options) (Finding, schedule.Schedule, error) {
	p := f.Schedule()
	p.Causes = true
	p.Name, p.Lock, p.Title = Slug(lock.Name)+"-"+string(f.Broken[0]), lock.Name, f.Title()
	names := append([]string{lock.Name}, f.KeptBy...)
	if opt.Stranger { // it is known by no name, and what others keep is expected of it
		p.Lock, names = opt.Named, f.KeptBy
	}
	for _, name := range names {
		of := lock
		if name != lock.Name {
			var err error
			if of, err = opt.Among.Find(name); err != nil {
				return f, p.Schedule, err
			}
		}
		out, err := opt.playerOf(of, lock)(ctx, p, of)
		if harness.NotApplicable(err) {
			continue
		}
		if err != nil {
			return f, p.Schedule, err
		}
		if name == lock.Name {
			named, _ := anomalies.Of(out.Causes, f.Broken)
			f.Anomaly = named.Code
		} else if out.Missed {
			continue // it does not send the command that the schedule is about
		}
		if name == lock.Name && p.RealTTL == 0 {
			p.RealTTL = lease(out)
		}
		if p.Expect = append(p.Expect, schedule.Expect{Lock: name, Guard: p.Guard, Fail: out.Fail, Unknown: out.Unknown}); len(p.Expect) > mostTwins {
			break
		}
	}
	p.Why = f.Why()
	return f, p.Schedule, nil
}

// Slug is a name in which nothing stands but letters, digits, dots and hyphens.
func Slug(name string) string {
	return strings.Join(strings.FieldsFunc(name, func(r rune) bool {
		return r != '.' && (r < '0' || '9' < r) && (r < 'a' || 'z' < r) && (r < 'A' || 'Z' < r)
	}), "-")
}

// fairWeather is what a title ends with if nothing happens on the way.
const fairWeather = ", in fair weather"

// longest is for how long, in virtual time, a schedule may go on with leases as they are. longLease is the lease of one that goes on for longer, on
// real servers.
const (
	longest   = 12 * time.Second
	longLease = time.Second
)

// lease is that of a schedule on real servers, by a run of it in virtual time; 0: the usual one. A lease is long beside what a busy machine
// adds to a call, unless nobody would wait for its end.
func lease(out Outcome) time.Duration {
	for _, c := range out.Calls {
		if c.Client == "" && c.At > longest {
			return longLease
		}
	}
	return 0
}

// Title says in a line what happens.
func (f Finding) Title() string {
	if len(f.Deviations) == 0 && f.Program.Faultless {
		return f.Program.Title + fairWeather
	}
	if len(f.Deviations) == 0 {
		return f.Program.Title
	}
	var all []string
	for _, d := range f.Deviations {
		if len(f.short.Steps) > 0 && d.Act.kind != "" {
			d.Act.Name = d.Act.kind // how long it lasts is another matter by now
		}
		all = append(all, d.String())
	}
	return f.Program.Title + "; " + strings.Join(all, ", ")
}

// Why says in a sentence what the finding shows, after the definition of the anomaly that it is, if that has a name.
func (f Finding) Why() string {
	var broken []string
	for _, p := range f.Broken {
		broken = append(broken, strings.ReplaceAll(string(p), "-", " "))
	}
	text := ""
	if named, ok := anomalies.Find(f.Anomaly); ok {
		text = named.Title() + " "
	}
	text += "The lock breaks " + strings.Join(broken, ", ")
	if len(f.KeptBy) > 0 {
		return text + ", which " + f.KeptBy[0] + " keeps under whatever deviation of this kind."
	}
	return text + "."
}
