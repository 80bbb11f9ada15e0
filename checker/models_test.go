package checker

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/testkit/effort"
)

// logged reads a history as Jepsen logs it, one event per line: "0 :invoke :read nil".
func logged(t testing.TB, lines string) []histories.Event {
	t.Helper()
	var log strings.Builder
	for line := range strings.Lines(lines) {
		if line = strings.TrimSpace(line); line != "" {
			log.WriteString("INFO jepsen.util - " + line + "\n")
		}
	}
	var events []histories.Event
	d := histories.Decoder{Name: "log", Format: histories.JepsenLog}
	err := d.Decode(strings.NewReader(log.String()), func(e histories.Event) error {
		events = append(events, e)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return events
}

func TestModels(t *testing.T) {
	tests := []struct {
		name    string
		model   Model
		history string
		want    Verdict
		witness []int
	}{
		{"reads what was written", Register, `
			0 :invoke :write 1
			1 :invoke :read nil
			1 :ok :read nil
			0 :ok :write 1
			1 :invoke :read nil
			1 :ok :read 1`, Pass, nil},
		{"reads what is gone", Register, `
			0 :invoke :write 1
			0 :ok :write 1
			1 :invoke :read nil
			1 :ok :read nil
			1 :invoke :read nil
			1 :ok :read 1`, Fail, []int{0, 1, 2, 3}},
		{"cas", Register, `
			0 :invoke :write 1
			0 :ok :write 1
			0 :invoke :cas [1 2]
			0 :ok :cas [1 2]
			1 :invoke :read nil
			1 :ok :read 2`, Pass, nil},
		{"cas that cannot have been", Register, `
			0 :invoke :write 1
			0 :ok :write 1
			0 :invoke :cas [3 2]
			0 :ok :cas [3 2]`, Fail, []int{2, 3}},
		{"a failed write is none", Register, `
			0 :invoke :write 1
			0 :fail :write 1
			1 :invoke :read nil
			1 :ok :read 1`, Fail, []int{2, 3}},
		{"an unknown write may come late", Register, `
			0 :invoke :write 1
			0 :info :write 1
			1 :invoke :read nil
			1 :ok :read nil
			1 :invoke :read nil
			1 :ok :read 1`, Pass, nil},
		{"but not go again", Register, `
			0 :invoke :write 1
			0 :info :write 1
			1 :invoke :read nil
			1 :ok :read 1
			1 :invoke :read nil
			1 :ok :read nil`, Fail, []int{2, 3, 4, 5}},
		{"an unknown cas may have failed", Register, `
			0 :invoke :cas [7 8]
			0 :info :cas :actions-out
			1 :invoke :read nil
			1 :ok :read nil`, Pass, nil},
		{"nothing happened", Register, `
			0 :invoke :read nil
			0 :fail :read :actions-out`, Unknown, nil},
		{"the nemesis is no client", Register, `
			:nemesis :info :start nil
			0 :invoke :read nil
			:nemesis :info :start nil
			0 :ok :read nil`, Pass, nil},
		{"mutex", Mutex, `
			0 :invoke :acquire nil
			0 :ok :acquire nil
			1 :invoke :acquire nil
			0 :invoke :release nil
			1 :ok :acquire nil
			0 :ok :release nil`, Pass, nil},
		{"mutex held twice", Mutex, `
			0 :invoke :acquire nil
			0 :ok :acquire nil
			1 :invoke :acquire nil
			1 :ok :acquire nil
			0 :invoke :release nil
			0 :ok :release nil`, Fail, []int{0, 1, 2, 3}},
		{"an unknown release frees", Mutex, `
			0 :invoke :acquire nil
			0 :ok :acquire nil
			0 :invoke :release nil
			0 :info :release nil
			1 :invoke :acquire nil
			1 :ok :acquire nil`, Pass, nil},
		{"once", Mutex, `
			0 :invoke :acquire nil
			0 :ok :acquire nil
			0 :invoke :release nil
			0 :info :release nil
			1 :invoke :acquire nil
			1 :ok :acquire nil
			2 :invoke :acquire nil
			2 :ok :acquire nil`, Fail, []int{4, 5, 6, 7, 0, 1}},
		{"an unknown acquire need not hold", Mutex, `
			0 :invoke :acquire nil
			0 :info :acquire nil
			1 :invoke :acquire nil
			1 :ok :acquire nil`, Pass, nil},
		{"counter", Counter, `
			0 :invoke :add 3
			1 :invoke :read nil
			1 :ok :read 3
			0 :ok :add 3
			0 :invoke :add -5
			0 :info :add -5
			1 :invoke :read nil
			1 :ok :read 3
			1 :invoke :read nil
			1 :ok :read -2`, Pass, nil},
		{"counter loses", Counter, `
			0 :invoke :add 3
			0 :ok :add 3
			1 :invoke :read nil
			1 :ok :read 0`, Fail, []int{0, 1, 2, 3}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			report := CheckModel(t.Context(), logged(t, tt.history), tt.model, Options{})
			res := report.Result(Linearizability)
			if len(report.HarnessErrors) > 0 || res.Verdict != tt.want || report.Verdict != tt.want {
				t.Fatalf("%v, want %v", report, tt.want)
			}
			slices.Sort(tt.witness)
			if !slices.Equal(res.Witness, tt.witness) {
				t.Errorf("witness %v, want %v: %s", res.Witness, tt.witness, res.Story)
			}
			if res.Story == "" || res.Engine == "" {
				t.Errorf("no story or engine: %v", res)
			}
		})
	}
}

func TestModelsRefuse(t *testing.T) {
	tests := []struct {
		name, history, want string
		model               Model
	}{
		{"other call", "0 :invoke :enqueue 1", `cannot be judged as a register: event 0: the call is "enqueue", want read, write or cas`, Register},
		{"cas of one", "0 :invoke :cas 1", `event 0: the value of cas is "1", want a pair such as [1 2]`, Register},
		{"mutex", "0 :invoke :read 1", `event 0: the call is "read", want acquire or release`, Mutex},
		{"counter", "0 :invoke :add x", `event 0: the value of add is "x", want an integer`, Counter},
		{"two at a time", "0 :invoke :read nil\n0 :invoke :read nil", `event 1: process 0 invokes read while its read of event 0 is still open`, Register},
		{"no call", "0 :ok :read nil", `event 0: process 0 completes read but has no open call`, Register},
		{"no permits", "0 :invoke :acquire nil", `model semaphore needs its number of permits, from 1 to 1000000, such as semaphore:2`, Semaphore},
		{"not so many permits", "0 :invoke :acquire nil", `model semaphore:0 needs its number of permits`, "semaphore:0"},
		{"a number too many", "0 :invoke :acquire nil", `model mutex has no number, found "2"`, "mutex:2"},
		{"semaphore", "0 :invoke :read nil", `cannot be judged as a semaphore of 2 permits: event 0: the call is "read", want acquire or release`, "semaphore:2"},
		{"no token", "0 :invoke :acquire nil\n0 :ok :acquire nil", `an acquire answered with token 0 and value "", want a token above 0 as either`, ReentrantFenced},
		{"no mode", "0 :invoke :acquire 7", `event 0: the value of acquire is "7", want read or write`, ReadWriteLock},
		{"no model", "0 :ok :read nil", `there is no such model, want one of [register mutex owner-mutex reentrant-fenced reentrant-fenced-raised rwlock semaphore counter]`, "queue"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			report := CheckModel(t.Context(), logged(t, tt.history), tt.model, Options{})
			if report.Verdict != Unknown || len(report.HarnessErrors) != 1 || !strings.Contains(report.HarnessErrors[0], tt.want) {
				t.Errorf("%v, want %s", report, tt.want)
			}
		})
	}
}

