package histories

import (
	"bytes"
	"encoding/json"
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// hostile are strings that a JSON writer can get wrong.
func hostile() []string {
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	return []string{
		"", "orders/42", `"`, `\`, "\\\"", "\b\f\n\r\t", "\x00\x1f\x7f", "<a href='x'>&amp;</a>", "\u2028\u2029\u2027\u202a",
		"\xff", "a\xc3", "\xe2\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\ufffd", "锁", "🔒", "{\"index\":1}", string(all),
	}
}

// randomEvent draws an Event in which any field may be zero, extreme or hostile.
func randomEvent(r *rand.Rand) Event {
	ints := []int64{0, 1, -1, 9, 10, 999_999_999_999_999_999, 1_000_000_000_000_000_000, math.MaxInt64, math.MinInt64, r.Int64()}
	number := func() int64 { return ints[r.IntN(len(ints))] }
	strs := hostile()
	text := func() string {
		s := strs[r.IntN(len(strs))]
		if r.IntN(4) == 0 {
			s += strs[r.IntN(len(strs))]
		}
		return s
	}
	return Event{
		Index: int(number()), Time: time.Duration(number()), Process: int(number()), Worker: int(number()),
		Type: Type(r.IntN(4)), F: F(text()), Key: text(), Attempt: uint64(number()), Token: number(),
		TTL: time.Duration(number()), Deadline: time.Duration(number()), Version: number(),
		Value: text(), Node: text(), Err: text(),
	}
}

func TestAppendEventIsEncodingJSON(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		e := randomEvent(r)
		want, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		if got := appendEvent(nil, &e); !bytes.Equal(got, want) {
			t.Fatalf("%#v\n got %s\nwant %s", e, got, want)
		}
	}
}

func TestValidIsWhatTheFileHolds(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 5_000 {
		e := randomEvent(r)
		got, err := parseEvent(appendEvent(nil, &e), nil)
		if err != nil {
			t.Fatal(err)
		}
		if want := valid(e); got != want {
			t.Fatalf("the file holds %#v, memory %#v", got, want)
		}
	}
}

// goldenEvents are lines as runs produce them; the last has every field.
func goldenEvents() []Event {
	return []Event{
		{Index: 0, Time: 1_000_000, Process: 0, Worker: 0, Type: Invoke, F: Acquire, Key: "orders/42", Attempt: 1, TTL: 3 * time.Second},
		{Index: 1, Time: 1_400_000, Process: 0, Worker: 0, Type: OK, F: Acquire, Key: "orders/42", Attempt: 1, Token: 7, Deadline: 3_001_000_000},
		{Index: 2, Time: 2_000_000, Process: Nemesis, Type: Invoke, F: "kill", Node: "redis-1"},
		{Index: 3, Time: 2_000_001, Process: Nemesis, Type: OK, F: "kill", Node: "redis-1"},
		{Index: 4, Time: 3_000_000, Process: 0, Worker: 0, Type: Invoke, F: Write, Key: "stock", Attempt: 1},
		{Index: 5, Time: 4_000_000, Process: 0, Worker: 0, Type: Info, F: Write, Key: "stock", Attempt: 1, Err: `read: "i/o timeout" <5s>`},
		{Index: 6, Time: 5_000_000, Process: 5, Worker: 0, Type: Info, F: Lost, Key: "orders/42", Attempt: 1},
		{Index: 7, Time: 6_000_000, Process: Nemesis, Type: Info, F: Audit, Key: "锁", TTL: NoTTL, Value: "3f9a", Node: "redis-2"},
		{Index: 8, Time: 7, Process: 6, Worker: 1, Type: Fail, F: Read, Key: "k", Attempt: math.MaxUint64, Token: 2, TTL: 3,
			Deadline: 4, Version: 5, Value: "v", Node: "n", Err: "e"},
	}
}

func TestGoldenJSONL(t *testing.T) {
	var file bytes.Buffer
	if err := WriteJSONL(&file, goldenEvents()); err != nil {
		t.Fatal(err)
	}
	golden(t, "history.jsonl", file.Bytes())
}
