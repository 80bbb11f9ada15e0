package osproc

import (
	"os"
	"slices"
	"strings"
)

// Environment returns this process' environment without the login of the user's own Redis
// servers: what a child needs of it goes through the wire, and nobody else is to have it.
func Environment() []string {
	return slices.DeleteFunc(os.Environ(), func(v string) bool {
		return strings.HasPrefix(v, "LOCKBENCH_REDIS_USER=") || strings.HasPrefix(v, "LOCKBENCH_REDIS_PASSWORD=")
	})
}
