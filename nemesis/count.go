package nemesis

import "fmt"

// count is a number of things, for people: 1 connection, 2 connections.
func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
