package harness

import "github.com/lockbench/lockbench/workloads"

// Workloads lists the random workloads, the default first.
func Workloads() []string {
	var names []string
	for _, k := range workloads.Kinds() {
		names = append(names, k.Name)
	}
	return names
}

// WorkloadTitle says in a line what a random workload does.
func WorkloadTitle(name string) string {
	k, _ := workloads.Find(name) // of an unknown one there is nothing to say
	return k.Title
}

// DefaultLock is the lock that a random workload is run with if none is asked for.
func DefaultLock(workload string) (string, error) {
	k, err := workloads.Find(workload)
	return k.Lock, err
}
