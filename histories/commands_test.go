package histories

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// exchanges are in order; each differs from the one before in one more field.
func exchanges() []Exchange {
	return []Exchange{
		{Sent: 1, Replied: 9, Client: "A", Node: "n1", Conn: 1, Seq: 1, Command: "SET orders/42 3f9a… NX PX 3000", Reply: "OK"},
		{Sent: 2, Client: "A", Node: "n1", Conn: 1, Seq: 1, Command: "DEL orders/42", Note: "reply dropped"},
		{Sent: 2, Client: "B", Node: "n1", Conn: 1, Seq: 1, Command: "PING"},
		{Sent: 2, Client: "B", Node: "n2", Conn: 1, Seq: 1, Command: "PING"},
		{Sent: 2, Client: "B", Node: "n2", Conn: 2, Seq: 1, Command: "PING"},
		{Sent: 2, Client: "B", Node: "n2", Conn: 2, Seq: 2, Command: "PING"},
		{Sent: 2, Replied: 1, Client: "B", Node: "n2", Conn: 2, Seq: 2, Command: "PING"},
		{Sent: 2, Replied: 1, Client: "B", Node: "n2", Conn: 2, Seq: 2, Command: "PONG <"},
		{Sent: 2, Replied: 1, Client: "B", Node: "n2", Conn: 2, Seq: 2, Command: "PONG <", Reply: "1"},
		{Sent: 2, Replied: 1, Client: "B", Node: "n2", Conn: 2, Seq: 2, Command: "PONG <", Reply: "1", Note: "late"},
		{Sent: 2, Replied: 1, Client: "B", Node: "n2", Conn: 2, Seq: 2, Command: "PONG <", Reply: "1", Note: "late", Words: []string{"EVALSHA", "1", "1", "words", "3000", "3000"}},
	}
}

func TestExchangesDoNotDependOnWhoReportsFirst(t *testing.T) {
	sorted := exchanges()
	var want bytes.Buffer
	if err := WriteExchanges(&want, sorted); err != nil {
		t.Fatal(err)
	}
	golden(t, "commands.jsonl", want.Bytes())

	r := rand.New(rand.NewPCG(7, 8))
	for range 50 {
		x := exchanges()
		r.Shuffle(len(x), func(i, j int) { x[i], x[j] = x[j], x[i] })
		given := slices.Clone(x)
		var got bytes.Buffer
		if err := WriteExchanges(&got, x); err != nil {
			t.Fatal(err)
		}
		if got.String() != want.String() {
			t.Fatalf("another order gives another file:\n%s", got.String())
		}
		if diff := cmp.Diff(given, x); diff != "" {
			t.Fatalf("WriteExchanges changed its argument:\n%s", diff)
		}
		slices.SortFunc(x, Exchange.Compare)
		if diff := cmp.Diff(sorted, x); diff != "" {
			t.Fatalf("Compare (-want +got):\n%s", diff)
		}
	}

	back, err := ReadExchanges(&want, CommandsFile)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(sorted, back); diff != "" {
		t.Errorf("read back (-want +got):\n%s", diff)
	}
}

func TestReadExchangesErrors(t *testing.T) {
	const good = `{"sent":1,"client":"A","node":"n1","conn":1,"seq":1,"command":"PING"}` + "\n"
	tests := []struct{ file, want string }{
		{good + `{"sent":"now"}` + "\n", `c:2: "sent" is a string, want an integer; 1 exchange before it is sound`},
		{good + good + good[:9], "c:3: the last line is truncated, its writer was probably killed; 2 exchanges before it are sound"},
		{`{"sent":1}`, `c:1: "command" is missing; 0 exchanges before it are sound`},
		{`null`, `c:1: "command" is missing; 0 exchanges before it are sound`},
		{`{"reply":"x","to":1}`, `c:1: unknown field "to", want sent, replied, client, node, conn, seq, command, reply, note, words, script, forwarded, answered, answer or first; 0 exchanges before it are sound`},
	}
	for _, tt := range tests {
		x, err := ReadExchanges(strings.NewReader(tt.file), "c")
		wantErr(t, err, tt.want)
		if sound := strings.Count(tt.file, good); len(x) != sound {
			t.Errorf("%d exchanges, want %d", len(x), sound)
		}
	}
}

func TestWriteExchangesFullDisk(t *testing.T) {
	full := errors.New("full")
	if err := WriteExchanges(&disk{err: full}, exchanges()); !errors.Is(err, full) {
		t.Errorf("error %v, want that of the writer", err)
	}
}
