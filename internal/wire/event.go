package wire

// Kind is what happened to a command.
type Kind uint8

// The kinds of Event. A command is Sent once; Replied or Dropped follows if the
// node answers.
const (
	Sent     Kind = iota + 1 // about to be forwarded to the node
	Replied                  // its reply has arrived and is about to be forwarded
	Held                     // the command, or its reply, is stopped
	Released                 // and goes on
	Dropped                  // the command, or its reply, was discarded
	Executed                 // the node has executed it for a Repeat; the client's own try follows
)

// String is the kind in lower case.
func (k Kind) String() string {
	switch k {
	case Sent:
		return "sent"
	case Replied:
		return "replied"
	case Held:
		return "held"
	case Released:
		return "released"
	case Dropped:
		return "dropped"
	case Executed:
		return "executed"
	}
	return "unknown"
}

// Event is one thing that happened to one command.
type Event struct {
	Kind    Kind
	Command Command
	Reply   string // abbreviated; "" while there is none, as in every event of a request
}
