package histories

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/lockbench/lockbench/internal/packed"
)

const heading = "who,what,key,from,to,outcome,ttl,token\n"

func readCalls(format Format, text string) ([]Event, error) {
	return (&Decoder{Name: "calls", Format: format}).all(strings.NewReader(text))
}

// short tells a history in a few words: "a:invoke acquire" is worker 0's.
func short(events []Event) string {
	var words []string
	for _, e := range events {
		words = append(words, fmt.Sprintf("%c%d:%v %s #%d", 'a'+e.Worker, e.Time, e.Type, e.F, e.Attempt))
	}
	return strings.Join(words, ", ")
}

func TestCalls(t *testing.T) {
	for name, test := range map[string]struct{ rows, want string }{
		"nothing": {"", ""},
		// Clients are numbered as the file names them.
		"in order of time":    {"b,acquire,k,30,40,fail,,\na,acquire,k,10,20,ok,5s,7\n", "b0:invoke acquire #1, b10:ok acquire #1, a20:invoke acquire #2, a30:fail acquire #2"},
		"a release":           {"a,lock,k,0,1,ok,,\na,unlock,k,2,3,ok,,\n", "a0:invoke acquire #1, a1:ok acquire #1, a2:invoke release #1, a3:ok release #1"},
		"of what was granted": {"a,acquire,k,0,1,ok,,\na,acquire,k,2,3,fail,,\na,extend,k,4,5,ok,1s,\n", "a0:invoke acquire #1, a1:ok acquire #1, a2:invoke acquire #2, a3:fail acquire #2, a4:invoke extend #1, a5:ok extend #1"},
		"no end":              {"a,acquire,k,0,,unknown,,\n", "a0:invoke acquire #1"},
		"dates":               {"a,acquire,k,2026-01-31T12:00:00+01:00,2026-01-31T11:00:00.000000005Z,info,,\n", "a0:invoke acquire #1, a5:info acquire #1"},
		// Who releases when another is granted may have released before.
		"at one time": {"a,acquire,k,0,1,ok,,\nb,acquire,k,1,5,ok,,\na,release,k,5,6,ok,,\n",
			"a0:invoke acquire #1, b1:invoke acquire #2, a1:ok acquire #1, a5:invoke release #1, b5:ok acquire #2, a6:ok release #1"},
		"one after the other": {"a,acquire,k,0,5,ok,,\na,release,k,5,5,ok,,\nb,acquire,k,5,5,ok,,\n",
			"a0:invoke acquire #1, b5:invoke acquire #3, a5:ok acquire #1, a5:invoke release #1, a5:ok release #1, b5:ok acquire #3"},
	} {
		events, err := readCalls(CSV, heading+test.rows)
		if got := short(events); err != nil || got != test.want {
			t.Errorf("%s: %v\n got %s\nwant %s", name, err, got, test.want)
		}
		if err := Validate(events); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestCallsRefused(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"", "calls:1:1: the file is empty, want a heading: who,what,key,from,to,outcome,ttl,token"},
		{"who,what\n", `calls:1:1: the heading lacks "key", want who,what,key,from,to,outcome, and optionally ttl and token`},
		{"who,what,key,from,to,outcome,who\n", `calls:1:30: the heading has "who", want each of who,what,key,from,to,outcome,ttl,token once`},
		{heading + "a,acquire\n", "calls:2:1: wrong number of fields"},
		{heading + "a,acquire,k,0,1,ok,,\na,\"acq", `calls:3:7: extraneous or missing " in quoted-field`},
		{heading + ",acquire,k,0,1,ok,,\n", `calls:2:1: "who" is empty, want the name of the client`},
		{heading + "a,read,k,0,1,ok,,\n", `calls:2:3: "what" is "read", want acquire, extend or release`},
		{heading + "a,acquire,k,x,1,ok,,\n", `calls:2:13: "from" is "x", want a time such as 2026-01-31T12:00:00.123456Z, nanoseconds, or a duration such as 1.5s`},
		{heading + "a,acquire,k,2,1,ok,,\n", `calls:2:15: "to" is 1ns before "from", want the end of the call`},
		{heading + "a,acquire,k,2,,ok,,\n", `calls:2:15: "to" is empty, want the end of a call whose outcome is ok`},
		{heading + "a,acquire,k,2,3,yes,,\n", `calls:2:17: "outcome" is "yes", want ok, fail or info (unknown)`},
		{heading + "a,acquire,k,2,3,ok,-1s,\n", `calls:2:20: "ttl" is "-1s", want a duration such as 30s, or nanoseconds`},
		{heading + "a,acquire,k,2,3,ok,,9223372036854775808\n", `calls:2:21: "token" is "9223372036854775808", want an integer`},
		{heading + "a,acquire,k,-9223372036854775808,9223372036854775807,ok,,\n", `calls:2:34: "to" is "9223372036854775807", too far from other times, want all within 292 years`},
		{heading + "a,acquire,k,2026-01-31T12:00:00Z,5,ok,,\n", `calls:2:34: "to" is "5", and others are of another kind; want all times with a date, or none`},
		{heading + "a,acquire,k,9999-01-31T12:00:00Z,,,,\n", `calls:2:13: "from" is "9999-01-31T12:00:00Z", want a year from 1678 to 2261`},
		{heading + "a,release,k,0,1,ok,,\n", `calls:2:1: the release of "k" has no acquire of the same client and key before it; want the log from its beginning on`},
	} {
		_, err := readCalls(CSV, test.text)
		wantErr(t, err, test.want)
	}
	for _, test := range []struct{ text, want string }{
		{"5", "calls:1:1: found '5', want an object with who, what, key, from, to, outcome, ttl, token"},
		{`[{"who":"a"}]`, `calls:1:13: the call lacks "what", want who, what, key, from, to, outcome, and optionally ttl and token`},
		{"[\n{\"why\":\"a\"}]", `calls:2:7: the call has "why", want each of who, what, key, from, to, outcome, ttl, token once`},
		{"[\n{\"who\":{}}]", `calls:2:1: an object begins within this one, want one with strings and numbers; its writer was probably killed`},
		{"[\n{\"who\":[]}]", `calls:2:9: "who" is [, want a string or a number`},
		{"[\n{\"who\":\"a\",,}]", `calls:2:12: invalid character ',' looking for beginning of object key string`},
		{"[\n{\"who\":\"a\n\"}]", `calls:2:1: the line ends within a text of this object, its writer was probably killed`},
		{"[\n", `calls:2:1: the JSON ends within the array, its writer was probably killed`},
		{"{\"who\":\"a\",\n\"what\":\"read\",\"key\":\"k\",\"from\":0,\"outcome\":\"ok\"}", `calls:2:7: "what" is "read", want acquire, extend or release`},
		{`[{"who":"a"`, "calls:1:2: the JSON ends within this object, its writer was probably killed"},
		{`[] 5`, "calls:1:4: something follows the array, want one array of objects"},
	} {
		_, err := readCalls(Calls, test.text)
		wantErr(t, err, test.want)
	}
}

