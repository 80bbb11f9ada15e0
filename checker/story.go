package checker

import (
	"fmt"
	"strings"
	"time"
)

// seconds writes a time as stories do: "0.014 s".
func seconds(t time.Duration) string {
	return fmt.Sprintf("%.3f s", t.Seconds())
}

// count writes a number with its noun: "1 update", "2 updates".
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// paragraph joins the sentences that are not empty.
func paragraph(sentences ...string) string {
	kept := make([]string, 0, len(sentences))
	for _, s := range sentences {
		if s != "" {
			kept = append(kept, s)
		}
	}
	return strings.Join(kept, " ")
}
