package report

import (
	"fmt"
	"strings"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/words"
)

// ofHarness tells a call that did not return, and what happened to the harness itself.
func ofHarness(e histories.Event) (string, bool) {
	why, _, _ := strings.Cut(e.Err, "\n")
	switch e.F {
	case histories.Hung:
		return fmt.Sprintf("%s %s", show(e.Value), show(why)), true
	case histories.Stall:
		return fmt.Sprintf("lockbench, or the machine, stood still until now, for %s s", words.Instant(e.TTL)), true
	case histories.Standstill:
		return "virtual time cannot go on: " + show(why), true
	case histories.Died:
		return fmt.Sprintf("server %s ended by itself (%s)", show(e.Node), show(why)), true
	}
	return "", false
}
