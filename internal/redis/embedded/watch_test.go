package embedded

import (
	"strings"
	"testing"

	"github.com/alicebob/miniredis/v2"
	"github.com/alicebob/miniredis/v2/server"
)

// TestWatch compares with a real server what ends a watch, and what does not.
func TestWatch(t *testing.T) {
	m := miniredis.RunT(t)
	m.Server().SetPreHook(func(p *server.Peer, cmd string, args ...string) bool { return keepsWatch(m.Server(), p, cmd, args) })
	theirs := dialReal(t)
	ours := dial(t, m)
	for name, script := range map[string]string{
		"watched again":                "WATCH k; SET k 1; WATCH k; MULTI; GET k; EXEC",
		"watched again with another":   "WATCH k; SET k 1; WATCH k other; MULTI; GET k; EXEC",
		"another that is watched":      "WATCH k; WATCH k other; SET other 1; MULTI; GET k; EXEC",
		"watched again, unchanged":     "SET k 1; WATCH k; WATCH k; MULTI; GET k; EXEC",
		"unwatched":                    "WATCH k; SET k 1; UNWATCH; MULTI; GET k; EXEC",
		"unwatched and watched":        "WATCH k; SET k 1; UNWATCH; WATCH k; MULTI; GET k; EXEC",
		"unwatched in the transaction": "WATCH k; SET k 1; MULTI; UNWATCH; GET k; EXEC; MULTI; GET k; EXEC",
		"unchanged, and unwatched":     "SET k 1; WATCH k; MULTI; UNWATCH; GET k; EXEC",
		"watched in the transaction":   "SET k 1; WATCH k; MULTI; WATCH k; GET k; EXEC",
		"executed and watched":         "WATCH k; MULTI; SET k 2; EXEC; WATCH k; MULTI; GET k; EXEC",
		"discarded":                    "WATCH k; SET k 1; MULTI; DISCARD; MULTI; GET k; EXEC",
		"in another database":          "WATCH k; SELECT 1; SET k 1; WATCH k; MULTI; GET k; EXEC; SELECT 0",
		"wrong":                        "WATCH; UNWATCH now; MULTI; UNWATCH now; EXEC",
	} {
		t.Run(name, func(t *testing.T) {
			for _, command := range strings.Split("DEL k other; UNWATCH; "+script, "; ") {
				args := strings.Fields(command)
				if got, want := ours.do(args...), theirs.do(args...); got != want {
					t.Errorf("%s of %s: got %s, want %s", command, script, got, want)
				}
			}
		})
	}
}
