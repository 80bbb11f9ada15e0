package scenarios

// notOwnServers is the gap of backend external in scenarios that do to servers what lockbench
// does to none that are not its own.
func notOwnServers(what string) map[string]string {
	return map[string]string{"external": "the script " + what + ", and lockbench does nothing to servers that are not its own; use --backend embedded, process or docker"}
}
