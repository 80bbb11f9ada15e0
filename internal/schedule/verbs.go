package schedule

import "slices"

// What clients do.
const (
	Acquire   Verb = "acquire"
	Reenter   Verb = "reenter"
	Extend    Verb = "extend"
	Release   Verb = "release"
	Verify    Verb = "verify" // asks the lock whether the client still holds it
	Read      Verb = "read"
	Write     Verb = "write"
	Draw      Verb = "draw"        // takes the prize of a lottery's round
	Count     Verb = "count"       // asks the lock how often the client holds it
	Turn      Verb = "turn"        // waits for the lock as its users do, reads, writes, releases
	Leave     Verb = "leave"       // walks away from all that it holds, without a word
	Hang      Verb = "hang"        // stands still for good, and its process lives
	ComeAndGo Verb = "come-and-go" // releases and acquires, one right after the other
	UseAgain  Verb = "use-again"   // acquires and releases for a while
	Crowd     Verb = "crowd"       // threads wait for the lock, each on a connection of its own
	Meet      Verb = "meet"        // two readers get the lock in the same millisecond
	Outlive   Verb = "outlive"     // the first releases late, key by key, what the second has got since, until the third is let in
)

// What else happens.
const (
	At    Verb = "at"     // a rule for the next command of a client that fits
	LetGo Verb = "let-go" // ends the oldest rule that holds up a command of a client
	Wait  Verb = "wait"
	Sleep Verb = "sleep"
	Start Verb = "start"
	Stop  Verb = "stop"
	Set   Verb = "set"   // a setting of the first master
	Audit Verb = "audit" // what the servers hold is written down
	Lane  Verb = "lane"  // a client makes calls by itself; it is written A: acquire, sleep 0.4T, release
)

// The modes of an acquire.
const (
	Shared    = "shared"
	Reentrant = "reentrant"
	// WithoutTTL does not say for how long the lease is to last.
	WithoutTTL = "without-ttl"
)

// What commands do that a rule is about. Any other name in capitals is that of a command.
const (
	Takes   = "takes"   // takes the lock
	Extends = "extends" // changes when the lease ends, or what is kept
	Frees   = "frees"   // gives the lock back, or changes what is kept
	Looks   = "looks"   // looks whose the lock is
	Script  = "SCRIPT"  // EVAL or EVALSHA
)

// The conditions that can be waited for.
const (
	LeaseEnds     = "lease-ends" // no server has the key any more; of a client: its lease is over
	LeaseAges     = "lease-ages" // a part of a client's lease is over
	Done          = "done"       // the calls of clients have ended
	Held          = "held"       // the rule of a client has met what it holds up
	Asked         = "asked"      // the rule of a client has met its command; the reply may not have come yet
	Sent          = "sent"       // a client's call has sent its first command
	InSync        = "replica-in-sync"
	RefusesWrites = "writes-refused" // the node that was the first master refuses writes for want of a replica
	Together      = "begun-together" // a client's leases on the keys up to one began within a quarter of a TTL
)

// MinReplicas is the setting that makes a master refuse writes without so many replicas.
const MinReplicas = "min-replicas-to-write"

// form is the grammar of a verb.
type form struct {
	acts  int // how many clients stand before it; many: one or more
	about int // how many stand after it; some: any number
	what  func() []string
	// any says that What may be left out, and command that it may be the name of a command.
	any, command bool
	// number and span say that a bare number and a bare length of time must follow.
	number, span bool
	takes        []string // modifiers
}

const (
	many = -1 // one or more
	some = -2 // none or more
)

// formOf returns how a verb is written. It is no map, which would be made for each line that is read.
func formOf(v Verb) (form, bool) {
	words := func(w ...string) func() []string { return func() []string { return w } }
	switch v {
	case Acquire:
		return form{acts: 1, what: words(Shared, Reentrant, WithoutTTL), any: true, takes: []string{"key", "for", "tries", "retries", "within", "eventually", "giving-up", "after", free}}, true
	case Reenter:
		return form{acts: 1, takes: []string{"for", "or-leave", "after", free}}, true
	case Extend:
		return form{acts: 1, span: true, takes: []string{"refused", "or-leave", "after", free}}, true
	case Verify:
		return form{acts: 1, takes: []string{"or-leave", "after", free}}, true
	case Release:
		return form{acts: 1, takes: []string{"again", "refused", "after", free}}, true
	case Read:
		return form{acts: 1, takes: []string{"after", free}}, true
	case Write:
		return form{acts: 1, takes: []string{"after", free}}, true
	case Draw:
		return form{acts: 1, number: true, takes: []string{"after", free}}, true
	case Count:
		return form{acts: 1, takes: []string{"after", free}}, true
	case Turn:
		return form{acts: 1, takes: []string{"after", free}}, true
	case Leave:
		return form{acts: 1, what: words(IfOver), any: true}, true
	case Hang:
		return form{acts: 1}, true
	case ComeAndGo:
		return form{acts: 1, number: true, takes: []string{"after", free}}, true
	case UseAgain:
		return form{acts: 1, span: true, takes: []string{"after", free}}, true
	case Crowd:
		return form{acts: many}, true
	case Meet:
		return form{acts: 2}, true
	case Outlive:
		return form{acts: 3}, true
	case At:
		return form{about: 1, what: words(Takes, Extends, Frees, Looks), command: true, takes: []string{"request", "reply", "on"}}, true
	case LetGo:
		return form{about: 1, takes: []string{free}}, true
	case Wait:
		return form{about: some, what: conditions, takes: []string{"key", "for", "within"}}, true
	case Sleep:
		return form{span: true}, true
	case Start:
		return form{about: some, what: Faults, takes: []string{"on", "replica", "by", "times", "reply"}}, true
	case Stop:
		return form{about: some, what: Faults, takes: []string{"on", "replica"}}, true
	case Set:
		return form{what: words(MinReplicas), number: true}, true
	case Audit:
		return form{}, true
	case Lane:
		return form{acts: 1}, true
	}
	return form{}, false
}

// IfOver limits a Leave to those whose lease is over as they were told.
const IfOver = "if-over"

// free is the mark of a step whose end is not waited for.
const free = "&"

// conditions returns what can be waited for.
func conditions() []string {
	return []string{LeaseEnds, LeaseAges, Done, Held, Asked, Sent, InSync, RefusesWrites, Together}
}

// verbs returns the verbs that have a word. A lane has none.
func verbs() []Verb {
	return []Verb{
		Acquire, Reenter, Extend, Verify, Release, Read, Write, Draw, Count, Turn, Leave, Hang, ComeAndGo, UseAgain, Crowd, Meet, Outlive, At, LetGo, Wait, Sleep, Start, Stop, Set, Audit,
	}
}

// verbNames returns the verbs in the order of their names.
func verbNames() []string {
	var names []string
	for _, v := range verbs() {
		names = append(names, string(v))
	}
	slices.Sort(names)
	return names
}
