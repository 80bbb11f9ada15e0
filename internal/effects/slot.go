package effects

import (
	"math"
	"slices"
	"strings"
	"time"

	"github.com/lockbench/lockbench/histories"
)

// endless is the end of time.
const endless time.Duration = math.MaxInt64

// slot is what is known of one key of one server.
type slot struct {
	known   bool // whether it is there, and whose it is
	present bool
	by      int // exchange that made it, or NotKnown
	value   string
	// The time to live ends between the two; both are endless if there is none, and if nothing
	// is known of it the first is 0.
	expires, latest time.Duration
}

// Presence of a key at some time, as far as it is known.
type presence uint8

const (
	perhaps presence = iota
	there
	absent
)

// presence is whether the key is there all the time of an act, or is not at all.
func (s *slot) presence(a act) presence {
	switch {
	case !s.known:
		return perhaps
	case !s.present, a.from > s.latest:
		return absent
	case a.to < s.expires:
		return there
	}
	return perhaps
}

// play applies acts on one key, which come in the order of their earliest instants.
func (s *slot) play(acts []act) []Effect {
	var found []Effect
	var muddled time.Duration // until when the order of what came before is not known
	for acts = slices.Clone(acts); len(acts) > 0; {
		n := 1 // that may have come first
		first := acts[0].to
		for ; n < len(acts) && acts[n].from < first; n++ {
			first = min(first, acts[n].to)
		}
		next, sure := s.first(acts[:n], first)
		a := acts[next]
		settled := a.from >= muddled || a.idle()
		found = append(found, s.apply(a, sure && settled))
		acts = without(acts, next)
		open := !sure && (a.intent == prolonged || slices.ContainsFunc(acts[:n-1], func(b act) bool { return !b.idle() && s.allows(b.by(first)) }))
		if !a.idle() && (!settled || open) {
			*s = slot{}
			if a.to != endless {
				muddled = max(muddled, a.to)
			}
		}
	}
	return found
}

// without takes one act out of those whose order is not known. Those behind it, which may be many, stay where they are.
func without(acts []act, i int) []act {
	copy(acts[1:i+1], acts[:i])
	return acts[1:]
}

// by is the act, if it came by some time.
func (a act) by(t time.Duration) act {
	if a.to == endless {
		a.to = max(a.from, t)
	}
	return a
}

// first chooses which of several acts, whose times overlap, came first, and says whether that
// is certain. What changes nothing comes before or after, as it likes, and what was not answered
// may come last. One of them came by a time.
func (s *slot) first(acts []act, by time.Duration) (next int, sure bool) {
	if len(acts) == 1 {
		return 0, true
	}
	able, chosen := 0, -1
	for i, a := range acts {
		switch {
		case a.idle():
			return i, !slices.ContainsFunc(acts, func(b act) bool { return !b.idle() && s.allows(b.by(by)) })
		case !s.allows(a.by(by)):
			continue
		case chosen < 0 || acts[chosen].to == endless && a.to != endless:
			chosen = i
		}
		able++
	}
	if chosen < 0 { // what is known is wrong
		return slices.IndexFunc(acts, func(a act) bool { return a.to != endless || a.exchange == acts[len(acts)-1].exchange }), false
	}
	return chosen, able == 1
}

// allows reports whether an act can have been answered as it was, with the key as it is; and if it
// was not answered, whether it can have changed the key.
func (s *slot) allows(a act) bool {
	p, does := s.presence(a), a.intent
	if does == guessed {
		does = a.would
	}
	switch does {
	case created:
		return p != there
	case removed, prolonged:
		if a.intent == guessed && a.compares && s.known && s.value != "" && !s.ownedBy(a) {
			return false
		}
		return p != absent
	}
	return true
}

// ownedBy reports whether the key's value is among the arguments of an act.
func (s *slot) ownedBy(a act) bool {
	return s.known && s.value != "" && slices.ContainsFunc(a.args, func(arg string) bool { return strings.Contains(arg, s.value) })
}

