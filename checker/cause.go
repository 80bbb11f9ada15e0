package checker

import "slices"

// A Cause is what made properties fail in one run, and the evidence for it: nothing that it says
// is taken from anywhere but the run's own events and commands.
type Cause struct {
	Kind       CauseKind  `json:"kind"`
	Properties []Property `json:"explains"` // that it explains
	// Sentence says who did what, in plain English, and ends with a full stop.
	Sentence string `json:"sentence"`
	Events   []int  `json:"events"` // indexes of the events that it rests on, in order
	// Commands are those that it rests on, the decisive one first. None if events alone show it.
	Commands []CauseCommand `json:"commands,omitempty"`
	// Anomaly is the code of the named anomaly that it shows. Empty: it shows none that has a name.
	Anomaly string `json:"anomaly,omitempty"`
}

// CauseCommand is a command that a cause rests on, and what it did.
type CauseCommand struct {
	Exchange int    `json:"exchange"` // its index among the commands of the run, in the order of their file
	Client   string `json:"client"`
	Node     string `json:"node"`
	Command  string `json:"command"` // as the file of commands has it
	Reply    string `json:"reply"`   // of the server; empty: none was seen
	// Did is what it did to the lock's key, in the words of effects.Kind. Empty: it is
	// shown for its reply alone.
	Did string `json:"did,omitempty"`
	Key string `json:"key,omitempty"` // to which it did that
}

// CauseKind is a stable code: causes of one kind are mended in the same way.
type CauseKind string

// The kinds of causes. The zero value is none of them.
const (
	// Seen is what was seen to break; why cannot be derived from what was recorded.
	Seen CauseKind = "seen"

	ReleasedAnothers CauseKind = "released-anothers" // a release, or a clean-up, deleted a key that was another's
	ExtendedAnothers CauseKind = "extended-anothers" // an extend or a renewal gave another's key a new time to live
	OwnKeyDeleted    CauseKind = "own-key-deleted"   // a holder's own command deleted the key while it believed in its lock
	Overwritten      CauseKind = "overwritten"       // an acquire wrote a key that was another's, and was granted
	Trespassed       CauseKind = "trespassed"        // an acquire that was not granted wrote a key that was another's
	SharedIdentity   CauseKind = "shared-identity"   // an acquire was counted as its holder's on a key that was another's
	GrantedOver      CauseKind = "granted-over"      // an acquire was granted while a key that was another's was there
	TokenPrefix      CauseKind = "token-prefix"      // an acquire was granted as its token is the beginning of that of a key that was another's
	GrantedLate      CauseKind = "granted-late"      // an acquire was granted when its key had ended already
	EndedByOthers    CauseKind = "ended-by-others"   // a command of another ended a hold; what it did to the key cannot be told
	NothingAsked     CauseKind = "nothing-asked"     // a call answered and had sent no command on the lock's key
	Minority         CauseKind = "minority"          // an acquire was granted with the key on no majority of the masters
	ServerForgot     CauseKind = "server-forgot"     // a fault of a server took the key away while its lease ran
	LeaseOutlived    CauseKind = "lease-outlived"    // the holder went on when its key had expired
	Revived          CauseKind = "revived"           // an extend set a key anew that had ended
	LeaseTooShort    CauseKind = "lease-too-short"   // the key was given a shorter time to live than was asked for
	LeaseShortened   CauseKind = "lease-shortened"   // the key's time to live was set to less than a holder had been granted
	LeaseTooLong     CauseKind = "lease-too-long"    // the key was given a longer time to live than was asked for
	DeadlineTooLate  CauseKind = "deadline-too-late" // the holder was told a later end of its lease than its key had
	NoExpiry         CauseKind = "no-expiry"         // the key was left without a time to live
	KeyLeftBehind    CauseKind = "key-left-behind"   // an attempt that was not granted left its key there
	LateCommand      CauseKind = "late-command"      // a command took the key when its call had given up, or its lock was released
	KeptRenewing     CauseKind = "kept-renewing"     // renewals kept a key that nobody was to have any more
	NotReleased      CauseKind = "not-released"      // a release was answered and had deleted nothing
	FalseDone        CauseKind = "false-done"        // a call said that it was done, and the server had refused it
	FalseRefusal     CauseKind = "false-refusal"     // a call said that it was refused, and the server had done it
	MetOwnKey        CauseKind = "met-own-key"       // a command that was sent twice met its own key, or was counted twice
	Unanswered       CauseKind = "unanswered"        // a call was accepted before any server had answered it
	ServerRefused    CauseKind = "server-refused"    // a server answered a command with an error
	TokenNotHigher   CauseKind = "token-not-higher"  // the counter of fencing tokens went back, or stood still
	UnseenWrite      CauseKind = "unseen-write"      // a write over a version that the writer had not seen
	Spinning         CauseKind = "spinning"          // a wait that sent commands without a pause
)

// Derived reports whether c says why, and not only what was seen.
func (c Cause) Derived() bool { return c.Kind != Seen && c.Kind != "" }

// Rank orders causes: the nearest to what has to be mended comes first. It is that of the
// first of its properties in the order of ownership and truthful replies, deadlock freedom and
// availability, exclusion, and the resource; the causes that are derived come before those
// that are not.
func (c Cause) Rank() int {
	ranks := []Property{
		Ownership, TruthfulReplies, Reentrancy, DeadlockFreedom, Availability,
		StrictExclusion, LeaseExclusion, LeaseHonoured, Fencing, ResourceSafety, CounterSafety, SingleWinner, Fairness, Load,
	}
	rank := len(ranks)
	for _, p := range c.Properties {
		if i := slices.Index(ranks, p); i >= 0 {
			rank = min(rank, i)
		}
	}
	if !c.Derived() {
		rank += len(ranks) + 1
	}
	return rank
}
