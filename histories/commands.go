package histories

import (
	"bufio"
	"cmp"
	"encoding/json"
	"io"
	"slices"
	"time"
)

// An Exchange is one command that crossed the wire and its reply, in the words of
// the report. Times are on the run's clock, as those of events are.
type Exchange struct {
	Sent    time.Duration `json:"sent"`              // before the command was forwarded to the node
	Replied time.Duration `json:"replied,omitempty"` // 0: the client got no reply
	Client  string        `json:"client"`
	Node    string        `json:"node"`
	Conn    int           `json:"conn"` // connection between the two, from 1
	Seq     int           `json:"seq"`  // command between the two, from 1
	Command string        `json:"command"`
	Reply   string        `json:"reply,omitempty"`
	Note    string        `json:"note,omitempty"` // what a fault did to it

	// What Effects reads. Earlier versions did not record it.

	// Words are the command's name and its arguments, whole unless they are very long, with the
	// digest in the place of a script. None if they may hold a secret.
	Words []string `json:"words,omitempty"`
	// Script is the text of the script whose digest is among Words, of the first that has it.
	Script    string        `json:"script,omitempty"`
	Forwarded time.Duration `json:"forwarded,omitempty"` // to the node, after it had been held; 0: at Sent
	Answered  time.Duration `json:"answered,omitempty"`  // by the node, before a fault stopped the reply; 0: at Replied
	Answer    string        `json:"answer,omitempty"`    // the node's, if the client did not get it as Reply
	First     string        `json:"first,omitempty"`     // reply to an earlier execution of the same command, which the client knows nothing of
}

const exchangeFields = "sent, replied, client, node, conn, seq, command, reply, note, words, script, forwarded, answered, answer or first"

// Compare orders exchanges by Sent, Client, Node, Conn and Seq, and then by everything
// else, so that the order does not depend on who reported first.
func (e Exchange) Compare(other Exchange) int {
	return cmp.Or(
		cmp.Compare(e.Sent, other.Sent),
		cmp.Compare(e.Client, other.Client),
		cmp.Compare(e.Node, other.Node),
		cmp.Compare(e.Conn, other.Conn),
		cmp.Compare(e.Seq, other.Seq),
		cmp.Compare(e.Replied, other.Replied),
		cmp.Compare(e.Command, other.Command),
		cmp.Compare(e.Reply, other.Reply),
		cmp.Compare(e.Note, other.Note),
		slices.Compare(e.Words, other.Words),
		cmp.Compare(e.Script, other.Script),
		cmp.Compare(e.Forwarded, other.Forwarded),
		cmp.Compare(e.Answered, other.Answered),
		cmp.Compare(e.Answer, other.Answer),
		cmp.Compare(e.First, other.First),
	)
}

// WriteExchanges writes one line per exchange, in the order of Compare. It
// leaves x as it is.
func WriteExchanges(w io.Writer, x []Exchange) error {
	sorted := slices.Clone(x)
	slices.SortFunc(sorted, Exchange.Compare)
	out := bufio.NewWriter(w)
	lines := json.NewEncoder(out)
	for _, e := range sorted {
		if err := lines.Encode(e); err != nil {
			return err
		}
	}
	return out.Flush()
}

// ReadExchanges reads what WriteExchanges wrote. Its errors are as those of ReadJSONL.
func ReadExchanges(r io.Reader, name string) ([]Exchange, error) {
	var x []Exchange
	err := decodeLines(r, &lineDecoder{name: name, unit: "exchange"}, stateless(parseExchange), func(e Exchange) error {
		x = append(x, e)
		return nil
	})
	return x, err
}

func parseExchange(line []byte) (Exchange, error) {
	var e *Exchange
	err := strict(line, &e, exchangeFields)
	switch {
	case err != nil:
		return Exchange{}, err
	case e == nil || e.Command == "":
		return Exchange{}, missing("command")
	}
	return *e, nil
}