// apply plays one act. If it is not sure that it is its turn, nobody knows whose the key was.
func (s *slot) apply(a act, sure bool) Effect {
	e := Effect{Exchange: a.exchange, Client: a.client, Node: a.node, Place: a.place, From: a.from, To: a.to, Of: NotKnown}
	was := s.presence(a)
	if sure && s.known {
		switch {
		case was == absent:
			e.Of = Nobodys
		case was == there || a.showsKey():
			e.Of = s.by
		}
	}
	if a.intent == guessed || a.doubtful(s, was) {
		if s.allows(a) {
			*s = slot{}
		}
		if a.to == endless {
			e.Of = NotKnown
		}
		return e
	}
	e.Kind = a.kind(was)
	if e.Of == Nobodys && (e.Kind == Frees || e.Kind == Extends) {
		e.Of = NotKnown // the answer contradicts what is known
	}
	switch e.Kind {
	case Takes:
		e.Value, e.TTL, e.Of = a.value, a.ttl, Nobodys
		s.make(a)
	case Overwrites:
		e.Value, e.TTL = a.value, a.ttl
		s.make(a)
	case Extends:
		e.TTL = a.ttl
		s.prolong(a, was)
	case Frees:
		*s = slot{known: true}
	case Unclear:
		*s = slot{}
	default:
		s.learn(a, sure)
	}
	return e
}

func (s *slot) make(a act) {
	*s = slot{known: true, present: true, by: a.exchange, value: a.value}
	s.lease(a)
}

func (s *slot) prolong(a act, was presence) {
	if !s.known || was == absent {
		*s = slot{known: true, present: true, by: NotKnown}
	}
	s.lease(a)
}

// lease sets when the time to live ends that an act gave, on a server whose clock is wrong by
// no more than the drift that Redlock allows for.
func (s *slot) lease(a act) {
	switch {
	case a.ttl == histories.NoTTL:
		s.expires, s.latest = endless, endless
	case a.ttl <= 0 || a.ttl > endless/2:
		s.expires, s.latest = 0, endless
	default:
		drift := a.ttl/100 + 2*time.Millisecond
		s.expires, s.latest = a.from+a.ttl-drift, endless
		if a.to < endless/2 {
			s.latest = a.to + a.ttl + drift
		}
	}
}

// learn takes what an answer that changed nothing shows.
func (s *slot) learn(a act, sure bool) {
	switch {
	case !sure:
	case a.sight == absent:
		*s = slot{known: true}
	case a.sight == there && (!s.known || s.presence(a) == absent):
		*s = slot{known: true, present: true, by: NotKnown, latest: endless}
	}
}

// An intent is what an act did, as its answer tells, or was to do.
type intent uint8

const (
	guessed       intent = iota // nobody can tell
	looked                      // nothing
	failed                      // nothing, though it was to change the key
	created                     // made the key where there was none
	written                     // gave it a value, whatever was there
	createdOrGrew               // made the key or, if it was the caller's, prolonged it
	prolonged
	removed
)

// act is one command on one key, as its words and its answer tell.
type act struct {
	exchange     int
	client, node string
	place        histories.Place
	field        string // of a hash that it is about; "": the key as a whole, or several
	from, to     time.Duration
	intent       intent
	value        string
	ttl          time.Duration
	sight        presence // what an answer that changed nothing shows
	would        intent   // of a guess: what it did if it did anything; guess if that is not known
	args         []string // with what it compared the key's value, or as a script may have
	script       bool
	member       bool // a script that changes one member of a sorted set
	compares     bool // it reads the key before it changes it
	null         bool // of a script that changed nothing: it answered nil, as one does that answers nothing
}

// idle reports whether the act changed nothing.
func (a act) idle() bool { return a.intent == looked || a.intent == failed }

// showsKey reports whether the answer says by itself that the key was there.
func (a act) showsKey() bool {
	return !a.script && (a.intent == removed || a.intent == prolonged) || a.idle() && a.sight == there
}

// kind is what the act did to a key that was there or not.
func (a act) kind(was presence) Kind {
	switch a.intent {
	case looked:
		return Looks
	case failed:
		return Refused
	case created:
		return Takes
	case written:
		if was == absent {
			return Takes
		}
		return Overwrites
	case createdOrGrew:
		switch was {
		case absent:
			return Takes
		case there:
			return Extends
		}
		return Unclear
	case prolonged:
		return Extends
	case removed:
		return Frees
	}
	return Unclear
}

// doubtful reports whether a script may have done something else than its answer tells, by what is
// known of the key.
func (a act) doubtful(s *slot, was presence) bool {
	if !a.script {
		return false
	}
	own := s.ownedBy(a)
	switch {
	case a.member && !a.idle() && was != absent && !own:
		return true // others may have been there, or be left
	case !a.idle():
		return (a.intent == removed || a.intent == prolonged) && was == absent ||
			a.intent == createdOrGrew && was == there && s.value != "" && !own
	case a.intent == looked:
		return false
	case was == there && own:
		return true // it was the caller's, and yet nothing was done?
	}
	return a.null && (was == perhaps && (!s.known || own || s.value == "") || was == there && s.value == "")
}
