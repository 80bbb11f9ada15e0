package checker

// Definition says in one sentence when p holds, for people; it completes "holds if". What is
// judged exactly is told by the doc comment of p's judge. A property that is not known has no
// definition.
func (p Property) Definition() string {
	switch p {
	case StrictExclusion:
		return "nobody is granted the lock between another's grant and that one's release, however long the lease; readers may share it, and a re-entry is nobody else's"
	case LeaseExclusion:
		return "the same, but a holder's belief also ends at the deadline that the lock told it"
	case LeaseHonoured:
		return "nobody is granted the lock before the lease that its holder asked for is over, whatever deadline the lock told it"
	case Ownership:
		return "no release ends somebody else's hold"
	case TruthfulReplies:
		return `release and extend never say "done" of what is certainly another's, nor "not yours" of what is certainly the caller's; an acquire is not refused as taken when nobody else can have had the lock, and leaves nothing behind on one of several masters`
	case ResourceSafety:
		return "no update of the protected register is lost, no section sees it change from outside, and no write with a stale fencing token is accepted"
	case Fencing:
		return "of two acquires one after the other the later has the higher token, and the resource accepts no write with a lower token than it has seen (locks with tokens)"
	case CounterSafety:
		return "a shared counter shows every increment that was accepted (workload increment)"
	case SingleWinner:
		return "no round of a lottery is won twice (workload lottery)"
	case Reentrancy:
		return "what the lock counts for a client is its acquires less its releases, and a holder gets the lock again (workload reentrant)"
	case DeadlockFreedom:
		return "a free or abandoned lock can be had again within its TTL and a little slack; no key without TTL is left behind"
	case Availability:
		return "nobody is refused a lock that is certainly free and that nobody else wants, or asks for it alone and in vain for longer than a lease; nor is it refused to all for that long; no release is held up until its lease is over while others wait"
	case Fairness:
		return "nobody is overtaken more often than the lock promises; told, and not judged, for locks that promise nothing"
	case Load:
		return "a wait of a tenth of a second or more costs no more than 100 commands for each second, or than the interval that the lock promises allows (runs that count them)"
	case Linearizability:
		return "the calls can be put into one order that keeps real time and that the model allows"
	}
	return ""
}
