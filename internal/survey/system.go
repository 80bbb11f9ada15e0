package survey

import (
	"os"
	"path/filepath"
	"strings"
)

// System returns the name of the system under a root, and its release, such as Debian 12. Of one that does not say so it is an unknown system.
func System(root string) string {
	data, err := os.ReadFile(filepath.Join(root, "etc/os-release"))
	if err != nil {
		return "an unknown system"
	}
	said := map[string]string{}
	for line := range strings.Lines(string(data)) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		said[key] = strings.Trim(value, `"`)
	}
	name, _, _ := strings.Cut(said["NAME"], " ")
	if name == "" {
		return "an unknown system"
	}
	return strings.TrimSpace(name + " " + said["VERSION_ID"])
}
