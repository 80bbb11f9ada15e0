package wire

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func readReply(s string) (Reply, error) { return ReadReply(bufio.NewReader(strings.NewReader(s))) }

func TestReadReply(t *testing.T) {
	str := func(typ byte, s string) Reply { return Reply{Type: typ, Str: s} }
	tests := []struct {
		wire, people string
		want         Reply
	}{
		{"+OK\r\n", "OK", str('+', "OK")},
		{"+\r\n", `""`, str('+', "")},
		{"-ERR no\r\n", `"ERR no"`, str('-', "ERR no")},
		{":-7\r\n", "-7", str(':', "-7")},
		{"$3\r\na\r\n\r\n", `"a\r\n"`, str('$', "a\r\n")},
		{"$0\r\n\r\n", `""`, str('$', "")},
		{"$-1\r\n", "nil", Reply{Type: '$', Null: true}},
		{"*-1\r\n", "nil", Reply{Type: '*', Null: true}},
		{"_\r\n", "nil", Reply{Type: '_', Null: true}},
		{"*0\r\n", "[]", Reply{Type: '*', Elems: []Reply{}}},
		{"*2\r\n:1\r\n*1\r\n+x\r\n", "[1 [x]]", Reply{Type: '*', Elems: []Reply{str(':', "1"), {Type: '*', Elems: []Reply{str('+', "x")}}}}},
		{"%1\r\n+k\r\n:1\r\n", "[k 1]", Reply{Type: '%', Elems: []Reply{str('+', "k"), str(':', "1")}}},
		{"~1\r\n#t\r\n", "[t]", Reply{Type: '~', Elems: []Reply{str('#', "t")}}},
		{">1\r\n+x\r\n", "[x]", Reply{Type: '>', Elems: []Reply{str('+', "x")}}},
		{",1.5\r\n", "1.5", str(',', "1.5")},
		{"(123456789012345678901234567890\r\n", "1234…", str('(', "123456789012345678901234567890")},
		{"=6\r\ntxt:hi\r\n", "hi", str('=', "txt:hi")},
		{"!5\r\nERR x\r\n", `"ERR x"`, str('!', "ERR x")},
		{"|1\r\n+k\r\n:1\r\n+OK\r\n", "OK", Reply{Type: '+', Str: "OK", Attrs: []Reply{str('+', "k"), str(':', "1")}}},
		{"*6\r\n:1\r\n:2\r\n:3\r\n:4\r\n:5\r\n:6\r\n", "[1 2 3 4 … +2]", Reply{Type: '*', Elems: []Reply{
			str(':', "1"), str(':', "2"), str(':', "3"), str(':', "4"), str(':', "5"), str(':', "6")}}},
		{"+\x1b[2J\r\n", `"\x1b[2J"`, str('+', "\x1b[2J")},
	}
	for _, tt := range tests {
		got, err := readReply(tt.wire)
		if err != nil {
			t.Errorf("%q: %v", tt.wire, err)
			continue
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", tt.wire, diff)
		}
		if again := string(appendReply(nil, got)); again != tt.wire {
			t.Errorf("%q encodes as %q", tt.wire, again)
		}
		if got.String() != tt.people {
			t.Errorf("%q reads %s, want %s", tt.wire, got, tt.people)
		}
	}
}

func TestReadReplyErrors(t *testing.T) {
	deep := strings.Repeat("*1\r\n", maxDepth+2)
	tests := []struct {
		wire string
		want error
	}{
		{"", io.EOF},
		{"+OK", io.ErrUnexpectedEOF},
		{"$3\r\nab", io.ErrUnexpectedEOF},
		{"$3\r\nabc", io.ErrUnexpectedEOF},
		{"*2\r\n:1\r\n", io.ErrUnexpectedEOF},
		{"|1\r\n+k\r\n:1\r\n", io.ErrUnexpectedEOF},
		{"*999999999\r\n", io.ErrUnexpectedEOF},
		{"\r\n", ErrProtocol},
		{"+OK\n", ErrProtocol},
		{"?\r\n", ErrProtocol},
		{":1x\r\n", ErrProtocol},
		{"#y\r\n", ErrProtocol},
		{"_x\r\n", ErrProtocol},
		{"$\r\n", ErrProtocol},
		{"$01\r\n", ErrProtocol},
		{"$-2\r\n", ErrProtocol},
		{"=-1\r\n", ErrProtocol},
		{"%-1\r\n", ErrProtocol},
		{"$?\r\n", ErrProtocol},
		{"$1\r\nabc", ErrProtocol},
		{"*99999999999\r\n", ErrProtocol},
		{"$999999999999\r\n", ErrProtocol},
		{"$99999999999999999999999\r\n", ErrProtocol},
		{"|0\r\n|0\r\n+OK\r\n", ErrProtocol},
		{deep, ErrProtocol},
		{"+" + strings.Repeat("x", maxLine+10) + "\r\n", ErrProtocol},
	}
	for _, tt := range tests {
		if got, err := readReply(tt.wire); !errors.Is(err, tt.want) {
			t.Errorf("%.40q: got %v and error %v, want error %v", tt.wire, got, err, tt.want)
		}
	}
}

