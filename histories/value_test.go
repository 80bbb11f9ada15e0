package histories

import "testing"

func TestReadTuple(t *testing.T) {
	for value, want := range map[string]Tuple{
		`[1 3]`:                             {Key: "1", Value: "3"},
		`[1 nil]`:                           {Key: "1"},
		`["1" nil]`:                         {Key: `"1"`},
		`[:x [3 4]]`:                        {Key: ":x", Value: "[3 4]"},
		`#jepsen.independent.Tuple [1 "a"]`: {Key: "1", Value: "a", Tagged: true},
	} {
		if got, ok := ReadTuple(value); !ok || got != want {
			t.Errorf("%s is %+v, %t, want %+v", value, got, ok, want)
		}
	}
	for _, value := range []string{"", "3", "[1]", "[1 2 3]", "(1 2)", "#{1 2}", "#other [1 2]", "[1 2", "[1 2] 3", "#", "#jepsen.independent.Tuple 3"} {
		if got, ok := ReadTuple(value); ok {
			t.Errorf("%s is %+v, want none", value, got)
		}
	}
}

// FuzzReadTuple checks that a tuple's key and value, written again, are the same tuple.
func FuzzReadTuple(f *testing.F) {
	f.Add(`[1 nil]`)
	f.Add(`#jepsen.independent.Tuple ["a\u0000" #{1}]`)
	f.Fuzz(func(t *testing.T, value string) {
		tuple, ok := ReadTuple(value)
		if !ok {
			return
		}
		again, ok := ReadTuple("[" + tuple.Key + " " + string(appendValue(nil, tuple.Value)) + "]")
		if !ok || again.Key != tuple.Key || again.Value != tuple.Value {
			t.Errorf("%q is %+v, and then %+v, %t", value, tuple, again, ok)
		}
	})
}