// TestCallsLeniently checks that rows which are not sound are left out and told, and the others kept.
func TestCallsLeniently(t *testing.T) {
	const good = "a0:invoke acquire #1, a1:ok acquire #1, b2:invoke acquire #2, b3:ok acquire #2"
	a, b := "a,acquire,k,0,1,ok,,\n", "b,acquire,k,2,3,ok,,\n"
	objA := `{"who":"a","what":"acquire","key":"k","from":0,"to":1,"outcome":"ok"}`
	objB := `{"who":"b","what":"acquire","key":"k","from":2,"to":3,"outcome":"ok"}`
	for _, test := range []struct {
		format     Format
		name, text string
		skipped    []string
	}{
		{CSV, "torn", heading + a + "c,acq\n" + b, []string{"calls:3: column 1: wrong number of fields; 1 call before it is sound"}},
		{CSV, "torn at the end", heading + a + b + "c,acq", []string{"calls:4: column 1: wrong number of fields; 2 calls before it are sound"}},
		{CSV, "a bare quote", heading + a + "c,a\"cq,,,,,,\n" + b, []string{"calls:3: column 4: bare \" in non-quoted-field; 1 call before it is sound"}},
		{CSV, "bad fields", heading + "c,read,k,0,1,ok,,\n" + a + b, []string{`calls:2: column 3: "what" is "read", want acquire, extend or release; 0 calls before it are sound`}},
		// A row that is left out says nothing of the clock.
		{CSV, "other times", heading + "c,acquire,k,-5,-4,ok,,x\nc,acquire,k,2026-01-31T12:00:00Z,2026-01-31T12:00:00Z,ok,,x\n" + a + b, []string{
			`calls:2: column 23: "token" is "x", want an integer; 0 calls before it are sound`,
			`calls:3: column 59: "token" is "x", want an integer; 0 calls before it are sound`}},
		{CSV, "orphan", heading + "c,release,k,0,1,ok,,\n" + a + b, []string{`calls:2: column 1: the release of "k" has no acquire of the same client and key before it; want the log from its beginning on; 3 calls before it are sound`}},
		{Calls, "torn text", objA + "\n" + `{"who":"c","wh` + "\n" + objB, []string{"calls:2: column 1: the line ends within a text of this object, its writer was probably killed; 1 call before it is sound"}},
		{Calls, "torn between", objA + "\n" + `{"who":"c",` + "\n" + objB, []string{"calls:2: column 1: an object begins within this one, want one with strings and numbers; its writer was probably killed; 1 call before it is sound"}},
		{Calls, "torn in a list", "[" + objA + ",\n" + `{"who":"c",` + "\n" + objB + "]", []string{"calls:2: column 1: an object begins within this one, want one with strings and numbers; its writer was probably killed; 1 call before it is sound"}},
		{Calls, "torn at the end", "[" + objA + "," + objB + `,{"who`, []string{"calls:1: column 142: the JSON ends within this object, its writer was probably killed; 2 calls before it are sound"}},
		{Calls, "no comma", "[" + objA + objB + "]", []string{"calls:1: column 71: found '{', want an object with who, what, key, from, to, outcome, ttl, token; 1 call before it is sound"}},
		{Calls, "not closed", "[" + objA + ",\n" + objB, []string{"calls:2: column 70: the JSON ends within the array, its writer was probably killed; 2 calls before it are sound"}},
		{Calls, "noise", objA + "\nINFO started\n" + objB, []string{"calls:2: column 1: found 'I', want an object with who, what, key, from, to, outcome, ttl, token; 1 call before it is sound"}},
		{Calls, "noise before", objA + "\nINFO " + objB, []string{"calls:2: column 1: found 'I', want an object with who, what, key, from, to, outcome, ttl, token; 1 call before it is sound"}},
		{Calls, "no call", objA + `{"who":"c"}` + objB, []string{`calls:1: column 81: the call lacks "what", want who, what, key, from, to, outcome, and optionally ttl and token; 1 call before it is sound`}},
	} {
		var skipped []string
		events, err := (&Decoder{Name: "calls", Format: test.format, Skip: func(e *LineError) { skipped = append(skipped, e.Error()) }}).all(strings.NewReader(test.text))
		got := strings.NewReplacer("c0", "a0", "c1", "a1").Replace(short(events))
		if test.name == "orphan" { // c is the first client
			got = strings.NewReplacer("b0", "a0", "b1", "a1", "c2", "b2", "c3", "b3", "#2", "#1", "#3", "#2").Replace(short(events))
		}
		if diff := cmp.Diff(test.skipped, skipped); err != nil || got != good || diff != "" {
			t.Errorf("%s, %s: %v\n got %s\nskipped (-want +got):\n%s", test.format, test.name, err, got, diff)
		}
		if _, err := readCalls(test.format, test.text); err == nil || !Unsound(err) {
			t.Errorf("%s, %s: strictly %v", test.format, test.name, err)
		}
	}
}

