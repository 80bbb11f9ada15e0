package report

import (
	"fmt"
	"strings"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/words"
)

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

func begins(e histories.Event) string {
	switch e.F {
	case histories.Acquire:
		return "acquires " + show(e.Key) + as(e) + " …"
	case histories.Release:
		return "releases " + show(e.Key) + " …"
	case histories.Read:
		return "reads the register …"
	case histories.Write:
		return "writes " + show(e.Value) + " to the register …"
	case histories.Incr:
		return "increments the register …"
	case histories.Draw:
		return "draws round " + show(e.Value) + " …"
	case histories.Count:
		return "asks how often it holds " + show(e.Key) + " …"
	}
	return strings.TrimSpace(show(string(e.F))+" "+show(e.Key)) + " …"
}

// version tells the version of the protected register that an access found. An access without an
// attempt is of a register that lockbench did not record, and that counts no versions.
func version(format string, e histories.Event) string {
	if e.Attempt == 0 {
		return ""
	}
	return fmt.Sprintf(format, e.Version)
}

func ends(e histories.Event) string {
	what := ""
	switch e.F {
	case histories.Acquire:
		what = "acquires " + show(e.Key) + as(e)
		if e.Type == histories.OK {
			if e.Deadline > 0 {
				what += ", lease until " + words.Instant(e.Deadline)
			}
			if e.Token > 0 {
				what += fmt.Sprintf(", token %d", e.Token)
			}
		}
	case histories.Release:
		what = "releases " + show(e.Key)
	case histories.Read:
		what = "reads the register"
		if e.Type == histories.OK {
			what += ": " + show(e.Value) + version(" (version %d)", e)
		}
	case histories.Write:
		what = "writes " + show(e.Value) + " to the register"
		if e.Type == histories.OK {
			what += version(" over version %d", e)
		}
	case histories.Incr:
		what = "increments the register"
		if e.Type == histories.OK {
			what += " to " + show(e.Value) + version(", over version %d", e)
		}
	case histories.Draw:
		what = "draws round " + show(e.Value)
		if e.Type == histories.OK {
			what += version(", over version %d", e)
		}
	case histories.Count:
		what = "asks how often it holds " + show(e.Key)
		if e.Type == histories.OK {
			what += ": " + show(e.Value)
		}
	default:
		what = strings.TrimSpace(show(string(e.F)) + " " + show(e.Key))
	}
	switch e.Type {
	case histories.Fail:
		what += ": refused"
		if e.Err != "" {
			what += ", " + show(e.Err)
		}
	case histories.Info:
		what += ": outcome unknown"
		if e.Err != "" {
			what += ", " + show(e.Err)
		}
	}
	return what
}

// as says of an acquire that it would share.
func as(e histories.Event) string {
	switch e.Mode() {
	case histories.Shared:
		return " for reading"
	case histories.Reentrant:
		return " re-entrantly"
	}
	return ""
}

func single(e histories.Event) string {
	switch e.F {
	case histories.Crash:
		return "crashes"
	case histories.Lost:
		return "is told that its lease is lost"
	case histories.Abandon:
		if e.Value != "" {
			return show(e.Value)
		}
		return "walks away without releasing"
	case histories.Waited:
		return fmt.Sprintf("waited for %s, and sent %s commands", show(e.Key), show(e.Value))
	case histories.Missed:
		return "missed the lock: " + show(e.Value)
	case histories.Audit:
		if e.Err != "" {
			return "nobody could look at what the lock's servers hold: " + show(e.Err)
		}
		if e.TTL == histories.NoTTL {
			return fmt.Sprintf("%s still holds %s, without any TTL", show(e.Node), show(e.Key))
		}
		return fmt.Sprintf("%s still holds %s, for another %s", show(e.Node), show(e.Key), words.Instant(e.TTL))
	}
	if text, ok := ofHarness(e); ok {
		return text
	}
	return show(string(e.F))
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
