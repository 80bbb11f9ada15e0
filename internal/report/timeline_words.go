package report

import (
	"strings"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/language"
	"github.com/lockbench/lockbench/internal/words"
)

// tongue is the language in which an event is told: English if the record has a sentence of its own, as of faults. A sentence is
// never told half in one language.
func tongue(e histories.Event, in language.Language) language.Language {
	if foreign(e) {
		return language.Language{}
	}
	return in
}

// foreign reports whether the record of an event has a sentence, which is English.
func foreign(e histories.Event) bool {
	switch e.F {
	case histories.Missed, histories.Hung, histories.Stall, histories.Standstill, histories.Died:
		return true
	case histories.Abandon:
		return e.Value != ""
	case histories.Audit:
		return e.Err != ""
	}
	return e.Process == histories.Nemesis && !e.Single()
}

// fault tells a fault's start or end; over says that its start was told before.
func fault(e histories.Event, over bool) string {
	what := strings.TrimSpace(show(string(e.F)) + " " + show(e.Node))
	switch {
	case e.Type == histories.Fail || e.Type == histories.Info:
		what += " failed: " + show(e.Err)
	case over:
		what += " is over"
	}
	if e.Value != "" {
		what += ": " + show(e.Value)
	}
	return what
}

func begun(e histories.Event, in language.Language) string {
	switch e.F {
	case histories.Acquire:
		return in.Sayf("acquires %s …", show(e.Key)+as(e, in))
	case histories.Release:
		return in.Sayf("releases %s …", show(e.Key))
	case histories.Read:
		return in.Say("reads the register …")
	case histories.Write:
		return in.Sayf("writes %s to the register …", show(e.Value))
	case histories.Incr:
		return in.Say("increments the register …")
	case histories.Draw:
		return in.Sayf("draws round %s …", show(e.Value))
	case histories.Count:
		return in.Sayf("asks how often it holds %s …", show(e.Key))
	case histories.Extend:
		return in.Sayf("extends %s …", show(e.Key))
	case histories.Verify:
		return in.Sayf("asks whether it still holds %s …", show(e.Key))
	}
	return call(e, in) + " …"
}

// version tells the version of the protected register that an access found. An access without an
// attempt is of a register that lockbench did not record, and that counts no versions.
func version(format string, e histories.Event, in language.Language) string {
	if e.Attempt == 0 {
		return ""
	}
	return in.Sayf(format, e.Version)
}

// call names a call that has no words of its own.
func call(e histories.Event, in language.Language) string {
	return strings.TrimSpace(in.Say(show(string(e.F))) + " " + show(e.Key))
}

func ended(e histories.Event, in language.Language) string {
	what := ""
	switch e.F {
	case histories.Acquire:
		what = in.Sayf("acquires %s", show(e.Key)+as(e, in)) + until(e, in)
		if e.Type == histories.OK && e.Token > 0 {
			what += in.Sayf(", token %d", e.Token)
		}
	case histories.Extend:
		what = in.Sayf("extends %s", show(e.Key)) + until(e, in)
	case histories.Verify:
		what = in.Sayf("asks whether it still holds %s", show(e.Key))
		if e.Type == histories.OK {
			what += in.Say(": yes")
		}
	case histories.Release:
		what = in.Sayf("releases %s", show(e.Key))
	case histories.Read:
		what = in.Say("reads the register")
		if e.Type == histories.OK {
			what += in.Say(": ") + show(e.Value) + version(" (version %d)", e, in)
		}
	case histories.Write:
		what = in.Sayf("writes %s to the register", show(e.Value))
		if e.Type == histories.OK {
			what += version(" over version %d", e, in)
		}
	case histories.Incr:
		what = in.Say("increments the register")
		if e.Type == histories.OK {
			what += in.Sayf(" to %s", show(e.Value)) + version(", over version %d", e, in)
		}
	case histories.Draw:
		what = in.Sayf("draws round %s", show(e.Value))
		if e.Type == histories.OK {
			what += version(", over version %d", e, in)
		}
	case histories.Count:
		what = in.Sayf("asks how often it holds %s", show(e.Key))
		if e.Type == histories.OK {
			what += in.Say(": ") + show(e.Value)
		}
	default:
		what = call(e, in)
	}
	switch e.Type {
	case histories.Fail:
		what += in.Say(": refused")
		if e.Err != "" {
			what += in.Sayf(", %s", in.Say(show(e.Err)))
		}
	case histories.Info:
		what += in.Say(": outcome unknown")
		if e.Err != "" {
			what += in.Sayf(", %s", in.Say(show(e.Err)))
		}
	}
	return what
}

// until tells the end of the lease that a call was granted.
func until(e histories.Event, in language.Language) string {
	if e.Type != histories.OK || e.Deadline == 0 {
		return ""
	}
	return in.Sayf(", lease until %s", words.Instant(e.Deadline))
}

// as says of an acquire that it would share, or that it does not say for how long.
func as(e histories.Event, in language.Language) string {
	if e.WithoutTTL() {
		return in.Say(" without a TTL")
	}
	switch e.Mode() {
	case histories.Shared:
		return in.Say(" for reading")
	case histories.Reentrant:
		return in.Say(" re-entrantly")
	}
	return ""
}

func single(e histories.Event, in language.Language) string {
	switch e.F {
	case histories.Crash:
		return in.Say("crashes")
	case histories.Lost:
		return in.Say("is told that its lease is lost")
	case histories.Abandon:
		if e.Value != "" {
			return show(e.Value)
		}
		return in.Say("walks away without releasing")
	case histories.Waited:
		return in.Sayf("waited for %s, and sent %s commands", show(e.Key), show(e.Value))
	case histories.Missed:
		return "missed the lock: " + show(e.Value)
	case histories.Audit:
		if e.Err != "" {
			return "nobody could look at what the lock's servers hold: " + show(e.Err)
		}
		if e.TTL == histories.NoTTL {
			return in.Sayf("%s still holds %s, without any TTL", show(e.Node), show(e.Key))
		}
		return in.Sayf("%s still holds %s, for another %s", show(e.Node), show(e.Key), words.Instant(e.TTL))
	}
	if text, ok := ofHarness(e); ok {
		return text
	}
	return in.Say(show(string(e.F)))
}

func name(e histories.Event) string {
	switch {
	case e.F == histories.Audit:
		return "audit"
	case e.F == histories.Missed:
		return "script"
	case e.Disturbance():
		return "harness"
	}
	return histories.WorkerName(e.Worker)
}
