package report

import (
	"fmt"
	"slices"

	"github.com/lockbench/lockbench/checker"
)

// Causes are those of a run that say more than what was seen, which its results tell.
func Causes(r Run) []checker.Cause {
	return slices.DeleteFunc(slices.Clone(r.Judgement.Causes), func(c checker.Cause) bool { return !c.Derived() })
}

// CauseText is a cause in a paragraph: what happened, what it broke, and the events that show it.
func CauseText(c checker.Cause) string {
	return fmt.Sprintf("%s It explains: %s. [events %s]", prose(c.Sentence), and(Labels(c.Properties)), join(c.Events))
}

// Labels are properties as people call them.
func Labels(properties []checker.Property) []string {
	var all []string
	for _, p := range properties {
		all = append(all, label(p))
	}
	return all
}

// WhyHead says whose reason the scenario's is: that of the lock that it is about.
func WhyHead(r Run) string { return r.Language.Sayf("Why %s breaks here", show(r.who())) }

// cause is the cause that explains a property, if one was derived.
func (r Run) cause(p checker.Property) (checker.Cause, bool) {
	for _, c := range r.Judgement.Causes {
		if c.Derived() && slices.Contains(c.Properties, p) {
			return c, true
		}
	}
	return checker.Cause{}, false
}
