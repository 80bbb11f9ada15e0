package harness

import (
	"crypto/sha1" //nolint:gosec // it is how Redis names scripts
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/wire"
)

// commandLog keeps what crosses the wire: for the report, and as a witness of the judges, who must
// not need it.
type commandLog struct {
	on bool

	mu      sync.Mutex
	kept    []*histories.Exchange
	dropped int                // exchanges beyond logLength
	words   map[string]string  // the one copy of each that was seen
	scripts map[string]*script // by their text
	loaded  map[string]*script // the same, by their digest
}

// script is one that crossed the wire.
type script struct {
	digest, text string
}

// logLength is how many exchanges are kept. That is the whole of a scenario, and some
// minutes of random load; a run of hours would otherwise fill the memory.
const logLength = 50_000

type exchangeID struct{ conn, seq int }

// watch keeps what crosses link from now on.
func (l *commandLog) watch(client, node string, link *wire.Link, now func() time.Duration) {
	if !l.on {
		return
	}
	open := map[exchangeID]*histories.Exchange{}
	link.Observe(func(e wire.Event) {
		l.mu.Lock()
		defer l.mu.Unlock()
		id := exchangeID{e.Command.Conn, e.Command.Seq}
		x := open[id]
		if x == nil && len(l.kept) == logLength {
			if e.Kind == wire.Sent {
				l.dropped++
			}
			return
		}
		if x == nil {
			x = &histories.Exchange{Sent: now(), Client: client, Node: node, Conn: id.conn, Seq: id.seq, Command: e.Command.String()}
			x.Words = l.wordsOf(e.Command)
			open[id] = x
			l.kept = append(l.kept, x)
		}
		answered(x, e, now())
	})
}

// answered notes in x what happened to its command.
func answered(x *histories.Exchange, e wire.Event, now time.Duration) {
	if e.Reply != "" && e.Kind != wire.Replied && e.Kind != wire.Executed && x.Answered == 0 {
		x.Answered, x.Answer = now, e.Reply
	}
	switch e.Kind {
	case wire.Sent:
		if x.Note != "" { // it was held
			x.Forwarded = now
		}
	case wire.Replied:
		if x.Replied, x.Reply = now, e.Reply; x.Answer == e.Reply {
			x.Answer = ""
		}
	case wire.Held:
		x.Note = either(e, histories.CommandHeld, histories.ReplyHeld)
	case wire.Released:
		x.Note = either(e, histories.CommandLetGo, histories.ReplyLetGo)
	case wire.Dropped:
		x.Note = either(e, histories.CommandDropped, histories.ReplyDropped)
	case wire.Executed:
		x.Note, x.First = histories.ExecutedTwice+e.Reply, e.Reply
	}
}

// longestWord is how much of a word is kept: more than any token or key has.
const longestWord = 512

// noteScripts notes the scripts that cross link, until it is watched: clients load them before the run
// begins.
func (l *commandLog) noteScripts(link *wire.Link) {
	if !l.on {
		return
	}
	link.Observe(func(e wire.Event) {
		if i := scriptAt(e.Command); e.Kind == wire.Sent && i >= 0 {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.script(e.Command.Args[i])
		}
	})
}

// know notes the scripts that servers know from the beginning.
func (l *commandLog) know(scripts []string) {
	if !l.on {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, text := range scripts {
		l.script(text)
	}
}

// scriptAt is the place of a script's text among the arguments of a command, or -1.
func scriptAt(c wire.Command) int {
	switch {
	case (c.Name == "EVAL" || c.Name == "EVAL_RO") && len(c.Args) > 0:
		return 0
	case c.Name == "SCRIPT" && len(c.Args) > 1 && strings.EqualFold(c.Args[0], "LOAD"):
		return 1
	}
	return -1
}

// script is the one of that text.
func (l *commandLog) script(text string) *script {
	one := l.scripts[text]
	if one != nil {
		return one
	}
	if l.scripts == nil {
		l.scripts, l.loaded = map[string]*script{}, map[string]*script{}
	}
	one = &script{digest: fmt.Sprintf("%x", sha1.Sum([]byte(text))), text: text} //nolint:gosec // it is how Redis names scripts
	l.scripts[text], l.loaded[one.digest] = one, one
	return one
}

// wordsOf returns the words of a command as exchanges have them.
func (l *commandLog) wordsOf(c wire.Command) []string {
	if c.Name == "AUTH" || c.Name == "HELLO" || c.Name == "ACL" || c.Name == "CONFIG" || c.Name == "MIGRATE" {
		return nil
	}
	at := scriptAt(c)
	words := append(make([]string, 0, len(c.Args)+1), l.word(c.Name))
	for i, a := range c.Args {
		if i == at {
			a = l.script(a).digest
		}
		words = append(words, l.word(a))
	}
	return words
}

// tellScripts puts the text of each script into the first exchange that names it. It goes by
// the order of the exchanges, as commands that are sent at the same time are seen in any order.
func (l *commandLog) tellScripts(exchanges []histories.Exchange) {
	told := map[string]bool{}
	for i := range exchanges {
		digest := digestOf(exchanges[i].Words)
		if s := l.loaded[digest]; s != nil && !told[digest] {
			told[digest], exchanges[i].Script = true, s.text
		}
	}
}

// digestOf returns the digest of the script that a command runs or loads, or nothing.
func digestOf(words []string) string {
	switch {
	case len(words) > 1 && strings.HasPrefix(words[0], "EVAL"):
		return strings.ToLower(words[1])
	case len(words) > 2 && words[0] == "SCRIPT":
		return words[2]
	}
	return ""
}

// word is the one copy of a word, cut if it is long.
func (l *commandLog) word(w string) string {
	if len(w) > longestWord {
		w = w[:longestWord] + "…"
	}
	if l.words == nil {
		l.words = map[string]string{}
	}
	one, ok := l.words[w]
	if !ok {
		one = w
		l.words[w] = w
	}
	return one
}

// either is the note of the half of an exchange that a fault hit.
func either(e wire.Event, command, reply string) string {
	if e.Reply != "" {
		return reply
	}
	return command
}

// note says what is missing; empty if nothing is.
func (l *commandLog) note() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.dropped == 0 {
		return ""
	}
	return fmt.Sprintf("of the %d commands that crossed the wire the first %d are kept", len(l.kept)+l.dropped, len(l.kept))
}

func (l *commandLog) exchanges() []histories.Exchange {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := make([]histories.Exchange, len(l.kept))
	for i, x := range l.kept {
		all[i] = *x
	}
	slices.SortFunc(all, histories.Exchange.Compare)
	l.tellScripts(all)
	return all
}