// The search on one key may not come to an end; a violation on another is one all the same.
func TestOneKeyIsEnough(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // so that the budget is over when the test says so
		d := registerType("")
		step := d.step
		d.step = func(state any, do action) (bool, any) {
			if do.a == "slow" {
				time.Sleep(time.Minute)
			}
			return step(state, do)
		}
		call := func(process int, f histories.F, key, value string) []histories.Event {
			e := histories.Event{Process: process, Worker: process, F: f, Key: key, Type: histories.Invoke, Value: value}
			done := e
			done.Type = histories.OK
			return []histories.Event{e, done}
		}
		slow, wrong := call(0, histories.Write, "x", "slow"), call(1, histories.Read, "y", "never written")
		for _, c := range []struct {
			events  []histories.Event
			want    Verdict
			witness []int
		}{
			{slow, Unknown, nil},
			{slices.Concat(slow, wrong), Fail, []int{2, 3}},
		} {
			var res Result
			if err := d.linearize(t.Context(), c.events, Options{Budget: time.Second}, &res); err != nil {
				t.Fatal(err)
			}
			if res.Verdict != c.want || !slices.Equal(res.Witness, c.witness) {
				t.Errorf("%+v, want %v with witness %v", res, c.want, c.witness)
			}
		}
		time.Sleep(time.Hour) // until the searches that were given up have ended
	})
}

func TestModelStopsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("enough"))
	report := CheckModel(ctx, logged(t, "0 :invoke :read nil\n0 :ok :read 7"), Register, Options{})
	if report.Verdict != Unknown || !strings.Contains(report.Results[0].Story, "enough") {
		t.Errorf("%v, want unknown", report)
	}
}

// simulated draws a history of a register that works: each call has its effect at one instant
// after it began, and before it is answered if it is. One of unknown outcome may have none.
func simulated(t *rapid.T) []histories.Event {
	type call struct {
		f              histories.F
		a, b           string
		argument, read string
		done, ok       bool
	}
	var events []histories.Event
	value := ""
	happens := func(c *call) {
		c.done, c.ok, c.read = true, c.f != "cas" || value == c.a, c.argument
		switch {
		case c.f == histories.Read:
			c.read = value
		case c.f == histories.Write:
			value = c.a
		case c.ok:
			value = c.b
		}
	}
	add := func(process int, typ histories.Type, f histories.F, v string) {
		events = append(events, histories.Event{Index: len(events), Process: process, Worker: process, Type: typ, F: f, Value: v})
	}
	processes, running, next := []int{0, 1, 2}, make([]*call, 3), 3
	var adrift []*call // their callers do not wait any more
	number := rapid.SampledFrom([]string{"1", "2", "3"})
	for range rapid.IntRange(1, 40).Draw(t, "steps") {
		i := rapid.IntRange(0, 3).Draw(t, "who")
		switch {
		case i == 3:
			if len(adrift) > 0 {
				happens(adrift[0])
				adrift = adrift[1:]
			}
		case running[i] == nil:
			c := &call{f: rapid.SampledFrom([]histories.F{histories.Read, histories.Write, "cas"}).Draw(t, "f")}
			if c.f != histories.Read {
				c.a, c.b = number.Draw(t, "a"), number.Draw(t, "b")
				c.argument = c.a
			}
			if c.f == "cas" {
				c.argument = "[" + c.a + " " + c.b + "]"
			}
			running[i] = c
			add(processes[i], histories.Invoke, c.f, c.argument)
		case rapid.IntRange(0, 5).Draw(t, "lost") == 0:
			if !running[i].done {
				adrift = append(adrift, running[i])
			}
			add(processes[i], histories.Info, running[i].f, ":actions-out")
			processes[i], running[i], next = next, nil, next+1
		case !running[i].done:
			happens(running[i])
		default:
			typ := histories.OK
			if !running[i].ok {
				typ = histories.Fail
			}
			add(processes[i], typ, running[i].f, running[i].read)
			running[i] = nil
		}
	}
	return events
}

