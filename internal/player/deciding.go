package player

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/lockbench/lockbench/internal/redis/cluster"
	"github.com/lockbench/lockbench/internal/wire"
)

// What a lock sends first need not be what decides: it may ask for the TTL, or send the digest
// of a script that the server does not know. A step that is to hit the command which takes,
// extends or frees a lock therefore asks the server what it holds, before that command and, for
// a rule about its reply, after it (docs/adr/0012-deciding-commands.md).

// deciding looks at what one server holds of the locks.
type deciding struct {
	cluster cluster.Cluster
	node    string
	place   cluster.Place
}

func (s *Stage) deciding(node string) (deciding, error) {
	place, err := s.kept()
	return deciding{s.Cluster, node, place}, err
}

// lookLimit bounds a look at a server, which may be dead or stand still.
const lookLimit = time.Second

// look is what the server holds now. It is nil if the server does not answer.
func (d deciding) look() []cluster.KeyState {
	ctx, cancel := context.WithTimeout(context.Background(), lookLimit)
	defer cancel()
	states, err := d.cluster.Inspect(ctx, d.node, d.place.Database, d.place.Names...)
	if err != nil {
		return nil
	}
	return states
}

// taken matches the command that takes a lock: when it has been executed a key is there that
// was not, or that says something else than before.
func (d deciding) taken() wire.Match {
	return wire.Match{Database: d.place.Database, Keys: d.place.Names, Effect: func(wire.Command) func() bool {
		before := d.look()
		return func() bool {
			after := d.look()
			for i := range min(len(before), len(after)) {
				if after[i].Exists && (!before[i].Exists || differs(before[i], after[i])) {
					return true
				}
			}
			return false
		}
	}}
}

// differs reports whether two states of a key say different things, whatever their TTL.
func differs(a, b cluster.KeyState) bool {
	return a.Type != b.Type || a.Value != b.Value || !slices.Equal(a.Fields, b.Fields)
}

// writes matches a command, of some names or of any, that would change what the server holds of
// the locks if it was executed now. A script that the server has not got would not; of any
// other nobody knows, and it counts as one that would.
func (d deciding) writes(names ...string) wire.Match {
	return wire.Match{Names: names, Database: d.place.Database, Keys: d.place.Names, Before: d.would}
}

// takes matches a command that would take a lock: one that writes, and does not merely set
// when a key ends.
func (d deciding) takes() wire.Match {
	m := d.writes()
	m.Before = func(c wire.Command) bool { return !expires(c) && d.would(c) }
	return m
}

// looks matches the command by which a client looks whose the lock is: one that reads what is
// under a key, or that may look and write at once.
func (d deciding) looks() wire.Match {
	m := d.writes(scripts("GET", "MGET", "HGET", "HMGET", "HGETALL", "HEXISTS", "GETDEL", "DEL", "UNLINK", "DELEX", "DELIFEQ", "HDEL")...)
	m.Before = func(c wire.Command) bool { return c.Name != "EVALSHA" || d.knows(c) }
	return m
}

// would reports whether a command would change what the server holds of the locks.
func (d deciding) would(c wire.Command) bool {
	if c.Reads() {
		return false
	}
	held := d.look()
	there := slices.ContainsFunc(held, func(k cluster.KeyState) bool { return k.Exists && slices.Contains(c.Keys(), k.Key) })
	if value, ok := compared(c); ok {
		return slices.ContainsFunc(held, func(k cluster.KeyState) bool { return k.Exists && k.Key == c.Key() && k.Value == value })
	}
	option := func(name string) bool {
		return slices.ContainsFunc(options(c), func(a string) bool { return strings.EqualFold(a, name) })
	}
	switch c.Name {
	case "DEL", "UNLINK", "GETDEL", "HDEL", "SREM", "ZREM":
		return there
	case "SETNX", "MSETNX":
		return !there
	case "SET":
		return (!there || !option("NX")) && (there || !option("XX"))
	case "HSETEX":
		return (!there || !option("FNX")) && (there || !option("FXX"))
	case "EVALSHA", "FCALL":
		return d.knows(c)
	}
	return there || !expires(c)
}

// options are what follows the key and the value of a SET, or stands before the fields of an HSETEX.
func options(c wire.Command) []string {
	if c.Name == "HSETEX" {
		fields := slices.IndexFunc(c.Args, func(a string) bool { return strings.EqualFold(a, "FIELDS") })
		return c.Args[1:max(1, fields)]
	}
	return c.Args[min(2, len(c.Args)):]
}

// compared is the value that the key must have for a command to do anything, if it is one that compares.
func compared(c wire.Command) (value string, ok bool) {
	after := func(i int) (string, bool) {
		if i < len(c.Args) {
			return c.Args[i], true
		}
		return "", false
	}
	switch c.Name {
	case "DELIFEQ":
		return after(1)
	case "DELEX", "SET":
		for i, a := range c.Args {
			if i > 0 && strings.EqualFold(a, "IFEQ") && (i > 1 || c.Name == "DELEX") {
				return after(i + 1)
			}
		}
	}
	return "", false
}

// expires reports whether a command sets when a key or a field ends, and nothing else.
func expires(c wire.Command) bool {
	if value, ok := compared(c); ok && c.Name == "SET" {
		return c.Args[1] == value
	}
	switch c.Name {
	case "EXPIRE", "PEXPIRE", "EXPIREAT", "PEXPIREAT", "PERSIST", "GETEX", "HEXPIRE", "HPEXPIRE", "HEXPIREAT", "HPEXPIREAT", "HPERSIST":
		return true
	}
	return false
}

// knows reports whether the server has the script that a command names. A server that cannot be
// asked counts as one that has.
func (d deciding) knows(c wire.Command) bool {
	server, ok := d.cluster.(cluster.Commander)
	if !ok || c.Name != "EVALSHA" || len(c.Args) == 0 {
		return true
	}
	ctx, cancel := context.WithTimeout(context.Background(), lookLimit)
	defer cancel()
	reply, err := server.Do(ctx, d.node, "SCRIPT", "EXISTS", c.Args[0])
	return err != nil || len(reply.Elems) != 1 || reply.Elems[0].Text() != "0"
}
