package histories

// The names of the backends, as Meta.Backend has them.
const (
	BackendEmbedded = "embedded"
	BackendProcess  = "process"
	BackendDocker   = "docker"
	BackendExternal = "external"
)

// Backends returns the names of all backends.
func Backends() []string {
	return []string{BackendEmbedded, BackendProcess, BackendDocker, BackendExternal}
}

// VirtualTime returns whether runs on the backend with that name are in virtual time, where the same seed gives
// the same bytes.
func VirtualTime(backend string) bool { return backend == BackendEmbedded }

// DescribeBackend returns a backend's name and what it is, or the name alone if it is not known.
func DescribeBackend(name string) string {
	switch name {
	case BackendEmbedded:
		return name + ", virtual time"
	case BackendProcess:
		return name + ", real redis-server"
	case BackendDocker:
		return name + ", real redis-server in containers"
	case BackendExternal:
		return name + ", servers of your own"
	}
	return name
}
