package histories

// What a fault did to a command or to its reply, as Exchange.Note has it. Of a command that was executed twice the
// note has its first reply behind ExecutedTwice.
const (
	CommandHeld    = "command held"
	CommandLetGo   = "command held, then let go"
	CommandDropped = "command dropped" // no server has seen it
	ReplyHeld      = "reply held"
	ReplyLetGo     = "reply held, then let go"
	ReplyDropped   = "reply dropped"
	ExecutedTwice  = "executed twice, at first "
)