// A register that works is never accused; one that answers what was never written always is.
func TestRegisterIsSoundAndComplete(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		events := simulated(t)
		if report := CheckModel(context.Background(), events, Register, unhurried()); report.Verdict == Fail || len(report.HarnessErrors) > 0 {
			t.Fatalf("accused: %v\n%v", report, events)
		}
		var reads []int
		for i, e := range events {
			if e.F == histories.Read && e.Type == histories.OK {
				reads = append(reads, i)
			}
		}
		if len(reads) == 0 {
			return
		}
		i := rapid.SampledFrom(reads).Draw(t, "wrong")
		events[i].Value = "never written"
		report := CheckModel(context.Background(), events, Register, unhurried())
		if report.Verdict != Fail || !slices.Contains(report.Results[0].Witness, i) {
			t.Fatalf("event %d is not accused: %v\n%v", i, report, events)
		}
	})
}

// TestEtcd judges the logs of etcd that are linearizable by the verdicts in porcupine's own
// test.
func TestEtcd(t *testing.T) {
	effort.Long(t)
	for log, linearizable := range etcdLogs(t) {
		if !linearizable {
			continue // see TestCoresOfEtcd
		}
		file, err := histories.ReadFile(log, false)
		if err != nil {
			t.Fatal(err)
		}
		if report := CheckModel(t.Context(), file.Events, Register, unhurried()); report.Verdict != Pass {
			t.Errorf("%s: %v, want %v", filepath.Base(log), report, Pass)
		}
	}
}

// unhurried are options by which no search is given up on a machine that is slow.
func unhurried() Options { return Options{Budget: time.Hour} }

// etcdLogs returns the logs, each with whether it is linearizable.
func etcdLogs(t testing.TB) map[string]bool {
	t.Helper()
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/anishathalye/porcupine").Output()
	if err != nil {
		t.Fatal(err)
	}
	dir := strings.TrimSpace(string(out))
	source, err := os.ReadFile(filepath.Join(dir, "porcupine_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	logs := map[string]bool{}
	for _, m := range regexp.MustCompile(`checkJepsen\(t, (\d+), (true|false)\)`).FindAllStringSubmatch(string(source), -1) {
		n, err := strconv.Atoi(m[1])
		if err != nil {
			t.Fatal(err)
		}
		logs[filepath.Join(dir, "test_data", "jepsen", "etcd_"+strings.Repeat("0", 3-len(m[1]))+strconv.Itoa(n)+".log")] = m[2] == "true"
	}
	if len(logs) != 102 {
		t.Fatalf("%d logs, want 102", len(logs))
	}
	return logs
}

// TestKnossos judges the histories that Knossos is tested with, whose directories are named
// good and bad. Where they are is told by LOCKBENCH_KNOSSOS, the data directory of a checkout.
func TestKnossos(t *testing.T) {
	dir := os.Getenv("LOCKBENCH_KNOSSOS")
	if dir == "" {
		t.Skip("optional: set LOCKBENCH_KNOSSOS to the data directory of a checkout of jepsen-io/knossos")
	}
	for kind, model := range map[string]Model{"cas-register": Register, "mutex": Mutex} {
		for name, want := range map[string]Verdict{"good": Pass, "bad": Fail} {
			files, err := filepath.Glob(filepath.Join(dir, kind, name, "*.edn"))
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range files {
				file, err := histories.ReadFile(f, false)
				if err != nil {
					t.Error(err)
					continue
				}
				report := CheckModel(t.Context(), file.Events, model, Options{})
				untested := report.Verdict == Unknown && strings.Contains(report.Results[0].Story, "No call succeeded")
				if report.Verdict != want && (want != Pass || !untested) {
					t.Errorf("%s: %v, want %v", f, report, want)
				}
			}
			t.Logf("%s/%s: %d files", kind, name, len(files))
		}
	}
}
