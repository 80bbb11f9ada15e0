package explore

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/lockbench/lockbench/checker"
)

// kind is what is the same about deviations as far as locks are compared: what is done, and in the midst of what. It is empty if
// there is none. Of several it is that of each, whatever their order.
func (p Program) kind(ds []Deviation) string { return joined(kinds(ds, p.kindOf)) }

func (p Program) kindOf(d Deviation) string {
	if d.Act.lasts && d.Server == another {
		return d.Act.Name + " of another master"
	}
	if d.Act.lasts {
		return d.Act.Name
	}
	return cmp.Or(d.Act.kind, d.Act.Name) + " during " + cmp.Or(p.during(d.Client, d.Call), "a call")
}

// actOf is what is done, in the midst of whatever.
func actOf(d Deviation) string { return cmp.Or(d.Act.kind, d.Act.Name) + " anywhere" }

// kinds are those of deviations, in their order.
func kinds(ds []Deviation, of func(Deviation) string) []string {
	var all []string
	for _, d := range ds {
		all = append(all, of(d))
	}
	return all
}

func joined(kinds []string) string {
	return strings.Join(slices.Sorted(slices.Values(kinds)), ", and ")
}

// site is where deviations are, whatever they do there: what breaks a lock in one way there breaks it in others, too.
func (p Program) site(ds []Deviation) string {
	var all []string
	for _, d := range ds {
		at := "request"
		if d.Reply {
			at = "reply"
		}
		all = append(all, fmt.Sprintf("%s of %s during %s", at, d.What, p.during(d.Client, d.Call)))
	}
	return strings.Join(all, ", then ") + " in " + p.Name
}

// apart is what tells findings of one property apart: the kind, and of what lasts the program, since it may yet be shared by other
// locks in another one.
func (p Program) apart(ds []Deviation) string {
	if lasts(ds) {
		return p.kind(ds) + " in " + p.Name
	}
	return p.kind(ds)
}

// Kind is what tells the finding apart from others of the same property. It is empty if that is broken in fair weather.
func (f Finding) Kind() string { return f.Program.apart(f.Deviations) }

// lasts reports whether each deviation lasts, so that it does not matter where it begins.
func lasts(ds []Deviation) bool {
	return len(ds) > 0 && !slices.ContainsFunc(ds, func(d Deviation) bool { return !d.Act.lasts })
}

// trait is a property that is broken under a kind of deviations, or at a site.
type trait struct {
	property checker.Property
	under    string
}

// parts are the deviations without one of them, if there are several.
func parts(ds []Deviation) (all [][]Deviation) {
	if len(ds) < 2 {
		return nil
	}
	for i := range ds {
		all = append(all, slices.Delete(slices.Clone(ds), i, i+1))
	}
	return all
}
