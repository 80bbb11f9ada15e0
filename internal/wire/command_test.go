package wire

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func command(line string) Command {
	words := strings.Fields(line)
	return Command{Name: words[0], Args: words[1:]}
}

func TestKey(t *testing.T) {
	tests := []struct{ line, want string }{
		{"SET k v", "k"},
		{"GET k", "k"},
		{"GET", ""},
		{"DEL a b", "a"},
		{"FROBNICATE k", "k"},
		{"PING hello", ""},
		{"CLIENT SETINFO x y", ""},
		{"PUBLISH channel m", ""},
		{"EVAL return 1 k v", "k"},
		{"EVALSHA abc 2 k1 k2 v", "k1"},
		{"EVALSHA abc 0 v", ""},
		{"EVALSHA abc x v", ""},
		{"EVALSHA abc 1", ""},
		{"EVALSHA abc -1 v", ""},
		{"EVALSHA", ""},
		{"FCALL f 1 k", "k"},
		{"OBJECT ENCODING k", "k"},
		{"BITOP AND dest a", "dest"},
		{"ZUNION 2 a b", "a"},
		{"BLMPOP 0 1 k LEFT", "k"},
		{"MIGRATE host 6379 k 0 5", "k"},
		{"XREADGROUP GROUP g c streams s1 >", "s1"},
		{"XREAD COUNT 1", ""},
		{"XREAD STREAMS", ""},
	}
	for _, tt := range tests {
		line := strings.Replace(tt.line, "return 1", "return1 1", 1)
		if got := command(line).Key(); got != tt.want {
			t.Errorf("key of %s: %q, want %q", tt.line, got, tt.want)
		}
	}
}

func TestCommandKeys(t *testing.T) {
	for line, want := range map[string][]string{
		"PING":                     nil,
		"SET k v":                  {"k"},
		"DEL a b c":                {"a", "b", "c"},
		"WATCH a b":                {"a", "b"},
		"MSET a 1 b 2":             {"a", "b"},
		"RENAME a b":               {"a", "b"},
		"EVALSHA abc 2 k1 k2 v":    {"k1", "k2"},
		"EVALSHA abc 0 v":          nil,
		"EVALSHA abc 9 k1 k2":      {"k1", "k2"},
		"FCALL f 1 k v":            {"k"},
		"MIGRATE host 6379 k 0 5":  {"k"},
		"XREAD STREAMS":            nil,
		"UNKNOWN k more arguments": {"k"},
	} {
		c := command(line)
		if diff := cmp.Diff(want, c.Keys()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", line, diff)
		}
		if on := c.On(0, want); on != (want != nil) {
			t.Errorf("%s is on %q: %v", line, want, on)
		}
	}
}

func TestCommandString(t *testing.T) {
	sha := "7f3a0d1c5b9e8f7a6b5c4d3e2f1a0b9c8d7e6f5a"
	tests := []struct {
		want string
		args []string
	}{
		{"PING", []string{"PING"}},
		{"SET orders/42 3f9a… NX PX 3000", []string{"SET", "orders/42", "3f9a8b7c6d5e4f3a", "NX", "PX", "3000"}},
		{"EVALSHA 7f3a… orders/42 3f9a…", []string{"EVALSHA", sha, "1", "orders/42", "3f9a8b7c6d5e4f3a"}},
		{`EVAL "return redi…" a b x`, []string{"EVAL", "return redis.call('GET', KEYS[1])", "2", "a", "b", "x"}},
		{"SET k 6ba7…", []string{"SET", "k", "6ba7b810-9dad-11d1-80b4-00c04fd430c8"}},
		{"SET k v PXAT 1700000000000", []string{"SET", "k", "v", "PXAT", "1700000000000"}},
		{"SET a-rather-long-key/with/parts v", []string{"SET", "a-rather-long-key/with/parts", "v"}},
		{"SET k twelve-chars", []string{"SET", "k", "twelve-chars"}},
		{"SET k thirteen-ch…", []string{"SET", "k", "thirteen-char"}},
		{"SET k 锁锁锁锁锁锁锁锁锁锁锁…", []string{"SET", "k", strings.Repeat("锁", 13)}},
		{`GET "\x1b[2J\a\r\n"`, []string{"GET", "\x1b[2J\a\r\n"}},
		{`GET "\u202eevil"`, []string{"GET", "\u202eevil"}},
		{`GET "\xff"`, []string{"GET", "\xff"}},
		{`GET "a b"`, []string{"GET", "a b"}},
		{`GET ""`, []string{"GET", ""}},
		{`"\x1b]0;X" k`, []string{"\x1b]0;X", "k"}},
		{"AUTH *** ***", []string{"AUTH", "user", "secret"}},
		{"HELLO 3 AUTH *** ***", []string{"HELLO", "3", "AUTH", "user", "secret"}},
		{"DEL k k k k k k k k k k k k k k k k … +4", append([]string{"DEL"}, strings.Fields(strings.Repeat("k ", 20))...)},
	}
	for _, tt := range tests {
		if got := (Command{Name: tt.args[0], Args: tt.args[1:]}).String(); got != tt.want {
			t.Errorf("%q\n got %s\nwant %s", tt.args, got, tt.want)
		}
	}
}