// TestCallsOfACutStream checks that of calls whose compression is damaged those before it are kept.
func TestCallsOfACutStream(t *testing.T) {
	for format, text := range map[Format]string{
		CSV: heading + "a,acquire,k,0,1,ok,,\nb,acq", Calls: `{"who":"a","what":"acquire","key":"k","from":0,"to":1,"outcome":"ok"}` + "\n" + `{"who`,
	} {
		skipped := 0
		d := Decoder{Name: "calls", Format: format, Skip: func(*LineError) { skipped++ }}
		events, err := d.all(io.MultiReader(strings.NewReader(text), iotest.ErrReader(&packed.DamageError{Kind: "gzip", Cut: true})))
		if err != nil || len(events) != 2 || skipped != 1 {
			t.Errorf("%s: %d events, %d skipped, %v", format, len(events), skipped, err)
		}
		if _, err := d.all(io.MultiReader(strings.NewReader(text), iotest.ErrReader(io.ErrClosedPipe))); !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("%s: %v", format, err)
		}
	}
}

// TestCallsBounded checks that a row without an end is not read into memory.
func TestCallsBounded(t *testing.T) {
	for format, begin := range map[Format]string{CSV: heading + `a,acquire,"`, Calls: `[{"who":"`} {
		endless := &endlessText{}
		err := (&Decoder{Name: "calls", Format: format}).Decode(io.MultiReader(strings.NewReader(begin), endless), nil)
		if !errors.Is(err, errLongRow) || endless.read > 2*maxLine {
			t.Errorf("%s: %v after %d bytes", format, err, endless.read)
		}
	}
}

