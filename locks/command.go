package locks

import "fmt"

// A Command is one of Redis' that a lock cannot do without, and that not every server has on which
// locks can be played.
type Command struct {
	Name  string // such as FCALL
	Since string // the servers that have it, such as "Redis 7.0"
}

// String is the command and since when there is one.
func (c Command) String() string { return fmt.Sprintf("%s (%s)", c.Name, c.Since) }

func delexCommand() Command { return Command{Name: "DELEX", Since: "Redis 8.4, Valkey 9.2"} }

func delifeqCommand() Command { return Command{Name: "DELIFEQ", Since: "Valkey 9.0"} }

func hsetexCommand() Command { return Command{Name: "HSETEX", Since: "Redis 8.0, Valkey 9.0"} }

func waitaofCommand() Command { return Command{Name: "WAITAOF", Since: "Redis 7.2, Valkey 7.2"} }

func fcallCommand() Command { return Command{Name: "FCALL", Since: "Redis 7.0, Valkey 7.2"} }