func TestMatch(t *testing.T) {
	set := command("SET k v")
	tests := []struct {
		match Match
		want  bool
	}{
		{Match{}, true},
		{Match{Names: []string{"get", "set"}}, true},
		{Match{Names: []string{"GET"}}, false},
		{Match{Keys: []string{"k"}}, true},
		{Match{Keys: []string{"v"}}, false},
		{Match{Names: []string{"SET"}, Keys: []string{"other"}}, false},
		{Match{Keys: []string{"other", "k"}}, true},
		{Match{Keys: []string{"k"}, Database: 3}, false},
	}
	for _, tt := range tests {
		if got := tt.match.covers(&set); got != tt.want {
			t.Errorf("%+v covers %v: %v", tt.match, set, got)
		}
	}
}

func TestReadCommand(t *testing.T) {
	tests := []struct {
		wire string
		want []string
	}{
		{"*2\r\n$3\r\nGET\r\n$2\r\n\r\n\r\n", []string{"GET", "\r\n"}},
		{"PING\r\n", []string{"PING"}},
		{"PING\n", []string{"PING"}},
		{"\r\n*0\r\n*-1\r\n  \r\nPING\r\n", []string{"PING"}},
		{" set  'a\\'b' \"\\x41\\n\\\"\" \r\n", []string{"set", "a'b", "A\n\""}},
		{"SET \"\" ''\r\n", []string{"SET", "", ""}},
		{"SET a\"b c\"\r\n", []string{"SET", "ab c"}},
	}
	for _, tt := range tests {
		got, err := readCommand(bufio.NewReader(strings.NewReader(tt.wire)))
		if diff := cmp.Diff(tt.want, got); err != nil || diff != "" {
			t.Errorf("%q: %v (-want +got):\n%s", tt.wire, err, diff)
		}
	}
}

func TestReadCommandErrors(t *testing.T) {
	tests := []struct {
		wire string
		want error
	}{
		{"", io.EOF},
		{"\r\n", io.EOF},
		{"PING", io.ErrUnexpectedEOF},
		{"*1", io.ErrUnexpectedEOF},
		{"*1\r\n", io.ErrUnexpectedEOF},
		{"*1\r\n$4\r\nPI", io.ErrUnexpectedEOF},
		{"*x\r\n", ErrProtocol},
		{"*1\r\n:1\r\n", ErrProtocol},
		{"*1\r\n$-1\r\n", ErrProtocol},
		{"*1\r\n$1\r\nabc", ErrProtocol},
		{"*1\r\n$999999999999\r\n", ErrProtocol},
		{"SET \"a\r\n", ErrProtocol},
		{"SET 'a'b\r\n", ErrProtocol},
		{strings.Repeat("x", maxLine+1), ErrProtocol},
	}
	for _, tt := range tests {
		if got, err := readCommand(bufio.NewReader(strings.NewReader(tt.wire))); !errors.Is(err, tt.want) {
			t.Errorf("%.40q: got %q and error %v, want error %v", tt.wire, got, err, tt.want)
		}
	}
}

// scanCommand feeds b in pieces of size step and returns the first command that
// is not blank.
func scanCommand(b []byte, step int) (words []string, used int, err error) {
	var s commandScanner
	at := 0
	for end := 0; end < len(b); {
		end = min(end+step, len(b))
		for at < end {
			done, err := s.scan(b[at:end])
			if err != nil {
				return nil, at, err
			}
			if !done {
				break
			}
			for _, w := range s.words(b[at:end]) {
				words = append(words, string(w))
			}
			at += s.pos
			s.reset()
			if len(words) > 0 {
				return words, at, nil
			}
		}
	}
	return nil, at, io.EOF
}

func FuzzReadCommand(f *testing.F) {
	for _, s := range []string{
		"PING\r\n", "*1\r\n$4\r\nPING\r\n", "*2\r\n$3\r\nGET\r\n$1\r\nk\r\n", "\r\n*0\r\nPING\n", "SET 'a b' \"\\x00\"\r\n",
		"*1\r\n$999999999999\r\n", "*2147483647\r\n$1\r\nx\r\n", "*-1\r\nx\n", "*1\r\n$-1\r\n",
	} {
		f.Add([]byte(s), 1)
	}
	f.Fuzz(func(t *testing.T, b []byte, step int) {
		src := bytes.NewReader(b)
		r := bufio.NewReader(src)
		words, err := readCommand(r)
		used := len(b) - src.Len() - r.Buffered()
		scanned, n, scanErr := scanCommand(b, max(1, step%7))
		if err != nil {
			return
		}
		if scanErr != nil || n != used || !cmp.Equal(words, scanned) {
			t.Fatalf("%q: read %q in %d bytes, scan says %q in %d, %v", b, words, used, scanned, n, scanErr)
		}
		again, err := readCommand(bufio.NewReader(bytes.NewReader(AppendCommand(nil, words...))))
		if err != nil || !cmp.Equal(words, again) {
			t.Fatalf("%q reads back as %q, %v", words, again, err)
		}
		c := Command{Name: words[0], Args: words[1:]}
		_ = c.Key()
		if s := c.String(); strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f || r == 0x9b }) {
			t.Fatalf("%q is shown with control characters: %q", words, s)
		}
	})
}