// A length is a claim of the peer: memory must follow the bytes.
func TestClaimedLengthsAllocateNothing(t *testing.T) {
	claims := []string{"$536870912\r\nx", "$999999999999\r\nx", "*2147483647\r\n", "%2147483647\r\n", "|2147483647\r\n"}
	commands := []string{"*1\r\n$536870912\r\nx", "*1\r\n$999999999999\r\nx", "*2147483647\r\n$1\r\nx\r\n"}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for _, c := range claims {
		if _, err := readReply(c); err == nil {
			t.Errorf("%q is a reply", c)
		}
		var s replyScanner
		if _, done, err := s.scan([]byte(c)); done || err != nil {
			t.Errorf("%q: scan says %v, %v", c, done, err)
		}
	}
	for _, c := range commands {
		if _, err := readCommand(bufio.NewReader(strings.NewReader(c))); err == nil {
			t.Errorf("%q is a command", c)
		}
		var s commandScanner
		if done, err := s.scan([]byte(c)); done || err != nil {
			t.Errorf("%q: scan says %v, %v", c, done, err)
		}
	}
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; used > 1<<20 {
		t.Errorf("%d bytes allocated for a few bytes of input", used)
	}
}

func TestReplyAccessors(t *testing.T) {
	if err := (Reply{Type: '-', Str: "NOSCRIPT no"}).Err(); !errors.Is(err, ReplyError("NOSCRIPT no")) {
		t.Errorf("Err of an error reply: %v", err)
	}
	if err := (Reply{Type: '$', Str: "x"}).Err(); err != nil {
		t.Errorf("Err of a string: %v", err)
	}
	for _, r := range []Reply{{Type: ':', Str: "42"}, {Type: '$', Str: "42"}, {Type: '=', Str: "txt:42"}} {
		if n, err := r.Int(); n != 42 || err != nil {
			t.Errorf("Int of %s: %d, %v", r, n, err)
		}
	}
	for _, r := range []Reply{{Type: '$', Null: true}, {Type: '-', Str: "ERR"}, {Type: '+', Str: "x"}, {Type: '*'}} {
		if n, err := r.Int(); err == nil {
			t.Errorf("Int of %s is %d, want an error", r, n)
		}
	}
}

// scanReply feeds b in pieces of size step, as a network does, and returns how
// many bytes the first reply has.
func scanReply(b []byte, step int) (int, bool, error) {
	var s replyScanner
	at := 0
	for end := 0; end < len(b); {
		end = min(end+step, len(b))
		n, done, err := s.scan(b[at:end])
		at += n
		if done || err != nil {
			return at, done, err
		}
	}
	return at, false, nil
}

var replySeeds = []string{
	"+OK\r\n", "-ERR x\r\n", ":1\r\n", "$3\r\nabc\r\n", "$-1\r\n", "*-1\r\n", "*2\r\n:1\r\n$1\r\nx\r\n", "_\r\n",
	",1.5\r\n", "#t\r\n", "!3\r\nERR\r\n", "=5\r\ntxt:x\r\n", "(12\r\n", "%1\r\n+a\r\n+b\r\n", "~1\r\n:1\r\n",
	">1\r\n+x\r\n", "|1\r\n+a\r\n+b\r\n:1\r\n", "$999999999999\r\n", "*2147483647\r\n", "$4\r\nab", "*1\r\n*0\r\n+x",
}

func FuzzReadReply(f *testing.F) {
	for _, s := range replySeeds {
		f.Add([]byte(s), 1)
	}
	f.Fuzz(func(t *testing.T, b []byte, step int) {
		src := bytes.NewReader(b)
		r := bufio.NewReader(src)
		reply, err := ReadReply(r)
		used := len(b) - src.Len() - r.Buffered()
		step = max(1, step%7)
		n, done, scanErr := scanReply(b, step)
		if whole, wholeDone, _ := scanReply(b, len(b)+1); done != wholeDone || done && n != whole {
			t.Fatalf("scan in steps of %d: %d %v, at once: %d %v", step, n, done, whole, wholeDone)
		}
		if err != nil {
			return
		}
		if again := appendReply(nil, reply); !bytes.Equal(again, b[:used]) {
			t.Fatalf("%q encodes as %q", b[:used], again)
		}
		if !done || scanErr != nil || n != used {
			t.Fatalf("%q: read %d bytes, scan says %d, %v, %v", b, used, n, done, scanErr)
		}
		if s := reply.String(); strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f || r == 0x9b }) {
			t.Fatalf("%q is shown with control characters: %q", b, s)
		}
	})
}