type endlessText struct{ read int }

func (e *endlessText) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	e.read += len(p)
	return len(p), nil
}

// FuzzCalls checks that what is read as calls is a history that can be judged, and that all
// else is an error that says where.
func FuzzCalls(f *testing.F) {
	f.Add(heading+"a,acquire,k,0,1,ok,30s,7\na,release,k,1,1,ok,,\nb,acquire,k,1,,info,,\n", true)
	f.Add(`[{"who":"a","what":"acquire","key":"k","from":"1s","to":null,"outcome":"info"}]`, false)
	f.Add(heading+"a,acquire,k,0,1,ok,,\na,\"acq\nb,acquire,k,2,3,ok,,\nb,rele\nc,release,k,4,5,ok,,\n", true)
	f.Add(`[{"who":"a","what":"acq`+"\n"+`,{"who":"a",{"who":"b","what":"lock","key":"k","from":1,"to":2,"outcome":"ok"}}] []`, false)
	f.Fuzz(func(t *testing.T, text string, rows bool) {
		format := Calls
		if rows {
			format = CSV
		}
		events, err := readCalls(format, text)
		var bad *CallError
		switch {
		case err == nil:
			if err := Validate(events); err != nil {
				t.Errorf("%q: %v", text, err)
			}
		case !errors.As(err, &bad) || bad.Line < 1 || bad.Column < 1:
			t.Errorf("%q: %v", text, err)
		}
		skipped := 0
		lenient, err2 := (&Decoder{Name: "calls", Format: format, Skip: func(*LineError) { skipped++ }}).all(strings.NewReader(text))
		if err == nil && (err2 != nil || skipped > 0 || len(lenient) != len(events)) || err != nil && err2 == nil && skipped == 0 {
			t.Errorf("%q: strictly %d events and %v; leniently %d, %d skipped and %v", text, len(events), err, len(lenient), skipped, err2)
		}
		if err := Validate(lenient); err != nil {
			t.Errorf("%q, leniently: %v", text, err)
		}
	})
}
