package checker

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/lockbench/lockbench/histories"
)

// TestIndependentKeys checks which histories are taken for those of Jepsen's independent keys,
// and that no doubt becomes a fail.
func TestIndependentKeys(t *testing.T) {
	for name, test := range map[string]struct {
		model   Model
		history string
		want    Verdict
	}{
		"keys are apart": {Register, `
			0 :invoke :write [1 3]
			0 :ok :write [1 3]
			0 :invoke :write [2 4]
			0 :ok :write [2 4]
			0 :invoke :read [1 nil]
			0 :ok :read [1 3]`, Pass},
		"tagged": {Register, `
			0 :invoke :write #jepsen.independent.Tuple [1 3]
			0 :ok :write #jepsen.independent.Tuple [1 3]
			0 :invoke :write #jepsen.independent.Tuple [2 4]
			0 :ok :write #jepsen.independent.Tuple [2 4]
			0 :invoke :read #jepsen.independent.Tuple [1 nil]
			0 :ok :read #jepsen.independent.Tuple [1 3]`, Pass},
		"a first read finds nothing": {Register, `
			0 :invoke :read ["x" nil]
			0 :ok :read ["x" nil]`, Pass},
		"a key's value is gone": {Register, `
			0 :invoke :write [1 3]
			0 :ok :write [1 3]
			0 :invoke :write [2 4]
			0 :ok :write [2 4]
			0 :invoke :read [1 nil]
			0 :ok :read [1 nil]`, Fail},
		"of another key": {Register, `
			0 :invoke :write [1 3]
			0 :ok :write [1 3]
			0 :invoke :read [2 nil]
			0 :ok :read [2 3]`, Fail},
		"1 and \"1\" are two keys": {Register, `
			0 :invoke :write [1 3]
			0 :ok :write [1 3]
			0 :invoke :read ["1" nil]
			0 :ok :read ["1" nil]`, Pass},
		"cas of a key": {Register, `
			0 :invoke :write [1 3]
			0 :ok :write [1 3]
			1 :invoke :cas [1 [3 4]]
			1 :ok :cas [1 [3 4]]
			0 :invoke :read [1 nil]
			0 :ok :read [1 4]`, Pass},
		"cas of a key that has something else": {Register, `
			0 :invoke :read [1 nil]
			0 :ok :read [1 nil]
			1 :invoke :cas [1 [3 4]]
			1 :ok :cas [1 [3 4]]`, Fail},
		"what failed may have any value": {Register, `
			0 :invoke :write [1 3]
			0 :fail :write :actions-out
			1 :invoke :write [1 4]
			1 :info :write nil
			2 :invoke :read [1 nil]
			2 :ok :read [1 4]`, Pass},
		"a register of pairs": {Register, `
			0 :invoke :write [1 3]
			0 :ok :write [1 3]
			0 :invoke :read nil
			0 :ok :read [1 3]`, Pass},
		"a register that was empty": {Register, `
			0 :invoke :read nil
			0 :ok :read nil
			0 :invoke :write [1 3]
			0 :ok :write [1 3]
			0 :invoke :write [2 3]
			0 :ok :write [2 3]
			0 :invoke :read nil
			0 :ok :read [1 3]`, Fail},
		"either a register of pairs that lost one, or keys": {Register, `
			0 :invoke :write [1 3]
			0 :ok :write [1 3]
			0 :invoke :write [2 4]
			0 :ok :write [2 4]
			0 :invoke :read nil
			0 :ok :read [1 3]`, Unknown},
		"wrong either way": {Register, `
			0 :invoke :write [1 3]
			0 :ok :write [1 3]
			0 :invoke :read nil
			0 :ok :read [1 4]`, Fail},
		"a read of a key beside a value that is none": {Register, `
			0 :invoke :write 3
			0 :ok :write 3
			0 :invoke :read [1 nil]
			0 :ok :read 4`, Unknown},
		"an answer of another key": {Register, `
			0 :invoke :read [1 nil]
			0 :ok :read [2 5]`, Unknown},
		"another tag is no tuple": {Register, `
			0 :invoke :write #my.Pair [1 3]
			0 :ok :write #my.Pair [1 3]
			0 :invoke :write #my.Pair [2 3]
			0 :ok :write #my.Pair [2 3]
			0 :invoke :read nil
			0 :ok :read #my.Pair [1 3]`, Fail},
		"counters": {Counter, `
			0 :invoke :add [1 3]
			0 :ok :add [1 3]
			0 :invoke :add [2 5]
			0 :ok :add [2 5]
			0 :invoke :read [1 nil]
			0 :ok :read [1 3]`, Pass},
		"locks": {Mutex, `
			0 :invoke :acquire [1 nil]
			0 :ok :acquire [1 nil]
			1 :invoke :acquire [2 nil]
			1 :ok :acquire [2 nil]
			0 :invoke :release [1 nil]
			0 :ok :release [1 nil]`, Pass},
		"one lock twice": {Mutex, `
			0 :invoke :acquire [1 nil]
			0 :ok :acquire [1 nil]
			1 :invoke :acquire [1 nil]
			1 :ok :acquire [1 nil]`, Fail},
		"the value of an acquire may be its owner": {Mutex, `
			0 :invoke :acquire ["a" 1]
			0 :ok :acquire ["a" 1]
			1 :invoke :acquire ["b" 1]
			1 :ok :acquire ["b" 1]
			0 :invoke :release nil
			0 :ok :release nil`, Fail},
	} {
		t.Run(name, func(t *testing.T) {
			report := CheckModel(t.Context(), logged(t, test.history), test.model, Options{})
			if len(report.HarnessErrors) > 0 || report.Verdict != test.want {
				t.Errorf("verdict is %v, want %v: %v %s", report.Verdict, test.want, report.HarnessErrors, report.Results[0].Story)
			}
		})
	}
}

// TestTuplesAreKeys checks on random histories that tuples mean what keys of their own mean.
func TestTuplesAreKeys(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var log strings.Builder
		for i := range rapid.IntRange(1, 12).Draw(rt, "calls") {
			key, value := rapid.IntRange(1, 2).Draw(rt, "key"), rapid.IntRange(1, 3).Draw(rt, "value")
			f, asked, got := "write", fmt.Sprint(value), fmt.Sprint(value)
			switch rapid.IntRange(0, 2).Draw(rt, "f") {
			case 0:
				f, asked = "read", "nil"
			case 1:
				f = "cas"
				asked = fmt.Sprintf("[%d %d]", value, rapid.IntRange(1, 3).Draw(rt, "to"))
				got = asked
			}
			outcome := rapid.SampledFrom([]string{"ok", "ok", "info", "fail"}).Draw(rt, "outcome")
			fmt.Fprintf(&log, "%d :invoke :%s [%d %s]\n%[1]d :%[5]s :%[2]s [%[3]d %[6]s]\n", i, f, key, asked, outcome, got)
		}
		log.WriteString("99 :invoke :read [1 nil]\n")
		events := logged(t, log.String())
		apart := make([]histories.Event, len(events))
		for i, e := range events {
			pair := histories.Elements(e.Value)
			e.Key, e.Value = pair[0], pair[1]
			apart[i] = e
		}
		got, want := CheckModel(t.Context(), events, Register, Options{}), CheckModel(t.Context(), apart, Register, Options{})
		if got.Verdict != want.Verdict || got.Results[0].Story != want.Results[0].Story {
			rt.Errorf("%s\nas tuples: %v\nas keys: %v", log.String(), got, want)
		}
	})
}
