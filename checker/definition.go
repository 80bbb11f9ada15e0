package checker

import "slices"

// Definition says in one sentence when p holds, for people; it completes "holds if". What is
// judged exactly is told by the doc comment of p's judge. A property that is not known has no
// definition.
func (p Property) Definition() string {
	if p == Linearizability {
		return "the calls can be put into one order that keeps real time and that the model allows"
	}
	specs := allSpecs()
	if i := slices.IndexFunc(specs, func(s spec) bool { return s.property == p }); i >= 0 {
		return specs[i].definition
	}
	return ""
}
