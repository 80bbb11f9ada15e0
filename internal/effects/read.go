package effects

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lockbench/lockbench/histories"
)

// reader turns exchanges into acts on keys.
type reader struct {
	x       []histories.Exchange
	acts    []act
	scripts map[string]scriptText // by digest, in lower case
	db      map[line]int          // that a connection has selected
	queued  map[line][]int        // exchanges since MULTI, that wait for EXEC
	in      map[line]bool         // between MULTI and EXEC
}

// line is one connection.
type line struct {
	client, node string
	conn         int
}

func newReader(x []histories.Exchange, database int) *reader {
	r := &reader{x: x, scripts: map[string]scriptText{}, db: map[line]int{}, queued: map[line][]int{}, in: map[line]bool{}}
	for _, e := range x {
		at := line{e.Client, e.Node, e.Conn}
		if _, known := r.db[at]; !known {
			if r.db[at] = 0; e.Seq > 1 {
				r.db[at] = database
			}
		}
		if e.Script != "" && len(e.Words) > 1 {
			digest := e.Words[1]
			if e.Words[0] == "SCRIPT" && len(e.Words) > 2 {
				digest = e.Words[2]
			}
			r.scripts[strings.ToLower(digest)] = readScript(e.Script)
		}
	}
	return r
}

// read takes the i-th exchange.
func (r *reader) read(i int) {
	e := r.x[i]
	if e.Note == histories.CommandDropped {
		return // no server has seen it
	}
	words := wordsOf(e)
	if len(words) == 0 {
		return
	}
	at, reply := line{e.Client, e.Node, e.Conn}, answerOf(e)
	switch name := words[0]; {
	case name == "MULTI":
		r.in[at], r.queued[at] = true, nil
	case name == "DISCARD", name == "RESET":
		r.in[at] = false
		if name == "RESET" {
			r.db[at] = 0
		}
	case name == "EXEC":
		r.exec(i, at, reply)
	case r.in[at]:
		if reply == "" || reply == "QUEUED" {
			r.queued[at] = append(r.queued[at], i)
		}
	case name == "SELECT" && len(words) > 1:
		if n, err := strconv.Atoi(words[1]); err == nil && reply == "OK" {
			r.db[at] = n
		}
	default:
		if e.First != "" { // on a connection of its own, and before this one
			r.command(i, words, 0, e.Sent, e.Sent, e.First)
		}
		from, to := executed(e)
		r.command(i, words, r.db[at], from, to, reply)
	}
}

// exec takes the EXEC of a transaction.
func (r *reader) exec(i int, at line, reply string) {
	queued := r.queued[at]
	r.in[at], r.queued[at] = false, nil
	from, to := executed(r.x[i])
	replies, whole := elements(reply)
	for n, q := range queued {
		words := wordsOf(r.x[q])
		switch {
		case reply == "nil" || errorReply(reply): // nothing of it was done
			for _, a := range r.parse(q, words, r.db[at], "") {
				a.from, a.to, a.intent = from, to, failed
				r.acts = append(r.acts, a)
			}
		case n < len(replies):
			r.command(q, words, r.db[at], from, to, replies[n])
		case !whole || reply == "":
			r.command(q, words, r.db[at], from, to, "")
		}
	}
}

func (r *reader) command(i int, words []string, db int, from, to time.Duration, reply string) {
	for _, a := range r.parse(i, words, db, reply) {
		a.from, a.to = from, to
		r.acts = append(r.acts, a)
	}
}

// parse returns what a command with a reply, or none, did to each key.
func (r *reader) parse(i int, words []string, db int, reply string) []act {
	base := act{exchange: i, client: r.x[i].Client, node: r.x[i].Node, place: histories.Place{DB: db}}
	if s, ok := r.script(words); ok {
		return s.acts(base, words, reply)
	}
	c, ok := readCommand(words)
	if !ok {
		return nil
	}
	var acts []act
	for _, key := range c.keys {
		a := base
		a.place.Key, a.field, a.value, a.ttl = key, c.field, c.value, c.ttl
		a.intent, a.sight, a.would = c.intent(reply, len(c.keys)), c.sight(reply), c.does
		if c.compared != "" {
			a.args, a.compares = []string{c.compared}, true
		}
		acts = append(acts, a)
	}
	return acts
}

// wordsOf are the command's, its name in capitals. Those of an earlier version may be shortened.
func wordsOf(e histories.Exchange) []string {
	words := e.Words
	if words == nil {
		words = strings.Fields(e.Command)
		if len(words) == 0 || strings.HasPrefix(words[0], "EVAL") || strings.HasPrefix(words[0], "FCALL") {
			return nil
		}
	}
	words = slices.Clone(words)
	words[0] = strings.ToUpper(words[0])
	return words
}

// answerOf is what the node answered, whether the client got it or not; "" if nothing.
func answerOf(e histories.Exchange) string {
	if e.Reply != "" {
		return e.Reply
	}
	return e.Answer
}

// executed bounds when the node executed the command.
func executed(e histories.Exchange) (from, to time.Duration) {
	from, to = max(e.Sent, e.Forwarded), endless
	switch {
	case e.Answered > 0:
		to = e.Answered
	case e.Replied > 0:
		to = e.Replied
	}
	return from, to
}

// elements are those of a reply that is an array, as far as it is told, and whether that is all.
func elements(reply string) (all []string, whole bool) {
	inner, ok := strings.CutPrefix(reply, "[")
	inner, closed := strings.CutSuffix(inner, "]")
	if !ok || !closed || strings.ContainsAny(inner, `"[`) {
		return nil, false
	}
	all = strings.Fields(inner)
	if i := slices.Index(all, "…"); i >= 0 {
		return all[:i], false
	}
	return all, true
}

// errorReply reports whether a reply is an error, as far as its text tells: the first word of an
// error is in capitals, and it has several.
func errorReply(reply string) bool {
	text, quoted := strings.CutPrefix(reply, `"`)
	name, _, more := strings.Cut(text, " ")
	return quoted && more && name != "" && name == strings.ToUpper(name) && strings.ToLower(name) != name
}
