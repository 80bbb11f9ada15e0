package checker

import (
	"strings"
)

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
