package locktest

import (
	"os"
	"os/exec"
	"testing"
)

// NeedLanguage skips a test where that is missing by which a language's worker is run, or fails it if
// the environment has LOCKBENCH_REQUIRE_LANGUAGES=1.
func NeedLanguage(t testing.TB, language string) {
	t.Helper()
	probe, why, variable := []string(nil), "", "LOCKBENCH_REQUIRE_LANGUAGES"
	switch language {
	case "node":
		probe, why = []string{"node", "--version"}, "no node. Debian: apt-get install nodejs"
	case "php":
		probe, why = []string{"php", "-r", "new Redis();"}, "no php with the extension redis. Debian: apt-get install php-cli php-redis"
	case "ruby":
		probe, why = []string{"ruby", "-e", "require 'redis'"}, "no ruby with the gem redis. Debian: apt-get install ruby-redis"
	case "java":
		// A JDK is large: it is asked for nowhere.
		probe, why, variable = []string{"javac", "--version"}, "optional: no JDK", ""
	default:
		return
	}
	if exec.Command(probe[0], probe[1:]...).Run() == nil {
		return
	}
	if os.Getenv(variable) == "1" {
		t.Fatal(why)
	}
	t.Skip(why)
}
