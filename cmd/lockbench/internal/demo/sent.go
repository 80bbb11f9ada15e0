package demo

import (
	"crypto/sha1" // how Redis names scripts
	"encoding/hex"
	"slices"
	"strings"
	"time"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/resource"
	"github.com/lockbench/lockbench/internal/story"
	"github.com/lockbench/lockbench/locks"
)

// sent is a command on its way from a client to one or more nodes, as a step shows it.
type sent struct {
	client  string
	nodes   []string
	command string
	script  string // name of the script that it runs; empty: none that we know
	reply   string
	state   story.Fate
	times   int           // how often in a row
	alike   bool          // times > 1: word for word, and not each with a token of its own
	until   time.Duration // when the last of them was sent
}

// news is what became of commands between two looks at what had crossed the wire.
func news(before, after []histories.Exchange) []sent {
	type id struct {
		client, node string
		conn, seq    int
	}
	known := map[id]histories.Exchange{}
	for _, x := range before {
		known[id{x.Client, x.Node, x.Conn, x.Seq}] = x
	}
	var all []sent
	for _, x := range after {
		old, seen := known[id{x.Client, x.Node, x.Conn, x.Seq}]
		if seen && old.Replied == x.Replied && old.Reply == x.Reply && old.Note == x.Note || story.Setup(x) {
			continue
		}
		s := sent{client: x.Client, nodes: []string{x.Node}, reply: x.Reply, state: story.FateOf(x), times: 1, until: x.Sent}
		s.command, s.script = named(x.Command)
		all = add(all, s)
	}
	return all
}

// add appends s, or adds it to what says the same: the same command to another node, or one
// that differs from the last in its token alone.
func add(all []sent, s sent) []sent {
	for i := range all {
		if o := &all[i]; o.times == 1 && o.client == s.client && o.command == s.command && o.reply == s.reply && o.state == s.state &&
			!slices.Contains(o.nodes, s.nodes[0]) {
			o.nodes = append(o.nodes, s.nodes[0])
			return all
		}
	}
	for i := len(all) - 1; i >= 0; i-- {
		o := &all[i]
		if o.client != s.client {
			continue // what others sent in between does not matter here
		}
		if slices.Equal(o.nodes, s.nodes) && o.reply == s.reply && o.state == story.Answered && s.state == story.Answered && verb(o.command) == verb(s.command) {
			o.alike = o.command == s.command && (o.alike || o.times == 1)
			o.times++
			o.until = s.until
			return all
		}
		break
	}
	return append(all, s)
}

// verb is a command with its key alone.
func verb(command string) string {
	words := strings.Fields(command)
	return strings.Join(words[:min(2, len(words))], " ")
}

// named puts the name of a known script in the place of its digest.
func named(command string) (with, script string) {
	verb, rest, _ := strings.Cut(command, " ")
	digest, args, _ := strings.Cut(rest, " ")
	if verb != "EVALSHA" {
		return command, ""
	}
	if script = scriptName(strings.TrimSuffix(digest, "…")); script == "" {
		return command, ""
	}
	return verb + " ‹" + script + "› " + args, script
}

func scriptName(digest string) string {
	if digest == "" {
		return ""
	}
	all := locks.Scripts()
	all["register-read"], all["register-write"], all["register-enter"] = resource.Scripts()
	for name, source := range all {
		sum := sha1.Sum([]byte(source))
		if strings.HasPrefix(hex.EncodeToString(sum[:]), digest) {
			return name
		}
	}
	return ""
}
