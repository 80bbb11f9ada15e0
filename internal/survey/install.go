package survey

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// Install has the packages of libraries that are missing installed by apt-get, all at once. What it cannot install is told, and the
// libraries that need it say so in their rows.
func (s Survey) Install(ctx context.Context, libraries []Library) { s.install(ctx, libraries) }

// install is Install, within a root if there are words before the commands.
func (s Survey) install(ctx context.Context, libraries []Library, within ...string) {
	var missing []string
	for _, l := range libraries {
		for _, name := range l.Packages {
			if !slices.Contains(missing, name) && !s.installed(ctx, name, within) {
				missing = append(missing, name)
			}
		}
	}
	if len(missing) == 0 {
		return
	}
	fmt.Fprintln(s.Log, "apt-get install", strings.Join(missing, " "))
	get := append(slices.Clone(within), "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-q")
	if _, err := s.run(ctx, append(slices.Clip(get), "update")); err != nil {
		fmt.Fprintln(s.Log, "apt-get update:", err)
	}
	for _, name := range missing { // one after the other: one that there is not keeps no other away
		if _, err := s.run(ctx, append(slices.Clip(get), "install", "-y", "--no-install-recommends", name)); err != nil {
			fmt.Fprintln(s.Log, "apt-get install", name+":", err)
		}
	}
}

func (s Survey) installed(ctx context.Context, name string, within []string) bool {
	out, err := s.run(ctx, append(slices.Clone(within), "dpkg-query", "-W", "-f", "${db:Status-Status}", name))
	return err == nil && out == "installed"
}
