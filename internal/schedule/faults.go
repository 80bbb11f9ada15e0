package schedule

import (
	"fmt"
	"slices"

	"github.com/lockbench/lockbench/internal/catalogue"
)

// victim is what a fault hits.
type victim int

const (
	nobody  victim = iota // all servers of the lock
	client                // one client
	server                // servers of the lock, the first unless they are named
	replica               // a replica of the first master
)

// fault is how a fault is written, and what is said of it.
type fault struct {
	name string
	hits victim
	by   bool // it has an amount
	rate bool // it has a rate
	// replicas is how many replicas there must be; 0 where it hits one means one.
	replicas int
	// begins and ends are sentences with {client}, {server}, {servers}, {nth}, {by} and {times} in them. Without ends nothing stops it.
	// beginsOnReply is that of the other direction; empty: it has no direction.
	begins, beginsOnReply, ends string
}

// KillClient is the death of a client, whose place nobody takes.
const KillClient = "kill-client"

// faults are those that a step can start: those of nemesis by the names that it has for them, and the death of a client.
func faults() []fault {
	return append(faultsOfNemesis(), fault{name: KillClient, hits: client, begins: "{client} crashes"})
}

// faultNamed is the fault with a name. There must be one.
func faultNamed(name string) fault {
	all := faults()
	return all[slices.IndexFunc(all, func(f fault) bool { return f.name == name })]
}

// Faults returns the names of the faults that a step can start.
func Faults() []string {
	var names []string
	for _, f := range faults() {
		names = append(names, f.name)
	}
	return names
}

// checkFault looks whether a fault has the target and the amount that it needs.
func (p Step) checkFault() error {
	f := faultNamed(p.What)
	n := len(p.Who)
	switch {
	case f.hits == client && n != 1:
		return fmt.Errorf("%s %s: it hits a client: want the name of one, found %d", p.Verb, p.What, n)
	case f.hits != client && n != 0:
		return fmt.Errorf("%s %s: it hits no client, and one is named", p.Verb, p.What)
	case f.hits != replica && p.Replica != 0:
		return fmt.Errorf("%s %s: it hits no replica, and one is named", p.Verb, p.What)
	case f.ends == "" && p.Verb == Stop:
		return fmt.Errorf("%s %s: it is over as soon as it has begun, or lasts for good: nothing stops it", p.Verb, p.What)
	case p.Reply && f.beginsOnReply == "":
		return fmt.Errorf("%s %s: it has no direction, and reply is given", p.Verb, p.What)
	case f.by && p.Verb == Start && p.By == nil:
		return fmt.Errorf("%s %s: want by how much, such as by 2T", p.Verb, p.What)
	case f.rate && p.Verb == Start && p.Times == 0:
		return fmt.Errorf("%s %s: want how many times as fast, such as times 2", p.Verb, p.What)
	case p.Times != 0 && (!f.rate || p.Verb == Stop):
		return fmt.Errorf("%s %s: it has no rate, and times %v is given", p.Verb, p.What, p.Times)
	case p.By != nil && (!f.by || p.Verb == Stop):
		return fmt.Errorf("%s %s: it has no amount, and %s is given", p.Verb, p.What, p.By)
	}
	return nil
}

func unknown(kind, name string, known []string) error { return catalogue.Unknown(kind, name, known) }

// needs is how many replicas there must be.
func (f fault) needs() int {
	if f.hits == replica {
		return max(f.replicas, 1)
	}
	return f.replicas
}
